//! Giving a session another title.

use rethread_model::Note;

use super::layout::{Kept, kept};
use super::writing::change;
use crate::{Format as _, Source, WriteError, Writing};

/// Sets a session's title. The time of its last message stays.
pub(super) fn rename(
    w: &Writing<'_>,
    source: &Source,
    title: &str,
) -> Result<Vec<Note>, WriteError> {
    if !matches!(kept(&source.path)?, Kept::Database) {
        return Err(super::OpenCode.cannot("way to be changed outside of the database"));
    }
    change(w, &source.path, |change| {
        let sql = "UPDATE session SET title = ?1 WHERE id = ?2";
        match change.ask(|tx| tx.execute(sql, [title, &source.id]))? {
            0 => Err(change.no_session(&source.id)),
            _ => Ok(Vec::new()),
        }
    })
}
