//! New folders.

use std::{
    fs::DirBuilder,
    io,
    path::{Path, PathBuf},
};

use crate::{
    create::Created,
    durability::Durability,
    error::{DiskError, FileKind},
    mode::Mode,
    sync::{SyncFolder, folder_of},
};

/// Makes one folder, whose parent must be there. Whatever has that name already is left as it is.
///
/// A process killed in between may leave the folder with fewer permissions than `mode` has, never
/// with more.
pub fn create_folder(path: &Path, mode: &Mode, d: Durability) -> Result<Created, DiskError> {
    let parent =
        SyncFolder::parent_of(path, d.syncs()).map_err(|e| DiskError::while_writing(path, e))?;
    match make_folder(path, mode.folder_bits()) {
        Ok(()) => {}
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return Ok(Created::Existed),
        Err(e) => return Err(DiskError::while_writing(path, e)),
    }
    parent.map_or(Ok(()), |parent| parent.sync(path))?;
    Ok(Created::New)
}

/// Makes a folder and the parents that it lacks, each with this mode. Those that are there keep
/// theirs; links to folders count as folders, a link that leads nowhere or a file is an error.
pub fn ensure_folder(path: &Path, mode: &Mode, d: Durability) -> Result<(), DiskError> {
    let mut missing: Vec<PathBuf> = Vec::new();
    let mut at = path.to_owned();
    while !is_folder(&at)? {
        let parent = folder_of(&at);
        missing.push(at);
        at = parent;
    }
    for folder in missing.iter().rev() {
        if create_folder(folder, mode, d)? == Created::Existed && !is_folder(folder)? {
            return Err(DiskError::NotFound {
                path: folder.clone(),
            });
        }
    }
    Ok(())
}

/// Whether there is a folder, or a link to one; an error if there is something else.
fn is_folder(path: &Path) -> Result<bool, DiskError> {
    let path = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    let found = match std::fs::metadata(path) {
        Ok(meta) if meta.is_dir() => return Ok(true),
        Ok(meta) => FileKind::from_type(meta.file_type()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => match std::fs::symlink_metadata(path) {
            Ok(meta) => FileKind::from_type(meta.file_type()),
            Err(e) if e.kind() == io::ErrorKind::NotFound && path != Path::new(".") => {
                return Ok(false);
            }
            Err(e) => return Err(DiskError::while_reading(path, e)),
        },
        Err(e) => return Err(DiskError::while_reading(path, e)),
    };
    Err(DiskError::NotAFolder {
        path: path.to_owned(),
        found,
    })
}

/// Makes one folder with exactly these bits, or none.
fn make_folder(path: &Path, bits: u32) -> io::Result<()> {
    make_within(path, bits)?;
    let adjusted = adjust_mode(path, bits);
    if adjusted.is_err() {
        let _ = std::fs::remove_dir(path);
    }
    adjusted
}

/// Makes one folder with these bits, as far as the umask leaves them.
#[cfg(unix)]
pub(crate) fn make_within(path: &Path, bits: u32) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    DirBuilder::new().mode(bits).create(path)
}

/// Gives a new folder the bits that the umask took away, and those that `mkdir` does not take.
#[cfg(unix)]
pub(crate) fn adjust_mode(path: &Path, bits: u32) -> io::Result<()> {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt as _;
    if crate::mode::permission_bits(&std::fs::symlink_metadata(path)?) == bits {
        return Ok(());
    }
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
    let folder = std::fs::File::options()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    crate::mode::set_bits(&folder, bits)
}

#[cfg(not(unix))]
pub(crate) fn make_within(path: &Path, _: u32) -> io::Result<()> {
    DirBuilder::new().create(path)
}

#[cfg(not(unix))]
pub(crate) fn adjust_mode(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}
