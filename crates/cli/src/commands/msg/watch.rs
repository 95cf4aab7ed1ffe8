//! `watch`: messages as they arrive.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use clap::Args;
use rethread_model::Note;
use rethread_samp::{Inbox, Message, Watch as Change};

use super::MessageContext;
use super::inbox::note;
use super::show::{Times, object, seconds, write_all, write_text};
use super::who::MessageUser;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::json_out;

/// Print messages to you as they arrive, beginning with what is new.
///
/// They count as shown, as those of `inbox` do. The folder is looked at again and again, so this
/// works on network shares and with every sync tool.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread msg watch
  rethread msg watch --exec notify-send -- \"A message\"
  rethread msg watch --count 1 --json          wait for one message")]
pub(crate) struct Watch {
    /// Run a program once for each message, with its record on standard input. It is started as it
    /// is, never through a shell; what it prints takes the place of the message.
    #[arg(long, value_name = "CMD")]
    exec: Option<OsString>,
    /// Arguments for the program, after `--`.
    #[arg(last = true, requires = "exec")]
    args: Vec<OsString>,
    /// Stop after so many messages.
    #[arg(long, value_name = "N")]
    count: Option<usize>,
    /// How many seconds to wait between two looks.
    #[arg(long, value_name = "SECONDS", default_value = "0.5", value_parser = seconds_of)]
    interval: Duration,
    /// Also show records that lie in a log that is not their sender's.
    #[arg(long)]
    lenient: bool,
}

fn seconds_of(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| "not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|e| e.to_string())
}

pub(super) fn run(
    context: &Context,
    place: &MessageContext,
    args: &Watch,
) -> Result<Exit, Failure> {
    let me = MessageUser::find(context, place)?;
    context.notes(&me.use_here(context));
    context.tell_notes();
    let mut change = Change::default();
    let mut left = args.count;
    let mut exit = Exit::Done;
    let mut pending = false;
    while left != Some(0) {
        if !pending && !change.has_changed(&me.folder)? {
            std::thread::sleep(args.interval);
            continue;
        }
        let inbox = Inbox {
            folder: &me.folder,
            me: &me.alias,
            now: seconds(context),
            lenient: args.lenient,
        };
        let mut new = inbox.new_messages(&me.cache)?;
        // A program may do anything: each run is noted before the next.
        let most = match args.exec {
            Some(_) => 1,
            None => left.unwrap_or(usize::MAX),
        };
        pending = new.keep(most);
        let mut said = Vec::new();
        let count = show(context, &mut new.batch, args, &mut said)?;
        left = left.map(|left| left.saturating_sub(count));
        said.extend(note(context, new));
        exit = exit.or(context.notes(&said));
        context.tell_notes();
        if context.strict && exit != Exit::Done {
            break;
        }
    }
    Ok(exit)
}

fn show(
    context: &Context,
    batch: &mut rethread_samp::Batch,
    args: &Watch,
    failures: &mut Vec<Note>,
) -> Result<usize, Failure> {
    let mut count = 0;
    let mut times = Times::new(context);
    let mut write = |out: &mut dyn Write| {
        (count, _) = write_all(batch, out, |message, out| match &args.exec {
            Some(program) => exec(program, &args.args, message).map(|failed| {
                failures.extend(failed);
            }),
            None if context.json => writeln!(out, "{}", object(message)),
            None => write_text(&mut times, message, out),
        })?;
        Ok(())
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    if context.json && args.exec.is_none() {
        json_out(out, write)?;
    } else {
        write(&mut out)?;
        out.flush()?;
    }
    Ok(count)
}

/// Runs the program once. That it fails is said, and the message counts as handled; that it cannot
/// be started is an error, and the message comes again.
fn exec(program: &OsString, args: &[OsString], message: &Message<'_>) -> io::Result<Option<Note>> {
    let name = program.to_string_lossy();
    let started = Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .spawn();
    let mut child = started.map_err(|e| io::Error::other(format!("cannot run `{name}`: {e}")))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program need not read what it is given.
        let _ = stdin
            .write_all(message.record.raw())
            .and_then(|()| stdin.write_all(b"\n"));
    }
    let status = child.wait()?;
    let failed = || {
        Note::damage(format!(
            "`{name}` failed on message {}: {status}",
            message.id
        ))
    };
    Ok((!status.success()).then(failed))
}
