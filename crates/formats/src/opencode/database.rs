//! Looking into a database that its agent may be writing to: nothing is left beside it, nobody waits
//! for us, and tables that hold credentials cannot be read.

use std::cell::RefCell;
use std::ffi::OsString;
use std::fs::Metadata;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use rethread_disk::{DiskError, FileId, open_read, read_at};
use rusqlite::ffi::ErrorCode;

use super::SLUG;
use super::connection::{ConnectionMode, Db};
use crate::OpenError;

/// How often reading is begun anew because the database changed under it.
const TRIES: u32 = 40;

/// The first bytes of every SQLite database.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Whether a file begins like a SQLite database.
pub(super) fn is_database(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    let read = open_read(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok());
    read && begins_like_one(&start)
}

/// Whether this is the beginning of a SQLite database.
pub(super) fn begins_like_one(start: &[u8]) -> bool {
    start.starts_with(MAGIC)
}

/// Asks a database something, in one moment of its life. `ask` may be called several times.
pub(super) fn with_database<T>(
    path: &Path,
    mut ask: impl FnMut(&Db) -> Result<T, AskError>,
) -> Result<T, OpenError> {
    let mut last = None;
    for attempt in 0..TRIES {
        let writes = WRITES.load(Ordering::SeqCst);
        let (before, opened) = if let Some(kept) = OpenDatabase::take(path, writes) {
            // If its state is still the same afterwards, it was so all the time.
            (kept.state, Ok(kept.connection))
        } else {
            // Trouble with the file itself is said in our own words.
            drop(open_read(path)?);
            let before = DatabaseState::of(path);
            let files = [before.main, before.log].into_iter().flatten();
            let len = files.map(|(len, _)| len).sum();
            let opened = Db::open(path, before.way(), len);
            (before, opened)
        };
        let way = before.way();
        let (answer, connection) = match opened.and_then(Db::begin) {
            Ok(connection) => (ask(&connection), Some(connection)),
            Err(e) => (Err(e.into()), None),
        };
        let connection = connection.filter(|_| way.is_lockless() && answer.is_ok());
        let is_true = way == ConnectionMode::Shared || before == DatabaseState::of(path);
        match answer {
            Ok(answer) if is_true => {
                OpenDatabase::put(path, before, writes, connection);
                return Ok(answer);
            }
            Err(AskError::Open(e)) if is_true => return Err(e),
            Err(AskError::Sql(e)) if is_true && !passes(&e) => return Err(open_trouble(path, &e)),
            Err(AskError::Sql(e)) => last = Some(e),
            Ok(_) | Err(AskError::Open(_)) => {}
        }
        std::thread::sleep(Duration::from_millis(u64::from(attempt.min(20))));
    }
    let changing = || io::Error::other("it changed all the time while it was read; try again");
    Err(match last {
        Some(e) => open_trouble(path, &e),
        None => DiskError::Read {
            path: path.to_owned(),
            cause: changing(),
        }
        .into(),
    })
}

/// The database that a thread looked into last, still open: a list asks for hundreds of sessions in
/// the same one. Only where nobody writes, and then we hold no lock; and only as long as all that
/// can be seen of it stays as it was.
struct OpenDatabase {
    path: PathBuf,
    state: DatabaseState,
    /// How often we ourselves had written to some database.
    writes: u64,
    connection: Db,
}

thread_local! {
    static KEPT: RefCell<Option<OpenDatabase>> = const { RefCell::new(None) };
}

/// How often this process began or ended to write to a database: times of files are too coarse to
/// tell two of its changes apart.
static WRITES: AtomicU64 = AtomicU64::new(0);

impl OpenDatabase {
    /// The connection to this database, if it is open and we did not write since.
    fn take(path: &Path, writes: u64) -> Option<Self> {
        let kept = KEPT.take()?;
        (kept.path == path && kept.writes == writes).then_some(kept)
    }

