//! Carrying out hooks that the user trusts: links, then commands. A failure is reported and never
//! stops what the hooks are for.

use std::path::{Component, Path, PathBuf};

use rethread_disk::{Created, Durability, Mode, ensure_folder, link};
use rethread_formats::{CommandHook, Hooks, SymlinkHook};
use rethread_run::{End, shell};

/// One step of the hooks, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookReport {
    /// The step.
    pub step: HookStep,
    /// What became of it.
    pub outcome: HookOutcome,
}

/// One step of the hooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookStep {
    /// A link.
    Symlink(SymlinkHook),
    /// A command.
    Command(CommandHook),
    /// The first thing said to the agent.
    InitialPrompt(String),
    /// A hook that makes no sense.
    Senseless,
    /// All of them.
    All,
}

/// What became of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookOutcome {
    /// It was done.
    Done,
    /// It failed, and why.
    Failed(String),
    /// It was not tried, and why.
    Skipped(String),
}

/// How much of what a failed command said is repeated, in characters.
const SAID: usize = 500;

/// Makes the links and runs the commands, in this order. `begin` is told before each step.
pub(crate) fn carry_out(
    hooks: &Hooks,
    repository: &Path,
    worktree: &Path,
    begin: &mut dyn FnMut(&HookStep),
) -> Vec<HookReport> {
    let mut reports = Vec::new();
    for symlink in &hooks.symlinks {
        reports.push(match symlink {
            Err(why) => invalid_step(why),
            Ok(hook) => {
                let step = HookStep::Symlink(hook.clone());
                begin(&step);
                let outcome = match make_link(hook, repository, worktree) {
                    Ok(()) => HookOutcome::Done,
                    Err(why) => HookOutcome::Failed(why),
                };
                HookReport { step, outcome }
            }
        });
    }
    let mut failed = false;
    for command in &hooks.commands {
        let hook = match command {
            Err(why) => {
                reports.push(invalid_step(why));
                continue;
            }
            // Those for other platforms are left out without a word.
            Ok(hook) if !hook.is_for_this_platform() => continue,
            Ok(hook) => hook,
        };
        let step = HookStep::Command(hook.clone());
        let outcome = if failed {
            HookOutcome::Skipped("a command before it failed".to_owned())
        } else {
            begin(&step);
            run_hook(hook, worktree)
        };
        failed |= matches!(outcome, HookOutcome::Failed(_)) && !hook.continue_on_error;
        reports.push(HookReport { step, outcome });
    }
    reports
}

fn invalid_step(why: &str) -> HookReport {
    HookReport {
        step: HookStep::Senseless,
        outcome: HookOutcome::Failed(why.to_owned()),
    }
}

fn run_hook(hook: &CommandHook, worktree: &Path) -> HookOutcome {
    let ran = shell(&hook.command, worktree, hook.timeout);
    let said: String = ran.errors.trim().chars().take(SAID).collect();
    let with = |text: String| {
        if said.is_empty() {
            text
        } else {
            format!("{text}: {said}")
        }
    };
    match ran.end {
        End::Exited(0) => HookOutcome::Done,
        End::Exited(code) => HookOutcome::Failed(with(format!("exited with code {code}"))),
        End::Signalled(signal) => HookOutcome::Failed(with(format!("killed by signal {signal}"))),
        End::TimedOut => {
            let seconds = hook.timeout.unwrap_or_default().as_secs_f64();
            HookOutcome::Failed(with(format!("timed out after {seconds} s, and was ended")))
        }
        End::NotStarted(why) => HookOutcome::Failed(format!("could not be started: {why}")),
    }
}

/// Makes a link in the worktree to something in the repository. Nothing leaves either of them, and
/// nothing that is there is removed.
fn make_link(hook: &SymlinkHook, repository: &Path, worktree: &Path) -> Result<(), String> {
    let source = repository.join(path_inside(&hook.source)?);
    let target = worktree.join(path_inside(&hook.target)?);
    let real = std::fs::canonicalize(&source).map_err(|e| format!("`{}`: {e}", hook.source))?;
    let below = stays_in(&real, repository).map_err(|why| format!("`{}` {why}", hook.source))?;
    if below.as_os_str().is_empty() {
        let why = "leads to the project itself through a link";
        return Err(format!("`{}` {why}", hook.source));
    }
    let parent = target.parent().unwrap_or(worktree);
    // What is there of the way to the target must not lead out of the worktree.
    let existing = parent.ancestors().find(|a| a.exists()).unwrap_or(worktree);
    let real_parent =
        std::fs::canonicalize(existing).map_err(|e| format!("`{}`: {e}", hook.target))?;
    stays_in(&real_parent, worktree).map_err(|why| format!("`{}` {why}", hook.target))?;
    let mode = Mode::like(worktree).map_err(|e| e.to_string())?;
    ensure_folder(parent, &mode, Durability::None).map_err(|e| e.to_string())?;
    match link(&target, &real).map_err(|e| e.to_string())? {
        Created::New => Ok(()),
        Created::Existed => Err(format!("`{}` exists, and is not removed", hook.target)),
    }
}

/// A path that names something below a folder: no root, no `..`, nothing of git's own.
fn path_inside(path: &str) -> Result<PathBuf, String> {
    let refuse = |why: &str| Err(format!("`{path}` {why}"));
    if path.contains(['\\', '\0']) || path.chars().any(char::is_control) {
        return refuse("is no path");
    }
    let mut clean = PathBuf::new();
    for part in Path::new(path).components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => {
                if name
                    .to_string_lossy()
                    .to_lowercase()
                    .trim_end_matches(['.', ' '])
                    == ".git"
                {
                    return refuse("leads into git's own folder");
                }
                clean.push(name);
            }
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return refuse("leads out of the project");
            }
        }
    }
    if clean.as_os_str().is_empty() {
        return refuse("names the project itself");
    }
    Ok(clean)
}

/// A resolved path as seen from a folder that it is in; it is not in the folder's `.git`.
fn stays_in<'a>(real: &'a Path, folder: &Path) -> Result<&'a Path, String> {
    let folder = std::fs::canonicalize(folder).map_err(|e| e.to_string())?;
    let Ok(below) = real.strip_prefix(&folder) else {
        return Err("leads out of the project through a link".to_owned());
    };
    if below.components().any(|c| c.as_os_str() == ".git") {
        return Err("leads into git's own folder through a link".to_owned());
    }
    Ok(below)
}
