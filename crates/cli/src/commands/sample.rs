//! `sample`: something to try things on.

use std::path::PathBuf;

use clap::Args;
use rethread_engine::{clear_sample, write_sample};
use rethread_render::one_line;
use serde_json::json;

use crate::context::{Context, shell_word};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print, print_json, say};

/// Write a small, realistic project with conversations of several agents to try things on.
///
/// DIR gets two folders: `shop`, a git repository, and `home`, with what the agents would keep in a
/// home folder. Ids and times are always the same.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread sample ./try-me
  rethread --home ./try-me/home list
  rethread --sample list                  without writing it anywhere first
  rethread sample --clear                 forget what `--sample` changed")]
pub(crate) struct Sample {
    /// A folder that is new or empty.
    #[arg(value_name = "DIR", required_unless_present = "clear")]
    folder: Option<PathBuf>,
    /// Remove the copy that `--sample` works on; the next command that uses it gets a new one.
    #[arg(long, conflicts_with = "folder")]
    clear: bool,
}

pub(crate) fn run(context: &Context, args: &Sample) -> Result<Exit, Failure> {
    let Some(asked) = &args.folder else {
        return clear(context);
    };
    let made = write_sample(&context.env, asked)?;
    let folder = made.folder.to_string_lossy();
    if context.json {
        print_json(&json!({
            "path": folder,
            "project": made.project.to_string_lossy(),
            "home": made.home.to_string_lossy(),
            "sessions": made.sessions,
        }))?;
        return Ok(Exit::Done);
    }
    print(&one_line(&folder))?;
    let home = asked.join("home").display().to_string();
    let home = shell_word(&home);
    say("\nTry next:");
    for what in ["list", "show latest", "tree pi:latest", "show codex:latest"] {
        say(&format!(
            "  {}",
            context.call(&format!("--home {home} {what}"))
        ));
    }
    Ok(Exit::Done)
}

/// Removes the copy that `--sample` works on.
fn clear(context: &Context) -> Result<Exit, Failure> {
    let removed = clear_sample(&context.env)?;
    let path = removed.as_ref().map(|path| path.to_string_lossy());
    if context.json {
        print_json(&json!({ "removed": path }))?;
    } else if let Some(path) = path {
        print(&format!("removed {}", one_line(&path)))?;
    } else {
        say("there is no copy of the sample");
    }
    Ok(Exit::Done)
}
