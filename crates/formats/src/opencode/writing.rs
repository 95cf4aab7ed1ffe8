//! Writing to a database: one transaction, and only where the tables are those that we know.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rethread_disk::{DiskError, Durability, open_read};
use rusqlite::config::DbConfig;
use rusqlite::ffi::ErrorCode;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior, params_from_iter};

use super::SLUG;
use super::database::let_go;
use super::session_rows::has_table;
use crate::{OpenError, WriteError, Writing};

/// The columns that we cannot do without, table by table.
const NEEDED: [(&str, &[&str]); 4] = [
    (
        "project",
        &[
            "id",
            "worktree",
            "time_created",
            "time_updated",
            "sandboxes",
        ],
    ),
    (
        "session",
        &[
            "id",
            "project_id",
            "parent_id",
            "slug",
            "directory",
            "title",
            "version",
            "time_created",
            "time_updated",
        ],
    ),
    (
        "message",
        &["id", "session_id", "time_created", "time_updated", "data"],
    ),
    (
        "part",
        &[
            "id",
            "message_id",
            "session_id",
            "time_created",
            "time_updated",
            "data",
        ],
    ),
];

/// A database that is being written to. Nothing is written before [`DatabaseChange::commit`].
pub(super) struct DatabaseChange<'a> {
    path: &'a Path,
    timeout: Duration,
    tx: Transaction<'a>,
    /// The columns of each table.
    columns: BTreeMap<&'static str, Vec<String>>,
}

/// Opens a database for writing.
pub(super) fn open(
    path: &Path,
    timeout: Duration,
    d: Durability,
) -> Result<Connection, WriteError> {
    drop(open_read(path)?);
    let_go();
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let fail = |e| write_trouble(path, timeout, &e);
    let db = Connection::open_with_flags(path, flags).map_err(fail)?;
    let settled = || -> rusqlite::Result<()> {
        db.busy_timeout(timeout)?;
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true)?;
        let synced = if d.syncs() { "FULL" } else { "NORMAL" };
        db.pragma_update(None, "synchronous", synced)
    };
    settled().map_err(fail)?;
    Ok(db)
}

impl<'a> DatabaseChange<'a> {
    /// Begins to write to a database that was opened for it, if its tables are those that we know.
    pub(super) fn begin(
        db: &'a mut Connection,
        path: &'a Path,
        timeout: Duration,
    ) -> Result<Self, WriteError> {
        let tx = db
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|e| write_trouble(path, timeout, &e))?;
        let mut change = Self {
            path,
            timeout,
            tx,
            columns: BTreeMap::new(),
        };
        change.know()?;
        Ok(change)
    }

    /// Learns the columns, and refuses tables that want something which we do not know.
    fn know(&mut self) -> Result<(), WriteError> {
        for (table, needed) in NEEDED {
            let columns = self.ask(|tx| column_list(tx, table))?;
            if columns.is_empty() {
                return Err(self.unknown(format!("there is no table `{table}`")));
            }
            if let Some(why) = missing(table, needed, &columns) {
                return Err(self.unknown(why));
            }
            let demands = |c: &&Column| c.is_demanded && !needed.contains(&c.name.as_str());
            if let Some(column) = columns.iter().find(demands) {
                let name = &column.name;
                let why = format!("table `{table}` demands a column `{name}` that we do not know");
                return Err(self.unknown(why));
            }
            let names = columns.into_iter().map(|c| c.name).collect();
            self.columns.insert(table, names);
        }
        let moved = self.ask(|tx| {
            Ok(has_table(tx, "session_message")?
                && tx.query_row("SELECT EXISTS (SELECT 1 FROM session_message)", [], |r| {
                    r.get(0)
                })?)
        })?;
        if moved {
            return Err(self.unknown("messages are kept in table `session_message`".to_owned()));
        }
        Ok(())
    }

    fn unknown(&self, why: String) -> WriteError {
        WriteError::UnknownStore {
            path: self.path.to_owned(),
            format: SLUG,
            why,
        }
    }

    /// The path of the database.
    pub(super) fn path(&self) -> PathBuf {
        self.path.to_owned()
    }

    /// Asks or changes something.
    pub(super) fn ask<T>(
        &self,
        ask: impl FnOnce(&Transaction<'a>) -> rusqlite::Result<T>,
    ) -> Result<T, WriteError> {
        ask(&self.tx).map_err(|e| write_trouble(self.path, self.timeout, &e))
    }

    /// Adds a row; columns that this database does not have are left out.
    pub(super) fn insert(&self, table: &str, row: Vec<(&str, Value)>) -> Result<(), WriteError> {
        let known = self.columns.get(table);
        let has = |name: &str| known.is_some_and(|k| k.iter().any(|c| c == name));
        let row: Vec<(&str, Value)> = row.into_iter().filter(|(name, _)| has(name)).collect();
        let names: Vec<String> = row.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        let marks = vec!["?"; names.len()].join(", ");
        let sql = format!(
            "INSERT INTO {table} ({}) VALUES ({marks})",
            names.join(", ")
        );
        let values = row.into_iter().map(|(_, value)| value);
        self.ask(|tx| tx.execute(&sql, params_from_iter(values)))?;
        Ok(())
    }

    /// How much there is: a number that grows with every row.
    pub(super) fn there(&self) -> Result<u64, WriteError> {
        let sql = "SELECT (SELECT ifnull(max(rowid), 0) FROM session)
            + (SELECT ifnull(max(rowid), 0) FROM message)
            + (SELECT ifnull(max(rowid), 0) FROM part)";
        let there: i64 = self.ask(|tx| tx.query_row(sql, [], |row| row.get(0)))?;
        Ok(there.unsigned_abs())
    }

    /// Whether a table has a column.
    pub(super) fn has(&self, table: &str, column: &str) -> bool {
        let columns = self.columns.get(table);
        columns.is_some_and(|c| c.iter().any(|name| name == column))
    }

    /// Whether there is a row with this id.
    pub(super) fn exists(&self, table: &str, id: &str) -> Result<bool, WriteError> {
        let sql = format!("SELECT EXISTS (SELECT 1 FROM {table} WHERE id = ?1)");
        self.ask(|tx| tx.query_row(&sql, [id], |row| row.get(0)))
    }

    /// The error for a session that is not there.
    pub(super) fn no_session(&self, id: &str) -> WriteError {
        OpenError::NoSession {
            path: self.path.to_owned(),
            id: id.to_owned(),
            format: SLUG,
        }
        .into()
    }

    /// Makes all of it true at once.
    pub(super) fn commit(self) -> Result<(), WriteError> {
        let (path, timeout) = (self.path, self.timeout);
        let done = self
            .tx
            .commit()
            .map_err(|e| write_trouble(path, timeout, &e));
        let_go();
        done
    }
}

