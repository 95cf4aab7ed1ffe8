//! Appending whole lines, each record in one write call.

use std::{
    borrow::Cow,
    fs::File,
    io::{self, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use crate::{
    durability::Durability,
    error::DiskError,
    leftover::remove_leftovers_once,
    lock::is_still_at,
    mode::Mode,
    open::existing_or_new,
    scan::{CHUNK, read_at},
    sync,
};

/// Appends one line to a log that only this process writes, without a lock, in one write call.
/// Returns where the line begins.
///
/// A log that is not there is made with `mode`; a link or anything else that is not a regular file
/// is refused. If the log does not end in a line break, the torn line is ended in the same call.
/// A line that was taken only in part, or could not be synced, is removed again.
///
/// ```
/// use rethread_disk::{Durability, Mode, append_line};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("log.jsonl");
/// std::fs::write(&path, b"{\"to")?;
/// assert_eq!(append_line(&path, b"{}", Mode::Private, Durability::Each)?, 5);
/// assert_eq!(std::fs::read(&path)?, b"{\"to\n{}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn append_line(path: &Path, line: &[u8], mode: Mode, d: Durability) -> Result<u64, DiskError> {
    let whole = with_line_break(path, line)?;
    remove_leftovers_once(&sync::folder_of(path));
    let file = existing_or_new(path, mode)?;
    let len = file
        .metadata()
        .map_err(|e| DiskError::while_writing(path, e))?
        .len();
    if d.syncs() && len == 0 {
        // The name first: then a log that holds a record has a name that lasts.
        sync::folder_at(path)?;
    }
    append_to(path, &file, &whole, d)
}

/// A log to which its owner appends without a lock, and which
/// [`LockedLog::exchange`](crate::LockedLog::exchange) may replace at any moment.
///
/// ```
/// use rethread_disk::{Durability, Mode, UnlockedLog};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("log.jsonl");
/// let mut log = UnlockedLog::open(&path, Mode::Private)?;
/// let appended = log.append(b"{}", Durability::Each)?;
/// assert_eq!((appended.at, log.len()?), (0, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct UnlockedLog {
    path: PathBuf,
    mode: Mode,
    file: File,
}

/// Where a line is that was appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// Where it begins.
    pub at: u64,
    /// Whether it was appended before to a log that was replaced in that moment. It may have been
    /// carried over from there, and then it is there twice.
    pub is_again: bool,
}

impl UnlockedLog {
    /// Opens a log; one that is not there is made with `mode`. Links, pipes and devices are
    /// refused, without waiting for them.
    pub fn open(path: &Path, mode: Mode) -> Result<UnlockedLog, DiskError> {
        remove_leftovers_once(&sync::folder_of(path));
        Ok(UnlockedLog {
            path: path.to_owned(),
            mode,
            file: existing_or_new(path, mode)?,
        })
    }

    /// How many bytes it has.
    pub fn len(&self) -> Result<u64, DiskError> {
        let meta = self.file.metadata();
        Ok(meta
            .map_err(|e| DiskError::while_reading(&self.path, e))?
            .len())
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> Result<bool, DiskError> {
        Ok(self.len()? == 0)
    }

    /// Reads at a position until `buf` is full or the log ends; returns how much.
    pub fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, DiskError> {
        read_at(&self.file, offset, buf).map_err(|e| DiskError::while_reading(&self.path, e))
    }

    /// Appends one line, as [`append_line`] does. A line that went into a log that was replaced in
    /// that moment is appended to the new one as well. So it is never lost, and may be there twice.
    ///
    /// Who exchanges the log takes over what is in the old one after the exchange, and only then
    /// lets go of it. A line that was written while the file still had the name, which is looked
    /// at afterwards, was written before the exchange.
    pub fn append(&mut self, line: &[u8], d: Durability) -> Result<Appended, DiskError> {
        let whole = with_line_break(&self.path, line)?;
        let mut is_again = false;
        loop {
            if d.syncs() {
                // Whoever gave the file its name may not have synced that yet, or never will.
                sync::folder_at(&self.path)?;
            }
            let at = append_to(&self.path, &self.file, &whole, d)?;
            // If what became of the name since cannot be told, it was written at least.
            if is_still_at(&self.path, &self.file).unwrap_or(true) {
                return Ok(Appended { at, is_again });
            }
            // Replaced meanwhile, or gone: what is there now needs the line too.
            self.file = existing_or_new(&self.path, self.mode)?;
            is_again = true;
        }
    }
}

/// A record with its line break.
fn with_line_break(path: &Path, line: &[u8]) -> Result<Vec<u8>, DiskError> {
    if let Some(at) = memchr::memchr(b'\n', line) {
        return Err(DiskError::LineBreak {
            path: path.to_owned(),
            at,
        });
    }
    let mut whole = Vec::with_capacity(line.len() + 1);
    whole.extend_from_slice(line);
    whole.push(b'\n');
    Ok(whole)
}

/// Appends whole lines, and syncs them; gives where they begin.
fn append_to(path: &Path, file: &File, whole: &[u8], d: Durability) -> Result<u64, DiskError> {
    let written = append_whole(path, file, whole)?;
    if d.syncs()
        && let Err(cause) = sync::sync_content(file)
    {
        written.undo_write(path, file, &cause)?;
        return Err(DiskError::while_syncing(path, cause));
    }
    Ok(written.first_line())
}

/// What one write call put where.
pub(crate) struct WrittenLines<'a> {
    start: u64,
    bytes: Cow<'a, [u8]>,
    torn: bool,
}

