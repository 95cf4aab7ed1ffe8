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
    let file = open(path)?;
    regular(&file, path)?;
    Ok(file)
}

/// Opens a regular file.
fn open(path: &Path) -> Result<File, DiskError> {
    // Looked at first, because opening a device can set it in motion.
    let meta = std::fs::metadata(path).map_err(|e| cannot_open(path, e))?;
    if !meta.is_file() {
        return Err(refused(path, &meta));
    }
    options().open(path).map_err(|e| cannot_open(path, e))
}

/// What an open file is; an error unless it is regular. It may have been exchanged since somebody
/// looked.
fn regular(file: &File, path: &Path) -> Result<Metadata, DiskError> {
    let meta = file.metadata().map_err(|e| DiskError::read(path, e))?;
    if meta.is_file() {
        Ok(meta)
    } else {
        Err(refused(path, &meta))
    }
}

fn refused(path: &Path, meta: &Metadata) -> DiskError {
    DiskError::NotAFile {
        path: path.to_owned(),
        found: FileKind::of(meta.file_type()),
    }
}

/// The error for a file that cannot be opened.
pub(crate) fn cannot_open(path: &Path, e: io::Error) -> DiskError {
    match e.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => DiskError::NotFound {
            path: path.to_owned(),
        },
        _ => DiskError::read(path, e),
    }
}

/// Reads a whole file of at most [`SMALL`] bytes.
pub fn read_small(path: &Path) -> Result<Vec<u8>, DiskError> {
    take(&open(path)?, path)
}

/// [`read_small`] behind what is in a buffer, which may have been used before.
pub fn read_small_into(path: &Path, buffer: &mut Vec<u8>) -> Result<(), DiskError> {
    let mut file = open(path)?;
    let too_large = || DiskError::TooLarge {
        path: path.to_owned(),
        limit: SMALL,
    };
    let len = regular(&file, path)?.len();
    if len > SMALL {
        return Err(too_large());
    }
    let start = buffer.len();
    // It may have grown.
    file.read_to_end(buffer)
        .map_err(|e| DiskError::read(path, e))?;
    if (buffer.len() - start) as u64 > SMALL {
        return Err(too_large());
    }
    Ok(())
}

/// The whole of a regular file of at most [`SMALL`] bytes.
pub(crate) fn take(file: &File, path: &Path) -> Result<Vec<u8>, DiskError> {
    let expected = regular(file, path)?.len();
    // One more than there is, which tells the end from a file that grew.
    let room = |len: u64| usize::try_from(len.min(SMALL) + 1).unwrap_or(usize::MAX);
    let mut bytes = vec![0; room(expected)];
    let mut filled = 0;
    loop {
        match (&mut &*file).read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(DiskError::read(path, e)),
        }
        if filled as u64 > SMALL {
            return Err(DiskError::TooLarge {
                path: path.to_owned(),
                limit: SMALL,
            });
        }
        if filled == bytes.len() {
            bytes.resize(room(2 * filled as u64), 0);
        } else if filled as u64 >= expected {
            // As much as there was, and no more although there was room.
            break;
        }
    }
    bytes.truncate(filled);
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
