//! Reading files that others may have put something else in the place of.

use std::{
    fs::{File, Metadata, OpenOptions},
    io::{self, Read as _},
    path::Path,
};

use crate::{
    error::{DiskError, FileKind},
    scan,
};

/// The largest file that [`read_small`] takes into memory.
pub const SMALL: u64 = 64 * 1024 * 1024;

/// Opens a regular file, or a link to one, for reading. Pipes, sockets and devices are refused
/// without waiting for them.
pub fn open_read(path: &Path) -> Result<File, DiskError> {
    open(path).map(|(file, _)| file)
}

/// Opens a regular file, and says what it was when it was opened.
fn open(path: &Path) -> Result<(File, Metadata), DiskError> {
    let refused = |meta: &Metadata| DiskError::NotAFile {
        path: path.to_owned(),
        found: FileKind::of(meta.file_type()),
    };
    let failed = |e: io::Error| match e.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => DiskError::NotFound {
            path: path.to_owned(),
        },
        _ => DiskError::read(path, e),
    };
    // Looked at first, because opening a device can set it in motion; and again afterwards,
    // because it may have been exchanged.
    let meta = std::fs::metadata(path).map_err(failed)?;
    if !meta.is_file() {
        return Err(refused(&meta));
    }
    let file = options().open(path).map_err(failed)?;
    let meta = file.metadata().map_err(failed)?;
    if meta.is_file() {
        Ok((file, meta))
    } else {
        Err(refused(&meta))
    }
}

/// Reads a whole file of at most [`SMALL`] bytes.
pub fn read_small(path: &Path) -> Result<Vec<u8>, DiskError> {
    let (file, meta) = open(path)?;
    // One more than there is, which tells the end from a file that grew.
    let len = meta.len().min(SMALL) + 1;
    let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(0));
    file.take(SMALL + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| DiskError::read(path, e))?;
    if bytes.len() as u64 > SMALL {
        return Err(DiskError::TooLarge {
            path: path.to_owned(),
            limit: SMALL,
        });
    }
    Ok(bytes)
}

/// Reads at a position until `buf` is full or the file ends, wherever the file's cursor is; gives
/// how much was read.
pub fn read_at(file: &File, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
    scan::read_at(file, offset, buf)
}

#[cfg(unix)]
fn options() -> OpenOptions {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = OpenOptions::new();
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    options.read(true).custom_flags(flags.bits().cast_signed());
    options
}

#[cfg(not(unix))]
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    options
}
