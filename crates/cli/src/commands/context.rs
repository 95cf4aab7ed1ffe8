//! `context`: what a model would see.

use std::io::{self, Write};

use clap::Args;
use rethread_engine::{ContextPoint, NativeContext, context_point, native_context};
use rethread_model::{Context as Seen, EntryIx};
use rethread_render::{Options, View, context_object, write_text};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::homes::HomeFlags;
use crate::names::name_parser;
use crate::output::{json_out, local};
use crate::pager::page;

/// Show what a model would see at a point of a conversation.
///
/// Compactions, summaries of branches and edits are applied. With `--json`, one object: `messages`
/// in the unified vocabulary, `model` and `thinking_level`; with `--native`, messages and model are
/// the format's own.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread context latest
  rethread context 7f3a --at a1b2c3d4 --json
  rethread context 7f3a --native --json")]
pub(crate) struct ContextOf {
    /// The session; `-` for what comes down a pipe.
    #[arg(value_parser = name_parser())]
    session: String,
    /// The entry to stop at: its id, the beginning of it, or its place as `#12`; the leaf by
    /// default.
    #[arg(long, value_name = "ENTRY")]
    at: Option<String>,
    /// Messages in the format's own words, one JSON object each.
    #[arg(long)]
    native: bool,
    #[command(flatten)]
    homes: HomeFlags,
}

pub(crate) fn run(context: &Context, args: &ContextOf) -> Result<Exit, Failure> {
    let (env, reached) = args.homes.open_and_tell(context)?;
    let name = context.named(&args.session)?;
    if args.native {
        let (seen, notes) = native_context(&env, &name, args.at.as_deref())?;
        let exit = context.notes(&notes);
        let out = io::BufWriter::new(io::stdout().lock());
        let is_json = context.json;
        json_out(out, |out| {
            if is_json {
                object(out, &seen)
            } else {
                lines(out, &seen)
            }
        })?;
        return Ok(exit.or(reached));
    }
    let ContextPoint { conversation, path } = context_point(&env, &name, args.at.as_deref())?;
    let exit = context.notes(&conversation.notes);
    let sent = conversation.sent();
    let seen = Seen::new(&conversation.session, &sent, &path);
    let file = &context.given_path(&conversation.source.path);
    let view = View {
        session: &seen.session,
        bodies: &seen,
        entries: (0..seen.session.entries().len())
            .filter_map(EntryIx::new)
            .collect(),
        path: file,
        source: local(file),
        agent: None,
        summary: None,
    };
    if context.json {
        let out = io::BufWriter::new(io::stdout().lock());
        let (model, level) = (seen.model.as_ref(), seen.thinking_level.as_deref());
        json_out(out, |out| context_object(out, &view, model, level))?;
    } else {
        let options = Options {
            tools: true,
            thinking: true,
            injected: true,
            events: true,
            full: true,
        };
        page(context, |out| {
            write_text(out, &view, &options, &context.style())
        })?;
    }
    Ok(exit.or(reached))
}

/// All of it as one object.
fn object(out: &mut dyn Write, seen: &NativeContext) -> io::Result<()> {
    out.write_all(b"{\"messages\":[")?;
    for (i, message) in seen.messages.iter().enumerate() {
        if i > 0 {
            out.write_all(b",")?;
        }
        out.write_all(message)?;
    }
    out.write_all(b"],\"model\":")?;
    out.write_all(seen.model.as_deref().unwrap_or(b"null"))?;
    out.write_all(b",\"thinking_level\":")?;
    serde_json::to_writer(&mut *out, &seen.thinking_level)?;
    out.write_all(b"}\n")
}

/// The messages alone, one a line.
fn lines(out: &mut dyn Write, seen: &NativeContext) -> io::Result<()> {
    for message in &seen.messages {
        out.write_all(message)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
