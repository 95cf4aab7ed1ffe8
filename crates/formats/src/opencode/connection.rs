//! An open database that is only read, with what is asked of it again and again: which columns its
//! tables have, and where rows are.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::ops::Deref;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, ffi};

use super::vfs::read_only;

/// The tables that are read. All others may hold what is nobody's business: accounts, credentials,
/// secrets of shared sessions.
const READ: [&str; 8] = [
    "session",
    "message",
    "part",
    "todo",
    "project",
    "session_message",
    "session_input",
    "session_context_epoch",
];

/// How long SQLite waits for a lock that others hold for a moment.
const PATIENCE: Duration = Duration::from_secs(2);

/// The longest value, and the longest row.
const LONGEST: i32 = 128 * 1024 * 1024;

/// How many steps SQLite takes before it asks whether to go on.
const STEPS: i32 = 10_000;

/// So many steps are free, and some more for each byte of the file. To read all rows of a table
/// takes some dozens for each.
const FREE_STEPS: u64 = 10_000_000;
const STEPS_A_BYTE: u64 = 16;

/// In a table of up to so many rows, those that are wanted are soon found without an index.
const FEW_ROWS: i64 = 1000;

/// What the client has an index for, always.
const INDEXED: [(&str, &str); 4] = [
    ("session", "id"),
    ("message", "session_id"),
    ("part", "session_id"),
    ("part", "message_id"),
];

/// How a database is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionMode {
    /// Nobody has written since the last checkpoint: the file alone is all, and we take no lock.
    /// Whether that stayed so is asked again afterwards.
    Quiet,
    /// With the index of the log that is there, under the locks of SQLite, which in this mode never
    /// hold up a writer.
    Shared,
    /// There is a log without its index: we make the index in our own memory. No lock is taken, so
    /// whether all stayed as it was is asked again afterwards.
    Alone,
}

impl ConnectionMode {
    /// Whether a connection holds nothing that could be in a writer's way, and can stay open.
    pub(super) fn is_lockless(self) -> bool {
        self != Self::Shared
    }
}

/// An open database.
pub(super) struct Db {
    connection: Connection,
    way: ConnectionMode,
    /// How many steps may still be taken.
    steps: Arc<AtomicU64>,
    /// How many a question may take.
    most_steps: u64,
    columns: RefCell<HashMap<&'static str, Rc<str>>>,
    wheres: RefCell<HashMap<(&'static str, &'static str), Rc<str>>>,
}

impl Deref for Db {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl Db {
    /// Opens a database of this length, with its log.
    pub(super) fn open(path: &Path, way: ConnectionMode, len: u64) -> rusqlite::Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let (how, with_locks) = match way {
            ConnectionMode::Quiet => ("immutable=1", true),
            ConnectionMode::Shared => ("mode=ro&readonly_shm=1", true),
            ConnectionMode::Alone => ("mode=ro", false),
        };
        let vfs = read_only(with_locks)?;
        let mut connection = Connection::open_with_flags_and_vfs(uri(path, how), flags, vfs)?;
        // Else SQLite would move the log into the database and remove it.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
        // Else a query is planned anew with every session that it is asked about.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)?;
        connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
        connection.busy_timeout(PATIENCE)?;
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        if way == ConnectionMode::Alone {
            connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        }
        let most_steps = FREE_STEPS.saturating_add(len.saturating_mul(STEPS_A_BYTE));
        let steps = Arc::new(AtomicU64::new(most_steps));
        let left = Arc::clone(&steps);
        let taken = u64::from(STEPS.unsigned_abs());
        let is_spent = move || {
            let less = |left: u64| left.checked_sub(taken);
            left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
                .is_err()
        };
        connection.progress_handler(STEPS, Some(is_spent))?;
        let computed = Computed::of(&connection)?;
        let permit = move |asked: AuthContext<'_>| permitted(&asked, &computed);
        connection.authorizer(Some(permit))?;
        Ok(Self {
            connection,
            way,
            steps,
            most_steps,
            columns: RefCell::default(),
            wheres: RefCell::default(),
        })
    }

    /// Begins to ask, at one moment of the database's life.
    pub(super) fn begin(self) -> rusqlite::Result<Self> {
        self.steps.store(self.most_steps, Ordering::Relaxed);
        self.execute_batch("BEGIN")?;
        Ok(self)
    }

    /// The columns of a table that hold what was written into them, as a query names them.
    pub(super) fn columns(&self, table: &'static str) -> rusqlite::Result<Rc<str>> {
        if let Some(known) = self.columns.borrow().get(table) {
            return Ok(Rc::clone(known));
        }
        let found: Rc<str> = column_list(self, table)?.into();
        self.columns.borrow_mut().insert(table, Rc::clone(&found));
        Ok(found)
    }