/// Opens a database, and carries out a change of it as a whole.
pub(super) fn change_database<T>(
    w: &Writing<'_>,
    path: &Path,
    carry_out: impl FnOnce(&DatabaseChange<'_>) -> Result<T, WriteError>,
) -> Result<T, WriteError> {
    let mut db = open(path, w.lock_timeout, w.durability)?;
    let change = DatabaseChange::begin(&mut db, path, w.lock_timeout)?;
    let done = carry_out(&change)?;
    change.commit()?;
    Ok(done)
}

struct Column {
    name: String,
    /// Whether a row must name a value for it.
    is_demanded: bool,
}

/// The first column that we cannot do without and that a database does not have.
pub(super) fn missing_column(db: &Connection) -> rusqlite::Result<Option<String>> {
    for (table, needed) in NEEDED {
        if let Some(why) = missing(table, needed, &column_list(db, table)?) {
            return Ok(Some(why));
        }
    }
    Ok(None)
}

fn missing(table: &str, needed: &[&str], columns: &[Column]) -> Option<String> {
    let has = |name: &&&str| columns.iter().any(|c| c.name == **name);
    let missing = needed.iter().find(|name| !has(name))?;
    Some(format!("table `{table}` has no column `{missing}`"))
}

fn column_list(db: &Connection, table: &str) -> rusqlite::Result<Vec<Column>> {
    let mut query = db.prepare(&format!("PRAGMA table_info({table})"))?;
    let found = query.query_map([], |row| {
        let default: Option<String> = row.get("dflt_value")?;
        Ok(Column {
            name: row.get("name")?,
            is_demanded: row.get::<_, bool>("notnull")? && default.is_none(),
        })
    })?;
    found.collect()
}

/// An error of SQLite while writing, in our words.
pub(super) fn write_trouble(path: &Path, waited: Duration, e: &rusqlite::Error) -> WriteError {
    let path = path.to_owned();
    match e.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            DiskError::Busy { path, waited }.into()
        }
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            super::database::open_trouble(&path, e).into()
        }
        _ => DiskError::Write {
            path,
            cause: io::Error::other(e.to_string()),
        }
        .into(),
    }
}
