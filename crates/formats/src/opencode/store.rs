//! A session in the database: its rows, and what they are.

use std::collections::HashMap;
use std::path::Path;

use rethread_json::{Passed, Skim, Tree};
use rethread_model::{Note, RawRef};
use rusqlite::{Connection, OptionalExtension as _};

use super::SLUG;
use super::database::{AskError, look};
use super::facts::{Facts, moment, parsed, project_root};
use super::project::GLOBAL;
use super::read::Gathered;
use super::rows::{encode, write};
use super::said::{Piece, Said, split};
use crate::fields::string;
use crate::{OpenError, Part, RecordKind, Spool, passed};

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
pub(super) fn make(path: &Path) -> Result<Make, OpenError> {
    look(path, |db| {
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
pub(super) fn sessions(path: &Path) -> Result<Vec<(String, u64)>, OpenError> {
    look(path, |db| {
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

/// Reads all rows of a session.
pub(super) fn gather(path: &Path, id: &str) -> Result<Gathered, OpenError> {
    look(path, |db| gather_from(db, path, id))
}

fn gather_from(db: &Connection, path: &Path, id: &str) -> Result<Gathered, AskError> {
    let mut gathered = Gathered::default();
    let line = session_line(db, path, id)?;
    gathered.facts = facts(db, &line)?;
    let mut session = Spool::default();
    session.add(&line, RecordKind::Value)?;
    gathered
        .parts
        .push(Part::rows(path.to_owned(), "session", session));
    gathered.unclaimed.push(RawRef { part: 0, record: 0 });
    for (table, order) in TABLES {
        let number = u32::try_from(gathered.parts.len()).unwrap_or(u32::MAX);
        let is_needed = matches!(table, "message" | "part");
        if !is_needed && !has_rows(db, table, id)? {
            continue;
        }
        let rows = rows(db, path, (table, order, number), id, &mut gathered)?;
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
pub(super) fn children(path: &Path, id: &str) -> Result<Vec<String>, OpenError> {
    look(path, |db| children_of(db, id))
}

fn children_of(db: &Connection, id: &str) -> Result<Vec<String>, AskError> {
    let sql = "SELECT id FROM session WHERE parent_id = ?1 ORDER BY time_created, id";
    column(db, sql, id)
}

/// The line of a session's row.
pub(super) fn session_line(db: &Connection, path: &Path, id: &str) -> Result<Vec<u8>, AskError> {
    let line = db
        .query_row("SELECT * FROM session WHERE id = ?1", [id], encode)
        .optional()?;
    line.ok_or_else(|| {
        AskError::Open(OpenError::NoSession {
            path: path.to_owned(),
            id: id.to_owned(),
            format: SLUG,
        })
    })
}

/// The facts in the line of a session's row, with those about its project.
pub(super) fn facts(db: &Connection, line: &[u8]) -> Result<Facts, AskError> {
    let mut facts = parsed(line, Facts::of_row).unwrap_or_default();
    if let Some(project) = &facts.project
        && has_table(db, "project")?
    {
        let found = db
            .query_row(
                "SELECT worktree FROM project WHERE id = ?1",
                [project],
                encode,
            )
            .optional()?;
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
fn started_by(db: &Connection, parent: &str, id: &str) -> Result<Option<String>, AskError> {
    let mut query =
        db.prepare("SELECT data FROM part WHERE session_id = ?1 AND instr(data, ?2) > 0")?;
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
            return Ok(string(part, "callID"));
        }
    }
    Ok(None)
}

/// Where messages are, by their ids.
type Places = HashMap<String, usize>;

/// Reads the rows of a table that belong to a session. A row that cannot be read is named.
fn rows(
    db: &Connection,
    path: &Path,
    (table, order, number): (&'static str, &str, u32),
    id: &str,
    gathered: &mut Gathered,
) -> Result<Spool, AskError> {
    let mut spool = Spool::default();
    // The keys first: sorting whole rows would take as much memory as they have.
    let sql = format!("SELECT rowid FROM {table} WHERE session_id = ?1 ORDER BY {order}");
    let mut keys = Vec::new();
    let mut query = db.prepare(&sql)?;
    let mut found = query.query([id])?;
    loop {
        match found.next() {
            Ok(Some(row)) => keys.push(row.get::<_, i64>(0)?),
            Ok(None) => break,
            Err(e) if is_corrupt(&e) => {
                gathered
                    .notes
                    .push(unreadable(path, table, "some of its rows", &e));
                break;
            }
            Err(e) => return Err(e.into()),
        }
    }
    let mut places = Places::new();
    for (at, said) in gathered.said.iter().enumerate() {
        places.insert(said.id.clone(), at);
    }
    let mut one = db.prepare(&format!("SELECT * FROM {table} WHERE rowid = ?1"))?;
    let mut line = Vec::new();
    for key in keys {
        match one.query_row([key], |row| write(row, &mut line)) {
            Ok(()) => {}
            Err(e) if is_corrupt(&e) => {
                gathered
                    .notes
                    .push(unreadable(path, table, &format!("row {key}"), &e));
                continue;
            }
            Err(e) => return Err(e.into()),
        }
        let Some(record) = spool.add(&line, RecordKind::Value)? else {
            break;
        };
        let raw = RawRef {
            part: number,
            record,
        };
        match (table, Skim::trusting(&line).pass()) {
            ("message", Ok(row)) => gathered.message(path, raw, row),
            ("part", Ok(row)) => gathered.part(path, raw, row, &places),
            _ => gathered.unclaimed.push(raw),
        }
    }
    Ok(spool)
}

fn is_corrupt(e: &rusqlite::Error) -> bool {
    e.sqlite_error_code() == Some(rusqlite::ffi::ErrorCode::DatabaseCorrupt)
}

fn unreadable(path: &Path, table: &str, what: &str, e: &rusqlite::Error) -> Note {
    Note::damage(format!("{what} of table `{table}` cannot be read: {e}")).at(path)
}

impl Gathered {
    fn message(&mut self, path: &Path, raw: RawRef, row: Passed<'_>) {
        let [id, created] = row.pick(["id", "time_created"]);
        let id = passed::string(id).unwrap_or_default();
        let mut said = Said::of(raw, id, split(row, true).info);
        if !said.is_message() {
            let message = format!("the message `{}` names no role; kept unread", said.id);
            self.notes.push(Note::damage(message).at(path));
        }
        let created = created.and_then(|time| moment(time.i64(), time.f64()));
        said.time = created.or(said.time);
        self.said.push(said);
    }

    fn part(&mut self, path: &Path, raw: RawRef, row: Passed<'_>, places: &Places) {
        let [id, message, data] = row.pick(["id", "message_id", "data"]);
        let id = passed::string(id).unwrap_or_default();
        let message = message.and_then(Passed::str).unwrap_or_default();
        let data = data.filter(|d| d.get("type").is_some());
        if data.is_none() {
            let note = format!("the part `{id}` names no type; kept unread");
            self.notes.push(Note::damage(note).at(path));
        }
        let piece = Piece::of(raw, id, data);
        if let Some(said) = places.get(&*message).and_then(|at| self.said.get_mut(*at)) {
            said.parts.push(piece);
            return;
        }
        let note = format!("the part `{}` belongs to no message; skipped", piece.id);
        self.notes.push(Note::damage(note).at(path));
        self.unclaimed.push(raw);
    }
}

/// Whether there is a table of this name; a view is none.
pub(super) fn has_table(db: &Connection, name: &str) -> rusqlite::Result<bool> {
    db.query_row(
        "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1)",
        [name],
        |row| row.get(0),
    )
}

fn has_rows(db: &Connection, table: &str, id: &str) -> Result<bool, AskError> {
    if !has_table(db, table)? {
        return Ok(false);
    }
    let sql = format!("SELECT EXISTS (SELECT 1 FROM {table} WHERE session_id = ?1)");
    // A table of another make than we know has nothing for us.
    Ok(db.query_row(&sql, [id], |row| row.get(0)).unwrap_or(false))
}

fn column(db: &Connection, sql: &str, id: &str) -> Result<Vec<String>, AskError> {
    let mut query = db.prepare(sql)?;
    let found = query.query_map([id], |row| row.get(0))?;
    Ok(found.collect::<Result<_, _>>()?)
}
