//! A new session with what was said up to some message.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::PathBuf;

use rethread_disk::SafeName;
use rethread_json::{InsertAt, Patch, Tree, compact, quote};
use rethread_model::{EntryIx, Note};

use crate::error::unreadable_file;
use crate::{Conversation, Fork, WriteError, Writing};

/// The files with answers of tools that the entries called.
pub(in crate::gemini) fn copied_outputs(
    old: &Conversation,
    entries: &[EntryIx],
    notes: &mut Vec<Note>,
) -> Vec<(PathBuf, SafeName)> {
    let mut found = Vec::new();
    let origins = entries.iter().flat_map(|ix| old.session.origin(*ix));
    // The first part is the session itself.
    for raw in origins.filter(|raw| raw.part > 0) {
        let Some(part) = old.native.parts.get(raw.part as usize) else {
            continue;
        };
        let name = part.path.file_name().unwrap_or_default().to_string_lossy();
        match SafeName::new(&name) {
            Ok(name) => found.push((part.path.clone(), name)),
            Err(e) => {
                let what = format!("not copied, because of its name: {e}");
                notes.push(Note::remark(what).at(&part.path));
            }
        }
    }
    found
}

/// The entries to be copied.
pub(in crate::gemini) fn entries_to_copy(
    old: &Conversation,
    fork: &Fork,
) -> Result<Vec<EntryIx>, WriteError> {
    let Some(at) = &fork.at else {
        return Ok(old.session.active_path());
    };
    let begins = |ix: &EntryIx| {
        let first = old.session.origin(*ix).first();
        let span = first.and_then(|raw| old.native.span(*raw));
        span.map(|s| s.start) == Some(at.offset)
    };
    let mut all = old.session.indexed().map(|(ix, _)| ix);
    let found = all
        .find(begins)
        .or_else(|| old.session.find(&at.id).filter(|_| !at.id.is_empty()));
    let missing = || WriteError::NoEntry {
        id: at.id.clone(),
        path: old.source.path.clone(),
    };
    Ok(old.session.path(found.ok_or_else(missing)?))
}

/// How many of the entries have a message that can be copied.
pub(in crate::gemini) fn copied_count(
    old: &Conversation,
    entries: &[EntryIx],
) -> Result<u64, WriteError> {
    let mut count = 0;
    let counted = each(old, entries, |_, _| {
        count += 1;
        Ok(())
    });
    counted.map_err(|e| unreadable_file(&old.source.path, e))?;
    Ok(count)
}

/// Hands over the message of each entry.
fn each(
    old: &Conversation,
    entries: &[EntryIx],
    mut each: impl FnMut(EntryIx, &[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut tree = Tree::default();
    for ix in entries {
        let Some(raw) = old.session.origin(*ix).first() else {
            continue;
        };
        let bytes = old.native.read(*raw)?;
        if tree.parse_prefix(&bytes, 0).is_ok() {
            each(*ix, tree.root(&bytes).raw())?;
        }
    }
    Ok(())
}

/// Writes the messages as lines. Those of a log keep their bytes; a message without an id gets one,
/// because the client passes over others.
pub(in crate::gemini) fn copy_messages(
    w: &Writing<'_>,
    old: &Conversation,
    entries: &[EntryIx],
    out: &mut dyn Write,
) -> io::Result<()> {
    each(old, entries, |ix, message| {
        let mut line = Cow::Borrowed(message);
        if memchr::memchr(b'\n', message).is_some()
            && let Ok(compact) = compact(message)
        {
            line = Cow::Owned(compact);
        }
        if old.session.id(ix).is_empty() {
            let again = Tree::parse(&line).unwrap_or_default();
            let root = again.root(&line);
            let mut patch = Patch::new(root);
            let id = w.env.uuid(&(ix.get() as u64).to_le_bytes()).to_string();
            patch.insert(root, "id", &quote(&id), InsertAt::First);
            line = Cow::Owned(patch.finish());
        }
        out.write_all(&line)?;
        out.write_all(b"\n")
    })
}
