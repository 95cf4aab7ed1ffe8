//! A new session with what was said up to some message.

use std::collections::HashMap;
use std::path::PathBuf;

use rethread_json::{Document, Object, Patch};
use rusqlite::OptionalExtension as _;
use rusqlite::types::Value;

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
            let sql = "SELECT * FROM session WHERE id = ?1";
            tx.query_row(sql, [&source.id], encode).optional()
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
        past.copy(change, &mut ids, &id)?;
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

/// What is to be copied, in order.
struct Past {
    messages: Vec<(String, Columns)>,
    parts: Vec<Columns>,
}

impl Past {
    /// Everything up to and with the entry; without one, all that was not taken back.
    fn of(
        change: &Change<'_>,
        source: &Source,
        fork: &Fork,
        facts: &Facts,
    ) -> Result<Self, WriteError> {
        let all = |table: &str| {
            // As they are read.
            let order = if table == "part" {
                "id"
            } else {
                "time_created, id"
            };
            let sql = format!("SELECT * FROM {table} WHERE session_id = ?1 ORDER BY {order}");
            change.ask(|tx| {
                let mut query = tx.prepare(&sql)?;
                let rows = query.query_map([&source.id], encode)?;
                rows.collect::<rusqlite::Result<Vec<Vec<u8>>>>()
            })
        };
        let messages = all("message")?.into_iter().filter_map(|line| decode(&line));
        let mut messages: Vec<(String, Columns)> =
            messages.map(|row| (named(&row, "id"), row)).collect();
        let mut parts: Vec<Columns> = all("part")?
            .iter()
            .filter_map(|line| decode(line))
            .collect();
        if let Some(at) = &fork.at {
            let owner = parts.iter().find(|p| named(p, "id") == at.id);
            let last = owner.map_or_else(|| at.id.clone(), |p| named(p, "message_id"));
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
            let mut is_gone = false;
            parts.retain(|part| {
                let is_of_it = named(part, "message_id") == revert.message;
                is_gone |= revert
                    .part
                    .as_ref()
                    .is_some_and(|id| named(part, "id") == *id);
                !(is_of_it && is_gone)
            });
        }
        Ok(Self { messages, parts })
    }

    fn copy(self, change: &Change<'_>, ids: &mut Ids<'_>, session: &str) -> Result<(), WriteError> {
        let mut new_ids: HashMap<String, String> = HashMap::new();
        for (old, _) in &self.messages {
            new_ids.insert(old.clone(), ids.message());
        }
        for (old, mut row) in self.messages {
            let id = new_ids.get(&old).cloned().unwrap_or_default();
            for (column, value) in &mut row {
                match (column.as_str(), &*value) {
                    ("id", _) => *value = text(&id),
                    ("session_id", _) => *value = text(session),
                    ("data", Value::Text(data)) => *value = linked(data, "parentID", &new_ids),
                    _ => {}
                }
            }
            insert(change, "message", &row)?;
        }
        for mut row in self.parts {
            let Some(message) = new_ids.get(&named(&row, "message_id")).cloned() else {
                continue;
            };
            for (column, value) in &mut row {
                match (column.as_str(), &*value) {
                    ("id", _) => *value = Value::Text(ids.part()),
                    ("session_id", _) => *value = text(session),
                    ("message_id", _) => *value = text(&message),
                    ("data", Value::Text(data)) => *value = linked(data, "tail_start_id", &new_ids),
                    _ => {}
                }
            }
            insert(change, "part", &row)?;
        }
        Ok(())
    }
}

/// A column that is text.
fn named(row: &Columns, name: &str) -> String {
    match row.iter().find(|(column, _)| column == name) {
        Some((_, Value::Text(text))) => text.clone(),
        _ => String::new(),
    }
}

/// Data in which a member names the copy instead of the original; all else keeps its bytes.
fn linked(data: &str, key: &str, new_ids: &HashMap<String, String>) -> Value {
    let same = || text(data);
    let Ok(document) = Document::parse(data.as_bytes().to_vec()) else {
        return same();
    };
    let root = document.root();
    let Some(new) = string(root, key).and_then(|old| new_ids.get(&old)) else {
        return same();
    };
    let mut patch = Patch::new(root);
    patch.set(root, key, &rethread_json::quote(new));
    String::from_utf8(patch.finish()).map_or_else(|_| same(), Value::Text)
}
