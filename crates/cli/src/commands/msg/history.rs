//! `log`, `cat` and `raw`: what was said before.

use std::io::{self, Write};

use clap::Args;
use rethread_json::pretty;
use rethread_render::one_line;
use rethread_samp::{Message, history, message, messages};

use super::show::{local, object, seconds, write_all, write_indented, write_raw};
use super::who::{MessageUser, alias_of, folder};
use super::{MessageContext, notes};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{json_out, original_out};
use crate::pager::page;

/// Show all messages from and to you, or somebody else, newest first.
#[derive(Args, Debug)]
pub(crate) struct Log {
    /// Whose messages; yours by default.
    alias: Option<String>,
    /// Show at most N.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Also show records that lie in a log that is not their sender's.
    #[arg(long)]
    lenient: bool,
}

/// Print one record, whoever wrote it.
#[derive(Args, Debug)]
pub(crate) struct Cat {
    /// Its id, or the beginning of it (4 characters or more).
    id: String,
    /// Also look at records that lie in a log that is not their sender's.
    #[arg(long)]
    lenient: bool,
}

/// Print the records to you as they are stored, each once, in the order of logs and lines.
#[derive(Args, Debug)]
pub(crate) struct Raw {
    /// Print those to everybody.
    #[arg(long)]
    all: bool,
    /// Also print records that lie in a log that is not their sender's.
    #[arg(long)]
    lenient: bool,
}

pub(super) fn log(context: &Context, place: &MessageContext, args: &Log) -> Result<Exit, Failure> {
    let (folder, alias) = if let Some(alias) = &args.alias {
        (folder(context, place)?, alias_of("the alias", alias)?)
    } else {
        let me = MessageUser::find(context, place)?;
        (me.folder, me.alias)
    };
    let mut batch = history(&folder, &alias, args.lenient, seconds(context))?;
    if let Some(limit) = args.limit {
        batch.truncate(limit);
    }
    if context.json {
        json_out(io::BufWriter::new(io::stdout().lock()), |out| {
            write_all(&mut batch, out, |message, out| {
                writeln!(out, "{}", object(message))
            })
            .map(drop)
        })?;
    } else {
        page(context, |out| {
            write_all(&mut batch, out, |message, out| {
                write_block(context, message, out)
            })
            .map(drop)
        })?;
    }
    Ok(context.notes(&notes(batch.troubles())))
}

/// A message as `git log` shows a commit.
pub(super) fn write_block(
    context: &Context,
    message: &Message<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let record = &message.record;
    writeln!(out, "id     {}", message.id)?;
    let (from, to) = (record.from(), record.to());
    writeln!(
        out,
        "from   {} → {}",
        one_line(&from.unwrap_or_default()),
        one_line(&to.unwrap_or_default())
    )?;
    let time = local(context, record.ts(), "%Y-%m-%d %H:%M:%S");
    writeln!(out, "ts     {time}")?;
    let thread = record.thread().unwrap_or_default();
    writeln!(out, "thread {}", one_line(&thread))?;
    writeln!(out)?;
    write_indented(&record.body(), out)?;
    writeln!(out)
}

pub(super) fn cat(context: &Context, place: &MessageContext, args: &Cat) -> Result<Exit, Failure> {
    let folder = folder(context, place)?;
    let mut batch = message(&folder, &args.id, args.lenient, seconds(context))?;
    json_out(io::stdout().lock(), |out| {
        write_all(&mut batch, out, |message, out| {
            if context.json {
                write_raw(message, out)
            } else {
                out.write_all(&pretty(message.record.raw(), 2, 0))?;
                out.write_all(b"\n")
            }
        })
        .map(drop)
    })?;
    Ok(Exit::Done)
}

pub(super) fn raw(context: &Context, place: &MessageContext, args: &Raw) -> Result<Exit, Failure> {
    let now = seconds(context);
    let mut batch = if args.all {
        messages(&folder(context, place)?, None, args.lenient, now)?
    } else {
        let me = MessageUser::find(context, place)?;
        messages(&me.folder, Some(&me.alias), args.lenient, now)?
    };
    original_out(io::BufWriter::new(io::stdout().lock()), |out| {
        write_all(&mut batch, out, write_raw).map(drop)
    })?;
    Ok(context.notes(&notes(batch.troubles())))
}