    fn put(path: &Path, state: DatabaseState, writes: u64, connection: Option<Db>) {
        // An open file is in others' way on Windows, whatever is done with it.
        let connection = connection.filter(|_| !cfg!(windows));
        let ended = |c: Db| c.execute_batch("COMMIT").is_ok().then_some(c);
        KEPT.set(connection.and_then(ended).map(|connection| Self {
            path: path.to_owned(),
            state,
            writes,
            connection,
        }));
    }
}

/// Forgets what is open, because we write to a database now, or did.
pub(super) fn let_go() {
    WRITES.fetch_add(1, Ordering::SeqCst);
    KEPT.take();
}

/// Why a question was not answered.
pub(super) enum AskError {
    /// SQLite says so.
    Sql(rusqlite::Error),
    /// What was read cannot be used.
    Open(OpenError),
}

impl From<rusqlite::Error> for AskError {
    fn from(e: rusqlite::Error) -> Self {
        Self::Sql(e)
    }
}

impl From<OpenError> for AskError {
    fn from(e: OpenError) -> Self {
        Self::Open(e)
    }
}

impl From<DiskError> for AskError {
    fn from(e: DiskError) -> Self {
        Self::Open(e.into())
    }
}

/// What can be seen of a database from outside.
#[derive(PartialEq, Eq)]
struct DatabaseState {
    main: Option<FileStamp>,
    file: Option<FileId>,
    /// The counters in its header: what changes with every change of the file.
    header: Vec<u8>,
    log: Option<FileStamp>,
    has_index: bool,
    has_journal: bool,
}

/// Its length and when it changed.
type FileStamp = (u64, Option<SystemTime>);

/// How long the header of a database is.
const HEADER: usize = 100;

impl DatabaseState {
    fn of(path: &Path) -> Self {
        let seen = |m: Metadata| (m.len(), m.modified().ok());
        let meta = |path: &Path| std::fs::metadata(path).ok().map(seen);
        let main = open_read(path).ok();
        let mut header = vec![0; HEADER];
        let filled = main
            .as_ref()
            .and_then(|file| read_at(file, 0, &mut header).ok());
        header.truncate(filled.unwrap_or(0));
        Self {
            main: main
                .as_ref()
                .and_then(|file| file.metadata().ok().map(seen)),
            file: main.as_ref().and_then(|file| FileId::of(file).ok()),
            header,
            log: meta(&path_beside(path, "-wal")).filter(|(len, _)| has_frames(path, *len)),
            has_index: path_beside(path, "-shm").exists(),
            has_journal: meta(&path_beside(path, "-journal")).is_some_and(|(len, _)| len > 0),
        }
    }

    fn way(&self) -> ConnectionMode {
        match (&self.log, self.has_index) {
            (None, _) if self.has_journal => ConnectionMode::Shared,
            (None, _) => ConnectionMode::Quiet,
            (Some(_), true) => ConnectionMode::Shared,
            (Some(_), false) => ConnectionMode::Alone,
        }
    }
}

/// How long the header of a log is, and how it begins but for its last bit.
const LOG_HEADER: usize = 32;
const LOG_MAGIC: u32 = 0x377f_0682;

/// Whether the log of a database, of this length, may hold something: more than its header, which a
/// writer that was killed may leave alone, and a header that SQLite takes for one. Where there is an
/// index but nobody who writes, SQLite would wait for a better header, ten seconds each time.
fn has_frames(path: &Path, len: u64) -> bool {
    if len <= LOG_HEADER as u64 {
        return false;
    }
    let mut header = [0; LOG_HEADER];
    let log = open_read(&path_beside(path, "-wal"));
    if !log.is_ok_and(|log| read_at(&log, 0, &mut header).is_ok_and(|n| n == LOG_HEADER)) {
        // SQLite says why it cannot be read.
        return true;
    }
    let number = |at: usize| {
        let bytes = header.get(at..).and_then(<[u8]>::first_chunk);
        u32::from_be_bytes(bytes.copied().unwrap_or_default())
    };
    let page = number(8);
    number(0) & !1 == LOG_MAGIC && page.is_power_of_two() && (512..=65_536).contains(&page)
}

