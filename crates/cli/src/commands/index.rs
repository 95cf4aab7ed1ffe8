//! `index`: what is known of conversations from before.

use clap::Args;
use rethread_engine::{Env, IndexOverview, SearchLibrary, clear_search_cache};
use rethread_render::{byte_count, one_line};
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print, print_json};
use crate::progress::Progress;
use crate::table::count;

/// Show the catalogue and the search index: what is in them, how large, how fresh.
///
/// Both are caches in Rethread's cache folder: they make answers fast and never change them, and can be
/// deleted at any time. A search adds to the index by itself when much is new.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread index            what there is
  rethread index --update   add what is new now, and not after the next search
  rethread index --rebuild  make both anew
  rethread index --clear    delete both")]
pub(crate) struct IndexCommand {
    /// Add what is not in the index yet.
    #[arg(long)]
    update: bool,
    /// Delete both, and make them anew.
    #[arg(long, conflicts_with_all = ["clear", "update"])]
    rebuild: bool,
    /// Delete both.
    #[arg(long, conflicts_with = "update")]
    clear: bool,
}

pub(crate) fn run(context: &Context, args: &IndexCommand) -> Result<Exit, Failure> {
    let env = &context.env;
    if args.clear || args.rebuild {
        let removed = clear_search_cache(env)?;
        if args.clear {
            for folder in &removed {
                let path = folder.to_string_lossy();
                if context.json {
                    print_json(&json!({ "removed": path }))?;
                } else {
                    print(&format!("removed {}", one_line(&path)))?;
                }
            }
            if removed.is_empty() && !context.json {
                context.say("there was nothing to remove");
            }
            return Ok(Exit::Done);
        }
    }
    let mut exit = Exit::Done;
    let mut library = open(env);
    if args.rebuild || args.update {
        let progress = Progress::of_bytes("indexing");
        let report = library.update_index(env, &|done, of| progress.at_byte(done, of));
        drop(progress);
        if let Some(why) = report.stopped {
            context.say(&format!(
                "not everything is in the index: {}",
                one_line(&why)
            ));
            exit = Exit::Failed;
        }
        library = open(env);
    }
    let noted = context.notes(library.notes());
    let overview = library.overview();
    if context.json {
        print_json(&overview_json(&overview))?;
    } else {
        print(&overview_text(&overview))?;
    }
    Ok(exit.or(noted))
}

fn open(env: &Env) -> SearchLibrary {
    let progress = Progress::new("listing");
    SearchLibrary::open(env, &|done, of| progress.at(done, of))
}

fn overview_text(overview: &IndexOverview) -> String {
    let mut lines = Vec::new();
    match &overview.catalogue {
        Some(state) => lines.push(format!(
            "catalogue  {} sessions, {}, {}",
            count(state.sources),
            byte_count(state.size),
            one_line(&state.folder.to_string_lossy())
        )),
        None => lines.push("catalogue  not kept".to_owned()),
    }
    match &overview.index {
        Some(state) => lines.push(format!(
            "index      {} texts of {} sessions, {}, {}",
            count(state.texts),
            count(state.sessions),
            byte_count(state.size),
            one_line(&state.folder.to_string_lossy())
        )),
        None => lines.push("index      none yet".to_owned()),
    }
    let pending = overview.pending;
    lines.push(match pending.sessions {
        0 => "fresh      everything is in the index".to_owned(),
        sessions => format!(
            "fresh      {} sessions are new or changed, {}; a search reads them",
            count(sessions),
            byte_count(pending.bytes)
        ),
    });
    lines.join("\n")
}

fn overview_json(overview: &IndexOverview) -> Value {
    json!({
        "catalogue": overview.catalogue.as_ref().map(|state| json!({
            "path": state.folder.to_string_lossy(),
            "sessions": state.sources,
            "size": state.size,
        })),
        "index": overview.index.as_ref().map(|state| json!({
            "path": state.folder.to_string_lossy(),
            "sessions": state.sessions,
            "texts": state.texts,
            "size": state.size,
        })),
        "pending_sessions": overview.pending.sessions,
        "pending_bytes": overview.pending.bytes,
    })
}
