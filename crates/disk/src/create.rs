//! New files that appear whole and never replace another.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
};

use crate::{
    durability::Durability,
    error::DiskError,
    leftover::remove_leftovers_once,
    lock::unlock_file,
    mode::{Mode, set_bits},
    sync::{SyncFolder, folder_of},
    temp::TempFile,
};

/// Whether something was made or was there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "what existed was left untouched"]
pub enum Created {
    /// It is new.
    New,
    /// Something of that name was there; it was left untouched.
    Existed,
}

/// Makes a new file with this content. It appears whole or not at all, and never replaces
/// anything: not a file, not a folder, not a link that leads nowhere.
pub fn create(path: &Path, bytes: &[u8], mode: Mode, d: Durability) -> Result<Created, DiskError> {
    create_with(path, mode, d, |out| out.write_all(bytes))
}

/// As [`create`], for content that is produced piece by piece. `write` is not called if something
/// is there already; an error of it leaves nothing behind.
pub fn create_with(
    path: &Path,
    mode: Mode,
    d: Durability,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<Created, DiskError> {
    remove_leftovers_once(&folder_of(path));
    if is_taken(path)? {
        return Ok(Created::Existed);
    }
    let folder =
        SyncFolder::parent_of(path, d.syncs()).map_err(|e| DiskError::while_writing(path, e))?;
    let temp = TempFile::write(path, mode.file_bits(), None, d, write)?;
    match temp.rename_if_free(path) {
        Ok(Some(placed)) => unlock_file(&placed),
        Ok(None) => return Ok(Created::Existed),
        Err(e) => return Err(DiskError::while_writing(path, e)),
    }
    folder.map_or(Ok(()), |folder| folder.sync(path))?;
    Ok(Created::New)
}

/// Makes a new empty file and opens it, for content that is written bit by bit and read only when it is
/// known to be whole. An error if something of that name is there.
pub fn create_open(path: &Path, mode: Mode) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode.file_bits());
    let file = options.open(path)?;
    set_bits(&file, mode.file_bits())?;
    Ok(file)
}

pub(crate) fn is_taken(path: &Path) -> Result<bool, DiskError> {
    match std::fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(DiskError::while_reading(path, e)),
    }
}
