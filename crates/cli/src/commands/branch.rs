//! `branch`: continue from an earlier entry in the same session.

use clap::Args;
use rethread_engine::{MessageInput, TextMessage, branch_session, find};
use rethread_model::Role;

use crate::args::WriteFlags;
use crate::commands::append::Answer;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::names::name_parser;

/// Continue from an earlier entry of a session.
///
/// Prints the ids of what was added. Where an agent goes on is the last thing in its file, so a bare move cannot be kept: give a
/// summary of what is left behind, a message, or both.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread branch 7f3a a1b2c3d4 --summary \"The cache was a dead end.\"
  rethread branch 7f3a '#4' \"Try it without a cache.\"")]
pub(crate) struct Branch {
    /// The session.
    #[arg(value_parser = name_parser())]
    session: String,
    /// The entry to continue from: its id, the beginning of it, or its place as `#12`.
    entry: String,
    /// What you say there.
    text: Option<String>,
    /// What is left behind, for the model to know.
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    #[command(flatten)]
    write: WriteFlags,
}

pub(crate) fn run(context: &Context, args: Branch) -> Result<Exit, Failure> {
    if args.summary.is_none() && args.text.is_none() {
        return Err(Failure::Usage {
            message: "a bare move to another entry cannot be kept".to_owned(),
            hint: Some("give `--summary TEXT`, or a message".to_owned()),
        });
    }
    let source = find(&context.env, &args.session)?;
    let said = args.text.map(|text| {
        MessageInput::Text(TextMessage {
            role: Role::User,
            text,
            images: Vec::new(),
            model: None,
        })
    });
    let messages: Vec<MessageInput> = said.into_iter().collect();
    let summary = args.summary.as_deref();
    let w = context.writing(args.write);
    let appended = branch_session(&w, &source, &args.entry, summary, &messages)?;
    Answer::default().take(context, appended)?.end(context)
}
