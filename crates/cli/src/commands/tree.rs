//! `tree`: branches, labels, compactions, sub-agents, and where the leaf is.

use std::io;

use clap::Args;
use rethread_engine::{Part, listed_as, show};
use rethread_render::{draw_tree, tree_json};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::homes::HomeFlags;
use crate::names::name_parser;
use crate::output::{json_out, local};
use crate::pager::page;

/// Draw a session's tree: branches, labels, compactions, where the leaf is, and sub-agents.
///
/// `●` is the conversation that the agent would go on with; other branches are indented beside it.
/// With `--json`, one object an entry, parents before children.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  rethread tree latest")]
pub(crate) struct Tree {
    /// The session; `-` for what comes down a pipe.
    #[arg(value_parser = name_parser())]
    session: String,
    #[command(flatten)]
    homes: HomeFlags,
}

pub(crate) fn run(context: &Context, args: &Tree) -> Result<Exit, Failure> {
    let (env, reached) = args.homes.open_and_tell(context)?;
    let shown = show(&env, &context.named(&args.session)?, Part::All)?;
    let conversation = &shown.conversation;
    let path = context.given_path(&conversation.source.path);
    let summary = (!context.json)
        .then(|| listed_as(&shown.conversation))
        .transpose()?;
    let mut view = shown.view(conversation);
    (view.path, view.source) = (&path, local(&path));
    view.summary = summary.as_ref();
    let exit = context.notes(&conversation.notes);
    if context.json {
        let out = io::BufWriter::new(io::stdout().lock());
        json_out(out, |out| tree_json(out, &view))?;
    } else {
        page(context, |out| draw_tree(out, &view, &context.style()))?;
    }
    Ok(exit.or(reached))
}
