//! `convert`: sessions as another agent would have written them.

mod choice;
mod report;

use std::path::PathBuf;

use clap::Args;
use rethread_engine::{
    ConvertOptions, ConvertOutcome, Source, Writing, convert_session, format_named,
};
use rethread_model::Severity;

use crate::args::WriteFlags;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::filters::FilterFlags;
use crate::homes::HomeFlags;
use crate::names::name_parser;

use choice::chosen;
use report::{ConvertReport, Legend, lost};

/// Write sessions in the format of another agent.
///
/// They go into that agent's own store, or under a folder. What the target has no place for travels along in it, packed, where its client leaves it alone:
/// converting back gives the original files again, byte for byte, with what was said meanwhile behind
/// them. Prints the id and the path of each session. What was converted before, and is there with the
/// same original in it, is not converted again.
///
/// A name is a session, else a workspace, with all of its sessions. Without names, `--agent`, `--since`,
/// `--until` or `--model` choose among the sessions of the current workspace, with `--aw` among all.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread convert latest --to codex             so that Codex can go on with it
  rethread convert claude:7f3a --to pi -o ./out  under ./out, as if it were pi's folder
  rethread convert 7f3a --to gemini --dry-run    only what would become of it
  rethread convert 7f3a --to codex --lean        without what Codex has no place for
  rethread convert 7f3a --to atsf --cwd .        into this project
  rethread convert . --agent pi --to claude      what pi did in this project")]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(crate) struct Convert {
    /// What to convert: sessions, or workspaces.
    #[arg(value_name = "SESSION|WORKSPACE", required_unless_present_any = ["aw"].into_iter().chain(FilterFlags::NAMES), value_parser = name_parser())]
    names: Vec<String>,
    /// The format to write.
    #[arg(long, value_name = "FORMAT")]
    to: String,
    /// Write under DIR, as if it were the agent's own folder; one that is not there is made private.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// The folder in which the work goes on; the one that the session names by default.
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// All workspaces.
    #[arg(long)]
    aw: bool,
    #[command(flatten)]
    homes: HomeFlags,
    #[command(flatten)]
    filters: FilterFlags,
    /// Leave out what the target has no place for. There is no way back then.
    #[arg(long)]
    lean: bool,
    /// Leave out sub-agents, which otherwise come along with the session that started them.
    #[arg(long)]
    no_subagents: bool,
    /// Only say what would become of everything.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    write: WriteFlags,
}

pub(crate) fn run(context: &Context, args: &Convert) -> Result<Exit, Failure> {
    let to = format_named("format", &args.to)?;
    let root = args.output.as_ref().map(|dir| context.output(dir));
    let cwd = args.cwd.as_ref().map(|dir| context.folder(Some(dir)));
    if let Some(cwd) = cwd.as_ref().filter(|cwd| !cwd.is_dir()) {
        return Err(Failure::usage(format!("`{}` is no folder", cwd.display())));
    }
    let w = context.writing(args.write);
    let ask = ConvertOptions {
        to,
        root: root.as_deref(),
        cwd: cwd.as_deref(),
        lean: args.lean,
        agents: !args.no_subagents,
        dry_run: args.dry_run,
    };
    let (mut chosen, mut exit) = chosen(context, args, to.slug())?;
    if chosen.is_empty() {
        context.say("no sessions were found");
        return Ok(Exit::Failed);
    }
    if context.strict {
        chosen = all_or_none(&w, chosen, &ask)?;
    }
    let report = ConvertReport {
        as_json: context.json,
        is_lean: args.lean,
        is_dry: args.dry_run,
        is_one: chosen.len() == 1,
    };
    let mut legend = Legend::default();
    for source in chosen {
        let done = source.and_then(|source| Ok(convert_session(&w, &source, &ask)?));
        match done {
            Ok(done) => {
                exit = worse(exit, context.notes(&done.notes));
                report.show(&done, &mut legend)?;
            }
            Err(e) if report.is_one => return Err(e),
            Err(e) => {
                context.failed(&e);
                exit = Exit::Partly;
            }
        }
    }
    legend.say(to.about().name);
    Ok(exit)
}

/// What is said of all, when one more ended so.
fn worse(all: Exit, one: Exit) -> Exit {
    if one == Exit::Done { all } else { one }
}

/// With `--strict`, each of them is looked at before the first is written.
fn all_or_none(
    w: &Writing<'_>,
    chosen: Vec<Result<Source, Failure>>,
    ask: &ConvertOptions<'_>,
) -> Result<Vec<Result<Source, Failure>>, Failure> {
    let look = |source: Result<Source, Failure>| {
        let source = source?;
        refuse_losses(w, &source, ask)?;
        Ok(Ok(source))
    };
    chosen.into_iter().map(look).collect()
}

/// Refuses a session in which something is damaged, or of which something would be lost.
fn refuse_losses(
    w: &Writing<'_>,
    source: &Source,
    ask: &ConvertOptions<'_>,
) -> Result<(), rethread_engine::Error> {
    let looked = convert_session(
        w,
        source,
        &ConvertOptions {
            dry_run: true,
            ..*ask
        },
    )?;
    let mut notes = looked.notes.iter();
    if let Some(damage) = notes.find(|note| note.severity == Severity::Damage) {
        return Err(rethread_engine::Error::Refused {
            message: damage.to_string(),
            hint: "without `--strict` what can be read is converted".to_owned(),
        });
    }
    if looked.left_out > 0 {
        return Err(rethread_engine::Error::Refused {
            message: "its sub-agents would be left out".to_owned(),
            hint: "without `--no-subagents` they come along".to_owned(),
        });
    }
    let lost: Vec<&str> = lost(&looked).map(|fate| fate.what).collect();
    if lost.is_empty() || !ask.lean || looked.way != ConvertOutcome::Written {
        return Ok(());
    }
    Err(rethread_engine::Error::Refused {
        message: format!("{} has no place for: {}", looked.to, lost.join(", ")),
        hint: "without `--lean` it travels along".to_owned(),
    })
}
