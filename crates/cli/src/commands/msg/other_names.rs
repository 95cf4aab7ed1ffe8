//! The program under the names `agent-message-cmd` and `msg`: it takes the arguments of the
//! reference implementation and prints its lines.

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use rethread_engine::Durability;
use rethread_json::pretty;
use rethread_model::Note;
use rethread_samp::{Draft, Error, Inbox, Reply, Sent, Watch, compact, history, message, messages};

use super::MessageContext;
use super::body::from_stdin;
use super::compact::line;
use super::history::write_block;
use super::send::{repeated, sent_line};
use super::show::{clock, seconds, summary, write_all, write_raw, write_short};
use super::who::{MessageUser, alias_of, folder};
use crate::args::Global;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{json_out, original_out, print, report, say};

/// The names that links to the program may have.
pub(super) const NAMES: [&str; 2] = ["agent-message-cmd", "msg"];

/// Whom the reference implementation takes somebody without a name for. Nobody writes as that.
const UNKNOWN: &str = "unknown";

const HELP: &str = "\
msg: messages between agents

  msg [inbox]              what is new
  msg all                  every message to you
  msg send <to> <body>     send a message
  msg reply <body>         reply to the newest message
  msg tail                 follow new messages
  msg cat <id|prefix>      one record (4 characters or more)
  msg log [alias]          all messages from and to you (or alias)
  msg raw [all]            records, one a line
  msg compact              take repeated messages out of your own log
  msg help
  msg --version

`rethread msg --help` says more.
";

/// The other name under which the program was called, if it was.
pub(crate) fn name(called: Option<&OsStr>) -> Option<&'static str> {
    let stem = Path::new(called?).file_stem()?;
    NAMES.into_iter().find(|name| stem == *name)
}

/// Runs the program under another name.
pub(crate) fn main(name: &'static str, args: impl Iterator<Item = OsString>) -> Exit {
    let global = Global {
        no_pager: true,
        ..Global::default()
    };
    let args: Vec<String> = args.map(|a| a.to_string_lossy().into_owned()).collect();
    let done = Context::new(&global).and_then(|context| {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let program = Program { context };
        let done = if name == "msg" {
            program.msg(&args)
        } else {
            program.agent_message_cmd(&args)
        };
        program.context.tell_notes();
        done
    });
    done.unwrap_or_else(|failure| {
        report(&failure, false, false);
        failure.exit()
    })
}

struct Program {
    context: Context,
}

/// Says why not, in the words that scripts know.
#[allow(
    clippy::unnecessary_wraps,
    reason = "it is the answer of a command, as everything beside it"
)]
fn no(why: &str) -> Result<Exit, Failure> {
    say(why);
    Ok(Exit::Failed)
}

#[allow(
    clippy::unnecessary_wraps,
    reason = "it is the answer of a command, as everything beside it"
)]
fn usage(how: &str) -> Result<Exit, Failure> {
    say(how);
    Ok(Exit::Usage)
}

impl Program {
    fn agent_message_cmd(&self, args: &[&str]) -> Result<Exit, Failure> {
        match args {
            ["--version" | "-V", ..] => {
                print("agent-message 1.1.1 (SAMP v1)")?;
                Ok(Exit::Done)
            }
            ["send"] => no("usage: send <to>"),
            ["send", ..] if io::stdin().is_terminal() => {
                no("send: pipe body via stdin, e.g. echo 'hi' | agent-message-cmd send <to>")
            }
            ["send", to, ..] => self.send(to, &from_stdin()?),
            ["reply", ..] if io::stdin().is_terminal() => {
                no("reply: pipe body via stdin, e.g. echo 'lgtm' | agent-message-cmd reply")
            }
            ["reply", ..] => self.reply(&from_stdin()?, "no inbox messages to reply to"),
            ["inbox"] | ["inbox", "default", ..] => self.inbox(true),
            ["inbox", "all", ..] => self.all(true),
            ["inbox", "raw", ..] => self.inbox_raw(),
            ["inbox", mode, ..] => no(&format!(
                "unknown mode: {}",
                rethread_render::one_line(mode)
            )),
            _ => no("usage: agent-message-cmd {send|inbox|reply} [args]  (--version)"),
        }
    }

