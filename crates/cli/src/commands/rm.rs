//! `rm`: into the trash, or for good.

use clap::Args;
use rethread_engine::{Removed, Source, find, remove};
use rethread_render::one_line;
use serde_json::json;

use crate::consent;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print, print_json, say};

/// Move sessions to the trash.
///
/// Asks first on a terminal; elsewhere `--yes` is needed. Where something stays, it is named, and what
/// makes the session goes last, so that it can be tried again.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread rm 7f3a
  rethread rm 7f3a 81c0 --yes
  rethread rm 7f3a --force       delete for good")]
pub(crate) struct Rm {
    /// The sessions.
    #[arg(value_name = "SESSION", required = true)]
    sessions: Vec<String>,
    /// Do not ask.
    #[arg(long, short)]
    yes: bool,
    /// Delete for good instead, without asking.
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(context: &Context, args: &Rm) -> Result<Exit, Failure> {
    // All names are looked up before anything goes.
    let mut sources: Vec<Source> = Vec::new();
    for name in &args.sessions {
        sources.push(find(&context.env, name)?);
    }
    let mut exit = Exit::Done;
    let mut removed = 0;
    for source in &sources {
        let decided = args.yes || args.force;
        if !decided && !agreed(source)? {
            say("nothing was removed");
            return Ok(Exit::Failed);
        }
        match remove(source, args.force) {
            Ok(done) => {
                removed += 1;
                tell(context, source, &done)?;
            }
            Err(e) if sources.len() == 1 => return Err(e.into()),
            // Each that stays is named, and the others go.
            Err(e) => {
                context.failed(&e.into());
                exit = Exit::Partly;
            }
        }
    }
    Ok(if removed == 0 { Exit::Failed } else { exit })
}

/// Asks on a terminal; where there is nobody to ask, the answer must have been given.
fn agreed(source: &Source) -> Result<bool, Failure> {
    if !consent::is_possible() {
        return Err(Failure::Usage {
            message: "there is no terminal to ask on".to_owned(),
            hint: Some("`--yes` moves it to the trash without asking".to_owned()),
        });
    }
    let path = source.path.display().to_string();
    Ok(consent::agree(&format!(
        "Move `{}` to the trash?",
        one_line(&path)
    ))?)
}

fn tell(context: &Context, source: &Source, removed: &Removed) -> Result<(), Failure> {
    let (path, word) = match removed {
        Removed::Trashed { path, .. } => (path, "trashed"),
        Removed::Deleted { path } => (path, "deleted"),
    };
    let path = path.to_string_lossy();
    if context.json {
        return print_json(&json!({ "id": source.id, "path": path, "removed": word }));
    }
    print(&format!("{word} {}", one_line(&path)))
}
