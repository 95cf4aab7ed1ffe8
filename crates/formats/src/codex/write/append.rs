//! Adding messages to a session.

use std::path::Path;

use rethread_disk::LockedLog;
use rethread_json::Tree;

use super::message::MessageWriter;
use super::records::{Mode, Records};
use super::{fresh_id, unsupported};
use crate::codex::meta::{Beginning, SessionMeta, read_beginning};
use crate::codex::packed::is_packed;
use crate::codex::record::RolloutRecord;
use crate::codex::{FORMAT, SLUG, document};
use crate::{Env, OpenError, Source, WriteError, Writing};

/// What writes on where a session ends.
pub(in crate::codex) fn message_writer<'a>(
    w: &Writing<'a>,
    source: &Source,
    log: &LockedLog,
) -> Result<MessageWriter<'a>, WriteError> {
    let AppendState { mode, meta } = open(&source.path, log, w.env)?;
    let known = FORMAT.reader().read(source)?.session.head;
    Ok(MessageWriter {
        env: w.env,
        records: Records::new(mode),
        cwd: meta.cwd,
        model: known.model.map(|m| m.id),
        total: known
            .recorded_usage
            .first()
            .map(|r| r.usage)
            .unwrap_or_default(),
        salt: log.len()?,
    })
}

/// What must be known of a file before something is added to it.
pub(in crate::codex) struct AppendState {
    pub(super) mode: Mode,
    pub(super) meta: SessionMeta,
}

/// Looks at a session that somebody wants to add to.
pub(in crate::codex) fn open(
    path: &Path,
    log: &LockedLog,
    env: &Env,
) -> Result<AppendState, WriteError> {
    let Beginning::Session(meta) = read_beginning(path) else {
        return Err(not_ours(path).into());
    };
    let mode = if meta.is_paginated() {
        Mode::Paginated {
            next: next_number(log)?,
            thread: meta.id.clone(),
            turn: fresh_id(env, b"turn"),
        }
    } else {
        Mode::Legacy
    };
    Ok(AppendState { mode, meta: *meta })
}

/// The number of the next record: the client does not go on with a file in which one is missing.
fn next_number(log: &LockedLog) -> Result<u64, WriteError> {
    let unnumbered = || {
        WriteError::BadInput(
            "the last record has no number, so neither the client nor we can add to it".to_owned(),
        )
    };
    let range = log.last_line()?.ok_or_else(unnumbered)?;
    let len = usize::try_from(range.end - range.start).map_err(|_| unnumbered())?;
    let mut line = vec![0; len];
    log.read_at(range.start, &mut line)?;
    let tree = Tree::parse(&line).map_err(|_| unnumbered())?;
    let last = RolloutRecord::of(tree.root(&line)).ordinal();
    last.and_then(|n| n.checked_add(1)).ok_or_else(unnumbered)
}

/// The session's id, by what it says about itself.
pub(in crate::codex) fn id_of(source: &Source) -> Result<String, WriteError> {
    refuse_old(&source.path)?;
    match read_beginning(&source.path) {
        Beginning::Session(meta) => Ok(meta.id),
        _ => Err(not_ours(&source.path).into()),
    }
}

/// Sessions that the client itself does not go on with, or only after it changed their files.
pub(in crate::codex) fn refuse_old(path: &Path) -> Result<(), WriteError> {
    if document::is_document(path) {
        return Err(unsupported("way to change files of 2025"));
    }
    if is_packed(path) {
        return Err(unsupported(
            "way to change compressed files: continue the session with the client first",
        ));
    }
    match read_beginning(path) {
        Beginning::Session(meta) if meta.is_bare() => {
            Err(unsupported("way to change files that old"))
        }
        _ => Ok(()),
    }
}

fn not_ours(path: &Path) -> OpenError {
    OpenError::NotOurs {
        path: path.to_owned(),
        format: SLUG,
    }
}
