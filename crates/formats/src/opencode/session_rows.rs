//! A session in the database: its rows, and what they are.

use std::collections::HashMap;
use std::path::Path;

use rethread_disk::DiskError;
use rethread_json::Tree;
use rethread_model::RawRef;
use rusqlite::{Connection, OptionalExtension as _};
use sha2::{Digest as _, Sha256};

use super::SLUG;
use super::connection::Db;
use super::database::{AskError, with_database};
use super::facts::{SessionFacts, parsed, project_root};
use super::project::GLOBAL;
use super::reader::Gathered;
use super::reading::Reading;
use super::rows::encode_row;
use crate::fields::string_of;
use crate::{OpenError, Part, RecordKind, Spool};

/// The tables whose rows belong to a session, and the order of the rows. What is behind `part` is
/// kept unread.
pub(super) const TABLES: [(&str, &str); 6] = [
    ("message", "time_created, id"),
    // The client writes the parts of a message side by side, and then goes by their ids.
    ("part", "id"),
    ("todo", "rowid"),
    ("session_message", "rowid"),
    ("session_input", "rowid"),
    ("session_context_epoch", "rowid"),
];

/// What a database turns out to be.
pub(super) enum Make {
    /// One of OpenCode.
    Ours,
    /// One without any tables, which its owner may be about to make.
    Empty,
    /// Another one: it lacks this table.
    Without(&'static str),
}

/// Whose database this is.
pub(super) fn database_make(path: &Path) -> Result<Make, OpenError> {
    with_database(path, |db| {
        for table in ["session", "message", "part"] {
            if has_table(db, table)? {
                continue;
            }
            let any = "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table')";
            let has_any = db.query_row(any, [], |row| row.get(0))?;
            return Ok(if has_any {
                Make::Without(table)
            } else {
                Make::Empty
            });
        }
        Ok(Make::Ours)
    })
}

/// The ids of all sessions, the oldest first, and how many messages each has.
pub(super) fn session_ids(path: &Path) -> Result<Vec<(String, u64)>, OpenError> {
    with_database(path, |db| {
        let mut counts: HashMap<String, u64> = HashMap::new();
        let mut counted = db.prepare("SELECT session_id, count(*) FROM message GROUP BY 1")?;
        let mut rows = counted.query([])?;
        while let Some(row) = rows.next()? {
            if let (Ok(id), Ok(count)) = (row.get(0), row.get::<_, i64>(1)) {
                counts.insert(id, u64::try_from(count).unwrap_or(0));
            }
        }
        let mut all = db.prepare("SELECT id FROM session ORDER BY time_created, id")?;
        let mut rows = all.query([])?;
        let mut ids = Vec::new();
        while let Some(row) = rows.next()? {
            if let Ok(id) = row.get::<_, String>(0) {
                let count = counts.get(&id).copied().unwrap_or(0);
                ids.push((id, count));
            }
        }
        Ok(ids)
    })
}

/// What changes with each change of what a list shows of a session: its own row, its project's folder, and
/// of its messages and their parts how many there are, how long they are and when they were last
/// written.
pub(super) fn row_marks(path: &Path, id: &str) -> Result<Vec<u8>, OpenError> {
    with_database(path, |db| {
        let line = session_line(db, path, id)?;
        let root = row_facts(db, &line)?.root;
        let is_in = db.is("message", "session_id")?;
        let sql = format!(
            "SELECT count(*), max(time_updated), total(time_updated), total(octet_length(data)) \
             FROM message WHERE {is_in}"
        );
        let mut query = db.prepare_cached(&sql)?;
        let messages = query.query_row([id], encode_row)?;
        let is_in = db.is("part", "session_id")?;
        let sql = format!("SELECT count(*) FROM part WHERE {is_in}");
        let mut query = db.prepare_cached(&sql)?;
        let parts = query.query_row([id], encode_row)?;
        let root = root.unwrap_or_default();
        let digest = Sha256::new()
            .chain_update(&line)
            .chain_update([0])
            .chain_update(root)
            .chain_update([0])
            .chain_update(&messages)
            .chain_update(&parts)
            .finalize();
        Ok(digest.to_vec())
    })
}

/// Reads all rows of a session.
pub(super) fn gather_rows(path: &Path, id: &str) -> Result<Gathered, OpenError> {
    with_database(path, |db| gather_from(db, path, id))
}

fn gather_from(db: &Db, path: &Path, id: &str) -> Result<Gathered, AskError> {
    let mut gathered = Gathered::default();
    let line = session_line(db, path, id)?;
    gathered.facts = row_facts(db, &line)?;
    let mut session = Spool::default();
    session.add(RecordKind::Value, |out| {
        out.extend_from_slice(&line);
        Ok::<_, DiskError>(())
    })?;
    let session = Part::rows(path.to_owned(), "session", session.finish()?);
    gathered.parts.push(session);
    gathered.unclaimed.push(RawRef { part: 0, record: 0 });
    let filled = filled(db, id)?;
    for (table, order) in TABLES {
        let is_needed = matches!(table, "message" | "part");
        if !is_needed && !filled.contains(&table) {
            continue;
        }
        let part = u32::try_from(gathered.parts.len()).unwrap_or(u32::MAX);
        let rows = Reading::new(path, table, part, &mut gathered).rows(db, order, id)?;
        gathered
            .parts
            .push(Part::rows(path.to_owned(), table, rows));
    }
    for said in &mut gathered.said {
        said.unwrap_order();
    }
    gathered.children = children_of(db, id)?;
    if let Some(parent) = gathered.facts.parent.clone() {
        gathered.started_by = started_by(db, &parent, id)?;
    }
    Ok(gathered)
}

/// The sessions that name this one as their parent, the oldest first.
pub(super) fn child_ids(path: &Path, id: &str) -> Result<Vec<String>, OpenError> {
    with_database(path, |db| children_of(db, id))
}

fn children_of(db: &Db, id: &str) -> Result<Vec<String>, AskError> {
    let is_child = db.is("session", "parent_id")?;
    let sql = format!("SELECT id FROM session WHERE {is_child} ORDER BY time_created, id");
    column(db, &sql, id)
}

/// The line of a session's row.
pub(super) fn session_line(db: &Db, path: &Path, id: &str) -> Result<Vec<u8>, AskError> {
    let (columns, is_it) = (db.columns("session")?, db.is("session", "id")?);
    let sql = format!("SELECT {columns} FROM session WHERE {is_it}");
    let mut query = db.prepare_cached(&sql)?;
    let line = query.query_row([id], encode_row).optional()?;
    line.ok_or_else(|| {
        AskError::Open(OpenError::NoSession {
            path: path.to_owned(),
            id: id.to_owned(),
            format: SLUG,
        })
    })
}

/// The facts in the line of a session's row, with those about its project.
pub(super) fn row_facts(db: &Db, line: &[u8]) -> Result<SessionFacts, AskError> {
    let mut facts = parsed(line, SessionFacts::of_row).unwrap_or_default();
    if let Some(project) = &facts.project
        && has_table(db, "project")?
    {
        let is_it = db.is("project", "id")?;
        let sql = format!("SELECT worktree FROM project WHERE {is_it}");
        let mut query = db.prepare_cached(&sql)?;
        let found = query.query_row([project], encode_row).optional()?;
        let tree = found.as_ref().and_then(|line| Tree::parse(line).ok());
        facts.root = match (&tree, &found) {
            (Some(tree), Some(line)) => project_root(tree.root(line)),
            _ => None,
        };
        // What is in no project of its own is not in the folder that was seen last, either.
        if project == GLOBAL {
            let folder = facts.directory.as_deref().map(Path::new);
            let is_around = |root: &String| folder.is_some_and(|f| f.starts_with(root));
            facts.root = facts.root.take().filter(is_around);
        }
    }
    Ok(facts)
}

/// The call in a session that started another one.
fn started_by(db: &Db, parent: &str, id: &str) -> Result<Option<String>, AskError> {
    let is_in = db.is("part", "session_id")?;
    let sql = format!("SELECT data FROM part WHERE {is_in} AND instr(data, ?2) > 0");
    let mut query = db.prepare_cached(&sql)?;
    let mut rows = query.query([parent, id])?;
    while let Some(row) = rows.next()? {
        let Ok(data) = row.get::<_, String>(0) else {
            continue;
        };
        let Ok(tree) = Tree::parse(data.as_bytes()) else {
            continue;
        };
        let part = tree.root(data.as_bytes());
        let session = part.at(&["state", "metadata", "sessionId"]);
        if session.is_some_and(|s| s.is_str(id)) {
            return Ok(string_of(part, "callID"));
        }
    }
    Ok(None)
}

/// Whether there is a table of this name; a view is none.
pub(super) fn has_table(db: &Connection, name: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1)";
    db.prepare_cached(sql)?.query_row([name], |row| row.get(0))
}

