//! What travels along in a session's row, and how sessions get into a database.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rethread_disk::open_read;
use rethread_json::{Document, Object, Patch, Tree, Value as Json};
use rethread_project::Repository;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, params_from_iter};

use super::create::text_value;
use super::new_database::create_database;
use super::project::GLOBAL;
use super::rows::{RowValues, decode_row, encode_row};
use super::session_rows::TABLES;
use super::store::{SessionStorage, database_for_writing, storage_of};
use super::writing::{DatabaseChange, change_database, write_trouble};
use super::{FORMAT, OpenCode, document, export};
use crate::carry::{InstallTarget, Put, SessionFiles, join_checked, put_files};
use crate::error::unreadable_file;
use crate::{Carrier, Conversation, OpenError, PartKind, Source, WriteError, Writing};

/// The key in a session's `metadata`, which the client keeps and shows to nobody.
pub(super) const OURS: &str = "rethreadCarried";

/// The table that a session's own row is in.
pub(super) const SESSION: &str = "session";

/// The folder of an old store, below the client's own, and the one in it that sessions are below.
const STORAGE: &str = "storage";
pub(super) const SESSIONS: &str = "session";

impl Carrier for OpenCode {
    /// Keeps values in the session's `metadata`.
    fn embed_original(
        &self,
        w: &Writing<'_>,
        source: &Source,
        items: &[Vec<u8>],
    ) -> Result<(), WriteError> {
        if !matches!(storage_of(&source.path)?, SessionStorage::Database) {
            return Err(FORMAT.cannot("way to be changed outside of the database"));
        }
        let mut list = rethread_json::Array::new();
        for item in items {
            list = list.raw(item);
        }
        let list = list.finish();
        change_database(w, &source.path, |change| {
            let sql = "SELECT metadata FROM session WHERE id = ?1";
            let row = |row: &rusqlite::Row<'_>| row.get::<_, Option<String>>(0);
            let there = change.ask(|tx| tx.query_row(sql, [&source.id], row).optional())?;
            let there = there.ok_or_else(|| change.no_session(&source.id))?;
            let metadata = with(there.unwrap_or_default().into_bytes(), &list);
            let sql = "UPDATE session SET metadata = ?1 WHERE id = ?2";
            change.ask(|tx| tx.execute(sql, [&metadata, &source.id]))?;
            Ok(())
        })
    }

