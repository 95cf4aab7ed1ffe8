//! `migrate`: bring an old version of a file to the current one.

use clap::Args;
use rethread_engine::migrate_session;
use rethread_render::one_line;
use serde_json::json;

use crate::args::WriteFlags;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::names::name_parser;
use crate::output::{print, print_json};

/// Bring old files to the current version of their format.
///
/// The old files are kept. Reading never needs this, and the first message that is added does it too.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  rethread migrate ~/.pi/agent/sessions/--home-me-shop--/2025-11-20T10-00-00-000Z_1f.jsonl")]
pub(crate) struct Migrate {
    /// The sessions: paths, ids, or what else names a session.
    #[arg(value_name = "PATH", required = true, value_parser = name_parser())]
    sessions: Vec<String>,
    #[command(flatten)]
    write: WriteFlags,
}

pub(crate) fn run(context: &Context, args: &Migrate) -> Result<Exit, Failure> {
    let w = context.writing(args.write);
    for name in &args.sessions {
        let (source, done) = migrate_session(&w, name)?;
        let path = source.path.to_string_lossy();
        let backup = done.backup.as_ref().map(|b| b.to_string_lossy());
        if context.json {
            print_json(&json!({
                "id": source.id, "path": path, "from": done.from, "to": done.to, "backup": backup,
            }))?;
            continue;
        }
        let what = match backup {
            Some(backup) => format!(
                "version {} to {}; the old file is {}",
                done.from,
                done.to,
                one_line(&backup)
            ),
            None => format!("is of version {}; nothing to do", done.from),
        };
        print(&format!("{}: {what}", one_line(&path)))?;
    }
    Ok(Exit::Done)
}
