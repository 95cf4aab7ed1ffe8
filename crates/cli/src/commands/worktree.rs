//! `worktree`: git worktrees with a thread store of their own.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use rethread_engine::{
    AddWorktree, AddedWorktree, Consent, HookOutcome, HookReport, HookStep, NewSession,
    add_worktree, list_worktrees, remove_worktree,
};
use rethread_render::one_line;
use serde_json::{Value, json};

use crate::args::WriteFlags;
use crate::commands::new::SessionFlags;
use crate::consent;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print, print_json, say};
use crate::pager::page;

/// Git worktrees with a thread store of their own.
#[derive(Args, Debug)]
pub(crate) struct Worktree {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Add(Box<Add>),
    List(ListWorktrees),
    Remove(Remove),
}

/// Make a worktree with a thread in it, and print the thread's id and path.
///
/// The project's `worktreeHooks` (links, commands, an initial prompt) are carried out only once you
/// trust exactly what they say: with `--trust`, with `rethread trust`, or when asked on a terminal.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread worktree add                      a folder and a branch named after the thread
  rethread worktree add login --title \"Fix the sign-in\"
  rethread worktree add --trust              and carry out the project's hooks")]
struct Add {
    /// A name for folder and branch.
    name: Option<String>,
    /// The folder; by default in Rethread's data folder.
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
    /// The branch.
    #[arg(long)]
    branch: Option<String>,
    /// Trust the project's hooks as they are now.
    #[arg(long)]
    trust: bool,
    #[command(flatten)]
    session: SessionFlags,
    #[command(flatten)]
    write: WriteFlags,
}

/// List the worktrees of this repository, with how many threads each holds.
#[derive(Args, Debug)]
struct ListWorktrees {}

/// Remove a worktree, by its folder, the folder's name, or its branch.
///
/// Refuses while it holds threads, which would go with it; `--force` removes it all the same, after
/// keeping their descriptions.
#[derive(Args, Debug)]
struct Remove {
    /// The worktree.
    name: String,
    /// Remove it although it holds threads or changes.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    write: WriteFlags,
}

pub(crate) fn run(context: &Context, args: Worktree) -> Result<Exit, Failure> {
    match args.verb {
        Verb::Add(add) => run_add(context, *add),
        Verb::List(ListWorktrees {}) => list(context),
        Verb::Remove(args) => remove(context, &args),
    }
}

fn run_add(context: &Context, args: Add) -> Result<Exit, Failure> {
    let add_worktree = AddWorktree {
        name: args.name,
        path: args.path.map(|dir| context.folder(Some(&dir))),
        branch: args.branch,
        session: args.session.into_session(context)?,
    };
    add(context, add_worktree, args.trust, args.write)
}

/// Makes a worktree and says what came of it.
pub(crate) fn add(
    context: &Context,
    add: AddWorktree,
    trust: bool,
    flags: WriteFlags,
) -> Result<Exit, Failure> {
    let w = context.writing(flags);
    let mut ask = |hooks: &_| {
        if trust {
            Consent::Given
        } else {
            consent::ask(context, hooks)
        }
    };
    let mut begin = |step: &HookStep| {
        if !context.json {
            say(&format!("{} …", one_line(&name(step))));
        }
    };
    let added = add_worktree(&w, add, &mut ask, &mut begin)?;
    if context.json {
        print_json(&as_json(&added))?;
    } else {
        print(&format!(
            "{}\t{}",
            one_line(&added.made.id),
            one_line(&added.made.path.to_string_lossy())
        ))?;
        say(&format!(
            "worktree {} on branch {}",
            one_line(&added.worktree.to_string_lossy()),
            one_line(&added.branch)
        ));
    }
    let mut exit = context.notes(&added.made.notes);
    for report in added
        .hooks
        .iter()
        .filter(|r| r.outcome != HookOutcome::Done)
    {
        print_hook_report(context, report);
        exit = Exit::Partly;
    }
    Ok(exit)
}

fn print_hook_report(context: &Context, report: &HookReport) {
    let (HookOutcome::Failed(why) | HookOutcome::Skipped(why)) = &report.outcome else {
        return;
    };
    let word = if matches!(report.outcome, HookOutcome::Failed(_)) {
        "failed"
    } else {
        "not carried out"
    };
    let mut note = rethread_model::Note::damage(format!("{}: {word}: {why}", name(&report.step)));
    if report.step == HookStep::All {
        note = note.hint("`rethread trust` shows them, and trusts exactly that");
    }
    context.notes(&[note]);
}

