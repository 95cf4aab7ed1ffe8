//! `fork`: a new session with the path up to an entry.

use std::path::PathBuf;

use clap::Args;
use rethread_engine::fork_session;

use crate::args::{WriteFlags, title};
use crate::commands::new::print_made;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::names::name_parser;

/// Copy a session, up to an entry, into a new one.
///
/// Prints the id and the path of the new session.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread fork 7f3a                 all of it
  rethread fork 7f3a --at '#4'       its first four messages
  rethread fork 7f3a --cwd ../other  into another project")]
pub(crate) struct Fork {
    /// The session.
    #[arg(value_parser = name_parser())]
    session: String,
    /// The last entry to copy: its id, the beginning of it, or its place as `#12`.
    #[arg(long, value_name = "ENTRY")]
    at: Option<String>,
    /// The folder in which the work goes on.
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// The title; that of the original by default.
    #[arg(long, value_parser = title)]
    title: Option<String>,
    #[command(flatten)]
    write: WriteFlags,
}

pub(crate) fn run(context: &Context, args: Fork) -> Result<Exit, Failure> {
    let asked = rethread_engine::Fork {
        at: None,
        cwd: args.cwd.map(|dir| context.folder(Some(&dir))),
        title: args.title,
    };
    let w = context.writing(args.write);
    let made = fork_session(&w, &args.session, args.at.as_deref(), asked)?;
    print_made(context, &made)
}
