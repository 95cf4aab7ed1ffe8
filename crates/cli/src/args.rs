//! The command line. The doc comments are the help texts.

use std::path::PathBuf;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{ArgAction, Args, ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand};
use rethread_engine::Durability;

use crate::commands::{
    agents, append, branch, check, completions, context, convert, export, fork, help_command,
    index, init, label, list, man, mcp, migrate, msg, new, open, rename, restore, resume, rm,
    sample, search, show, stats, tree, trust, worktree,
};
use crate::help::{self, GLOBAL, STYLES};

/// One library for the conversations of every coding agent on this machine.
///
/// Without a command: an overview of what there is.
#[derive(Debug, Parser)]
#[command(name = "rethread", version, args_conflicts_with_subcommands = false)]
#[command(styles = STYLES, disable_help_flag = true, disable_version_flag = true)]
#[command(disable_help_subcommand = true)]
#[command(after_help = "Examples:
  rethread                          what there is on this machine
  rethread list --since 7d          sessions of the last seven days
  rethread show latest              read the newest conversation
  rethread --sample list            the same commands on a built-in sample

SESSION is an id, the beginning of one (4 characters or more), its two ends (0196f3a1..9c2e),
AGENT:ID, ID@FOLDER where several have the same, `latest`, AGENT:latest, `.:latest` for this
project, the path of a session, or PATH#ID. Exit codes: 0 done, 1 failed or nothing found,
2 wrong usage, 3 done in part (stderr says what was damaged or skipped).")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    /// Print the version.
    #[arg(short = 'V', long, action = ArgAction::Version, help_heading = GLOBAL)]
    version: Option<bool>,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

impl Cli {
    /// Reads the command line.
    ///
    /// Messages are sent and asked for all the time, and to describe the arguments of every other
    /// command costs more than most of them do: where the first word is `msg`, only it is described. Who
    /// asks for the version needs none of them.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        let is_short = |word| word == "msg" || word == "--version" || word == "-V";
        let read = if std::env::args_os().nth(1).is_some_and(is_short) {
            Messages::try_parse().map(Self::from)
        } else {
            Self::try_parse()
        };
        match read {
            Err(e) if is_help(&e) => Self::read_with_help(),
            read => read,
        }
    }

    /// Reads the command line with all that its help shows, which is what it asks for.
    fn read_with_help() -> Result<Self, clap::Error> {
        let matches = help::set(Self::command()).try_get_matches()?;
        Self::from_arg_matches(&matches)
    }

    /// The help of a command, or what is wrong with its name.
    pub(crate) fn help_of(command: &[String]) -> clap::Error {
        let program = ["rethread".to_owned()].into_iter();
        let words = program
            .chain(command.iter().cloned())
            .chain(["--help".to_owned()]);
        match help::set(Self::command()).try_get_matches_from(words) {
            Err(e) => e,
            Ok(_) => clap::Error::new(ErrorKind::InvalidSubcommand),
        }
    }
}

/// Whether somebody is to be shown help, and not told what is wrong.
fn is_help(e: &clap::Error) -> bool {
    matches!(
        e.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    )
}

/// The command line of `msg` alone.
#[derive(Debug, Parser)]
#[command(name = "rethread", version, styles = STYLES, disable_help_flag = true)]
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

impl From<Messages> for Cli {
    fn from(Messages { global, command }: Messages) -> Self {
        let MessageCommand::Msg(msg) = command;
        Self {
            global,
            version: None,
            command: Some(Command::Msg(msg)),
        }
    }
}

/// Flags that every command takes.
#[derive(Args, Debug, Default)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(crate) struct Global {
    /// Print JSON: one object a line for lists, one object for a single answer.
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) json: bool,
    /// Treat damaged or skipped input as a failure: exit 1 instead of 3, and nothing is written.
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) strict: bool,
    /// Tell everything that was noticed: all warnings, and files that hold no conversation.
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) verbose: bool,
    /// Look for agents' stores under DIR instead of the home folder. Can be repeated.
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "DIR")]
    pub(crate) home: Vec<PathBuf>,
    /// Use the built-in sample instead of this machine's conversations. Commands that write change
    /// a copy of it in Rethread's cache folder, and nothing else.
    #[arg(long, global = true, help_heading = GLOBAL, conflicts_with = "home")]
    pub(crate) sample: bool,
    /// Answer without the catalogue: read every conversation now, and keep nothing for the next time.
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) no_cache: bool,
    /// When to use colours.
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorChoice,
    /// Never show long output through `$PAGER`.
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) no_pager: bool,
    /// Print help; `--help` says more than `-h`.
    #[arg(short, long, global = true, help_heading = GLOBAL, action = ArgAction::Help)]
    pub(crate) help: Option<bool>,
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

/// A title that says something: an empty one would make a session that nobody finds again.
pub(crate) fn title(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("a title cannot be empty".to_owned());
    }
    Ok(text.to_owned())
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
    #[command(visible_alias = "ls")]
    List(list::List),
    Search(search::Search),
    Stats(stats::StatsCommand),
    #[command(visible_alias = "cat")]
    Show(show::Show),
    Open(open::Open),
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
    #[command(visible_alias = "delete")]
    Rm(rm::Rm),
    Migrate(migrate::Migrate),
    Index(index::IndexCommand),
    Init(init::Init),
    Worktree(worktree::Worktree),
    Trust(trust::Trust),
    Check(check::Check),
    Msg(msg::Msg),
    Mcp(mcp::Mcp),
    Sample(sample::Sample),
    Restore(restore::Restore),
    Completions(completions::Completions),
    Man(man::Man),
    Help(help_command::HelpCommand),
}
