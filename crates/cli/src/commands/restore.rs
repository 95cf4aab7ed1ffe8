//! `restore`: sessions of an export back in their places.

use std::path::PathBuf;

use clap::Args;
use rethread_engine::{
    Restoration, RestoreOptions, Restored, Restorer, Source, Writing, restorable_sessions,
};
use rethread_model::Note;
use rethread_project::is_folder;
use rethread_render::one_line;
use serde_json::json;

use crate::args::WriteFlags;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::names::name_parser;
use crate::output::{print, print_json, say};

/// Bring the sessions of an export back to their places.
///
/// The original files, which an export carries along, are unpacked, compared with their digests, and
/// put into the stores of their agents on this machine, each session whole or not at all. What is there
/// already is never touched: the same bytes are left alone, and a session that went on since stays as it
/// is. Prints the id and the path of each session that is back.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread restore backup.ndjson.zst --dry-run  what would come back
  rethread restore backup.ndjson.zst
  rethread restore backup.ndjson#7f3a           one session of it
  rethread restore backup.ndjson -o ./looked    elsewhere, a folder for each agent")]
pub(crate) struct Restore {
    /// Exports, or FILE#ID for one session of it; `-` for what comes down a pipe.
    #[arg(value_name = "FILE", required = true, value_parser = name_parser())]
    files: Vec<String>,
    /// Write under DIR instead of into the agents' own folders, with a folder for each agent.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// The project for threads whose own project is not there.
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Only say what would be done.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    write: WriteFlags,
}

pub(crate) fn run(context: &Context, args: &Restore) -> Result<Exit, Failure> {
    let names = context.all_named(&args.files)?;
    let sources = restorable_sessions(&context.env, &names)?;
    if sources.is_empty() {
        context.say("no sessions were found");
        return Ok(Exit::Failed);
    }
    let root = args.output.as_ref().map(|dir| context.env.cwd.join(dir));
    let cwd = args.cwd.as_ref().map(|dir| context.folder(Some(dir)));
    if let Some(cwd) = cwd.as_ref().filter(|cwd| !is_folder(cwd)) {
        return Err(Failure::usage(format!("`{}` is no folder", cwd.display())));
    }
    let ask = RestoreOptions {
        root: root.as_deref(),
        cwd: cwd.as_deref(),
        dry_run: args.dry_run,
    };
    let w = context.writing(args.write);
    if context.strict && !args.dry_run {
        let look = RestoreOptions {
            dry_run: true,
            ..ask
        };
        let exit = restore_all(context, &w, &sources, (&look, false))?;
        if exit != Exit::Done {
            context.say("nothing was written, because of `--strict`");
            return Ok(Exit::Failed);
        }
    }
    restore_all(context, &w, &sources, (&ask, true))
}

/// How many sessions came to which end.
#[derive(Default)]
struct Counts {
    back: usize,
    there: usize,
    not: usize,
}

fn restore_all(
    context: &Context,
    w: &Writing<'_>,
    sources: &[Source],
    (ask, is_told): (&RestoreOptions<'_>, bool),
) -> Result<Exit, Failure> {
    let mut counts = Counts::default();
    let mut exit = Exit::Done;
    let mut restorer = Restorer::new(w, sources, *ask);
    for source in sources {
        match restorer.restore(source) {
            Ok(restored) => {
                exit = exit.or(context.notes(&restored.notes));
                match restored.outcome {
                    Restoration::Back => counts.back += 1,
                    Restoration::There => counts.there += 1,
                    Restoration::Differs => {
                        counts.not += 1;
                        exit = exit.or(context.notes(&[differs(&restored)]));
                    }
                }
                if is_told {
                    print_restored(context, &restored, ask.dry_run)?;
                }
            }
            Err(e) if sources.len() == 1 => return Err(e.into()),
            Err(e) => {
                context.failed(&e.into());
                counts.not += 1;
                exit = Exit::Partly;
            }
        }
    }
    if is_told && !context.json {
        say(&counts.to_text(ask.dry_run));
    }
    Ok(if counts.not == sources.len() {
        Exit::Failed
    } else {
        exit
    })
}

impl Counts {
    fn to_text(&self, is_dry: bool) -> String {
        let back = if is_dry {
            "would come back"
        } else {
            "restored"
        };
        let mut parts = vec![format!("{} {back}", self.back)];
        if self.there > 0 {
            parts.push(format!("{} already there", self.there));
        }
        if self.not > 0 {
            parts.push(format!("{} not restored", self.not));
        }
        parts.join(", ")
    }
}

fn differs(restored: &Restored) -> Note {
    let what = format!(
        "`{}` is there with other content, and stays as it is",
        restored.id
    );
    let note = Note::damage(what);
    match &restored.path {
        Some(path) => note.at(path),
        None => note,
    }
}

fn print_restored(context: &Context, restored: &Restored, is_dry: bool) -> Result<(), Failure> {
    let outcome = match (restored.outcome, is_dry) {
        (Restoration::Back, false) => "restored",
        (Restoration::Back, true) => "would come back",
        (Restoration::There, _) => "already there",
        (Restoration::Differs, _) => "differs",
    };
    let path = restored.path.as_ref().map(|path| path.to_string_lossy());
    if context.json {
        return print_json(&json!({
            "source": restored.source.path.to_string_lossy(),
            "id": restored.id,
            "agent": restored.agent,
            "title": restored.title,
            "path": path,
            "outcome": outcome,
        }));
    }
    if is_dry {
        let title = restored.title.as_deref().unwrap_or("(no title)");
        return print(&format!(
            "{outcome:<15}  {}  {:<11}  {}",
            one_line(&restored.id),
            restored.agent,
            one_line(title)
        ));
    }
    if restored.outcome != Restoration::Back {
        return Ok(());
    }
    let path = path.unwrap_or_default();
    print(&format!("{}\t{}", one_line(&restored.id), one_line(&path)))
}
