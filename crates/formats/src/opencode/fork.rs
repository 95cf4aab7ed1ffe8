//! A new session with what was said up to some message.

use std::collections::HashMap;
use std::path::PathBuf;

use rethread_json::{Document, Object, Patch};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{OptionalExtension as _, Row};

use super::connection::columns;
use super::create::{slug, text};
use super::facts::{Facts, parsed};
use super::ids::Ids;
use super::layout::{Kept, kept};
use super::project::Home;
use super::rows::{decode, encode};
use super::writing::{Change, change};
use crate::fields::string;
use crate::{Fork, Format as _, Made, Source, WriteError, Writing};

type Columns = Vec<(String, Value)>;

/// Copies a session up to an entry. Messages and parts get ids of their own, as in the client;
/// everything else in their rows stays.
pub(super) fn fork(w: &Writing<'_>, source: &Source, fork: &Fork) -> Result<Made, WriteError> {
    if !matches!(kept(&source.path)?, Kept::Database) {
        return Err(super::OpenCode.cannot("way to be forked outside of the database"));
    }
    change(w, &source.path, |change| {
        let line = change.ask(|tx| {
            let sql = format!(
                "SELECT {} FROM session WHERE id = ?1",
                columns(tx, "session")?
            );
            tx.query_row(&sql, [&source.id], encode).optional()
        })?;
        let line = line.ok_or_else(|| change.no_session(&source.id))?;
        let facts = parsed(&line, Facts::of_row).unwrap_or_default();
        let past = Past::of(change, source, fork, &facts)?;
        let mut ids = Ids::new(w.env, change.there()?);
        let id = ids.session();
        let mut session = decode(&line).unwrap_or_default();
        let home = fork
            .cwd
            .as_deref()
            .map(|cwd| Home::of(w, change, cwd))
            .transpose()?;
        let now = Value::Integer(w.env.now().millis());
        let note = Object::new()
            .str("forkOf", &source.id)
            .opt_str("at", past.messages.last().map(|(id, _)| id.as_str()))
            .u64("messages", past.messages.len() as u64)
            .finish();
        let mut set = |name: &str, value: Value| {
            if let Some((_, old)) = session.iter_mut().find(|(column, _)| column == name) {
                *old = value;
            }
        };
        set("id", text(&id));
        set("slug", text(&slug(&id)));
        set("metadata", text(&noted(&line, &note)));
        set("time_created", now.clone());
        set("time_updated", now);
        for gone in [
            "parent_id",
            "share_url",
            "revert",
            "time_compacting",
            "time_archived",
        ] {
            set(gone, Value::Null);
        }
        for counted in [
            "tokens_input",
            "tokens_output",
            "tokens_reasoning",
            "tokens_cache_read",
            "tokens_cache_write",
        ] {
            set(counted, Value::Integer(0));
        }
        set("cost", Value::Real(0.0));
        if let Some(title) = &fork.title {
            set("title", text(title));
        }
        let project = fork
            .cwd
            .clone()
            .or_else(|| facts.directory.clone().map(PathBuf::from));
        if let (Some(home), Some(cwd)) = (home, &fork.cwd) {
            set("directory", text(&cwd.to_string_lossy()));
            set("project_id", Value::Text(home.project));
            set("path", Value::Text(home.relative));
        }
        insert(change, "session", &session)?;
        past.copy(change, &mut ids, (&source.id, &id))?;
        Ok(Made {
            id,
            path: source.path.clone(),
            project: project.unwrap_or_default(),
            created: Vec::new(),
            notes: Vec::new(),
        })
    })
}

/// The application's own data of a session, with where it was copied from.
fn noted(line: &[u8], note: &[u8]) -> String {
    let document = Document::parse(line.to_vec()).ok();
    let metadata = document.as_ref().and_then(|d| d.root().get("metadata"));
    let metadata = metadata.filter(|m| m.is_object()).map(|m| m.raw().to_vec());
    let metadata = Document::parse(metadata.unwrap_or_else(|| b"{}".to_vec()));
    let noted = metadata.map(|metadata| {
        let mut patch = Patch::new(metadata.root());
        patch.set(metadata.root(), "rethread", note);
        patch.finish()
    });
    let noted = noted.unwrap_or_else(|_| Object::new().raw("rethread", note).finish());
    String::from_utf8_lossy(&noted).into_owned()
}

fn insert(change: &Change<'_>, table: &str, row: &Columns) -> Result<(), WriteError> {
    let row: Vec<(&str, Value)> = row.iter().map(|(n, v)| (n.as_str(), v.clone())).collect();
    change.insert(table, row)
}

/// What is to be copied, in order. Rows are read when they are copied.
struct Past {
    /// The ids of messages, and the rows that they are in.
    messages: Vec<(String, i64)>,
    /// Where the parts of the last message end, if not all of them are copied.
    parts_before: Option<String>,
}

