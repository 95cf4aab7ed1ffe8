//! Starting a session.

use std::path::PathBuf;

use rethread_json::Document;
use rusqlite::OptionalExtension as _;
use rusqlite::types::Value;

use super::writing::DatabaseChange;
use crate::WriteError;

/// The version that sessions are said to be of, where the database holds none to go by.
const VERSION: &str = "1.18.33";

/// A database that is there: only the client makes one.
pub(super) fn existing_database(path: Option<PathBuf>) -> Result<PathBuf, WriteError> {
    let path = path.ok_or_else(|| WriteError::BadInput("no home is known".to_owned()))?;
    if !path.is_file() {
        return Err(WriteError::BadInput(format!(
            "there is no database of OpenCode at `{}` yet, and only OpenCode makes one: start it once, or run `opencode session list`",
            path.display()
        )));
    }
    Ok(path)
}

/// A value that is text.
pub(super) fn text_value(value: &str) -> Value {
    Value::Text(value.to_owned())
}

pub(super) fn checked_object(given: &[u8]) -> Result<String, WriteError> {
    let bad = || WriteError::BadInput("the metadata is not a JSON object".to_owned());
    let compact = rethread_json::compact(given).map_err(|_| bad())?;
    let document = Document::parse(compact).map_err(|_| bad())?;
    if !document.root().is_object() {
        return Err(bad());
    }
    String::from_utf8(document.into_bytes()).map_err(|_| bad())
}

/// An id that the user chose, if the client takes it and nobody has it.
pub(super) fn free_id(change: &DatabaseChange<'_>, id: &str) -> Result<String, WriteError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !id.starts_with("ses") || !id.chars().all(plain) {
        return Err(WriteError::BadInput(format!(
            "`{id}` cannot be a session's id: those begin with `ses` and are letters and digits"
        )));
    }
    if change.exists("session", id)? {
        return Err(WriteError::Exists {
            id: id.to_owned(),
            path: change.path(),
        });
    }
    Ok(id.to_owned())
}

/// A name for people that follows from the id.
pub(super) fn slug(id: &str) -> String {
    let end: String = id.chars().rev().take(6).collect();
    format!("rethread-{}", end.to_ascii_lowercase())
}

/// The version of the newest session.
pub(super) fn schema_version(change: &DatabaseChange<'_>) -> Result<String, WriteError> {
    let newest = change.ask(|tx| {
        let sql = "SELECT version FROM session ORDER BY time_created DESC LIMIT 1";
        tx.query_row(sql, [], |row| row.get(0)).optional()
    })?;
    Ok(newest.unwrap_or_else(|| VERSION.to_owned()))
}