    fn msg(&self, args: &[&str]) -> Result<Exit, Failure> {
        match args {
            [] | ["new" | "inbox", ..] => self.inbox(false),
            ["all", ..] => self.all(false),
            ["send", to, body @ ..] if !body.is_empty() => self.send(to, &body.join(" ")),
            ["send", ..] => usage("usage: msg send <to> <body...>"),
            ["reply"] => usage("usage: msg reply <body...>"),
            ["reply", body @ ..] => self.reply(&body.join(" "), "no inbox messages"),
            ["tail", ..] => self.tail(),
            ["cat"] => usage("usage: msg cat <id|prefix>"),
            ["cat", id, ..] => self.cat(id),
            ["log"] => self.log(None),
            ["log", alias, ..] => self.log(Some(alias)),
            ["raw"] => self.raw(false),
            ["raw", "all", ..] => self.raw(true),
            ["raw", ..] => usage("usage: msg raw [all]"),
            ["compact", ..] => self.compact(),
            ["--version" | "-V" | "version", ..] => {
                print("msg 1.1.1 (SAMP v1)")?;
                Ok(Exit::Done)
            }
            ["help" | "-h" | "--help", ..] => {
                print(HELP.trim_end())?;
                Ok(Exit::Done)
            }
            [other, ..] => no(&format!(
                "unknown subcommand: {} (try: msg help)",
                rethread_render::one_line(other)
            )),
        }
    }

    /// Who reads; as the reference implementation does, somebody without a name may.
    fn reader(&self) -> Result<MessageUser, Failure> {
        MessageUser::find_or(&self.context, &MessageContext::default(), Some(UNKNOWN))
    }

    fn writer(&self) -> Result<MessageUser, Failure> {
        let me = MessageUser::find(&self.context, &MessageContext::default())?;
        self.context.notes(&me.use_here(&self.context));
        Ok(me)
    }

    fn send(&self, to: &str, text: &str) -> Result<Exit, Failure> {
        let me = self.writer()?;
        let to = alias_of("the recipient", to)?;
        let draft = Draft {
            from: &me.alias,
            to: &to,
            text,
        };
        let now = || seconds(&self.context);
        let clock = clock(&self.context, &now);
        self.say_sent("sent", &draft.send(&me.folder, clock, Durability::Close)?)
    }

    fn reply(&self, text: &str, nothing: &str) -> Result<Exit, Failure> {
        let me = self.writer()?;
        let reply = Reply {
            me: &me.alias,
            text,
            to_id: None,
        };
        let now = || seconds(&self.context);
        match reply.send(&me.folder, clock(&self.context, &now), Durability::Close) {
            Err(Error::NothingToReplyTo { .. }) => no(nothing),
            sent => self.say_sent("reply", &sent?),
        }
    }

    fn say_sent(&self, word: &str, sent: &Sent) -> Result<Exit, Failure> {
        print(&sent_line(word, sent))?;
        let note: Vec<Note> = repeated(sent).into_iter().collect();
        self.context.notes(&note);
        Ok(Exit::Done)
    }

    fn inbox(&self, counted: bool) -> Result<Exit, Failure> {
        let me = self.reader()?;
        let mut new = self.inbox_of(&me).new_messages(&me.cache)?;
        self.show(&mut new.batch, counted, "no new messages")?;
        let notes = super::inbox::note(&self.context, new);
        self.context.notes(&notes);
        Ok(Exit::Done)
    }

    fn all(&self, counted: bool) -> Result<Exit, Failure> {
        let me = self.reader()?;
        let mut batch = self.inbox_of(&me).all()?;
        self.show(&mut batch, counted, "no messages")?;
        self.context.notes(&super::notes(batch.troubles()));
        Ok(Exit::Done)
    }

    fn inbox_raw(&self) -> Result<Exit, Failure> {
        let me = self.reader()?;
        let mut batch = self.inbox_of(&me).all()?;
        if batch.is_empty() {
            print("no messages")?;
        }
        raw_out(&mut batch)?;
        self.context.notes(&super::notes(batch.troubles()));
        Ok(Exit::Done)
    }

