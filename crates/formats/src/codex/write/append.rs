//! Adding messages to a session.

use std::path::Path;

use rethread_disk::LockedLog;
use rethread_json::Tree;

use super::message::{Given, Writer, given};
use super::records::{Mode, Records};
use super::{fresh_id, unsupported};
use crate::codex::meta::{Beginning, Meta, beginning};
use crate::codex::packed::is_packed;
use crate::codex::record::Record;
use crate::codex::{SLUG, document, read};
use crate::session_log::SessionLog;
use crate::{Appended, Env, MessageInput, OpenError, Source, WriteError, Writing};

/// Adds messages to a session: all that can be written in one go.
pub(crate) fn append(
    w: &Writing<'_>,
    source: &Source,
    messages: &[MessageInput],
) -> Result<Appended, WriteError> {
    refuse_old(&source.path)?;
    let mut log = SessionLog::open(w, &source.path)?;
    let mut writer = writer(w, source, &log)?;
    let looked: Vec<Result<Given, WriteError>> = messages.iter().map(given).collect();
    if w.strict && looked.iter().any(Result::is_err) {
        let refused = looked.into_iter().filter(Result::is_err);
        return Ok(Appended {
            ids: refused.map(|r| r.map(|_| String::new())).collect(),
            notes: Vec::new(),
        });
    }
    let ids = looked
        .into_iter()
        .map(|looked| looked.map(|given| writer.write(&given)))
        .collect();
    let notes = log.append(&writer.records.into_bytes())?;
    Ok(Appended {
        ids,
        notes: notes.into_iter().collect(),
    })
}

/// What writes on where a session ends.
pub(super) fn writer<'a>(
    w: &Writing<'a>,
    source: &Source,
    log: &LockedLog,
) -> Result<Writer<'a>, WriteError> {
    let Open { mode, meta } = open(&source.path, log, w.env)?;
    let known = read::read(source)?.session.head;
    Ok(Writer {
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
pub(super) struct Open {
    pub(super) mode: Mode,
    pub(super) meta: Meta,
}

/// Looks at a session that somebody wants to add to.
pub(super) fn open(path: &Path, log: &LockedLog, env: &Env) -> Result<Open, WriteError> {
    let Beginning::Session(meta) = beginning(path) else {
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
    Ok(Open { mode, meta: *meta })
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
    let last = Record::of(tree.root(&line)).ordinal();
    last.and_then(|n| n.checked_add(1)).ok_or_else(unnumbered)
}

/// The session's id, by what it says about itself.
pub(super) fn id_of(source: &Source) -> Result<String, WriteError> {
    refuse_old(&source.path)?;
    match beginning(&source.path) {
        Beginning::Session(meta) => Ok(meta.id),
        _ => Err(not_ours(&source.path).into()),
    }
}

/// Sessions that the client itself does not go on with, or only after it changed their files.
pub(super) fn refuse_old(path: &Path) -> Result<(), WriteError> {
    if document::is_document(path) {
        return Err(unsupported("way to change files of 2025"));
    }
    if is_packed(path) {
        return Err(unsupported(
            "way to change compressed files: continue the session with the client first",
        ));
    }
    match beginning(path) {
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
