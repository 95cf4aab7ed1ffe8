//! Removing a session: its files, or its rows for good. A session takes those of its sub-tasks along,
//! as in the client.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use rethread_disk::Durability;

use super::session_rows::has_table;
use super::writing::{DatabaseChange, open};
use crate::WriteError;

/// How long to wait for another writer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Tables with rows of sessions, and the column that names the session. Rows of events are copies of
/// the others, and would keep what is to be gone.
const TABLES: [(&str, &str); 9] = [
    ("part", "session_id"),
    ("message", "session_id"),
    ("todo", "session_id"),
    ("session_message", "session_id"),
    ("session_input", "session_id"),
    ("session_context_epoch", "session_id"),
    ("session_share", "session_id"),
    ("event", "aggregate_id"),
    ("event_sequence", "aggregate_id"),
];

pub(super) fn remove_rows(path: &Path, id: &str) -> Result<(), WriteError> {
    let mut db = open(path, PATIENCE, Durability::Close)?;
    let change = DatabaseChange::begin(&mut db, path, PATIENCE)?;
    if !change.exists("session", id)? {
        return Err(change.no_session(id));
    }
    let mut gone = BTreeSet::new();
    let mut next = vec![id.to_owned()];
    while let Some(one) = next.pop() {
        if !gone.insert(one.clone()) {
            continue;
        }
        next.extend(change.ask(|tx| {
            let mut query = tx.prepare("SELECT id FROM session WHERE parent_id = ?1")?;
            let children = query.query_map([&one], |row| row.get(0))?;
            children.collect::<rusqlite::Result<Vec<String>>>()
        })?);
    }
    change.ask(|tx| {
        for (table, column) in TABLES {
            if !has_table(tx, table)? {
                continue;
            }
            let mut delete = tx.prepare(&format!("DELETE FROM {table} WHERE {column} = ?1"))?;
            for one in &gone {
                delete.execute([one])?;
            }
        }
        let mut delete = tx.prepare("DELETE FROM session WHERE id = ?1")?;
        gone.iter()
            .try_for_each(|one| delete.execute([one]).map(drop))
    })?;
    change.commit()
}