    fn inbox_of<'a>(&self, me: &'a MessageUser) -> Inbox<'a> {
        Inbox {
            folder: &me.folder,
            me: &me.alias,
            now: seconds(&self.context),
            lenient: false,
        }
    }

    fn show(
        &self,
        batch: &mut rethread_samp::Batch,
        counted: bool,
        nothing: &str,
    ) -> Result<(), Failure> {
        let mut out = io::BufWriter::new(io::stdout().lock());
        let (count, senders) = write_all(batch, &mut out, |message, out| {
            write_short(&self.context, message, out)
        })?;
        if count == 0 {
            writeln!(out, "{nothing}")?;
        } else if counted {
            writeln!(out, "{}", summary(count, &senders))?;
        }
        Ok(out.flush()?)
    }

    /// Prints what arrives from now on; nothing is noted.
    fn tail(&self) -> Result<Exit, Failure> {
        const PAUSE: std::time::Duration = std::time::Duration::from_millis(500);
        let me = self.reader()?;
        let mut known: std::collections::BTreeSet<_> = self.inbox_of(&me).all()?.ids().collect();
        let mut watch = Watch::default();
        watch.has_changed(&me.folder)?;
        loop {
            std::thread::sleep(PAUSE);
            if !watch.has_changed(&me.folder)? {
                continue;
            }
            let mut batch = self.inbox_of(&me).all()?;
            let mut out = io::stdout().lock();
            write_all(&mut batch, &mut out, |message, out| {
                if known.insert(message.id) {
                    write_short(&self.context, message, out)?;
                    out.flush()?;
                }
                Ok(())
            })?;
        }
    }

    fn cat(&self, id: &str) -> Result<Exit, Failure> {
        let folder = folder(&self.context, &MessageContext::default())?;
        let mut batch = match message(&folder, id, false, seconds(&self.context)) {
            Err(Error::ShortPrefix(_)) => return no("id prefix must be at least 4 chars"),
            Err(Error::NoSuchMessage(id)) => {
                let id = rethread_render::one_line(&id).into_owned();
                return no(&format!("no message with id starting with '{id}'"));
            }
            Err(Error::Ambiguous { ids, .. }) => {
                const NAMED: usize = 10;
                say("multiple matches:");
                ids.iter()
                    .take(NAMED)
                    .for_each(|id| say(&format!("  {id}")));
                let more = ids.len().saturating_sub(NAMED);
                if more > 0 {
                    say(&format!("  … and {more} more"));
                }
                return Ok(Exit::Failed);
            }
            found => found?,
        };
        json_out(io::stdout().lock(), |out| {
            write_all(&mut batch, out, |message, out| {
                out.write_all(&pretty(message.record.raw(), 2, 0))?;
                out.write_all(b"\n")
            })
            .map(drop)
        })?;
        Ok(Exit::Done)
    }

    fn log(&self, alias: Option<&str>) -> Result<Exit, Failure> {
        let me = self.reader()?;
        let alias = alias.map_or(Ok(me.alias), |alias| alias_of("the alias", alias))?;
        let mut batch = history(&me.folder, &alias, false, seconds(&self.context))?;
        let mut out = io::BufWriter::new(io::stdout().lock());
        write_all(&mut batch, &mut out, |message, out| {
            write_block(&self.context, message, out)
        })?;
        out.flush()?;
        Ok(Exit::Done)
    }

    fn raw(&self, all: bool) -> Result<Exit, Failure> {
        let me = self.reader()?;
        let to = Some(&me.alias).filter(|_| !all);
        raw_out(&mut messages(
            &me.folder,
            to,
            false,
            seconds(&self.context),
        )?)?;
        Ok(Exit::Done)
    }

    fn compact(&self) -> Result<Exit, Failure> {
        let me = self.writer()?;
        print(&line(&compact(&me.folder, &me.alias, Durability::Close)?))?;
        Ok(Exit::Done)
    }
}

fn raw_out(batch: &mut rethread_samp::Batch) -> Result<(), Failure> {
    original_out(io::BufWriter::new(io::stdout().lock()), |out| {
        write_all(batch, out, write_raw).map(drop)
    })
}
