//! Making sure that what was written survives a power cut.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use crate::error::DiskError;

/// The folder that holds `path`; `.` for a bare name.
pub(crate) fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// A folder, opened before anything is changed, so that syncing it later cannot fail for want of
/// permission.
#[derive(Debug)]
pub(crate) struct SyncFolder(#[cfg_attr(windows, allow(dead_code, reason = "never opened"))] File);

impl SyncFolder {
    /// The folder that holds `path`, if it is to be synced and folders can be synced here.
    pub(crate) fn parent_of(path: &Path, wanted: bool) -> io::Result<Option<SyncFolder>> {
        SyncFolder::open_at(&folder_of(path), wanted)
    }

    /// The folder `path` itself, if it is to be synced and folders can be synced here.
    #[cfg(unix)]
    pub(crate) fn open_at(path: &Path, wanted: bool) -> io::Result<Option<SyncFolder>> {
        use std::os::unix::fs::OpenOptionsExt as _;
        if !wanted {
            return Ok(None);
        }
        File::options()
            .read(true)
            .custom_flags(rustix::fs::OFlags::DIRECTORY.bits().cast_signed())
            .open(path)
            .map(|file| Some(SyncFolder(file)))
    }

    #[cfg(not(unix))]
    pub(crate) fn open_at(_: &Path, _: bool) -> io::Result<Option<SyncFolder>> {
        Ok(None)
    }

    /// Makes a new name at `path`, which is in this folder, last.
    pub(crate) fn sync(&self, path: &Path) -> Result<(), DiskError> {
        self.sync_itself().map_err(|cause| DiskError::Unsettled {
            path: path.to_owned(),
            cause,
        })
    }

    /// Makes the names in this folder, and its facts, last.
    pub(crate) fn sync_itself(&self) -> io::Result<()> {
        match sync_file(&self.0) {
            // Some network and user-space file systems have nothing to sync in a folder.
            Err(e) if is_unsupported(&e) => Ok(()),
            other => other,
        }
    }
}

/// Syncs one file and its folder by path: for callers that appended several records with
/// [`Durability::None`](crate::Durability::None) and want one sync at the end.
pub fn sync_path(path: &Path) -> Result<(), DiskError> {
    let file = crate::open::open_existing(path)?;
    sync_file(&file).map_err(|e| DiskError::while_syncing(path, e))?;
    folder_at(path)
}

/// Makes the name at `path` last.
pub(crate) fn folder_at(path: &Path) -> Result<(), DiskError> {
    match SyncFolder::parent_of(path, true) {
        Ok(Some(folder)) => folder.sync(path),
        Ok(None) => Ok(()),
        Err(cause) => Err(DiskError::Unsettled {
            path: path.to_owned(),
            cause,
        }),
    }
}

/// Content and facts of a file.
#[cfg(not(target_vendor = "apple"))]
pub(crate) fn sync_file(file: &File) -> io::Result<()> {
    file.sync_all()
}

/// Content and facts of a file; shares that cannot flush the drive's own cache still sync.
#[cfg(target_vendor = "apple")]
pub(crate) fn sync_file(file: &File) -> io::Result<()> {
    match file.sync_all() {
        Err(e) if is_unsupported(&e) => Ok(rustix::fs::fsync(file)?),
        other => other,
    }
}

/// Content and length of a file.
#[cfg(not(target_vendor = "apple"))]
pub(crate) fn sync_content(file: &File) -> io::Result<()> {
    file.sync_data()
}

/// Content and length of a file.
#[cfg(target_vendor = "apple")]
pub(crate) fn sync_content(file: &File) -> io::Result<()> {
    sync_file(file)
}

#[cfg(unix)]
fn is_unsupported(e: &io::Error) -> bool {
    use rustix::io::Errno;
    [Errno::INVAL, Errno::NOTSUP, Errno::NOSYS, Errno::NOTTY]
        .iter()
        .any(|errno| e.raw_os_error() == Some(errno.raw_os_error()))
}

#[cfg(not(unix))]
fn is_unsupported(e: &io::Error) -> bool {
    e.kind() == io::ErrorKind::Unsupported
}
