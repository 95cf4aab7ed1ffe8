//! Which file this is, and how old.

use std::{
    fs::{File, Metadata},
    io,
    path::Path,
    time::{Duration, SystemTime},
};

use crate::error::DiskError;
use crate::stamp::FileStamp;

/// Which file on which disk: the same for two paths to one file, another one after a file was
/// replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId {
    device: u64,
    file: u64,
}

impl FileId {
    /// Of an open file.
    #[cfg(unix)]
    pub fn of(file: &File) -> io::Result<FileId> {
        file.metadata().map(|meta| FileId::from_metadata(&meta))
    }

    /// Of an open file.
    #[cfg(windows)]
    pub fn of(file: &File) -> io::Result<FileId> {
        let (device, file) = crate::windows::volume_and_index(file)?;
        Ok(FileId { device, file })
    }

    /// The numbers of the disk and of the file on it, to be remembered and compared later.
    pub fn numbers(self) -> (u64, u64) {
        (self.device, self.file)
    }

    #[cfg(unix)]
    fn from_metadata(meta: &Metadata) -> FileId {
        use std::os::unix::fs::MetadataExt as _;
        FileId {
            device: meta.dev(),
            file: meta.ino(),
        }
    }
}

/// Which file is at `path`, without following a link in its last component.
pub fn file_id(path: &Path) -> Result<FileId, DiskError> {
    id_at(path).map_err(|e| DiskError::while_reading(path, e))
}

/// Which file or folder a path leads to, links followed: the same for all ways to it.
#[cfg(unix)]
pub fn followed_id(path: &Path) -> io::Result<FileId> {
    std::fs::metadata(path).map(|meta| FileId::from_metadata(&meta))
}

/// Which file or folder a path leads to, links followed: the same for all ways to it.
#[cfg(not(unix))]
pub fn followed_id(path: &Path) -> io::Result<FileId> {
    id_at(&std::fs::canonicalize(path)?)
}

/// A folder as it is seen from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenFolder {
    /// Which one it is.
    pub id: FileId,
    /// What can be seen of it: while that is the same, the names in it are.
    pub stamp: FileStamp,
}

/// The folder that a path leads to, links followed, with one look; none if there is no folder.
pub fn see_folder(path: &Path) -> Option<SeenFolder> {
    let meta = std::fs::metadata(path).ok().filter(Metadata::is_dir)?;
    let stamp = FileStamp::of(&meta);
    #[cfg(unix)]
    let id = FileId::from_metadata(&meta);
    #[cfg(not(unix))]
    let id = followed_id(path).ok()?;
    Some(SeenFolder { id, stamp })
}

#[cfg(unix)]
fn id_at(path: &Path) -> io::Result<FileId> {
    std::fs::symlink_metadata(path).map(|meta| FileId::from_metadata(&meta))
}

#[cfg(windows)]
fn id_at(path: &Path) -> io::Result<FileId> {
    use std::os::windows::fs::OpenOptionsExt as _;
    const FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
    const FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
    let flags = FLAG_OPEN_REPARSE_POINT | FLAG_BACKUP_SEMANTICS;
    FileId::of(
        &File::options()
            .access_mode(0)
            .custom_flags(flags)
            .open(path)?,
    )
}

/// When what is at `path` was made, since 1970, where the disk remembers that. A link is not followed.
pub fn born(path: &Path) -> Option<Duration> {
    let made = std::fs::symlink_metadata(path).ok()?.created().ok()?;
    made.duration_since(SystemTime::UNIX_EPOCH).ok()
}

/// Whether what is at `path` is there and belongs to the user; a link is followed. On Windows it
/// need only be there.
#[cfg(unix)]
pub fn is_own(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let user = rustix::process::geteuid().as_raw();
    std::fs::metadata(path).is_ok_and(|meta| meta.uid() == user)
}

/// Whether what is at `path` is there and belongs to the user; a link is followed. On Windows it
/// need only be there.
#[cfg(windows)]
pub fn is_own(path: &Path) -> bool {
    path.exists()
}

/// How long ago the file at `path` was last written; zero if that is in the future. A link is not
/// followed.
pub fn age(path: &Path) -> Result<Duration, DiskError> {
    let meta = std::fs::symlink_metadata(path).map_err(|e| DiskError::while_reading(path, e))?;
    age_of(&meta).map_err(|e| DiskError::while_reading(path, e))
}

/// Says when the file at `path` was last written, for a copy that is to be as old as its original.
pub fn set_modified(path: &Path, time: SystemTime) -> Result<(), DiskError> {
    let set = || File::options().write(true).open(path)?.set_modified(time);
    set().map_err(|cause| DiskError::while_writing(path, cause))
}

pub(crate) fn age_of(meta: &Metadata) -> io::Result<Duration> {
    let written = meta.modified()?;
    Ok(SystemTime::now()
        .duration_since(written)
        .unwrap_or_default())
}
