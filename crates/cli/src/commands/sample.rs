//! `sample`: something to try things on.

use std::path::PathBuf;

use clap::Args;
use rethread_engine::sample;
use rethread_render::one_line;
use serde_json::json;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print, print_json, say};

/// Write a small, realistic project with conversations to try things on.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  rethread sample ./try-me && cd try-me && rethread list .")]
pub(crate) struct Sample {
    /// A folder that is new or empty.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(crate) fn run(context: &Context, args: &Sample) -> Result<Exit, Failure> {
    let made = sample(&context.env, &args.folder)?;
    let folder = made.folder.to_string_lossy();
    if context.json {
        print_json(&json!({ "path": folder, "sessions": made.sessions }))?;
        return Ok(Exit::Done);
    }
    print(&one_line(&folder))?;
    let name = args.folder.display().to_string();
    say("\nTry next:");
    say(&format!("  cd {}", one_line(&name)));
    say("  rethread list .");
    say("  rethread show latest");
    for (id, what) in made.sessions.iter().zip(["--thinking", "--to markdown"]) {
        say(&format!(
            "  rethread show {} {what}",
            id.get(..8).unwrap_or(id)
        ));
    }
    Ok(Exit::Done)
}
