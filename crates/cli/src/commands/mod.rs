//! The commands, one file each.

pub(crate) mod agents;
pub(crate) mod append;
pub(crate) mod branch;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod context;
pub(crate) mod convert;
pub(crate) mod export;
pub(crate) mod fork;
pub(crate) mod help_command;
pub(crate) mod index;
pub(crate) mod init;
pub(crate) mod label;
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod migrate;
pub(crate) mod msg;
pub(crate) mod new;
pub(crate) mod open;
pub(crate) mod overview;
pub(crate) mod rename;
pub(crate) mod restore;
pub(crate) mod resume;
pub(crate) mod rm;
pub(crate) mod sample;
pub(crate) mod search;
pub(crate) mod show;
pub(crate) mod stats;
pub(crate) mod tree;
pub(crate) mod trust;
pub(crate) mod worktree;

use rethread_model::Note;

use crate::args::Command;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Runs a command; without one, shows the overview. Where it changed a copy of the sample, says so.
pub(crate) fn run(context: &Context, command: Option<Command>) -> Result<Exit, Failure> {
    let copy = context.sample.as_ref();
    let copy = copy.filter(|_| command.as_ref().is_some_and(may_write));
    let exit = carry_out(context, command)?;
    if let Some(copy) = copy {
        let clear = context.call("sample --clear");
        let note = Note::remark("this was done in a copy of the sample, and nowhere else")
            .at(copy)
            .hint(format!(
                "`{clear}` removes it, and the next command gets a new one"
            ));
        context.notes(&[note]);
    }
    Ok(exit)
}

/// Whether a command may change conversations, or what belongs to them.
fn may_write(command: &Command) -> bool {
    match command {
        Command::Convert(_)
        | Command::Restore(_)
        | Command::Resume(_)
        | Command::New(_)
        | Command::Append(_)
        | Command::Branch(_)
        | Command::Label(_)
        | Command::Rename(_)
        | Command::Fork(_)
        | Command::Rm(_)
        | Command::Migrate(_)
        | Command::Init(_)
        | Command::Worktree(_)
        | Command::Trust(_)
        | Command::Msg(_) => true,
        Command::Mcp(args) => args.may_write(),
        Command::Agents(_)
        | Command::List(_)
        | Command::Search(_)
        | Command::Stats(_)
        | Command::Index(_)
        | Command::Show(_)
        | Command::Open(_)
        | Command::Tree(_)
        | Command::Context(_)
        | Command::Export(_)
        | Command::Check(_)
        | Command::Sample(_)
        | Command::Completions(_)
        | Command::Man(_)
        | Command::Help(_) => false,
    }
}

fn carry_out(context: &Context, command: Option<Command>) -> Result<Exit, Failure> {
    match command {
        None => overview::run(context),
        Some(Command::Agents(args)) => agents::run(context, &args),
        Some(Command::List(args)) => list::run(context, &args),
        Some(Command::Search(args)) => search::run(context, &args),
        Some(Command::Stats(args)) => stats::run(context, &args),
        Some(Command::Show(args)) => show::run(context, &args),
        Some(Command::Open(args)) => open::run(context, &args),
        Some(Command::Tree(args)) => tree::run(context, &args),
        Some(Command::Context(args)) => context::run(context, &args),
        Some(Command::Export(args)) => export::run(context, &args),
        Some(Command::Convert(args)) => convert::run(context, &args),
        Some(Command::Resume(args)) => resume::run(context, &args),
        Some(Command::New(args)) => new::run(context, args),
        Some(Command::Append(args)) => append::run(context, args),
        Some(Command::Branch(args)) => branch::run(context, args),
        Some(Command::Label(args)) => label::run(context, &args),
        Some(Command::Rename(args)) => rename::run(context, &args),
        Some(Command::Fork(args)) => fork::run(context, args),
        Some(Command::Rm(args)) => rm::run(context, &args),
        Some(Command::Migrate(args)) => migrate::run(context, &args),
        Some(Command::Index(args)) => index::run(context, &args),
        Some(Command::Init(args)) => init::run(context, &args),
        Some(Command::Worktree(args)) => worktree::run(context, args),
        Some(Command::Trust(args)) => trust::run(context, &args),
        Some(Command::Check(args)) => check::run(context, &args),
        Some(Command::Msg(args)) => msg::run(context, args),
        Some(Command::Mcp(args)) => mcp::run(context, &args),
        Some(Command::Completions(args)) => completions::run(context, &args),
        Some(Command::Man(args)) => man::run(context, &args),
        Some(Command::Help(args)) => help_command::run(context, &args),
        Some(Command::Restore(args)) => restore::run(context, &args),
        Some(Command::Sample(args)) => sample::run(context, &args),
    }
}
