//! `install`: the names under which installed prompts know the program, and prompts of our own.

use std::path::{Path, PathBuf};

use clap::Args;
use rethread_disk::{
    Created, DiskError, Durability, Mode, create, ensure_folder, link, read_small, remove_file,
    remove_link,
};
use rethread_model::Note;
use rethread_render::one_line;
use serde_json::json;

use super::other_names::NAMES;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print, print_json};

/// Prompts for agents that know slash commands.
const PROMPTS: [(&str, &str); 3] = [
    ("message-send.md", include_str!("prompts/message-send.md")),
    ("message-inbox.md", include_str!("prompts/message-inbox.md")),
    ("message-reply.md", include_str!("prompts/message-reply.md")),
];

/// Install links `agent-message-cmd` and `msg` to this program, and prompts for agents.
///
/// Under these names the program takes the arguments of the protocol's reference implementation
/// and prints its lines, so that prompts written for that keep working. Nothing that is there is
/// replaced.
#[derive(Args, Debug)]
pub(crate) struct Install {
    /// Where the links go; `~/.local/bin` by default.
    #[arg(long, value_name = "DIR")]
    bin_dir: Option<PathBuf>,
    /// Where the prompts go; `~/.claude/commands` by default.
    #[arg(long, value_name = "DIR")]
    commands: Option<PathBuf>,
    /// Remove what was installed, as far as it is still ours.
    #[arg(long)]
    uninstall: bool,
}

/// What was done to a path.
struct Done {
    path: PathBuf,
    what: &'static str,
}

pub(super) fn run(context: &Context, args: &Install) -> Result<Exit, Failure> {
    let bin = place(context, args.bin_dir.as_deref(), &[".local", "bin"])?;
    let commands = place(context, args.commands.as_deref(), &[".claude", "commands"])?;
    let program = std::env::current_exe()?;
    let (mut done, mut notes) = (Vec::new(), Vec::new());
    for name in NAMES {
        let path = bin.join(name);
        let what = if args.uninstall {
            unlink(&path, &program)?
        } else {
            ensure_folder(&bin, &Mode::Exact(0o755), Durability::Close)?;
            install_link(&path, &program)?
        };
        sort(path, what, &mut done, &mut notes);
    }
    for (name, text) in PROMPTS {
        let path = commands.join(name);
        let what = if args.uninstall {
            remove_prompt(&path, text)?
        } else {
            ensure_folder(&commands, &Mode::Exact(0o755), Durability::Close)?;
            install_prompt(&path, text)?
        };
        sort(path, what, &mut done, &mut notes);
    }
    for Done { path, what } in &done {
        let path = path.to_string_lossy();
        if context.json {
            print_json(&json!({ "path": path, "done": what }))?;
        } else {
            print(&format!("{what}\t{}", one_line(&path)))?;
        }
    }
    Ok(context.notes(&notes))
}

fn place(context: &Context, given: Option<&Path>, below: &[&str]) -> Result<PathBuf, Failure> {
    if let Some(dir) = given {
        return Ok(context.env.cwd.join(dir));
    }
    let home = context.env.homes.first().ok_or_else(|| {
        Failure::usage(
            "the home folder is not known; name folders with `--bin-dir` and `--commands`",
        )
    })?;
    Ok(below
        .iter()
        .fold(home.clone(), |path, name| path.join(name)))
}

/// What was done, or that something else is there.
fn sort(path: PathBuf, what: Option<&'static str>, done: &mut Vec<Done>, notes: &mut Vec<Note>) {
    match what {
        Some(what) => done.push(Done { path, what }),
        None => notes.push(
            Note::damage("left alone: it is not ours")
                .at(path)
                .hint("move it away, then try again"),
        ),
    }
}

fn leads_to(path: &Path, program: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    path.is_symlink() && real(path).is_some() && real(path) == real(program)
}

fn install_link(path: &Path, program: &Path) -> Result<Option<&'static str>, DiskError> {
    if leads_to(path, program) {
        return Ok(Some("kept"));
    }
    Ok(match link(path, program)? {
        Created::New => Some("made"),
        Created::Existed => None,
    })
}

fn unlink(path: &Path, program: &Path) -> Result<Option<&'static str>, DiskError> {
    if path.symlink_metadata().is_err() {
        return Ok(Some("absent"));
    }
    if !leads_to(path, program) {
        return Ok(None);
    }
    remove_link(path).map(|()| Some("removed"))
}

fn install_prompt(path: &Path, text: &str) -> Result<Option<&'static str>, DiskError> {
    let made = create(path, text.as_bytes(), Mode::Exact(0o644), Durability::Close)?;
    Ok(match made {
        Created::New => Some("made"),
        Created::Existed if is_ours(path, text) => Some("kept"),
        Created::Existed => None,
    })
}

fn remove_prompt(path: &Path, text: &str) -> Result<Option<&'static str>, DiskError> {
    if path.symlink_metadata().is_err() {
        return Ok(Some("absent"));
    }
    if !is_ours(path, text) {
        return Ok(None);
    }
    remove_file(path).map(|()| Some("removed"))
}

fn is_ours(path: &Path, text: &str) -> bool {
    read_small(path).is_ok_and(|bytes| bytes == text.as_bytes())
}