/// A file of SQLite beside a database.
pub(super) fn path_beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// Whether trouble goes away by itself: a writer came or went at this moment.
fn passes(e: &rusqlite::Error) -> bool {
    let passing = [
        ErrorCode::DatabaseBusy,
        ErrorCode::DatabaseLocked,
        ErrorCode::ReadOnly,
        ErrorCode::CannotOpen,
        ErrorCode::FileLockingProtocolFailed,
        ErrorCode::SchemaChanged,
        ErrorCode::SystemIoFailure,
    ];
    e.sqlite_error_code().is_some_and(|c| passing.contains(&c))
}

/// An error of SQLite in our words.
pub(super) fn open_trouble(path: &Path, e: &rusqlite::Error) -> OpenError {
    let path = path.to_owned();
    match e.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => OpenError::NotOurs { path, format: SLUG },
        Some(ErrorCode::OperationInterrupted) => OpenError::Damaged {
            path,
            line: None,
            why: "to answer takes far more work than a database of its size should".to_owned(),
        },
        Some(ErrorCode::DatabaseCorrupt) | None => OpenError::Damaged {
            path,
            line: None,
            why: e.to_string(),
        },
        Some(_) => DiskError::Read {
            path,
            cause: io::Error::other(e.to_string()),
        }
        .into(),
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn only_tables_that_are_known_can_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("opencode.db");
        let db = Connection::open(&path).unwrap();
        db.execute_batch(
            "CREATE TABLE credential (id text); INSERT INTO credential VALUES ('secret');
            CREATE TABLE message (id text); INSERT INTO message VALUES ('said');
            CREATE VIEW todo AS SELECT * FROM credential;",
        )
        .unwrap();
        db.close().unwrap();
        let ask = |table: &str| {
            let sql = format!("SELECT id FROM {table}");
            with_database(&path, |db| {
                let found: String = db.query_row(&sql, [], |row| row.get(0))?;
                Ok(found)
            })
        };
        assert_eq!(ask("message").unwrap(), "said");
        for table in ["credential", "todo"] {
            let refused = ask(table).unwrap_err().to_string();
            assert!(!refused.contains("secret"), "{refused}");
        }
    }

    #[test]
    #[allow(
        clippy::disallowed_methods,
        reason = "another puts a file in place of the database"
    )]
    fn what_is_open_notices_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("opencode.db");
        let make = |path: &Path, said: &str| {
            let db = Connection::open(path).unwrap();
            let _ = db.execute_batch("CREATE TABLE message (id text)");
            db.execute("INSERT INTO message VALUES (?1)", [said])
                .unwrap();
            db.close().unwrap();
        };
        let ask = || {
            with_database(&path, |db| {
                let sql = "SELECT id FROM message ORDER BY rowid DESC LIMIT 1";
                Ok(db.query_row(sql, [], |row| row.get::<_, String>(0))?)
            })
            .unwrap()
        };
        make(&path, "one");
        assert_eq!((ask(), ask()), ("one".to_owned(), "one".to_owned()));
        // A change, which its header tells.
        make(&path, "two");
        assert_eq!((ask(), ask()), ("two".to_owned(), "two".to_owned()));
        // Another file in its place, that looks the same from outside but for being another.
        let other = folder.path().join("other.db");
        make(&other, "six");
        make(&other, "ten");
        let time = std::fs::metadata(&path).unwrap().modified().unwrap();
        let file = std::fs::File::options().write(true).open(&other).unwrap();
        file.set_modified(time).unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert_eq!((ask(), ask()), ("ten".to_owned(), "ten".to_owned()));
        // Nothing of it is left open where we write ourselves.
        let_go();
        assert!(KEPT.take().is_none());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
