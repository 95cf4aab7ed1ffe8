//! What can go wrong on disk.

use std::{
    fmt,
    fs::FileType,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

/// What happened, to which path.
///
/// The message holds the system's own words, so there is no `source()` to print after it;
/// [`DiskError::io`] gives the system error itself.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiskError {
    /// There is nothing at this path.
    #[error("`{}` does not exist", .path.display())]
    NotFound {
        /// Where something was expected.
        path: PathBuf,
    },
    /// Something other than a regular file is where a file should be.
    #[error("`{}` is {found}, not a regular file", .path.display())]
    NotAFile {
        /// Where a file was expected.
        path: PathBuf,
        /// What is there.
        found: FileKind,
    },
    /// Something other than a link is where a link should be.
    #[error("`{}` is {found}, not a symbolic link", .path.display())]
    NotALink {
        /// Where a link was expected.
        path: PathBuf,
        /// What is there.
        found: FileKind,
    },
    /// Something other than a folder is where a folder should be.
    #[error("`{}` is {found}, not a folder", .path.display())]
    NotAFolder {
        /// Where a folder was expected.
        path: PathBuf,
        /// What is there.
        found: FileKind,
    },
    /// Opening, asking about or reading a file failed.
    #[error("cannot read `{}`: {}", .path.display(), system_message(.cause))]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// Writing failed; the file is as it was.
    #[error("cannot write `{}`: {}", .path.display(), system_message(.cause))]
    Write {
        /// The file that was to be written.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// Only a part of a record was taken; it was removed again and the file is as it was.
    #[error("cannot write `{}`: only {wrote} of {wanted} bytes were taken", .path.display())]
    ShortWrite {
        /// The log.
        path: PathBuf,
        /// How many bytes the system took.
        wrote: u64,
        /// How many there were.
        wanted: u64,
    },
    /// A record was not saved, and what was written of it could not be removed again.
    #[error(
        "cannot write `{}`: {}; part of the record may remain from byte {start} on",
        .path.display(), system_message(.cause)
    )]
    NotUndone {
        /// The log.
        path: PathBuf,
        /// Where the record begins.
        start: u64,
        /// Why it was not saved.
        cause: io::Error,
    },
    /// Syncing failed: what was written last may not survive a power cut. Never retried.
    #[error("cannot sync `{}`: {}", .path.display(), system_message(.cause))]
    Sync {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The new file is in place, but its folder could not be synced: after a power cut there may
    /// be the old one.
    #[error("cannot sync the folder of `{}`: {}", .path.display(), system_message(.cause))]
    Unsettled {
        /// The file or folder that was put in place.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// Removing failed.
    #[error("cannot remove `{}`: {}", .path.display(), system_message(.cause))]
    Remove {
        /// What was to be removed.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The file system has no lock to give.
    #[error("cannot lock `{}`: {}", .path.display(), system_message(.cause))]
    Lock {
        /// The log.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// Another program held the lock for the whole time we were willing to wait.
    #[error("`{}` is locked by another program (waited {} s)", .path.display(), format_tenths(.waited))]
    Busy {
        /// The log.
        path: PathBuf,
        /// How long we waited.
        waited: Duration,
    },
    /// The file changed in the middle of being rewritten, by a program that takes no lock. It was
    /// left as that program wrote it.
    #[error("`{}` changed while it was being rewritten", .path.display())]
    Changed {
        /// The log.
        path: PathBuf,
    },
    /// A log cannot be replaced while others append to it, because it cannot have two names.
    #[error("cannot give `{}` a second name: {}", .path.display(), system_message(.cause))]
    NoSecondName {
        /// The log.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// A record that should be one line holds a line break.
    #[error("a record for `{}` holds a line break at byte {at}", .path.display())]
    LineBreak {
        /// The log.
        path: PathBuf,
        /// Where in the record.
        at: usize,
    },
    /// What was to be appended is empty or does not end in a line break.
    #[error("a record for `{}` does not end in a line break", .path.display())]
    NotWholeLines {
        /// The log.
        path: PathBuf,
    },
    /// A log was to be cut behind its end.
    #[error("cannot cut `{}` at byte {at}: it has only {len}", .path.display())]
    BeyondEnd {
        /// The log.
        path: PathBuf,
        /// Where it was to be cut.
        at: u64,
        /// How long it is.
        len: u64,
    },
    /// A file is larger than what may be held in memory.
    #[error("`{}` is larger than {limit} bytes", .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// How large it may be.
        limit: u64,
    },
    /// There is no trash that would take this.
    #[error("cannot move `{}` to the trash: {reason}", .path.display())]
    NoTrash {
        /// What was to be thrown away.
        path: PathBuf,
        /// What the trash said.
        reason: String,
        /// What was in the way, where that is known.
        cause: Option<Box<DiskError>>,
    },
}

impl DiskError {
    /// The path that this is about.
    pub fn path(&self) -> Option<&Path> {
        match self {
            DiskError::NotFound { path }
            | DiskError::NotAFile { path, .. }
            | DiskError::NotAFolder { path, .. }
            | DiskError::NotALink { path, .. }
            | DiskError::Read { path, .. }
            | DiskError::Write { path, .. }
            | DiskError::ShortWrite { path, .. }
            | DiskError::NotUndone { path, .. }
            | DiskError::Sync { path, .. }
            | DiskError::Unsettled { path, .. }
            | DiskError::Remove { path, .. }
            | DiskError::Lock { path, .. }
            | DiskError::Busy { path, .. }
            | DiskError::Changed { path }
            | DiskError::NoSecondName { path, .. }
            | DiskError::LineBreak { path, .. }
            | DiskError::NotWholeLines { path }
            | DiskError::BeyondEnd { path, .. }
            | DiskError::TooLarge { path, .. }
            | DiskError::NoTrash { path, .. } => Some(path),
        }
    }

    /// What the system said, if it was the system.
    pub fn io(&self) -> Option<&io::Error> {
        match self {
            DiskError::Read { cause, .. }
            | DiskError::Write { cause, .. }
            | DiskError::NotUndone { cause, .. }
            | DiskError::Sync { cause, .. }
            | DiskError::Unsettled { cause, .. }
            | DiskError::Remove { cause, .. }
            | DiskError::NoSecondName { cause, .. }
            | DiskError::Lock { cause, .. } => Some(cause),
            _ => None,
        }
    }

    /// What one can do about it.
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            DiskError::NotAFile {
                found: FileKind::Symlink,
                ..
            } => "links are not followed when writing; name the file itself",
            DiskError::ShortWrite { .. } => "the disk may be full; the file is as it was before",
            DiskError::NotUndone { .. } => {
                "the next append ends the broken line first; no other record is touched"
            }
            DiskError::Sync { .. } => {
                "the last write may not survive a power cut; save it elsewhere"
            }
            DiskError::Unsettled { .. } => {
                "the new file is in place, but may not survive a power cut"
            }
            DiskError::Busy { .. } => "try again when the other program has finished",
            DiskError::Changed { .. } => "close the program that writes to it, then try again",
            DiskError::NoSecondName { .. } => {
                "a log is only replaced on a disk with hard links; it is as it was"
            }
            DiskError::NoTrash { cause, .. } => {
                let cause = cause.as_ref().and_then(|cause| cause.io());
                cause
                    .and_then(io_advice)
                    .unwrap_or("use `--force` to delete it for good")
            }
            _ => return self.io().and_then(io_advice).map(str::to_owned),
        };
        Some(text.to_owned())
    }

    pub(crate) fn while_reading(path: &Path, cause: io::Error) -> Self {
        DiskError::missing_or(path, cause, |path, cause| DiskError::Read { path, cause })
    }

    pub(crate) fn while_writing(path: &Path, cause: io::Error) -> Self {
        DiskError::Write {
            path: path.to_owned(),
            cause,
        }
    }

    pub(crate) fn while_syncing(path: &Path, cause: io::Error) -> Self {
        DiskError::Sync {
            path: path.to_owned(),
            cause,
        }
    }

    pub(crate) fn while_removing(path: &Path, cause: io::Error) -> Self {
        DiskError::missing_or(path, cause, |path, cause| DiskError::Remove { path, cause })
    }

    fn missing_or(path: &Path, cause: io::Error, other: fn(PathBuf, io::Error) -> Self) -> Self {
        let path = path.to_owned();
        if cause.kind() == io::ErrorKind::NotFound {
            DiskError::NotFound { path }
        } else {
            other(path, cause)
        }
    }
}

fn io_advice(cause: &io::Error) -> Option<&'static str> {
    match cause.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Some("make room on that disk, then try again")
        }
        io::ErrorKind::ReadOnlyFilesystem => Some("that disk is mounted read-only"),
        io::ErrorKind::PermissionDenied => Some("check who owns it and its permissions"),
        _ => None,
    }
}