impl Past {
    /// Everything up to and with the entry; without one, all that was not taken back.
    fn of(
        change: &Change<'_>,
        source: &Source,
        fork: &Fork,
        facts: &Facts,
    ) -> Result<Self, WriteError> {
        // As they are read.
        let sql = "SELECT id, rowid FROM message WHERE session_id = ?1 ORDER BY time_created, id";
        let mut messages: Vec<(String, i64)> = change.ask(|tx| {
            let mut query = tx.prepare(sql)?;
            let take = |row: &Row<'_>| Ok((text_of(row.get_ref(0)?), row.get(1)?));
            query.query_map([&source.id], take)?.collect()
        })?;
        let mut parts_before = None;
        if let Some(at) = &fork.at {
            let sql = "SELECT message_id FROM part WHERE session_id = ?1 AND id = ?2";
            let owner: Option<String> = change.ask(|tx| {
                let ids = [&source.id, &at.id];
                let take = |row: &Row<'_>| Ok(text_of(row.get_ref(0)?));
                tx.query_row(sql, ids, take).optional()
            })?;
            let last = owner.unwrap_or_else(|| at.id.clone());
            let place = messages.iter().position(|(id, _)| *id == last);
            let place = place.ok_or_else(|| WriteError::NoEntry {
                id: at.id.clone(),
                path: source.path.clone(),
            })?;
            messages.truncate(place + 1);
        } else if let Some(revert) = &facts.revert
            && let Some(place) = messages.iter().position(|(id, _)| *id == revert.message)
        {
            messages.truncate(place + usize::from(revert.part.is_some()));
            parts_before.clone_from(&revert.part);
        }
        Ok(Self {
            messages,
            parts_before,
        })
    }

    fn copy(
        &self,
        change: &Change<'_>,
        ids: &mut Ids<'_>,
        (old, new): (&str, &str),
    ) -> Result<(), WriteError> {
        let mut new_ids: HashMap<&str, String> = HashMap::with_capacity(self.messages.len());
        for (id, _) in &self.messages {
            new_ids.insert(id, ids.message());
        }
        let one_message = row_query(change, "message")?;
        for (old_id, row) in &self.messages {
            let mut row = row_at(change, &one_message, *row)?;
            let id = new_ids.get(old_id.as_str()).cloned().unwrap_or_default();
            for (column, value) in &mut row {
                match (column.as_str(), &*value) {
                    ("id", _) => *value = text(&id),
                    ("session_id", _) => *value = text(new),
                    ("data", Value::Text(data)) => *value = linked(data, "parentID", &new_ids),
                    _ => {}
                }
            }
            insert(change, "message", &row)?;
        }
        let sql = "SELECT rowid FROM part WHERE session_id = ?1 ORDER BY id";
        let parts: Vec<i64> = change.ask(|tx| {
            let mut query = tx.prepare(sql)?;
            query.query_map([old], |row| row.get(0))?.collect()
        })?;
        let last = self.messages.last().map(|(id, _)| id.as_str());
        let mut is_gone = false;
        let one_part = row_query(change, "part")?;
        for part in parts {
            let mut row = row_at(change, &one_part, part)?;
            is_gone |= self.parts_before.as_ref() == Some(&named(&row, "id"));
            let message = named(&row, "message_id");
            let Some(message_id) = new_ids.get(message.as_str()).cloned() else {
                continue;
            };
            if is_gone && last == Some(message.as_str()) {
                continue;
            }
            for (column, value) in &mut row {
                match (column.as_str(), &*value) {
                    ("id", _) => *value = Value::Text(ids.part()),
                    ("session_id", _) => *value = text(new),
                    ("message_id", _) => *value = text(&message_id),
                    ("data", Value::Text(data)) => *value = linked(data, "tail_start_id", &new_ids),
                    _ => {}
                }
            }
            insert(change, "part", &row)?;
        }
        Ok(())
    }
}

/// The question for a row of a table, by its number.
fn row_query(change: &Change<'_>, table: &str) -> Result<String, WriteError> {
    change.ask(|tx| {
        let all = columns(tx, table)?;
        Ok(format!("SELECT {all} FROM {table} WHERE rowid = ?1"))
    })
}

/// The columns of a row, by the question for it.
fn row_at(change: &Change<'_>, query: &str, row: i64) -> Result<Columns, WriteError> {
    let line = change.ask(|tx| tx.prepare_cached(query)?.query_row([row], encode))?;
    Ok(decode(&line).unwrap_or_default())
}

fn text_of(value: ValueRef<'_>) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A column that is text.
fn named(row: &Columns, name: &str) -> String {
    match row.iter().find(|(column, _)| column == name) {
        Some((_, Value::Text(text))) => text.clone(),
        _ => String::new(),
    }
}

/// Data in which a member names the copy instead of the original; all else keeps its bytes.
fn linked(data: &str, key: &str, new_ids: &HashMap<&str, String>) -> Value {
    let same = || text(data);
    let Ok(document) = Document::parse(data.as_bytes().to_vec()) else {
        return same();
    };
    let root = document.root();
    let Some(new) = string(root, key).and_then(|old| new_ids.get(old.as_str())) else {
        return same();
    };
    let mut patch = Patch::new(root);
    patch.set(root, key, &rethread_json::quote(new));
    String::from_utf8(patch.finish()).map_or_else(|_| same(), Value::Text)
}
