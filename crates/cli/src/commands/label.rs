//! `label`: set or clear a bookmark.

use clap::Args;
use rethread_engine::set_label;

use super::append::Answer;
use crate::args::WriteFlags;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::names::name_parser;

/// Set a bookmark on an entry, or clear it.
///
/// Prints the id of the record that says so.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread label 7f3a a1b2c3d4 \"before the rewrite\"
  rethread label 7f3a a1b2c3d4                         clear it")]
pub(crate) struct Label {
    /// The session.
    #[arg(value_parser = name_parser())]
    session: String,
    /// The entry: its id, the beginning of it, or its place as `#12`.
    entry: String,
    /// The bookmark; without it, the entry has none any more.
    text: Option<String>,
    #[command(flatten)]
    write: WriteFlags,
}

pub(crate) fn run(context: &Context, args: &Label) -> Result<Exit, Failure> {
    let w = context.writing(args.write);
    let labelled = set_label(&w, &args.session, &args.entry, args.text.as_deref())?;
    Answer::default().take(context, labelled)?.end(context)
}
