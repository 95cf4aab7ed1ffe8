//! Databases for tests, and what is in them.

use std::fs;
use std::path::{Path, PathBuf};

use rethread_formats::{Conversation, Native, PartKind, Source, opencode::FORMAT};
use rethread_json::{Tree, Value as Json};
use rethread_model::Bodies;
use rusqlite::Connection;
use rusqlite::types::Value;

use crate::world::World;

pub(super) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/opencode")
}

/// OpenCode's folder of data.
pub(crate) fn data(w: &World) -> PathBuf {
    w.home.join(".local/share/opencode")
}

/// Makes a database without sessions, without any log beside it.
pub(crate) fn empty_database(path: &Path) -> Connection {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let db = Connection::open(path).unwrap();
    let schema = fs::read_to_string(fixtures().join("1.18/schema.sql")).unwrap();
    db.execute_batch(&schema).unwrap();
    db
}

/// Makes the database of a case, without any log beside it.
pub(crate) fn database(path: &Path, case: &str) {
    let db = empty_database(path);
    let rows = fs::read_to_string(fixtures().join(case).join("opencode.sql")).unwrap();
    db.execute_batch(&rows).unwrap();
    db.pragma_update(None, "journal_mode", "WAL").unwrap();
}

/// The database of a case where OpenCode keeps it.
pub(crate) fn installed(w: &World, case: &str) -> PathBuf {
    let path = data(w).join("opencode.db");
    database(&path, case);
    path
}

pub(super) fn read(path: &Path, id: &str) -> Conversation {
    let source = Source::new(
        rethread_formats::opencode::FORMAT,
        id.to_owned(),
        path.to_owned(),
    );
    FORMAT.reader().read(&source).unwrap()
}

/// Every record is claimed by an entry or listed as unclaimed, the records tile their parts, and
/// every body can be decoded.
pub(super) fn assert_accounted(conversation: &Conversation) {
    let mut records = Vec::new();
    for (number, part) in (0_u32..).zip(&conversation.native.parts) {
        let count = u32::try_from(part.record_count()).unwrap();
        let tiled: Vec<u8> = (0..count).flat_map(|r| part.read(r).unwrap()).collect();
        let mut saved = Vec::new();
        conversation.native.save(number, &mut saved).unwrap();
        assert!(tiled == saved, "records tile {}", part.path.display());
        if !matches!(part.kind, PartKind::Rows { .. }) {
            let original = fs::read(&part.path).unwrap();
            assert!(saved == original, "{}", part.path.display());
        }
        records.push(count);
    }
    assert_eq!(conversation.session.unaccounted(&records), None);
    for (ix, _) in conversation.session.indexed() {
        conversation.body(ix);
    }
}

/// Everything in the rows of a table that belong to a session, with the types of the values.
pub(super) fn rows(db: &Connection, table: &str, id: &str) -> Vec<Vec<Value>> {
    let key = if table == "session" {
        "id"
    } else {
        "session_id"
    };
    let sql = format!("SELECT * FROM {table} WHERE {key} = ?1 ORDER BY rowid");
    let mut query = db.prepare(&sql).unwrap();
    let width = query.column_count();
    let found = query
        .query_map([id], |row| (0..width).map(|i| row.get(i)).collect())
        .unwrap();
    let mut found: Vec<Vec<Value>> = found.collect::<Result<_, _>>().unwrap();
    found.sort_by_key(|row| format!("{row:?}"));
    found
}

/// Writes the rows of a session that was read into another database of the same make.
pub(super) fn restore(native: &Native, db: &Connection) {
    for part in &native.parts {
        let PartKind::Rows { table } = part.kind else {
            panic!("not rows");
        };
        for record in 0..u32::try_from(part.record_count()).unwrap() {
            insert(db, table, &part.read(record).unwrap());
        }
    }
}

/// Writes one row into a table.
pub(super) fn insert(db: &Connection, table: &str, line: &[u8]) {
    let tree = Tree::parse(line).unwrap();
    let columns: Vec<(String, Value)> = tree
        .root(line)
        .members()
        .map(|(name, value)| (name.str().unwrap().into_owned(), column(value)))
        .collect();
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    let marks = vec!["?"; names.len()].join(", ");
    let sql = format!(
        "INSERT INTO {table} ({}) VALUES ({marks})",
        names.join(", ")
    );
    let values = columns.into_iter().map(|(_, value)| value);
    db.execute(&sql, rusqlite::params_from_iter(values))
        .unwrap();
}

fn column(value: Json<'_>) -> Value {
    use base64::Engine as _;
    let spelled = String::from_utf8(value.raw().to_vec()).unwrap();
    if value.is_null() {
        return Value::Null;
    }
    if let Some(text) = value.str() {
        return Value::Text(text.into_owned());
    }
    if let Some(blob) = value.get("$blob") {
        let blob = blob.str().unwrap().into_owned();
        let bytes = base64::engine::general_purpose::STANDARD.decode(blob);
        return Value::Blob(bytes.unwrap());
    }
    if value.is_object() || value.is_array() {
        return Value::Text(spelled);
    }
    match spelled.parse() {
        Ok(n) => Value::Integer(n),
        Err(_) => Value::Real(spelled.parse().unwrap()),
    }
}

/// What SQLite says about the health of a database.
pub(super) fn integrity(path: &Path) -> String {
    let db = Connection::open(path).unwrap();
    db.query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap()
}

/// The names in a folder.
pub(super) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
