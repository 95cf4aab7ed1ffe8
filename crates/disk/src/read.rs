//! Reading files that others may have put something else in the place of.

use std::{
    fs::{File, Metadata, OpenOptions},
    io,
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
    open_sized(path).map(|(file, _)| file)
}

/// [`open_read`], and how long the file is.
pub fn open_sized(path: &Path) -> Result<(File, u64), DiskError> {
    let file = open_regular(path)?;
    let len = check_regular(&file, path)?.len();
    Ok((file, len))
}

/// Opens a regular file.
fn open_regular(path: &Path) -> Result<File, DiskError> {
    // Looked at first, because opening a device can set it in motion.
    let meta = std::fs::metadata(path).map_err(|e| cannot_open(path, e))?;
    if !meta.is_file() {
        return Err(not_regular(path, &meta));
    }
    read_options().open(path).map_err(|e| cannot_open(path, e))
}

/// What an open file is; an error unless it is regular. It may have been exchanged since somebody
/// looked.
fn check_regular(file: &File, path: &Path) -> Result<Metadata, DiskError> {
    let meta = file
        .metadata()
        .map_err(|e| DiskError::while_reading(path, e))?;
    if meta.is_file() {
        Ok(meta)
    } else {
        Err(not_regular(path, &meta))
    }
}

fn not_regular(path: &Path, meta: &Metadata) -> DiskError {
    DiskError::NotAFile {
        path: path.to_owned(),
        found: FileKind::from_type(meta.file_type()),
    }
}

/// The error for a file that cannot be opened.
pub(crate) fn cannot_open(path: &Path, e: io::Error) -> DiskError {
    match e.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => DiskError::NotFound {
            path: path.to_owned(),
        },
        _ => DiskError::while_reading(path, e),
    }
}

/// Reads a whole file of at most [`SMALL`] bytes.
pub fn read_small(path: &Path) -> Result<Vec<u8>, DiskError> {
    let mut bytes = Vec::new();
    read_small_into(path, &mut bytes)?;
    Ok(bytes)
}

/// [`read_small`] behind what is in a buffer, which may have been used before.
pub fn read_small_into(path: &Path, buffer: &mut Vec<u8>) -> Result<(), DiskError> {
    read_into(&open_regular(path)?, path, buffer)
}

/// The whole of a regular file of at most [`SMALL`] bytes, behind what is in a buffer.
pub(crate) fn read_into(file: &File, path: &Path, buffer: &mut Vec<u8>) -> Result<(), DiskError> {
    let start = buffer.len();
    let mut read = 0;
    let mut expected = check_regular(file, path)?.len();
    while expected <= SMALL {
        read_ahead(file, expected - read, buffer).map_err(|e| DiskError::while_reading(path, e))?;
        read = (buffer.len() - start) as u64;
        if read <= expected {
            return Ok(());
        }
        // It grew.
        expected = (2 * read).min(SMALL).max(read);
    }
    Err(DiskError::TooLarge {
        path: path.to_owned(),
        limit: SMALL,
    })
}

/// Reads the next bytes of a file behind what is in a buffer: so many, or fewer where it ends. Where
/// in the file the cursor is afterwards is not said.
pub fn read_next(file: &File, len: u64, buffer: &mut Vec<u8>) -> io::Result<()> {
    let start = buffer.len();
    read_ahead(file, len, buffer)?;
    buffer.truncate(usize::try_from(len).map_or(usize::MAX, |len| start.saturating_add(len)));
    Ok(())
}

/// Reads the next bytes of a file behind what is in a buffer until so many are there, or the file
/// ends. There may come more, and will where there are more: so a file that grew is told from others
/// without asking for its end.
#[cfg(unix)]
fn read_ahead(file: &File, len: u64, buffer: &mut Vec<u8>) -> io::Result<()> {
    use rustix::{buffer::spare_capacity, io::read, io::retry_on_intr};
    let len = usize::try_from(len).map_err(io::Error::other)?;
    let end = buffer.len().saturating_add(len);
    buffer.reserve(len.saturating_add(1));
    while retry_on_intr(|| read(file, spare_capacity(buffer)))? > 0 && buffer.len() < end {}
    Ok(())
}

#[cfg(not(unix))]
fn read_ahead(file: &File, len: u64, buffer: &mut Vec<u8>) -> io::Result<()> {
    use std::io::Read as _;
    file.take(len.saturating_add(1)).read_to_end(buffer)?;
    Ok(())
}

/// Reads at a position until `buf` is full or the file ends, wherever the file's cursor is; gives
/// how much was read.
pub fn read_at(file: &File, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
    scan::read_at(file, offset, buf)
}

#[cfg(unix)]
fn read_options() -> OpenOptions {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = OpenOptions::new();
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    options.read(true).custom_flags(flags.bits().cast_signed());
    options
}

#[cfg(not(unix))]
fn read_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    options
}