/// The tables that have rows of a session, of those that it can do without.
fn filled(db: &Db, id: &str) -> Result<Vec<&'static str>, AskError> {
    let mut query = db.prepare_cached("SELECT name FROM sqlite_master WHERE type = 'table'")?;
    let there = query.query_map([], |row| row.get(0))?;
    let there: Vec<String> = there.collect::<Result<_, _>>()?;
    let has_rows = |table: &&'static str| {
        let is_there = there.iter().any(|name| name == table);
        let has_rows = || {
            let is_in = db.is(table, "session_id")?;
            let sql = format!("SELECT EXISTS (SELECT 1 FROM {table} WHERE {is_in})");
            let mut query = db.prepare_cached(&sql)?;
            query.query_row([id], |row| row.get(0))
        };
        // A table of another make than we know has nothing for us.
        is_there && has_rows().unwrap_or(false)
    };
    let tables = TABLES.into_iter().map(|(table, _)| table);
    let others = tables.filter(|table| !matches!(*table, "message" | "part"));
    Ok(others.filter(has_rows).collect())
}

fn column(db: &Connection, sql: &str, id: &str) -> Result<Vec<String>, AskError> {
    let mut query = db.prepare_cached(sql)?;
    let found = query.query_map([id], |row| row.get(0))?;
    Ok(found.collect::<Result<_, _>>()?)
}