/// What a step is called for people.
fn name(step: &HookStep) -> String {
    match step {
        HookStep::Symlink(link) => format!("link {} -> {}", link.target, link.source),
        HookStep::Command(command) => command
            .label
            .clone()
            .unwrap_or_else(|| command.command.clone()),
        HookStep::InitialPrompt(_) => "initial prompt".to_owned(),
        HookStep::Senseless => "worktreeHooks".to_owned(),
        HookStep::All => "the project's worktreeHooks".to_owned(),
    }
}

fn as_json(added: &AddedWorktree) -> Value {
    let hooks: Vec<Value> = added.hooks.iter().map(hook_json).collect();
    json!({
        "id": added.made.id,
        "path": added.made.path.to_string_lossy(),
        "worktree": added.worktree.to_string_lossy(),
        "branch": added.branch,
        "hooks": hooks,
    })
}

fn hook_json(report: &HookReport) -> Value {
    let mut value = match &report.step {
        HookStep::Symlink(link) => {
            json!({ "step": "symlink", "source": link.source, "target": link.target })
        }
        HookStep::Command(hook) => {
            json!({ "step": "command", "command": hook.command, "label": hook.label })
        }
        HookStep::InitialPrompt(_) => json!({ "step": "initialPrompt" }),
        HookStep::Senseless => json!({ "step": "invalid" }),
        HookStep::All => json!({ "step": "all" }),
    };
    let (status, message) = match &report.outcome {
        HookOutcome::Done => ("done", None),
        HookOutcome::Failed(why) => ("failed", Some(why)),
        HookOutcome::Skipped(why) => ("skipped", Some(why)),
    };
    value["status"] = json!(status);
    if let Some(message) = message {
        value["message"] = json!(message);
    }
    value
}

fn list(context: &Context) -> Result<Exit, Failure> {
    let found = list_worktrees(&context.env.cwd)?;
    if context.json {
        for one in &found {
            print_json(&json!({
                "path": one.worktree.path.to_string_lossy(),
                "branch": one.worktree.branch,
                "is_main": one.worktree.is_main,
                "exists": one.worktree.exists,
                "thread_count": one.threads.len(),
            }))?;
        }
        return Ok(Exit::Done);
    }
    let widest = found
        .iter()
        .map(|w| w.worktree.path.to_string_lossy().chars().count())
        .max()
        .unwrap_or(0);
    page(context, |out| {
        for one in &found {
            let path = one.worktree.path.to_string_lossy();
            let threads = match (one.worktree.exists, one.threads.len()) {
                (false, _) => "gone".to_owned(),
                (true, 1) => "1 thread".to_owned(),
                (true, n) => format!("{n} threads"),
            };
            let branch = one.worktree.branch.as_deref().unwrap_or("(detached)");
            writeln!(
                out,
                "{:<widest$}  {:<10}  {}",
                one_line(&path),
                threads,
                one_line(branch)
            )?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

fn remove(context: &Context, args: &Remove) -> Result<Exit, Failure> {
    let w = context.writing(args.write);
    let removed = remove_worktree(&w, &context.env.cwd, &args.name, args.force)?;
    let path = removed.path.to_string_lossy();
    if context.json {
        let threads: Vec<&str> = removed.threads.iter().map(|t| t.id.as_str()).collect();
        print_json(&json!({ "path": path, "threads": threads }))?;
        return Ok(Exit::Done);
    }
    print(&format!("removed {}", one_line(&path)))?;
    match removed.threads.len() {
        0 => {}
        1 => say(&context.hint(
            "1 thread went with it; its description is kept, and `rethread list` shows it as gone",
        )),
        n => say(&context.hint(&format!(
            "{n} threads went with it; their descriptions are kept, and `rethread list` shows them as gone"
        ))),
    }
    Ok(Exit::Done)
}

/// A session of these flags in a worktree of its own.
pub(crate) fn for_session(session: NewSession) -> AddWorktree {
    AddWorktree {
        session,
        ..AddWorktree::default()
    }
}
