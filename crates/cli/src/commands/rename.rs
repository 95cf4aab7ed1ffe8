//! `rename`: set the display name.

use clap::Args;
use rethread_engine::rename_session;
use serde_json::json;

use crate::args::{WriteFlags, title};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::names::name_parser;
use crate::output::print_json;

/// Set a session's display name.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  rethread rename 7f3a \"Fix the sign-in\"")]
pub(crate) struct Rename {
    /// The session.
    #[arg(value_parser = name_parser())]
    session: String,
    /// Its new title.
    #[arg(value_parser = title)]
    title: String,
    #[command(flatten)]
    write: WriteFlags,
}

pub(crate) fn run(context: &Context, args: &Rename) -> Result<Exit, Failure> {
    let notes = rename_session(&context.writing(args.write), &args.session, &args.title)?;
    if context.json {
        print_json(&json!({ "title": args.title }))?;
    }
    Ok(context.notes(&notes))
}