    /// The values that travel in the session's row, or in what a document says of the session.
    fn embedded_original(&self, conversation: &Conversation) -> Result<Vec<Vec<u8>>, OpenError> {
        let Some(part) = conversation.native.parts.first() else {
            return Ok(Vec::new());
        };
        // What stands before the messages of a document is a record, too.
        let Ok(first) = part.read(0) else {
            return Ok(Vec::new());
        };
        let row = if matches!(part.kind, PartKind::Rows { .. }) {
            Some(first.as_slice())
        } else {
            export::info(&first).ok().flatten()
        };
        let Some((row, tree)) = row.and_then(|row| Some((row, Tree::parse(row).ok()?))) else {
            return Ok(Vec::new());
        };
        let list = tree.root(row).at(&["metadata", OURS]);
        let items = list.map(|list: Json<'_>| list.items().map(|i| i.raw().to_vec()).collect());
        Ok(items.unwrap_or_default())
    }

    fn destination_folder(
        &self,
        _: &Writing<'_>,
        _: &InstallTarget,
        _main: &str,
    ) -> Result<PathBuf, WriteError> {
        Err(FORMAT.cannot("store that sessions can be put into"))
    }

    /// Makes an empty database like the one to write to: with its tables, and its projects. Where there is
    /// none, it has the tables that we know.
    fn stage(
        &self,
        w: &Writing<'_>,
        place: &InstallTarget,
        folder: &Path,
    ) -> Result<(), WriteError> {
        let copy = folder.join("opencode.db");
        let Some(path) = database(w, place)? else {
            return create_database(&copy, &[]);
        };
        let schema = super::database::with_database(&path, |db| {
            let mut query = db.prepare(
                "SELECT sql FROM sqlite_master
                WHERE sql IS NOT NULL AND type IN ('table', 'index') AND name NOT LIKE 'sqlite_%'
                ORDER BY type DESC",
            )?;
            let found = query.query_map([], |row| row.get::<_, String>(0))?;
            Ok(found.collect::<rusqlite::Result<Vec<String>>>()?)
        })?;
        let projects = super::database::with_database(&path, |db| {
            let columns = db.columns("project")?;
            let mut query = db.prepare(&format!("SELECT {columns} FROM project"))?;
            let found = query.query_map([], encode_row)?;
            Ok(found.collect::<rusqlite::Result<Vec<Vec<u8>>>>()?)
        })?;
        super::database::let_go();
        let fill = || -> rusqlite::Result<()> {
            let mut db = Connection::open(&copy)?;
            let tx = db.transaction()?;
            for sql in &schema {
                tx.execute(sql, [])?;
            }
            for row in &projects {
                insert_row(&tx, "project", &decode_row(row).unwrap_or_default())?;
            }
            tx.commit()
        };
        fill().map_err(|e| write_trouble(&copy, w.lock_timeout, &e))
    }

    /// Puts rows into the database, all at once; files of an old store, or of an export, go where they
    /// belong.
    fn install(
        &self,
        w: &Writing<'_>,
        place: &InstallTarget,
        goods: &SessionFiles,
    ) -> Result<Put, WriteError> {
        if goods.main() != rows_name(SESSION) {
            let mut folder = own_folder(w, place)?;
            if goods.main().starts_with(SESSIONS) {
                folder.push(STORAGE);
            }
            return put_files(w, goods, &folder);
        }
        let family = family(goods)?;
        let mut ids = Vec::new();
        for tables in &family {
            ids.push(id_of(tables).ok_or_else(|| bad_input("the session's row has no id"))?);
        }
        let Some(path) = database(w, place)? else {
            return document::put(w, &own_folder(w, place)?, &family, &ids);
        };
        let shown = ids
            .first()
            .map_or_else(String::new, |id| format!("{}#{id}", path.display()));
        let shown = PathBuf::from(shown);
        change_database(w, &path, |change| {
            let mut missing = Vec::new();
            for (tables, id) in family.iter().zip(&ids) {
                let there = rows_there(change, id)?;
                if there.is_empty() {
                    missing.push(tables);
                } else if there != *tables {
                    return Err(WriteError::Exists {
                        id: id.clone(),
                        path: path.clone(),
                    });
                }
            }
            if missing.is_empty() {
                return Ok(Put::There(shown));
            }
            for tables in missing {
                for (table, _) in known() {
                    for row in tables.get(table).into_iter().flatten() {
                        let row = decode_row(row).ok_or_else(|| bad_input("a row is damaged"))?;
                        if table == SESSION {
                            ensure_project(w, change, place, &row)?;
                        }
                        change.ask(|tx| insert_row(tx, table, &row))?;
                    }
                }
            }
            Ok(Put::New(shown))
        })
    }

    /// The session in what was unpacked. Rows are read from a database, so one is made of them: it has
    /// just the columns that they have.
    fn unpacked(&self, goods: &SessionFiles) -> Result<Option<Source>, WriteError> {
        if goods.main() != rows_name(SESSION) {
            let path = join_checked(&goods.folder, &goods.path)?;
            return Ok(Some(Source::new(FORMAT, goods.id.clone(), path)));
        }
        let family = family(goods)?;
        let path = goods.folder.join("opencode.db");
        super::database::let_go();
        let fill = || -> rusqlite::Result<()> {
            let mut db = Connection::open(&path)?;
            let tx = db.transaction()?;
            tx.execute(
                "CREATE TABLE project (id, worktree, time_created, time_updated, sandboxes)",
                [],
            )?;
            for (table, _) in known() {
                let rows = family.iter().filter_map(|tables| tables.get(table));
                let rows: Vec<_> = rows.flatten().filter_map(|row| decode_row(row)).collect();
                let Some(first) = rows.first() else { continue };
                let names: Vec<String> = first.iter().map(|(name, _)| quoted(name)).collect();
                tx.execute(&format!("CREATE TABLE {table} ({})", names.join(", ")), [])?;
                for row in &rows {
                    insert_row(&tx, table, row)?;
                }
            }
            tx.commit()
        };
        fill().map_err(|e| write_trouble(&path, Duration::ZERO, &e))?;
        Ok(Some(Source::new(FORMAT, goods.id.clone(), path)))
    }
}

/// The database to write to, if there is one. Only the client makes one.
fn database(w: &Writing<'_>, place: &InstallTarget) -> Result<Option<PathBuf>, WriteError> {
    let path = match &place.root {
        Some(root) => Some(root.join("opencode.db")),
        None => database_for_writing(w.env),
    };
    let path = path.ok_or_else(no_home)?;
    Ok(Some(path).filter(|path| path.is_file()))
}

/// The client's own folder.
fn own_folder(w: &Writing<'_>, place: &InstallTarget) -> Result<PathBuf, WriteError> {
    let folder = match &place.root {
        Some(root) => Some(root.clone()),
        None => database_for_writing(w.env).and_then(|p| Some(p.parent()?.to_owned())),
    };
    folder.ok_or_else(no_home)
}

fn no_home() -> WriteError {
    WriteError::BadInput("no home is known".to_owned())
}

/// The name of the file that the rows of a table travel in.
fn rows_name(table: &str) -> String {
    format!("{table}.jsonl")
}

pub(super) fn bad_input(why: &str) -> WriteError {
    WriteError::BadInput(format!("what travelled along cannot be used: {why}"))
}

/// The rows of each table, as lines, in the order that they are added in.
pub(super) type Tables = BTreeMap<String, Vec<Vec<u8>>>;

/// All tables that hold rows of a session.
fn known() -> impl Iterator<Item = (&'static str, &'static str)> {
    std::iter::once((SESSION, "rowid")).chain(TABLES)
}

/// The rows of a session, and those of each sub-agent that came along.
fn family(goods: &SessionFiles) -> Result<Vec<Tables>, WriteError> {
    let mut family = vec![Tables::new()];
    // Those of a sub-agent are in a folder of their own.
    let mut folder = String::new();
    for name in &goods.names {
        let at = name.rfind('/').map_or(0, |at| at + 1);
        let (inside, file) = name.split_at(at);
        let table = known().map(|(t, _)| t).find(|t| file == rows_name(t));
        let table =
            table.ok_or_else(|| bad_input(&format!("`{name}` is no table of a session")))?;
        if inside != folder {
            inside.clone_into(&mut folder);
            family.push(Tables::new());
        }
        let lines = lines(&join_checked(&goods.folder, name)?)?;
        if let Some(tables) = family.last_mut() {
            tables.insert(table.to_owned(), lines);
        }
    }
    for tables in &mut family {
        tables.retain(|_, rows| !rows.is_empty());
    }
    Ok(family)
}

/// The lines of a file, with their ends.
fn lines(path: &Path) -> Result<Vec<Vec<u8>>, OpenError> {
    let mut reader = BufReader::new(open_read(path)?);
    let mut lines = Vec::new();
    loop {
        let mut line = Vec::new();
        match reader.read_until(b'\n', &mut line) {
            Ok(0) => return Ok(lines),
            Ok(_) => lines.push(line),
            Err(e) => return Err(unreadable_file(path, e)),
        }
    }
}

fn id_of(tables: &Tables) -> Option<String> {
    let row = decode_row(tables.get(SESSION)?.first()?)?;
    row.into_iter().find_map(|(name, value)| match value {
        Value::Text(id) if name == "id" => Some(id),
        _ => None,
    })
}

/// What the database holds of a session.
fn rows_there(change: &DatabaseChange<'_>, id: &str) -> Result<Tables, WriteError> {
    let mut there = Tables::new();
    for (table, order) in known() {
        let key = if table == SESSION { "id" } else { "session_id" };
        let rows = change.ask(|tx| {
            if !super::session_rows::has_table(tx, table)? {
                return Ok(Vec::new());
            }
            let columns = super::connection::column_list(tx, table)?;
            let sql = format!("SELECT {columns} FROM {table} WHERE {key} = ?1 ORDER BY {order}");
            let mut query = tx.prepare(&sql)?;
            let rows = query.query_map([id], encode_row)?;
            rows.collect::<rusqlite::Result<Vec<Vec<u8>>>>()
        })?;
        if !rows.is_empty() {
            there.insert(table.to_owned(), rows);
        }
    }
    Ok(there)
}

/// A session belongs to a project, whose id follows from the repository. Where this database does not
/// know it yet, it is told.
fn ensure_project(
    w: &Writing<'_>,
    change: &DatabaseChange<'_>,
    place: &InstallTarget,
    row: &RowValues,
) -> Result<(), WriteError> {
    let project = row.iter().find(|(name, _)| name == "project_id");
    let Some((_, Value::Text(id))) = project else {
        return Ok(());
    };
    if change.exists("project", id)? {
        return Ok(());
    }
    let repository = Repository::find(&place.cwd).filter(|_| id != GLOBAL);
    let root = repository.as_ref().map_or(Path::new("/"), Repository::root);
    let time = Value::Integer(w.env.now().millis());
    change.insert(
        "project",
        vec![
            ("id", text_value(id)),
            ("worktree", text_value(&root.to_string_lossy())),
            (
                "vcs",
                repository
                    .as_ref()
                    .map_or(Value::Null, |_| text_value("git")),
            ),
            ("time_created", time.clone()),
            ("time_updated", time),
            ("sandboxes", text_value("[]")),
        ],
    )
}

/// A column's name as SQL has it.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Adds a row.
pub(super) fn insert_row(db: &Connection, table: &str, row: &RowValues) -> rusqlite::Result<()> {
    let names: Vec<String> = row.iter().map(|(name, _)| quoted(name)).collect();
    let marks = vec!["?"; names.len()].join(", ");
    let sql = format!(
        "INSERT INTO {table} ({}) VALUES ({marks})",
        names.join(", ")
    );
    let values = row.iter().map(|(_, value)| value.clone());
    db.execute(&sql, params_from_iter(values)).map(drop)
}

/// A session's `metadata` with one member more.
fn with(metadata: Vec<u8>, list: &[u8]) -> String {
    let document = Document::parse(metadata).ok();
    let bytes = match document.as_ref().map(Document::root) {
        Some(root) if root.is_object() => {
            let mut patch = Patch::new(root);
            patch.set(root, OURS, list);
            patch.finish()
        }
        _ => Object::new().raw(OURS, list).finish(),
    };
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn rows_travel_however_many_bytes_they_are() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"one\ntwo\n").unwrap();
        file.as_file().set_len(rethread_disk::SMALL + 1).unwrap();
        let lines = lines(file.path()).unwrap();
        assert_eq!(lines[..2], [b"one\n".to_vec(), b"two\n".to_vec()]);
        let bytes: usize = lines.iter().map(Vec::len).sum();
        assert_eq!(bytes as u64, rethread_disk::SMALL + 1);
    }
}
