//! `resume`: continue a conversation in its own client.

use std::process::Command;

use clap::Args;
use rethread_engine::{Continued, Resume as Call, resume};
use serde_json::json;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print, print_json};

/// Continue a conversation: start its own agent in the right folder.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread resume latest
  rethread resume pi:01a1 --print    only say how")]
pub(crate) struct Resume {
    /// The session.
    session: String,
    /// Only print the command.
    #[arg(long)]
    print: bool,
}

pub(crate) fn run(context: &Context, args: &Resume) -> Result<Exit, Failure> {
    let Continued {
        command: how,
        notes,
    } = resume(&context.env, &args.session)?;
    let exit = context.notes(&notes);
    if args.print || context.json {
        say(context, &how)?;
        return Ok(exit);
    }
    let mut command = Command::new(how.program);
    command.args(&how.args);
    if let Some(folder) = &how.folder {
        if !folder.is_dir() {
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
        Some(folder) => print(&format!("cd {} && {call}", quoted(&folder))),
        None => print(&call),
    }
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
