//! The file of the catalogue: opening it, and what is done if it cannot be used.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rethread_disk::{
    DiskError, Durability, Mode, create, ensure_folder, remove_folder, set_folder_aside,
};
use rethread_formats::{Env, SUMMARY_VERSION};
use rethread_model::Note;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

/// The folder of the catalogue in the cache.
pub(super) const FOLDER: &str = "catalogue";
/// Its name while it is out of the way.
const ASIDE: &str = "catalogue.unusable";
const FILE: &str = "catalogue.db";

/// The version of the tables. It changes with them, and with what is in their rows.
const TABLES_VERSION: i64 = 2;

/// How long to wait for another process that is writing. Nothing is lost if it takes longer.
const PATIENCE: Duration = Duration::from_millis(100);

const TABLES: &str = "
CREATE TABLE root (
  id INTEGER PRIMARY KEY, format TEXT NOT NULL, path BLOB NOT NULL, listed BLOB,
  UNIQUE (format, path)
);
CREATE TABLE source (
  id INTEGER PRIMARY KEY AUTOINCREMENT, root INTEGER NOT NULL, path BLOB NOT NULL,
  member TEXT NOT NULL, facts BLOB NOT NULL, UNIQUE (root, path, member)
);
CREATE TABLE scan (source INTEGER PRIMARY KEY, read_upto INTEGER NOT NULL, state BLOB NOT NULL);
CREATE TABLE ledger (source INTEGER PRIMARY KEY, upto INTEGER NOT NULL, counted BLOB NOT NULL);
CREATE TABLE named_folder (
  project BLOB PRIMARY KEY, file BLOB NOT NULL, facts BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE setting (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE batch (id INTEGER PRIMARY KEY AUTOINCREMENT, opstamp INTEGER NOT NULL);
CREATE TABLE indexed (
  source INTEGER NOT NULL, batch INTEGER NOT NULL, upto INTEGER NOT NULL, state BLOB,
  PRIMARY KEY (source, batch)
) WITHOUT ROWID;
";

/// The open file.
#[derive(Debug)]
pub(super) struct Database {
    pub(super) connection: Connection,
    folder: PathBuf,
    aside: PathBuf,
    /// Whether the disk lets nobody write.
    pub(super) is_read_only: bool,
}

/// Why the file cannot be used as it is.
enum Unusable {
    /// A newer version of the program made it.
    Newer,
    /// An older one did.
    Older,
    Sql(rusqlite::Error),
    Disk(DiskError),
}

impl From<rusqlite::Error> for Unusable {
    fn from(e: rusqlite::Error) -> Self {
        Self::Sql(e)
    }
}

impl From<DiskError> for Unusable {
    fn from(e: DiskError) -> Self {
        Self::Disk(e)
    }
}

impl Database {
    /// Opens the file, and makes it where there is none that can be used. None, with a note, where that
    /// cannot be.
    pub(super) fn open(env: &Env, notes: &mut Vec<Note>) -> Option<Self> {
        let folder = env.cache.join(FOLDER);
        let aside = env.cache.join(ASIDE);
        // The second time, whatever could not be used is out of the way.
        for _ in 0..2 {
            let unusable = match open_in(&folder) {
                Ok(connection) => {
                    return Some(Self {
                        connection,
                        folder,
                        aside,
                        is_read_only: false,
                    });
                }
                Err(unusable) => unusable,
            };
            let why = match &unusable {
                Unusable::Newer => Some("a newer version of rethread made it".to_owned()),
                Unusable::Sql(e) if is_damage(e) => Some(format!("it is damaged: {e}")),
                Unusable::Older => None,
                Unusable::Sql(_) | Unusable::Disk(_) => {
                    if let Some(connection) = open_read_only(&folder) {
                        return Some(Self {
                            connection,
                            folder,
                            aside,
                            is_read_only: true,
                        });
                    }
                    notes.push(not_used(&folder, &unusable));
                    return None;
                }
            };
            let removed = match &why {
                Some(_) => set_folder_aside(&folder, &aside),
                None => remove_folder(&folder),
            };
            notes.extend(why.map(|why| built_anew(&folder, &why)));
            if let Err(e) = removed {
                notes.push(not_used(&folder, &Unusable::Disk(e)));
                return None;
            }
        }
        None
    }

    /// Where its files are.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The note that the file is not used any more. A damaged one is out of the way then.
    pub(super) fn give_up(self, e: &rusqlite::Error) -> Note {
        let Self {
            connection,
            folder,
            aside,
            is_read_only,
        } = self;
        drop(connection);
        if is_damage(e) && !is_read_only && set_folder_aside(&folder, &aside).is_ok() {
            return built_anew(&folder, &format!("it is damaged: {e}"));
        }
        let why = format!("the catalogue is not used: {e}");
        Note::detail(why).at(folder)
    }
}

fn open_in(folder: &Path) -> Result<Connection, Unusable> {
    let path = folder.join(FILE);
    if std::fs::symlink_metadata(&path).is_err() {
        ensure_folder(folder, &Mode::Private, Durability::None)?;
        // Another process may have been faster.
        let _ = create(&path, b"", Mode::Private, Durability::None)?;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(&path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    connection.set_prepared_statement_cache_capacity(32);
    match version_of(&connection)? {
        0 => make_tables(&mut connection)?,
        version if version == own_version() => {}
        version if version > own_version() => return Err(Unusable::Newer),
        _ => return Err(Unusable::Older),
    }
    // Without a sync, a power cut may take the last changes, and nothing else.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    let made_by: Vec<u8> = connection.query_row(
        "SELECT value FROM setting WHERE name = 'made_by'",
        [],
        |row| row.get(0),
    )?;
    if made_by == env!("CARGO_PKG_VERSION").as_bytes() {
        Ok(connection)
    } else {
        Err(Unusable::Older)
    }
}

/// Opens a file that nobody can write to, on a disk that is only read.
fn open_read_only(folder: &Path) -> Option<Connection> {
    let path = folder.join(FILE);
    let log = std::fs::metadata(folder.join(format!("{FILE}-wal")));
    if !is_on_read_only_disk(&path) || log.is_ok_and(|log| log.len() > 0) {
        return None;
    }
    let mut uri = "file:".to_owned();
    for byte in path.to_str()?.bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            write!(uri, "%{byte:02x}").ok()?;
        }
    }
    uri.push_str("?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(uri, flags).ok()?;
    (version_of(&connection).ok()? == own_version()).then_some(connection)
}

fn is_on_read_only_disk(path: &Path) -> bool {
    let opened = std::fs::OpenOptions::new().write(true).open(path);
    opened.is_err_and(|e| e.kind() == std::io::ErrorKind::ReadOnlyFilesystem)
}

fn own_version() -> i64 {
    TABLES_VERSION * 1000 + i64::from(SUMMARY_VERSION)
}

fn version_of(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn make_tables(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    let made = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been faster.
    if version_of(&made)? == 0 {
        made.execute_batch(TABLES)?;
        made.execute(
            "INSERT INTO setting VALUES ('made_by', ?1)",
            [env!("CARGO_PKG_VERSION").as_bytes()],
        )?;
        made.pragma_update(None, "user_version", own_version())?;
    }
    made.commit()
}

/// Whether the file itself is broken, and not the disk or the moment.
pub(super) fn is_damage(e: &rusqlite::Error) -> bool {
    match e {
        rusqlite::Error::SqliteFailure(e, _) => matches!(
            e.code,
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown
        ),
        // A table or a value is not what it must be.
        _ => true,
    }
}

fn built_anew(folder: &Path, why: &str) -> Note {
    Note::remark(format!("the catalogue was built anew: {why}")).at(folder)
}

fn not_used(folder: &Path, why: &Unusable) -> Note {
    let why = match why {
        Unusable::Sql(e) => e.to_string(),
        Unusable::Disk(e) => e.to_string(),
        Unusable::Newer | Unusable::Older => "another version made it".to_owned(),
    };
    Note::detail(format!("the catalogue is not used: {why}")).at(folder)
}
