//! `resume`: continue a conversation in its own client.

use std::path::PathBuf;
use std::process::Command;

use clap::Args;
use rethread_engine::{Continued, Resume as Call, Trim, by_name, resume, resume_in};
use rethread_project::is_folder;
use serde_json::json;

use crate::args::WriteFlags;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print, print_json};

/// Continue a conversation in its own agent, or in another.
///
/// Starts the agent in the right folder. With `--in`, the conversation is written into that agent's own store first; the original stays as
/// it is. Doing so again goes on with what was written before, unless the original has grown.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread resume latest
  rethread resume pi:01a1 --print             only say how
  rethread resume latest --in codex           go on in Codex
  rethread resume 7f3a --in claude --last 20  with the end of the conversation alone")]
pub(crate) struct Resume {
    /// The session.
    session: String,
    /// The agent to continue it in.
    #[arg(long, value_name = "AGENT")]
    r#in: Option<String>,
    /// Take only the last N messages along, from the beginning of a turn on.
    #[arg(long, value_name = "N", requires = "in")]
    last: Option<usize>,
    /// Take only what comes from this entry on along, from the beginning of its turn.
    #[arg(long, value_name = "ENTRY", requires = "in")]
    from: Option<String>,
    /// Say what is in this file in the place of what does not go along.
    #[arg(long, value_name = "FILE", requires = "in")]
    summary: Option<PathBuf>,
    /// Only print the command.
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    write: WriteFlags,
}

pub(crate) fn run(context: &Context, args: &Resume) -> Result<Exit, Failure> {
    let Continued {
        command: how,
        notes,
    } = continued(context, args)?;
    let exit = context.notes(&notes);
    if args.print || context.json {
        say(context, &how)?;
        return Ok(exit);
    }
    let mut command = Command::new(how.program);
    command.args(&how.args);
    if let Some(folder) = &how.folder {
        if !is_folder(folder) {
            return Err(Failure::Usage {
                message: format!("the session's folder `{}` is not there", folder.display()),
                hint: Some("`--print` shows the command, to be run in another folder".to_owned()),
            });
        }
        command.current_dir(folder);
    }
    match command.status() {
        Ok(status) if status.success() => Ok(exit),
        Ok(_) => Ok(Exit::Failed),
        Err(e) => Err(Failure::Usage {
            message: format!("`{}` cannot be started: {e}", how.program),
            hint: Some("install it, or see the command with `--print`".to_owned()),
        }),
    }
}

/// Finds out how the session is continued, and writes it into another agent's store for that.
fn continued(context: &Context, args: &Resume) -> Result<Continued, Failure> {
    let w = context.writing(args.write);
    let Some(agent) = &args.r#in else {
        return Ok(resume(&w, &args.session)?);
    };
    let to = by_name(agent).ok_or_else(|| Failure::Usage {
        message: format!("`{agent}` is no agent"),
        hint: Some("`rethread agents` lists them".to_owned()),
    })?;
    let summary = match &args.summary {
        Some(path) => Some(text_of(&context.env.cwd.join(path))?),
        None => None,
    };
    let trim = Trim {
        last: args.last,
        from: args.from.as_deref(),
        summary: summary.as_deref(),
    };
    Ok(resume_in(&w, &args.session, to, &trim)?)
}

fn text_of(path: &std::path::Path) -> Result<String, Failure> {
    std::fs::read_to_string(path)
        .map_err(|e| Failure::usage(format!("`{}` cannot be read: {e}", path.display())))
}

fn say(context: &Context, how: &Call) -> Result<(), Failure> {
    let folder = how.folder.as_ref().map(|f| f.to_string_lossy());
    if context.json {
        let command: Vec<&str> = std::iter::once(how.program)
            .chain(how.args.iter().map(String::as_str))
            .collect();
        return print_json(&json!({ "command": command, "cwd": folder }));
    }
    let words: Vec<String> = how.args.iter().map(|arg| quoted(arg)).collect();
    let call = format!("{} {}", how.program, words.join(" "));
    match folder {
        Some(folder) => print(&format!("cd {} && {call}", as_folder(&folder))),
        None => print(&call),
    }
}

/// A folder as `cd` takes it: one that begins with `-` is no option, nor the folder before.
fn as_folder(folder: &str) -> String {
    if folder.starts_with('-') {
        return format!("-- {}", quoted(&format!("./{folder}")));
    }
    quoted(folder)
}

/// A word as a shell takes it for itself. Nothing in it acts on a terminal either.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!(
        "'{}'",
        rethread_render::one_line(word).replace('\'', "'\\''")
    )
}
