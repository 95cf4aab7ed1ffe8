//! `init`: a message folder, and what sync tools should leave out of it.

use clap::Args;
use rethread_disk::{DiskError, Mode, read_small, replace};
use rethread_render::one_line;
use serde_json::json;

use super::who::folder;
use super::{MessageContext, Safely};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print, print_json, say};

/// What belongs to one machine: the two files of a reader, files that are being written, and old
/// files of logs that are being compacted.
const RULES: [&str; 4] = [".seen-*", ".mtime-*", ".*.tmp", ".log-*.old"];

/// Syncthing's list of what not to sync.
const IGNORE_FILE: &str = ".stignore";

/// Create the message folder, and rules for what a sync tool must leave out.
///
/// Readers' own files, `.seen-*` and `.mtime-*`, must not be synced; nor should files that are only
/// there while something is written, `.*.tmp` and `.log-*.old`. Syncthing reads that from
/// `.stignore`, to which missing rules are added; tell other tools in their own way.
#[derive(Args, Debug)]
pub(crate) struct InitMessages {
    #[command(flatten)]
    safely: Safely,
}

pub(super) fn run(
    context: &Context,
    place: &MessageContext,
    args: &InitMessages,
) -> Result<Exit, Failure> {
    let folder = folder(context, place)?;
    let d = args.safely.durability;
    folder.create(d)?;
    let path = folder.path().join(IGNORE_FILE);
    let mut text = match read_small(&path) {
        Err(DiskError::NotFound { .. }) => Vec::new(),
        bytes => bytes?,
    };
    let has = |text: &[u8], rule: &str| {
        let mut lines = text.split(|b| *b == b'\n');
        lines.any(|line| line.trim_ascii() == rule.as_bytes())
    };
    let missing: Vec<&str> = RULES.into_iter().filter(|r| !has(&text, r)).collect();
    if !missing.is_empty() {
        if !text.is_empty() && !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        for rule in &missing {
            text.extend_from_slice(rule.as_bytes());
            text.push(b'\n');
        }
        replace(&path, &text, Mode::Private, d)?;
    }
    if context.json {
        print_json(&json!({
            "path": folder.path().to_string_lossy(),
            "ignore": path.to_string_lossy(),
            "added": missing,
        }))?;
    } else {
        print(&one_line(&folder.path().to_string_lossy()))?;
        say(&format!(
            "sync tools other than Syncthing must be told to leave out {}",
            RULES.join(", ")
        ));
    }
    Ok(Exit::Done)
}
