//! Atomic replacement of one file.

use std::{
    io::{self, Write},
    path::Path,
};

use crate::{
    durability::Durability,
    error::DiskError,
    leftover::remove_leftovers_once,
    lock::unlock_file,
    mode::Mode,
    open::regular_metadata,
    sync::{SyncFolder, folder_of},
    temp::TempFile,
};

/// Makes `bytes` the content of the file, all at once: whoever looks sees the old or the new.
///
/// A file that is there keeps its own mode, and its owner where we may; `mode` is for a new one.
/// A link, a folder or anything else that is not a regular file is refused. Not for a log that
/// others lock: see [`LockedLog::rewrite`](crate::LockedLog::rewrite).
pub fn replace(path: &Path, bytes: &[u8], mode: Mode, d: Durability) -> Result<(), DiskError> {
    replace_with(path, mode, d, |out| out.write_all(bytes))
}

/// As [`replace`], for content that is produced piece by piece. An error of `write` leaves the
/// old file in place.
pub fn replace_with(
    path: &Path,
    mode: Mode,
    d: Durability,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), DiskError> {
    remove_leftovers_once(&folder_of(path));
    let old = regular_metadata(path)?;
    let folder =
        SyncFolder::parent_of(path, d.syncs()).map_err(|e| DiskError::while_writing(path, e))?;
    let temp = TempFile::write(path, mode.file_bits(), old.as_ref(), d, write)?;
    let placed = temp
        .rename(path)
        .map_err(|e| DiskError::while_writing(path, e))?;
    unlock_file(&placed);
    folder.map_or(Ok(()), |folder| folder.sync(path))
}