    /// The condition that a column is what the first parameter says, such that rows are found
    /// without going through all of them, whether the database has an index for it or not.
    pub(super) fn is(
        &self,
        table: &'static str,
        column: &'static str,
    ) -> rusqlite::Result<Rc<str>> {
        if let Some(known) = self.wheres.borrow().get(&(table, column)) {
            return Ok(Rc::clone(known));
        }
        let has_index = "SELECT EXISTS (
            SELECT 1 FROM pragma_index_list(?1) AS list, pragma_index_info(list.name) AS info
            WHERE NOT list.partial AND info.seqno = 0 AND info.name = ?2)";
        let has_index = self.query_row(has_index, [table, column], |row| row.get(0))?;
        let found: Rc<str> = if has_index || self.has_few_rows(table) {
            format!("{column} = ?1").into()
        } else if !self.way.is_lockless() {
            // An index of ours would be gone with the connection, after this one question.
            if INDEXED.contains(&(table, column)) {
                let code = ffi::Error::new(ffi::SQLITE_INTERRUPT);
                return Err(rusqlite::Error::SqliteFailure(code, None));
            }
            format!("{column} = ?1").into()
        } else {
            let own = format!("{OWN}{table}_{column}");
            let index = format!(
                "CREATE TEMP TABLE {own} AS SELECT {column} AS key, rowid AS place FROM {table};
                CREATE INDEX temp.{own}_index ON {own} (key, place);"
            );
            self.execute_batch(&index)?;
            format!("rowid IN (SELECT place FROM temp.{own} WHERE key = ?1)").into()
        };
        let known = Rc::clone(&found);
        self.wheres.borrow_mut().insert((table, column), known);
        Ok(found)
    }

    /// Whether a table is short, or its rows have no numbers.
    fn has_few_rows(&self, table: &str) -> bool {
        let sql = format!("SELECT count(*) FROM (SELECT rowid FROM {table} LIMIT {FEW_ROWS})");
        let count = self.query_row(&sql, [], |row| row.get::<_, i64>(0));
        count.map_or(true, |count| count < FEW_ROWS)
    }
}

/// How the names of our own tables begin, which are in memory.
const OWN: &str = "rethread_";

/// The columns of a table that hold what was written into them, as a query names them. What a
/// schema computes is left out: it says nothing, and takes any amount of work.
pub(super) fn column_list(db: &Connection, table: &str) -> rusqlite::Result<String> {
    let mut query = db.prepare(&format!("PRAGMA table_info({table})"))?;
    let names = query.query_map([], |row| row.get::<_, String>("name"))?;
    let quoted = names.map(|name| Ok(format!("\"{}\"", name?.replace('"', "\"\""))));
    let all = quoted.collect::<rusqlite::Result<Vec<String>>>()?;
    Ok(all.join(", "))
}

/// What a schema says that would have to be computed.
struct Computed {
    columns: HashSet<(String, String)>,
    tables: HashSet<String>,
}

impl Computed {
    fn of(db: &Connection) -> rusqlite::Result<Self> {
        // Tables without a page are made by code.
        let mut query =
            db.prepare("SELECT name, rootpage = 0 FROM sqlite_master WHERE type = 'table'")?;
        let found = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let found = found.collect::<rusqlite::Result<Vec<(String, bool)>>>()?;
        let mut computed = Self {
            columns: HashSet::new(),
            tables: HashSet::new(),
        };
        for (table, is_code) in found {
            if !READ.contains(&table.as_str()) {
                continue;
            }
            if is_code {
                computed.tables.insert(table);
                continue;
            }
            let mut query = db.prepare(&format!("PRAGMA table_xinfo({table})"))?;
            let mut rows = query.query([])?;
            while let Some(row) = rows.next()? {
                if row.get::<_, i64>("hidden")? != 0 {
                    computed.columns.insert((table.clone(), row.get("name")?));
                }
            }
        }
        Ok(computed)
    }
}

/// Only the tables that we know are read, and only what is written in them, whatever a schema makes
/// of a question.
fn permitted(asked: &AuthContext<'_>, computed: &Computed) -> Authorization {
    let AuthAction::Read {
        table_name,
        column_name,
    } = asked.action
    else {
        return Authorization::Allow;
    };
    let is_own = asked.database_name == Some("temp") && table_name.starts_with(OWN);
    let is_known = is_own
        || READ.contains(&table_name)
        || table_name.starts_with("sqlite_")
        || is_pragma(table_name);
    let is_computed = computed.tables.contains(table_name)
        || (!computed.columns.is_empty()
            && computed
                .columns
                .contains(&(table_name.to_owned(), column_name.to_owned())));
    if is_known && !is_computed {
        Authorization::Allow
    } else {
        Authorization::Deny
    }
}

/// Whether a table is a question about the schema.
fn is_pragma(table: &str) -> bool {
    matches!(table, "pragma_index_list" | "pragma_index_info")
}

/// A path as SQLite wants it, with how to open it.
fn uri(path: &Path, how: &str) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut uri = String::from("file:");
    if cfg!(windows) {
        uri.push('/');
    }
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'\\' if cfg!(windows) => uri.push('/'),
            b'/' | b':' | b'.' | b'-' | b'_' | b'~' => uri.push(char::from(*byte)),
            _ if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte)),
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri.push('?');
    uri.push_str(how);
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_spelled_so_that_sqlite_reads_them_back() {
        if cfg!(unix) {
            let uri = uri(Path::new("/a b/c?d#e%f/ü.db"), "mode=ro");
            assert_eq!(uri, "file:/a%20b/c%3Fd%23e%25f/%C3%BC.db?mode=ro");
        }
    }
}
