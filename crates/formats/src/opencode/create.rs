//! Starting a session.

use std::path::PathBuf;

use rethread_json::Document;
use rusqlite::OptionalExtension as _;
use rusqlite::types::Value;

use super::ids::Ids;
use super::layout::database_for_writing;
use super::project::Home;
use super::writing::{Change, change};
use crate::{Made, NewSession, WriteError, Writing};

/// The version that sessions are said to be of, where the database holds none to go by.
const VERSION: &str = "1.18.33";

/// Starts a session.
pub(super) fn create(w: &Writing<'_>, new: &NewSession) -> Result<Made, WriteError> {
    let path = match &new.root {
        Some(root) => Some(root.join("opencode.db")),
        None => database_for_writing(w.env),
    };
    let path = existing(path)?;
    let metadata = new.metadata.as_deref().map(object).transpose()?;
    change(w, &path, |change| {
        let mut ids = Ids::new(w.env, change.there()?);
        let id = match &new.id {
            Some(id) => free(change, id)?,
            None => ids.session(),
        };
        let home = Home::of(w, change, &new.cwd)?;
        let now = w.env.now();
        let title = match &new.title {
            Some(title) => title.clone(),
            None => format!("New session - {now}"),
        };
        let time = Value::Integer(now.millis());
        change.insert(
            "session",
            vec![
                ("id", text(&id)),
                ("project_id", text(&home.project)),
                ("slug", text(&slug(&id))),
                ("directory", text(&new.cwd.to_string_lossy())),
                ("path", text(&home.relative)),
                ("title", text(&title)),
                ("version", text(&version(change)?)),
                ("metadata", metadata.as_deref().map_or(Value::Null, text)),
                ("time_created", time.clone()),
                ("time_updated", time),
            ],
        )?;
        Ok(Made {
            id,
            path: path.clone(),
            project: new.cwd.clone(),
            created: Vec::new(),
            notes: Vec::new(),
        })
    })
}

/// A database that is there: only the client makes one.
pub(super) fn existing(path: Option<PathBuf>) -> Result<PathBuf, WriteError> {
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
pub(super) fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

fn object(given: &[u8]) -> Result<String, WriteError> {
    let bad = || WriteError::BadInput("the metadata is not a JSON object".to_owned());
    let compact = rethread_json::compact(given).map_err(|_| bad())?;
    let document = Document::parse(compact).map_err(|_| bad())?;
    if !document.root().is_object() {
        return Err(bad());
    }
    String::from_utf8(document.into_bytes()).map_err(|_| bad())
}

/// An id that the user chose, if the client takes it and nobody has it.
fn free(change: &Change<'_>, id: &str) -> Result<String, WriteError> {
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
fn version(change: &Change<'_>) -> Result<String, WriteError> {
    let newest = change.ask(|tx| {
        let sql = "SELECT version FROM session ORDER BY time_created DESC LIMIT 1";
        tx.query_row(sql, [], |row| row.get(0)).optional()
    })?;
    Ok(newest.unwrap_or_else(|| VERSION.to_owned()))
}
