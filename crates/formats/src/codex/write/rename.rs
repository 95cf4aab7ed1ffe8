//! Naming a session.

use std::path::Path;

use rethread_disk::{LockedLog, Mode as FileMode, append_line};
use rethread_json::Object;
use rethread_model::Note;

use super::append::{Open, open};
use super::records::Records;
use crate::codex::layout::home_of;
use crate::codex::names::INDEX;
use crate::{Source, WriteError, Writing};

/// Sets the display name.
pub(crate) fn rename(
    w: &Writing<'_>,
    source: &Source,
    title: &str,
) -> Result<Vec<Note>, WriteError> {
    let id = super::append::id_of(source)?;
    name(w, &source.path, &id, title)?;
    Ok(Vec::new())
}

/// Writes a name where the client keeps it. A home without such a file gets none: there the name
/// stands in the session itself.
pub(super) fn name(w: &Writing<'_>, path: &Path, id: &str, title: &str) -> Result<(), WriteError> {
    let title = title.trim();
    if title.is_empty() {
        return Err(WriteError::BadInput("a title needs letters".to_owned()));
    }
    if add_name(w, path, id, title)? {
        return Ok(());
    }
    let mut log = LockedLog::open(path, w.lock_timeout)?;
    let Open { mode, .. } = open(path, &log, w.env)?;
    let mut records = Records::new(mode);
    let event = Object::new()
        .str("type", "thread_name_updated")
        .str("thread_id", id)
        .str("thread_name", title);
    records.add(w.env.now(), "event_msg", &event.finish());
    log.append(&records.into_bytes())?;
    if w.durability != rethread_disk::Durability::None {
        log.sync()?;
    }
    Ok(())
}

/// Adds a name to the file that holds the names of a home, where there is one; whether it did.
pub(in crate::codex) fn add_name(
    w: &Writing<'_>,
    path: &Path,
    id: &str,
    title: &str,
) -> Result<bool, WriteError> {
    let index = home_of(path).map(|home| home.join(INDEX));
    let Some(index) = index.filter(|i| i.is_file()) else {
        return Ok(false);
    };
    let line = Object::new()
        .str("id", id)
        .str("thread_name", title)
        .str("updated_at", &w.env.now().to_string());
    append_line(&index, &line.finish(), FileMode::Private, w.durability)?;
    Ok(true)
}
