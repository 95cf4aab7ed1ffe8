//! `msg`: agents writing to each other through files (SAMP v1).

mod body;
mod check;
mod compact;
mod history;
mod inbox;
mod init;
mod install;
pub(crate) mod other_names;
mod send;
mod show;
mod watch;
mod who;

pub(crate) use who::MessageUser;

use clap::{Args, Subcommand};
use rethread_engine::Durability;
use rethread_model::Note;
use rethread_samp::Trouble;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Write to other agents through files, and read what they wrote.
///
/// This is the protocol SAMP v1. Everybody appends to a log of their own in a folder that all share, and reads the logs of all.
/// Who you are: `--as`, else `AGENT_MESSAGE_ALIAS`, else the first alias in a file
/// `.agent-message` of the current folder, else the name of that folder. Where the logs are:
/// `--dir`, else `AGENT_MESSAGE_DIR`, else `agent-message` in `XDG_STATE_HOME` (`~/.local/state`).
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread msg send bob \"The build is red\"     one line in your own log
  git diff | rethread msg send bob             the text from standard input
  rethread msg inbox                           what is new for you
  rethread msg reply \"On it\"                   to the newest message to you
  rethread msg watch --exec ./on-message.sh    a program for each message that arrives")]
pub(crate) struct Msg {
    #[command(flatten)]
    place: MessageContext,
    #[command(subcommand)]
    command: MsgCommand,
}

/// Who, and where.
#[derive(Args, Debug, Default)]
pub(crate) struct MessageContext {
    /// Who you are.
    #[arg(long = "as", global = true, value_name = "ALIAS")]
    alias: Option<String>,
    /// The message folder.
    #[arg(long, global = true, value_name = "DIR")]
    dir: Option<std::path::PathBuf>,
}

impl MessageContext {
    /// The flags as they were given.
    pub(crate) fn words(&self) -> Vec<String> {
        let dir = self
            .dir
            .as_ref()
            .map(|dir| dir.to_string_lossy().into_owned());
        let flags = [("--as", self.alias.clone()), ("--dir", dir)];
        let given = flags
            .into_iter()
            .filter_map(|(flag, value)| Some([flag.to_owned(), value?]));
        given.flatten().collect()
    }
}

#[derive(Debug, Subcommand)]
enum MsgCommand {
    Send(send::SendMessage),
    Reply(send::Reply),
    Inbox(inbox::Inbox),
    Log(history::Log),
    Cat(history::Cat),
    Raw(history::Raw),
    Compact(compact::Compact),
    Watch(watch::Watch),
    Check(check::CheckMessages),
    Whoami(who::Whoami),
    Init(init::InitMessages),
    Install(install::Install),
}

/// How commands that write do so. There is nothing to wait for: a log has one writer.
#[derive(Args, Clone, Copy, Debug)]
struct Safely {
    /// What is synced to disk before success is reported: `none` survives a crash of the program,
    /// `close` and `each` also one of the machine.
    #[arg(long, value_name = "none|close|each", default_value = "close")]
    durability: Durability,
}

pub(crate) fn run(context: &Context, args: Msg) -> Result<Exit, Failure> {
    let Msg { place, command } = args;
    match command {
        MsgCommand::Send(args) => send::send(context, &place, args),
        MsgCommand::Reply(args) => send::reply(context, &place, args),
        MsgCommand::Inbox(args) => inbox::run(context, &place, &args),
        MsgCommand::Log(args) => history::log(context, &place, &args),
        MsgCommand::Cat(args) => history::cat(context, &place, &args),
        MsgCommand::Raw(args) => history::raw(context, &place, &args),
        MsgCommand::Compact(args) => compact::run(context, &place, &args),
        MsgCommand::Watch(args) => watch::run(context, &place, &args),
        MsgCommand::Check(args) => check::run(context, &place, &args),
        MsgCommand::Whoami(args) => who::run(context, &place, &args),
        MsgCommand::Init(args) => init::run(context, &place, &args),
        MsgCommand::Install(args) => install::run(context, &args),
    }
}

/// What was noticed, as every command shows it.
fn notes(troubles: &[Trouble]) -> Vec<Note> {
    let note = |trouble: &Trouble| {
        let mut note = if trouble.what.is_damage() {
            Note::damage(trouble.what.to_string())
        } else {
            Note::remark(trouble.what.to_string())
        };
        note = note.at(&trouble.path);
        note.line = trouble.line;
        note.offset = trouble.offset;
        note.hint = trouble.what.hint().map(str::to_owned);
        note
    };
    troubles.iter().map(note).collect()
}
