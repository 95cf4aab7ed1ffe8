//! `resume`: continue a conversation in its own client.

use std::path::PathBuf;
use std::process::Command;

use clap::Args;
use rethread_engine::{
    Error, Resume as Call, ResumeCommand, ResumeOptions, Trim, format_named, remove_session,
    resume_session,
};
use rethread_project::is_folder;
use serde_json::json;

use crate::args::WriteFlags;
use crate::context::{Context, shell_word};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::names::name_parser;
use crate::output::{print, print_json};

/// Continue a conversation in its own agent, or in another.
///
/// Starts the agent in the right folder. With `--in`, the conversation is written into that agent's own
/// store first; the original stays as it is. Doing so again goes on with what was written before, unless
/// the original has grown. Nothing is written if the agent's program or the folder is not there.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread resume latest
  rethread resume pi:01a1 --print             only say how
  rethread resume latest --in codex           go on in Codex
  rethread resume 7f3a --in pi --cwd .        in this folder, wherever it was before
  rethread resume 7f3a --in claude --last 20  with the end of the conversation alone")]
pub(crate) struct Resume {
    /// The session.
    #[arg(value_parser = name_parser())]
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
    /// The folder to go on in, instead of the one that the session names.
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Only print the command. With `--in`, the session is written if it is not there yet, because the
    /// command names it.
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    write: WriteFlags,
}

pub(crate) fn run(context: &Context, args: &Resume) -> Result<Exit, Failure> {
    let is_started = !args.print && !context.json;
    if context.sample.is_some() && is_started {
        return Err(Failure::Usage {
            message: "agents do not look for conversations in the built-in sample".to_owned(),
            hint: Some("`--print` shows the command that would go on with it".to_owned()),
        });
    }
    let ResumeCommand {
        command: how,
        program,
        written,
        notes,
    } = continued(context, args, is_started)?;
    let exit = context.notes(&notes);
    if !is_started {
        say(context, &how)?;
        return Ok(exit);
    }
    context.tell_notes();
    let mut command = match &program {
        Some(program) => Command::new(program),
        None => Command::new(how.program),
    };
    command.args(&how.args);
    if let Some(folder) = &how.folder {
        command.current_dir(folder);
    }
    match command.status() {
        Ok(status) if status.success() => Ok(exit),
        Ok(_) => Ok(Exit::Failed),
        Err(e) => {
            if let Some(written) = &written {
                remove_session(written, true)?;
            }
            Err(Error::Refused {
                message: format!("`{}` cannot be started: {e}", how.program),
                hint: "see the command with `--print`".to_owned(),
            }
            .into())
        }
    }
}

/// Finds out how the session is continued, and writes it into another agent's store for that.
fn continued(context: &Context, args: &Resume, is_started: bool) -> Result<ResumeCommand, Failure> {
    let to = match &args.r#in {
        None => None,
        Some(agent) => Some(format_named("agent", agent)?),
    };
    let cwd = args.cwd.as_ref().map(|dir| context.folder(Some(dir)));
    if let Some(cwd) = cwd.as_ref().filter(|cwd| !is_folder(cwd)) {
        return Err(Failure::usage(format!("`{}` is no folder", cwd.display())));
    }
    let summary = match &args.summary {
        Some(path) => Some(text_of(&context.output(path))?),
        None => None,
    };
    let ask = ResumeOptions {
        to,
        trim: Trim {
            last: args.last,
            from: args.from.as_deref(),
            summary: summary.as_deref(),
        },
        cwd: cwd.as_deref(),
        is_started,
    };
    Ok(resume_session(
        &context.writing(args.write),
        &args.session,
        &ask,
    )?)
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
    let words: Vec<String> = how.args.iter().map(|arg| shell_word(arg)).collect();
    let call = format!("{} {}", how.program, words.join(" "));
    match folder {
        Some(folder) => print(&format!("cd {} && {call}", as_folder(&folder))),
        None => print(&call),
    }
}

/// A folder as `cd` takes it: one that begins with `-` is no option, nor the folder before.
fn as_folder(folder: &str) -> String {
    if folder.starts_with('-') {
        return format!("-- {}", shell_word(&format!("./{folder}")));
    }
    shell_word(folder)
}