/// The system's words without the error number.
fn system_message(cause: &io::Error) -> String {
    let text = cause.to_string();
    match text.rfind(" (os error ") {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}

fn format_tenths(waited: &Duration) -> String {
    format!("{:.1}", waited.as_secs_f64())
}

/// What is at a path, without following a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, wherever it points.
    Symlink,
    /// A named pipe.
    Pipe,
    /// A socket.
    Socket,
    /// A block or character device.
    Device,
    /// Something that this system knows and we do not.
    Other,
}

impl FileKind {
    pub(crate) fn from_type(kind: FileType) -> Self {
        if kind.is_file() {
            FileKind::File
        } else if kind.is_dir() {
            FileKind::Folder
        } else if kind.is_symlink() {
            FileKind::Symlink
        } else {
            special_kind(kind)
        }
    }
}

#[cfg(unix)]
fn special_kind(kind: FileType) -> FileKind {
    use std::os::unix::fs::FileTypeExt as _;
    if kind.is_fifo() {
        FileKind::Pipe
    } else if kind.is_socket() {
        FileKind::Socket
    } else if kind.is_block_device() || kind.is_char_device() {
        FileKind::Device
    } else {
        FileKind::Other
    }
}

#[cfg(not(unix))]
fn special_kind(_: FileType) -> FileKind {
    FileKind::Other
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileKind::File => "a file",
            FileKind::Folder => "a folder",
            FileKind::Symlink => "a symbolic link",
            FileKind::Pipe => "a named pipe",
            FileKind::Socket => "a socket",
            FileKind::Device => "a device",
            FileKind::Other => "something else",
        })
    }
}
