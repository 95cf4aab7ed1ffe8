//! `inbox`: what is new.

use std::io::{self, Write};

use clap::Args;
use rethread_samp::{Batch, Inbox as Box_, New};

use super::show::{Times, object, seconds, summary, write_all, write_raw, write_text};
use super::who::MessageUser;
use super::{MessageContext, notes};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::json_out;

/// Show what is new for you, oldest first, each message once.
///
/// What arrives late, through a sync tool, is shown and marked, though newer messages were shown
/// before. A record that lies in a log that is not its sender's is skipped and named, which is
/// stricter than the protocol's document. Delete `.seen-ALIAS` in the message folder to see
/// everything again. What was shown is noted only after it was written.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread msg inbox
  rethread msg inbox --json | jq -r .body
  rethread msg inbox --all                     everything, and nothing is noted")]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(crate) struct Inbox {
    /// Show everything there is; nothing is noted.
    #[arg(long)]
    all: bool,
    /// Print the records as they are stored, all there are; nothing is noted.
    #[arg(long, conflicts_with = "all")]
    raw: bool,
    /// Also show records that lie in a log that is not their sender's.
    #[arg(long)]
    lenient: bool,
    /// Go by the watermark alone, as the document has it: what arrives late is not shown.
    #[arg(long, conflicts_with_all = ["all", "raw"])]
    watermark: bool,
}

/// How much is printed at once.
const BUFFER: usize = 64 * 1024;

pub(super) fn run(
    context: &Context,
    place: &MessageContext,
    args: &Inbox,
) -> Result<Exit, Failure> {
    let me = MessageUser::find(context, place)?;
    let inbox = Box_ {
        folder: &me.folder,
        me: &me.alias,
        now: seconds(context),
        lenient: args.lenient,
    };
    if args.all || args.raw {
        let mut batch = inbox.all()?;
        write(context, &mut batch, args)?;
        return Ok(context.notes(&notes(batch.troubles())));
    }
    let mut new = if args.watermark {
        inbox.by_watermark()?
    } else {
        inbox.new_messages(&me.cache)?
    };
    write(context, &mut new.batch, args)?;
    let mut said = me.use_here(context);
    said.extend(note(context, new));
    Ok(context.notes(&said))
}

/// Notes what was shown, unless damage is a failure; gives what there is to say.
pub(super) fn note(context: &Context, new: New) -> Vec<rethread_model::Note> {
    let mut said = notes(new.batch.troubles());
    if Exit::after(&said, context.strict) != Exit::Failed {
        said.extend(notes(&new.note()));
    }
    said
}

fn write(context: &Context, batch: &mut Batch, args: &Inbox) -> Result<(), Failure> {
    let out = io::BufWriter::with_capacity(BUFFER, io::stdout().lock());
    if args.raw || context.json {
        return json_out(out, |out| {
            write_all(batch, out, |message, out| {
                if args.raw {
                    write_raw(message, out)
                } else {
                    writeln!(out, "{}", object(message))
                }
            })
            .map(drop)
        });
    }
    let mut out = out;
    let mut times = Times::new(context);
    let (count, senders) = write_all(batch, &mut out, |message, out| {
        write_text(&mut times, message, out)
    })?;
    match (count, args.all) {
        (0, true) => writeln!(out, "no messages")?,
        (0, false) => writeln!(out, "no new messages")?,
        (_, true) => {}
        (_, false) => writeln!(out, "{}", summary(count, &senders))?,
    }
    Ok(out.flush()?)
}
