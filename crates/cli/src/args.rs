//! The command line. The doc comments are the help texts.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ColorChoice, Parser, Subcommand};
use rethread_engine::Durability;

use crate::commands::{
    agents, append, branch, check, context, convert, export, fork, init, label, list, migrate, msg,
    new, rename, resume, rm, sample, show, tree, trust, worktree,
};

/// One library for the conversations of every coding agent on this machine.
///
/// Without a command: an overview of what there is.
#[derive(Debug, Parser)]
#[command(name = "rethread", version, args_conflicts_with_subcommands = false)]
#[command(after_help = "Examples:
  rethread                          what there is on this machine
  rethread list --since 7d          sessions of the last seven days
  rethread show latest              read the newest conversation
  rethread sample ./try-me          a small project to try things on

SESSION is an id, the beginning of one (4 characters or more), AGENT:ID, `latest`,
the path of a session, or PATH#ID. Exit codes: 0 done, 1 failed or nothing found,
2 wrong usage, 3 done in part (stderr says what was damaged or skipped).")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

impl Cli {
    /// Reads the command line.
    ///
    /// Messages are sent and asked for all the time, and to describe the arguments of every other
    /// command costs more than most of them do: where the first word is `msg`, only it is described.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        if std::env::args_os().nth(1).is_none_or(|word| word != "msg") {
            return Self::try_parse();
        }
        let Messages { global, command } = Messages::try_parse()?;
        let MessageCommand::Msg(msg) = command;
        Ok(Self {
            global,
            command: Some(Command::Msg(msg)),
        })
    }
}

/// The command line of `msg` alone.
#[derive(Debug, Parser)]
#[command(name = "rethread", version)]
struct Messages {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: MessageCommand,
}

#[derive(Debug, Subcommand)]
enum MessageCommand {
    Msg(msg::Msg),
}

/// Flags that every command takes.
#[derive(Args, Debug)]
pub(crate) struct Global {
    /// Print JSON: one object a line for lists, one object for a single answer.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Treat damaged or skipped input as a failure: exit 1 instead of 3, and nothing is written.
    #[arg(long, global = true)]
    pub(crate) strict: bool,
    /// Look for agents' stores under DIR instead of the home folder. Can be repeated.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) home: Vec<PathBuf>,
    /// When to use colours.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorChoice,
    /// Never show long output through `$PAGER`.
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
}

/// How commands that write do so.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct WriteFlags {
    /// What is synced to disk before success is reported: `none` survives a crash of the program,
    /// `close` and `each` also one of the machine.
    #[arg(long, value_name = "none|close|each", default_value = "close")]
    pub(crate) durability: Durability,
    /// How many seconds to wait while another program writes to the same session.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(crate) lock_timeout: Duration,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| "not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|e| e.to_string())
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Agents(agents::Agents),
    List(list::List),
    Show(show::Show),
    Tree(tree::Tree),
    Context(context::ContextOf),
    Export(export::Export),
    Convert(convert::Convert),
    Resume(resume::Resume),
    New(new::New),
    Append(append::Append),
    Branch(branch::Branch),
    Label(label::Label),
    Rename(rename::Rename),
    Fork(fork::Fork),
    Rm(rm::Rm),
    Migrate(migrate::Migrate),
    Init(init::Init),
    Worktree(worktree::Worktree),
    Trust(trust::Trust),
    Check(check::Check),
    Msg(msg::Msg),
    Sample(sample::Sample),
}