impl WrittenLines<'_> {
    /// Where the first line begins, behind the line break that ended a torn one.
    pub(crate) fn first_line(&self) -> u64 {
        self.start + u64::from(self.torn)
    }

    /// Takes back what is there of it. `cause` is why.
    pub(crate) fn undo_write(
        &self,
        path: &Path,
        file: &File,
        cause: &io::Error,
    ) -> Result<(), DiskError> {
        cut_back(file, self.start, &self.bytes).map_err(|_| not_undone(path, self.start, cause))
    }
}

/// Writes `lines` at the end, in one call, and ends a torn line before them in the same call.
pub(crate) fn append_whole<'a>(
    path: &Path,
    file: &File,
    lines: &'a [u8],
) -> Result<WrittenLines<'a>, DiskError> {
    let torn = !ends_in_line_break(file).map_err(|e| DiskError::while_reading(path, e))?;
    let bytes = if torn {
        let mut whole = Vec::with_capacity(lines.len() + 1);
        whole.push(b'\n');
        whole.extend_from_slice(lines);
        Cow::Owned(whole)
    } else {
        Cow::Borrowed(lines)
    };
    let start = write_once(path, file, &bytes)?;
    Ok(WrittenLines { start, bytes, torn })
}

/// Whether the next byte begins a line: the file is empty or its last byte is a line break.
fn ends_in_line_break(file: &File) -> io::Result<bool> {
    let len = file.metadata()?.len();
    let mut last = [b'\n'];
    if len > 0 {
        read_at(file, len - 1, &mut last)?;
    }
    Ok(last == *b"\n")
}

/// One write call at the end of the file: all of `bytes`, or none. Returns where they begin.
pub(crate) fn write_once(path: &Path, mut file: &File, bytes: &[u8]) -> Result<u64, DiskError> {
    let failed = |e| DiskError::while_writing(path, e);
    let end = file.seek(SeekFrom::End(0)).map_err(failed)?;
    let taken = loop {
        match file.write(bytes) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            taken => break taken,
        }
    };
    let wrote = match taken {
        Ok(wrote) => wrote,
        Err(cause) => {
            cut_back(file, end, bytes).map_err(|_| not_undone(path, end, &cause))?;
            return Err(DiskError::while_writing(path, cause));
        }
    };
    // A program that takes no lock may have appended since `end` was read.
    let start = match file.stream_position() {
        Ok(position) => position.saturating_sub(wrote as u64),
        Err(_) => end,
    };
    if wrote == bytes.len() {
        return Ok(start);
    }
    let short = DiskError::ShortWrite {
        path: path.to_owned(),
        wrote: wrote as u64,
        wanted: bytes.len() as u64,
    };
    let cause = io::Error::from(io::ErrorKind::WriteZero);
    cut_back(file, start, bytes).map_err(|_| not_undone(path, start, &cause))?;
    Err(short)
}

fn not_undone(path: &Path, start: u64, cause: &io::Error) -> DiskError {
    let cause = match cause.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => cause.kind().into(),
    };
    DiskError::NotUndone {
        path: path.to_owned(),
        start,
        cause,
    }
}

/// Cuts the file back to `start` if what follows there is the beginning of `bytes` and nothing
/// else: another program's record is never cut off.
fn cut_back(file: &File, start: u64, bytes: &[u8]) -> io::Result<()> {
    let extra = file.metadata()?.len().saturating_sub(start);
    if extra == 0 {
        return Ok(());
    }
    let ours = usize::try_from(extra)
        .ok()
        .and_then(|extra| bytes.get(..extra));
    let Some(ours) = ours else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    let mut found = vec![0; ours.len().min(CHUNK)];
    let mut at = start;
    for piece in ours.chunks(CHUNK) {
        let found = &mut found[..piece.len()];
        if read_at(file, at, found)? != piece.len() || found != piece {
            return Err(io::ErrorKind::InvalidData.into());
        }
        at += piece.len() as u64;
    }
    file.set_len(start)
}
