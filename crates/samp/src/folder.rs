//! The message folder and the logs in it.

use std::{
    borrow::Cow,
    io,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use rethread_disk::{
    DiskError, Durability, FileId, FileKind, Mode, ensure_folder, file_id, retired_name,
};

use crate::{
    alias::Alias,
    error::Error,
    trouble::{Trouble, What},
};

const PREFIX: &str = "log-";
const SUFFIX: &str = ".jsonl";

/// A folder through which agents write to each other. It need not exist.
///
/// ```
/// use rethread_samp::{Alias, Folder};
///
/// let folder = Folder::new("/var/messages");
/// let log = folder.log_of(&Alias::new("bob")?);
/// assert!(log.ends_with("messages/log-bob.jsonl"));
/// # Ok::<(), rethread_samp::InvalidAlias>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    path: PathBuf,
}

/// A log in the folder, as it was when the folder was listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// Where it is.
    pub path: PathBuf,
    /// What stands between `log-` and `.jsonl`: its owner, or what a sync tool made of that.
    pub owner: String,
    /// How many bytes it had.
    pub len: u64,
    /// When it was last written.
    pub(crate) modified: SystemTime,
    pub(crate) id: FileId,
    /// Whether it was replaced by another one.
    pub(crate) is_retired: bool,
}

/// The logs of a folder, in the order of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Logs {
    /// Those that can be read.
    pub logs: Vec<Log>,
    /// Old files of logs that were compacted. Each is there until all of it is in its log, so it
    /// is read as well.
    pub retired: Vec<Log>,
    /// Those that cannot.
    pub troubles: Vec<Trouble>,
}

impl Folder {
    /// The folder at this path.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where somebody's log is, or would be.
    pub fn log_of(&self, alias: &Alias) -> PathBuf {
        self.path.join(format!("{PREFIX}{alias}{SUFFIX}"))
    }

    /// Where somebody's watermark is, or would be.
    pub fn seen_of(&self, alias: &Alias) -> PathBuf {
        self.path.join(format!(".seen-{alias}"))
    }

    /// Where somebody's cache of file times is, or would be.
    pub fn mtime_of(&self, alias: &Alias) -> PathBuf {
        self.path.join(format!(".mtime-{alias}"))
    }

    /// Makes the folder, for this user alone, unless it is there.
    pub fn create(&self, d: Durability) -> Result<(), Error> {
        Ok(ensure_folder(&self.path, &Mode::Private, d)?)
    }

    /// The mode of a new log: private, unless the folder was opened to a group or to all.
    pub(crate) fn log_mode(&self) -> Result<Mode, DiskError> {
        let like = Mode::like(&self.path)?;
        let is_open = like.folder_bits() & 0o077 > 0;
        Ok(if is_open { like } else { Mode::Private })
    }

    /// Lists the logs. A folder that is not there has none.
    pub fn logs(&self) -> Result<Logs, Error> {
        let failed = |cause| DiskError::Read {
            path: self.path.clone(),
            cause,
        };
        let entries = match std::fs::read_dir(&self.path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Logs::default()),
            entries => entries.map_err(failed)?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let name = entry.map_err(failed)?.file_name();
            if name.to_str().and_then(owner_in_name).is_some()
                || retired_name(&name).and_then(owner_in_name).is_some()
            {
                names.push(name);
            }
        }
        names.sort();
        let mut logs = Logs::default();
        for name in names {
            let path = self.path.join(&name);
            match Log::at_path(&path) {
                Ok(Ok(log)) if log.is_retired => logs.retired.push(log),
                Ok(Ok(log)) => logs.logs.push(log),
                Ok(Err(what)) => logs.troubles.push(Trouble {
                    path,
                    line: None,
                    offset: None,
                    what,
                }),
                // It went away between the two looks.
                Err(DiskError::NotFound { .. }) => {}
                Err(e) => logs.troubles.push(Trouble {
                    path,
                    line: None,
                    offset: None,
                    what: What::CannotRead(e.to_string()),
                }),
            }
        }
        Ok(logs)
    }
}

impl Log {
    fn at_path(path: &Path) -> Result<Result<Self, What>, DiskError> {
        let failed = |cause: io::Error| match cause.kind() {
            io::ErrorKind::NotFound => DiskError::NotFound {
                path: path.to_owned(),
            },
            _ => DiskError::Read {
                path: path.to_owned(),
                cause,
            },
        };
        let meta = std::fs::symlink_metadata(path).map_err(failed)?;
        if !meta.is_file() {
            return Ok(Err(What::NotALog(file_kind(meta.file_type()))));
        }
        let name = path.file_name().unwrap_or_default();
        let retired = retired_name(name);
        let log = retired.map_or_else(|| name.to_string_lossy(), Cow::Borrowed);
        Ok(Ok(Self {
            path: path.to_owned(),
            owner: owner_in_name(&log).unwrap_or_default().to_owned(),
            is_retired: retired.is_some(),
            len: meta.len(),
            modified: meta.modified().map_err(failed)?,
            id: file_id(path)?,
        }))
    }

    /// Nanoseconds since 1970 at which it was last written.
    pub(crate) fn modified_nanos(&self) -> i128 {
        match self.modified.duration_since(UNIX_EPOCH) {
            Ok(after) => i128::try_from(after.as_nanos()).unwrap_or(i128::MAX),
            Err(before) => -i128::try_from(before.duration().as_nanos()).unwrap_or(i128::MAX),
        }
    }

    /// Whether this log is a copy that a sync tool made of `sender`'s when two machines had
    /// different ones.
    ///
    /// The names are those of Syncthing, Dropbox, Nextcloud, Resilio, Google Drive and iCloud.
    pub fn is_conflict_copy_of(&self, sender: &str) -> bool {
        let Some(rest) = self.owner.strip_prefix(sender).filter(|r| !r.is_empty()) else {
            return false;
        };
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let in_brackets = rest
            .strip_prefix(" (")
            .and_then(|inner| inner.strip_suffix(')'));
        rest.starts_with(".sync-conflict-")
            || rest == ".Conflict"
            || rest.strip_prefix(' ').is_some_and(digits)
            || in_brackets.is_some_and(|inner| {
                digits(inner)
                    || inner.to_lowercase().contains("conflicted copy")
                    || inner.to_lowercase().contains("case conflict")
            })
    }
}

/// What stands between `log-` and `.jsonl`.
fn owner_in_name(name: &str) -> Option<&str> {
    name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)
}

fn file_kind(found: std::fs::FileType) -> FileKind {
    if found.is_symlink() {
        FileKind::Symlink
    } else if found.is_dir() {
        FileKind::Folder
    } else {
        FileKind::Other
    }
}
