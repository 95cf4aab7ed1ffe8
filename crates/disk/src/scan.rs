//! Reading a log from its end, a piece at a time.

use std::{fs::File, io, ops::Range, time::Duration};

/// How much is read at once; memory does not follow the length of a line.
pub(crate) const CHUNK: usize = 64 * 1024;

/// How a log ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// There is nothing in it.
    Empty,
    /// Its last byte is a line break.
    Ended,
    /// Its last line was not ended: torn, or still being written.
    Open {
        /// Where that line begins.
        start: u64,
        /// How many bytes there are of it.
        len: u64,
        /// How long ago the file was last written.
        age: Duration,
    },
}

/// Reads at a position until the buffer is full or the file ends, wherever the cursor is.
pub(crate) fn read_at(file: &File, mut offset: u64, buf: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buf.len() {
        match read_once(file, offset, &mut buf[filled..]) {
            Ok(0) => break,
            Ok(n) => {
                filled += n;
                offset += n as u64;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(filled)
}

#[cfg(unix)]
fn read_once(file: &File, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buf, offset)
}

/// Moves the cursor, which no other function here relies on.
#[cfg(windows)]
fn read_once(file: &File, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buf, offset)
}

/// The position of the last line break before `end`.
pub(crate) fn last_break(file: &File, mut end: u64) -> io::Result<Option<u64>> {
    let mut buf = vec![0; CHUNK];
    while end > 0 {
        let start = end.saturating_sub(CHUNK as u64);
        let wanted = usize::try_from(end - start).unwrap_or(CHUNK);
        let n = read_at(file, start, &mut buf[..wanted])?;
        if let Some(at) = memchr::memrchr(b'\n', &buf[..n]) {
            return Ok(Some(start + at as u64));
        }
        end = start;
    }
    Ok(None)
}

/// The bytes of the last line that was ended, without its line break.
pub(crate) fn last_line(file: &File) -> io::Result<Option<Range<u64>>> {
    let Some(end) = last_break(file, file.metadata()?.len())? else {
        return Ok(None);
    };
    let start = last_break(file, end)?.map_or(0, |at| at + 1);
    Ok(Some(start..end))
}

/// Where the last line begins and how long it is, if it was not ended; `None` if it was.
pub(crate) fn open_line(file: &File, len: u64) -> io::Result<Option<(u64, u64)>> {
    let start = last_break(file, len)?.map_or(0, |at| at + 1);
    Ok((start < len).then_some((start, len - start)))
}
