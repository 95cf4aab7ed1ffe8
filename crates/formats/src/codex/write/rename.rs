//! Naming a session.

use std::path::Path;

use rethread_json::Object;
use rethread_model::Note;

use super::append::{AppendState, open};
use super::records::Records;
use crate::codex::names::INDEX;
use crate::codex::store::home_of;
use crate::session_log::SessionLog;
use crate::{WriteError, Writing};

/// Writes a name where the client keeps it. A home without such a file gets none: there the name
/// stands in the session itself.
pub(in crate::codex) fn rename_session(
    w: &Writing<'_>,
    path: &Path,
    id: &str,
    title: &str,
) -> Result<Option<Note>, WriteError> {
    let title = checked_title(title)?;
    if add_name(w, path, id, title)? {
        return Ok(None);
    }
    let mut log = SessionLog::open(w, path)?;
    let AppendState { mode, .. } = open(path, &log, w.env)?;
    let mut records = Records::new(mode);
    let event = Object::new()
        .str("type", "thread_name_updated")
        .str("thread_id", id)
        .str("thread_name", title);
    records.add(w.env.now(), "event_msg", &event.finish());
    log.append(&records.into_bytes())
}

/// A title that the client takes.
pub(in crate::codex) fn checked_title(title: &str) -> Result<&str, WriteError> {
    let title = title.trim();
    if title.is_empty() {
        return Err(WriteError::BadInput("a title needs letters".to_owned()));
    }
    Ok(title)
}

/// Names a session that was just made. It is there either way, so trouble with that is a note.
pub(in crate::codex) fn name_new(
    w: &Writing<'_>,
    path: &Path,
    id: &str,
    title: &str,
) -> Option<Note> {
    let named = rename_session(w, path, id, title);
    named.unwrap_or_else(|e| {
        let message = format!("the session was made, but its title was not saved: {e}");
        Some(Note::damage(message).at(path))
    })
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
    let mut line = line.finish();
    line.push(b'\n');
    SessionLog::open(w, &index)?.append(&line)?;
    Ok(true)
}
