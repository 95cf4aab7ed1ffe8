//! `new`: start a session.

use std::path::PathBuf;

use clap::Args;
use rethread_engine::{FORMATS, Format, Made, NewSession, by_name, new};
use rethread_render::one_line;
use serde_json::json;

use crate::args::WriteFlags;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print, print_json};

/// Start a session, and print its id and path.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread new --format atsf --title \"Fix the sign-in\"
  rethread new --format atsf --agent-id codex --metadata '{\"ticket\":17}' --json")]
pub(crate) struct New {
    /// The format to write.
    #[arg(long, value_name = "FORMAT")]
    format: String,
    /// The title.
    #[arg(long)]
    title: Option<String>,
    /// The folder that the work is done in; the current one by default.
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Write as if DIR were the agent's root, here the project.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// The id; a fresh one by default.
    #[arg(long)]
    id: Option<String>,
    /// The agent's identifier; the project's default, else `rethread`.
    #[arg(long, value_name = "ID")]
    agent_id: Option<String>,
    /// The agent's name for people; its identifier by default.
    #[arg(long, value_name = "NAME")]
    agent_name: Option<String>,
    /// The agent's version.
    #[arg(long, value_name = "VERSION")]
    agent_version: Option<String>,
    /// The protocol that drives the agent, such as `acp`.
    #[arg(long, value_name = "NAME")]
    protocol: Option<String>,
    /// That protocol's version, a number.
    #[arg(long, value_name = "NUMBER")]
    protocol_version: Option<String>,
    /// A JSON object of your own data.
    #[arg(long, value_name = "JSON")]
    metadata: Option<String>,
    #[command(flatten)]
    write: WriteFlags,
}

pub(crate) fn run(context: &Context, args: New) -> Result<Exit, Failure> {
    let format = format_named(&args.format)?;
    let session = NewSession {
        cwd: context.folder(args.cwd.as_deref()),
        root: args.output.map(|dir| context.folder(Some(&dir))),
        id: args.id,
        title: args.title,
        agent_id: args.agent_id,
        agent_name: args.agent_name,
        agent_version: args.agent_version,
        protocol: args.protocol,
        protocol_version: args.protocol_version,
        metadata: args.metadata.map(String::into_bytes),
    };
    if !session.cwd.is_dir() {
        let message = format!("`{}` is no folder", session.cwd.display());
        return Err(Failure::usage(message));
    }
    let made = new(&context.writing(args.write), format, &session)?;
    print_made(context, &made)
}

/// The format that the user named.
pub(crate) fn format_named(name: &str) -> Result<&'static dyn Format, Failure> {
    by_name(name).ok_or_else(|| {
        let known: Vec<&str> = FORMATS.iter().map(|f| f.about().slug).collect();
        Failure::Usage {
            message: format!("`{name}` is no format"),
            hint: Some(format!("formats are: {}", known.join(", "))),
        }
    })
}

/// Prints a new session's id and path.
pub(crate) fn print_made(context: &Context, made: &Made) -> Result<Exit, Failure> {
    let path = made.path.to_string_lossy();
    if context.json {
        print_json(&json!({ "id": made.id, "path": path }))?;
    } else {
        print(&format!("{}\t{}", one_line(&made.id), one_line(&path)))?;
    }
    Ok(context.notes(&made.notes))
}
