//! The old log, once [`LockedLog::exchange`](crate::LockedLog::exchange) has put a new one in its
//! place: a second name that keeps it until all of it is in the new one.

use std::{
    ffi::OsStr,
    fs::File,
    io,
    path::{Path, PathBuf},
};

use tempfile::TempPath;

use crate::{
    error::DiskError,
    identity::{FileId, file_id},
    log::{LockedLog, LogReader},
    open::open_existing,
    sync::folder_of,
};

const SUFFIX: &str = ".old";
/// The random part of a name.
const RANDOM: usize = 12;

/// A log that was replaced, under the name `.NAME.RANDOM.old`. It stays until [`Retired::remove`]:
/// whoever finds it after a crash can still take from it what the new log lacks.
#[derive(Debug)]
pub struct Retired {
    path: PathBuf,
    file: File,
}

impl Retired {
    /// Opens one that [`retired_logs`] has found.
    pub fn open(path: &Path) -> Result<Retired, DiskError> {
        let (path, file) = (path.to_owned(), open_existing(path)?);
        Ok(Retired { path, file })
    }

    /// Gives the file that has the name `path` a second name, which goes again unless it is kept.
    pub(crate) fn link(path: &Path, file: &File) -> Result<TempPath, DiskError> {
        let name = path.file_name().unwrap_or_default();
        let mut prefix = std::ffi::OsString::from(".");
        prefix.push(name);
        prefix.push(".");
        let link = tempfile::Builder::new()
            .prefix(&prefix)
            .suffix(SUFFIX)
            .rand_bytes(RANDOM)
            .make_in(folder_of(path), |at| std::fs::hard_link(path, at))
            .map_err(|cause| no_second_name(path, cause))?
            .into_temp_path();
        let ours = FileId::of(file).map_err(|e| DiskError::while_reading(path, e))?;
        if file_id(&link)? != ours {
            return Err(DiskError::Changed {
                path: path.to_owned(),
            });
        }
        Ok(link)
    }

    /// The old log, now that its first name is another file's.
    pub(crate) fn new(mut link: TempPath, file: File) -> Retired {
        link.disable_cleanup(true);
        let path = link.to_path_buf();
        Retired { path, file }
    }

    /// Whether it is not retired at all: who gave it the second name was killed before another
    /// file got the first.
    pub fn is_still(&self, log: &LockedLog) -> Result<bool, DiskError> {
        let ours = FileId::of(&self.file).map_err(|e| DiskError::while_reading(&self.path, e))?;
        Ok(log.id()? == ours)
    }

    /// How many bytes it has. Programs that opened it before may still append to it.
    pub fn len(&self) -> Result<u64, DiskError> {
        let meta = self.file.metadata();
        Ok(meta
            .map_err(|e| DiskError::while_reading(&self.path, e))?
            .len())
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> Result<bool, DiskError> {
        Ok(self.len()? == 0)
    }

    /// Reads from the beginning up to byte `end`.
    pub fn reader(&self, end: u64) -> LogReader<'_> {
        LogReader::new(&self.file, 0, end)
    }

    /// Removes it: all that is in it must be in the new log, and synced.
    pub fn remove(self) -> Result<(), DiskError> {
        std::fs::remove_file(&self.path).map_err(|e| DiskError::while_removing(&self.path, e))
    }
}

fn no_second_name(path: &Path, cause: io::Error) -> DiskError {
    use io::ErrorKind::{PermissionDenied, TooManyLinks, Unsupported};
    match cause.kind() {
        PermissionDenied | TooManyLinks | Unsupported => DiskError::NoSecondName {
            path: path.to_owned(),
            cause,
        },
        _ => DiskError::while_writing(path, cause),
    }
}

/// The log whose retired file has this name: `log` for `.log.Ab3dEf6hIj9l.old`.
///
/// ```
/// use rethread_disk::retired_name;
///
/// assert_eq!(retired_name(".log.jsonl.Ab3dEf6hIj9l.old".as_ref()), Some("log.jsonl"));
/// assert_eq!(retired_name("log.jsonl".as_ref()), None);
/// ```
pub fn retired_name(name: &OsStr) -> Option<&str> {
    let inner = name.to_str()?.strip_prefix('.')?.strip_suffix(SUFFIX)?;
    let (log, random) = inner.rsplit_once('.')?;
    let is_random = random.len() == RANDOM && random.bytes().all(|b| b.is_ascii_alphanumeric());
    (is_random && !log.is_empty()).then_some(log)
}

/// The retired files of the log `path`. Only who has the log locked knows that nobody is at them: a
/// log is exchanged under its lock.
pub fn retired_logs(path: &Path) -> Result<Vec<PathBuf>, DiskError> {
    let folder = folder_of(path);
    let failed = |e| DiskError::while_reading(&folder, e);
    let entries = match std::fs::read_dir(&folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let log = path.file_name().and_then(OsStr::to_str);
    let mut found = Vec::new();
    for entry in entries {
        let name = entry.map_err(failed)?.file_name();
        let retired = retired_name(&name);
        if retired.is_some() && retired == log {
            found.push(folder.join(name));
        }
    }
    found.sort();
    Ok(found)
}
