//! `init`: a thread store in this project.

use std::path::PathBuf;

use clap::Args;
use rethread_engine::init_project;
use rethread_formats::PROJECT_FORMAT;
use rethread_render::one_line;
use serde_json::json;

use crate::args::WriteFlags;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print, print_json, say};

/// Create `.agent/` in this project, for threads.
///
/// Creates what is missing and leaves what is there. Inside a git worktree, that is its root.
#[derive(Args, Debug)]
pub(crate) struct Init {
    /// The project; the current folder by default.
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    #[command(flatten)]
    write: WriteFlags,
}

pub(crate) fn run(context: &Context, args: &Init) -> Result<Exit, Failure> {
    let folder = context.folder(args.cwd.as_deref());
    let made = init_project(&context.writing(args.write), PROJECT_FORMAT, &folder)?;
    let path = made.path.to_string_lossy();
    if context.json {
        let created: Vec<_> = made.created.iter().map(|p| p.to_string_lossy()).collect();
        print_json(&json!({ "path": path, "created": created }))?;
    } else {
        print(&one_line(&path))?;
        if made.created.is_empty() {
            say("nothing was missing");
        }
    }
    Ok(context.notes(&made.notes))
}
