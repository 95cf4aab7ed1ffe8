//! A new session with what was said up to some message.

use std::collections::HashMap;

use rethread_json::{Document, Object, Patch};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{OptionalExtension as _, Row};

use super::connection::column_list;
use super::create::text_value;
use super::facts::SessionFacts;
use super::ids::IdSource;
use super::rows::{RowValues, decode_row, encode_row};
use super::writing::DatabaseChange;
use crate::fields::string_of;
use crate::{Fork, Source, WriteError};

/// The application's own data of a session, with where it was copied from.
pub(super) fn noted_metadata(line: &[u8], note: &[u8]) -> String {
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

pub(super) fn insert_row(
    change: &DatabaseChange<'_>,
    table: &str,
    row: &RowValues,
) -> Result<(), WriteError> {
    let row: Vec<(&str, Value)> = row.iter().map(|(n, v)| (n.as_str(), v.clone())).collect();
    change.insert(table, row)
}

/// What is to be copied, in order. Rows are read when they are copied.
pub(super) struct CopiedSession {
    /// The ids of messages, and the rows that they are in.
    pub(super) messages: Vec<(String, i64)>,
    /// Where the parts of the last message end, if not all of them are copied.
    pub(super) parts_before: Option<String>,
}

impl CopiedSession {
    /// Everything up to and with the entry; without one, all that was not taken back.
    pub(super) fn of(
        change: &DatabaseChange<'_>,
        source: &Source,
        fork: &Fork,
        facts: &SessionFacts,
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

    pub(super) fn copy(
        &self,
        change: &DatabaseChange<'_>,
        ids: &mut IdSource<'_>,
        old: &str,
        new: &str,
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
                    ("id", _) => *value = text_value(&id),
                    ("session_id", _) => *value = text_value(new),
                    ("data", Value::Text(data)) => *value = linked(data, "parentID", &new_ids),
                    _ => {}
                }
            }
            insert_row(change, "message", &row)?;
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
                    ("session_id", _) => *value = text_value(new),
                    ("message_id", _) => *value = text_value(&message_id),
                    ("data", Value::Text(data)) => *value = linked(data, "tail_start_id", &new_ids),
                    _ => {}
                }
            }
            insert_row(change, "part", &row)?;
        }
        Ok(())
    }
}

/// The question for a row of a table, by its number.
fn row_query(change: &DatabaseChange<'_>, table: &str) -> Result<String, WriteError> {
    change.ask(|tx| {
        let all = column_list(tx, table)?;
        Ok(format!("SELECT {all} FROM {table} WHERE rowid = ?1"))
    })
}

/// The columns of a row, by the question for it.
fn row_at(change: &DatabaseChange<'_>, query: &str, row: i64) -> Result<RowValues, WriteError> {
    let line = change.ask(|tx| tx.prepare_cached(query)?.query_row([row], encode_row))?;
    Ok(decode_row(&line).unwrap_or_default())
}

fn text_of(value: ValueRef<'_>) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A column that is text.
fn named(row: &RowValues, name: &str) -> String {
    match row.iter().find(|(column, _)| column == name) {
        Some((_, Value::Text(text))) => text.clone(),
        _ => String::new(),
    }
}

/// Data in which a member names the copy instead of the original; all else keeps its bytes.
fn linked(data: &str, key: &str, new_ids: &HashMap<&str, String>) -> Value {
    let same = || text_value(data);
    let Ok(document) = Document::parse(data.as_bytes().to_vec()) else {
        return same();
    };
    let root = document.root();
    let Some(new) = string_of(root, key).and_then(|old| new_ids.get(old.as_str())) else {
        return same();
    };
    let mut patch = Patch::new(root);
    patch.set(root, key, &rethread_json::quote(new));
    String::from_utf8(patch.finish()).map_or_else(|_| same(), Value::Text)
}
