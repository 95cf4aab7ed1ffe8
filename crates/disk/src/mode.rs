//! The modes of new files and folders.

use std::{fs::File, io, path::Path};

use crate::error::{DiskError, FileKind};

/// The mode of a new file or folder, whatever the umask. Has no meaning on Windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Only for this user: folders 0700, files 0600.
    Private,
    /// As a folder that is there already, whose mode this is: see [`Mode::like`].
    Like(u32),
    /// Exactly these bits.
    Exact(u32),
}

impl Mode {
    /// Folders get the mode of `folder`, files the same without execute permission.
    pub fn like(folder: &Path) -> Result<Mode, DiskError> {
        let meta = std::fs::metadata(folder).map_err(|e| DiskError::while_reading(folder, e))?;
        if !meta.is_dir() {
            let (path, found) = (folder.to_owned(), FileKind::from_type(meta.file_type()));
            return Err(DiskError::NotAFolder { path, found });
        }
        Ok(Mode::Like(permission_bits(&meta)))
    }

    /// The permission bits of a new file.
    pub fn file_bits(self) -> u32 {
        match self {
            Mode::Private => 0o600,
            Mode::Like(bits) => bits & 0o666,
            Mode::Exact(bits) => bits & 0o7777,
        }
    }

    /// The permission bits of a new folder.
    pub fn folder_bits(self) -> u32 {
        match self {
            Mode::Private => 0o700,
            Mode::Like(bits) | Mode::Exact(bits) => bits & 0o7777,
        }
    }
}

/// The permission bits.
#[cfg(unix)]
pub(crate) fn permission_bits(meta: &std::fs::Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    meta.permissions().mode() & 0o7777
}

#[cfg(not(unix))]
pub(crate) fn permission_bits(_: &std::fs::Metadata) -> u32 {
    0o777
}

/// Gives an open file or folder these bits, unless it has them.
#[cfg(unix)]
pub(crate) fn set_bits(file: &File, wanted: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    if permission_bits(&file.metadata()?) == wanted {
        return Ok(());
    }
    file.set_permissions(std::fs::Permissions::from_mode(wanted))
}

#[cfg(not(unix))]
pub(crate) fn set_bits(_: &File, _: u32) -> io::Result<()> {
    Ok(())
}

/// Gives a new file the owner of the one it replaces, where we may.
#[cfg(unix)]
pub(crate) fn keep_owner(file: &File, old: &std::fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let new = file.metadata()?;
    if new.uid() != old.uid() || new.gid() != old.gid() {
        // Only root may give files away. Anyone else owns what they write, but may have the group.
        let _ = fchown(file, Some(old.uid()), Some(old.gid()))
            .or_else(|_| fchown(file, None, Some(old.gid())));
    }
    Ok(())
}

#[cfg(not(unix))]
pub(crate) fn keep_owner(_: &File, _: &std::fs::Metadata) -> io::Result<()> {
    Ok(())
}
