//! Opening a file that others may have put something else in the place of.

use std::{
    fs::{File, Metadata, OpenOptions},
    io,
    path::Path,
};

use crate::{
    error::{DiskError, FileKind},
    mode::{Mode, set_bits},
};

/// How often the file may appear or vanish between two looks before we give up.
const TRIES: usize = 32;

/// A regular file's facts; `None` if there is nothing, an error if it is something else.
pub(crate) fn regular_metadata(path: &Path) -> Result<Option<Metadata>, DiskError> {
    match std::fs::symlink_metadata(path) {
        Ok(meta) if meta.is_file() => Ok(Some(meta)),
        Ok(meta) => Err(not_a_file(path, &meta)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(DiskError::while_reading(path, e)),
    }
}

/// Opens a log for reading and appending. It must be there and be a regular file.
pub(crate) fn open_existing(path: &Path) -> Result<File, DiskError> {
    // Looked at first, because opening a device can set it in motion; and again afterwards,
    // because it may have been exchanged.
    if regular_metadata(path)?.is_none() {
        return Err(DiskError::NotFound {
            path: path.to_owned(),
        });
    }
    let file = match append_options().open(path) {
        Ok(file) => file,
        Err(e) if is_loop(&e) => {
            return Err(DiskError::NotAFile {
                path: path.to_owned(),
                found: FileKind::Symlink,
            });
        }
        // Whoever opens a log wants to write to it.
        Err(e) => return Err(DiskError::while_writing(path, e)),
    };
    let meta = file
        .metadata()
        .map_err(|e| DiskError::while_reading(path, e))?;
    if meta.is_file() {
        Ok(file)
    } else {
        Err(not_a_file(path, &meta))
    }
}

/// As [`open_existing`], but makes an empty file if there is none.
pub(crate) fn existing_or_new(path: &Path, mode: Mode) -> Result<File, DiskError> {
    for _ in 0..TRIES {
        match open_existing(path) {
            Err(DiskError::NotFound { .. }) => {}
            other => return other,
        }
        match with_mode(append_options().create_new(true), mode.file_bits()).open(path) {
            Ok(file) => {
                set_bits(&file, mode.file_bits()).map_err(|e| DiskError::while_writing(path, e))?;
                return Ok(file);
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(DiskError::while_writing(path, e)),
        }
    }
    Err(DiskError::Changed {
        path: path.to_owned(),
    })
}

fn not_a_file(path: &Path, meta: &Metadata) -> DiskError {
    DiskError::NotAFile {
        path: path.to_owned(),
        found: FileKind::from_type(meta.file_type()),
    }
}

/// Reads anywhere, writes at the end, follows no link and waits for no pipe.
#[cfg(unix)]
pub(crate) fn append_options() -> OpenOptions {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let mut options = OpenOptions::new();
    options
        .read(true)
        .append(true)
        .custom_flags(flags.bits().cast_signed());
    options
}

/// Opened for append alone, a file could not be cut again on Windows; appends seek to the end.
#[cfg(not(unix))]
pub(crate) fn append_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    options
}

/// Makes a new file start with these bits.
#[cfg(unix)]
pub(crate) fn with_mode(options: &mut OpenOptions, bits: u32) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;
    options.mode(bits)
}

#[cfg(not(unix))]
pub(crate) fn with_mode(options: &mut OpenOptions, _: u32) -> &mut OpenOptions {
    options
}

/// Whether opening failed because the last component is a link.
#[cfg(unix)]
fn is_loop(e: &io::Error) -> bool {
    e.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(not(unix))]
fn is_loop(_: &io::Error) -> bool {
    false
}
