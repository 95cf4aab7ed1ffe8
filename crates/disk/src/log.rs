//! A log of lines that several programs append to, one at a time.

use std::{
    fs::{File, Metadata},
    io::{self, Read, Write},
    ops::Range,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread::sleep,
    time::{Duration, Instant},
};

use crate::{
    append::{append_whole, write_once},
    durability::Durability,
    error::DiskError,
    identity::{FileId, age_of},
    leftover::remove_leftovers_once,
    lock::{is_still_at, open_locked, unlock_file},
    mode::Mode,
    open::{existing_or_new, open_existing},
    retired::Retired,
    scan::{self, Tail},
    sync::{self, SyncFolder, folder_of},
    temp::TempFile,
};

/// A last line that was written to within this time may still be finished by a program that takes
/// no lock.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long a line may go on growing before it is said that the log is busy.
const LONGEST_LINE: Duration = Duration::from_mins(1);

/// How often it is looked at meanwhile.
const NAP: Duration = Duration::from_millis(20);

/// A log under an exclusive lock, which lasts until this is dropped or the process ends.
///
/// The lock is on the log itself. It keeps out other users of `LockedLog`; readers never wait.
/// Nothing is synced before [`LockedLog::sync`].
///
/// ```
/// use std::time::Duration;
/// use rethread_disk::{LockedLog, Mode, Tail};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("log.jsonl");
/// let mut log = LockedLog::open_or_create(&path, Mode::Private, Duration::from_secs(2))?;
/// log.append(b"{\"n\":1}\n{\"n\":2}\n")?;
/// log.sync()?;
/// assert_eq!(log.tail()?, Tail::Ended);
/// assert_eq!(log.last_line()?, Some(8..15));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LockedLog {
    path: PathBuf,
    file: File,
    /// Whether the folder may not have been synced since the log got its name: whoever made it
    /// may have been killed before.
    unsettled: AtomicBool,
}

impl LockedLog {
    /// Locks a log that is there; waits for others at most `timeout`.
    ///
    /// Links, pipes and devices are refused, without waiting for them.
    pub fn open(path: &Path, timeout: Duration) -> Result<LockedLog, DiskError> {
        remove_leftovers_once(&folder_of(path));
        let file = open_locked(path, timeout, || open_existing(path), |file| file)?;
        Ok(LockedLog::new(path, file))
    }

    /// As [`LockedLog::open`], but makes an empty log with `mode` if there is none.
    pub fn open_or_create(
        path: &Path,
        mode: Mode,
        timeout: Duration,
    ) -> Result<LockedLog, DiskError> {
        remove_leftovers_once(&folder_of(path));
        let open = || existing_or_new(path, mode);
        let file = open_locked(path, timeout, open, |file| file)?;
        Ok(LockedLog::new(path, file))
    }

    fn new(path: &Path, file: File) -> LockedLog {
        LockedLog {
            path: path.to_owned(),
            file,
            unsettled: AtomicBool::new(true),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Which file it is.
    pub fn id(&self) -> Result<FileId, DiskError> {
        FileId::of(&self.file).map_err(|e| self.read_failed(e))
    }

    /// Whether it is still what has its name: a program that takes no lock may have replaced it.
    pub fn is_in_place(&self) -> Result<bool, DiskError> {
        is_still_at(&self.path, &self.file)
    }

    /// How many bytes it has.
    pub fn len(&self) -> Result<u64, DiskError> {
        Ok(self.file.metadata().map_err(|e| self.read_failed(e))?.len())
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> Result<bool, DiskError> {
        Ok(self.len()? == 0)
    }

    /// How it ends. Reads backwards in pieces, however long the last line is.
    pub fn tail(&self) -> Result<Tail, DiskError> {
        let meta = self.file.metadata().map_err(|e| self.read_failed(e))?;
        if meta.len() == 0 {
            return Ok(Tail::Empty);
        }
        let open = scan::open_line(&self.file, meta.len()).map_err(|e| self.read_failed(e))?;
        let Some((start, len)) = open else {
            return Ok(Tail::Ended);
        };
        let age = age_of(&meta).map_err(|e| self.read_failed(e))?;
        Ok(Tail::Open { start, len, age })
    }

    /// The last line, if it was left unfinished. A program that takes no lock may still be writing
    /// it: that is waited for, until the line is ended, `is_whole` finds that nothing of it is
    /// missing but the line break, or it has not grown for two seconds.
    ///
    /// Whoever is about to append calls this before reading what to append to.
    pub fn torn_line(
        &self,
        is_whole: impl Fn(LogReader<'_>) -> bool,
    ) -> Result<Option<Range<u64>>, DiskError> {
        let begun = Instant::now();
        loop {
            let Tail::Open { start, len, .. } = self.tail()? else {
                return Ok(None);
            };
            if is_whole(self.reader(start)) {
                return Ok(None);
            }
            if self.stands_still(start + len)? {
                return Ok(Some(start..start + len));
            }
            let waited = begun.elapsed();
            if waited >= LONGEST_LINE {
                let path = self.path.clone();
                return Err(DiskError::Busy { path, waited });
            }
        }
    }

    /// Waits until the log has another length than this one; whether it did not get one. Clocks
    /// jump, so a log that we saw stand still is old whatever the time of its file says.
    fn stands_still(&self, len: u64) -> Result<bool, DiskError> {
        let begun = Instant::now();
        loop {
            let meta = self.file.metadata().map_err(|e| self.read_failed(e))?;
            if meta.len() != len {
                return Ok(false);
            }
            let age = age_of(&meta).map_err(|e| self.read_failed(e))?;
            if age.max(begun.elapsed()) >= PATIENCE {
                return Ok(true);
            }
            sleep(NAP);
        }
    }

    /// Where the last line that was ended is, without its line break; an open tail is skipped.
    pub fn last_line(&self) -> Result<Option<Range<u64>>, DiskError> {
        scan::last_line(&self.file).map_err(|e| self.read_failed(e))
    }

    /// Reads at a position until `buf` is full or the log ends; returns how much.
    pub fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, DiskError> {
        scan::read_at(&self.file, offset, buf).map_err(|e| self.read_failed(e))
    }

    /// Reads from a position on. Several readers do not disturb each other.
    pub fn reader(&self, from: u64) -> LogReader<'_> {
        LogReader::new(&self.file, from, u64::MAX)
    }

    /// Appends one or more whole lines, the last of which ends in a line break too, in one write
    /// call. Returns where the first begins.
    ///
    /// A torn line before them is ended in the same call, so that nothing is ever glued to it; see
    /// [`LockedLog::torn_line`] and [`LockedLog::cut`] to deal with it otherwise. What was taken
    /// only in part is removed again.
    pub fn append(&mut self, lines: &[u8]) -> Result<u64, DiskError> {
        self.append_lasting(lines, Durability::None)
    }

    /// As [`LockedLog::append`], and syncs what was appended if `d` asks for it. Lines that could
    /// not be synced are removed again: whoever is told that they were not saved may write them
    /// once more.
    pub fn append_lasting(&mut self, lines: &[u8], d: Durability) -> Result<u64, DiskError> {
        if !lines.ends_with(b"\n") {
            return Err(DiskError::NotWholeLines {
                path: self.path.clone(),
            });
        }
        let written = append_whole(&self.path, &self.file, lines)?;
        if d.syncs()
            && let Err(failed) = self.sync()
        {
            let unknown = io::ErrorKind::Other.into();
            let cause = failed.io().unwrap_or(&unknown);
            written.undo_write(&self.path, &self.file, cause)?;
            return Err(failed);
        }
        Ok(written.first_line())
    }

    /// Ends the last line, if it is open; says whether it was.
    pub fn end_line(&mut self) -> Result<bool, DiskError> {
        let open = matches!(self.tail()?, Tail::Open { .. });
        if open {
            write_once(&self.path, &self.file, b"\n")?;
        }
        Ok(open)
    }

    /// Cuts off everything from byte `len` on: a torn line that was saved elsewhere.
    pub fn cut(&mut self, len: u64) -> Result<(), DiskError> {
        let now = self.len()?;
        if len > now {
            return Err(DiskError::BeyondEnd {
                path: self.path.clone(),
                at: len,
                len: now,
            });
        }
        self.file
            .set_len(len)
            .map_err(|e| DiskError::while_writing(&self.path, e))
    }

    /// Replaces the whole log, all at once and without letting go of the lock: `write` reads the
    /// old log and writes the new one. The new one keeps mode and owner, and is what this then is.
    ///
    /// An error leaves the old log in place; so does a program that takes no lock and appends
    /// meanwhile ([`DiskError::Changed`]).
    pub fn rewrite(
        &mut self,
        d: Durability,
        write: impl FnOnce(&mut dyn Read, &mut dyn Write) -> io::Result<()>,
    ) -> Result<(), DiskError> {
        let path = self.path.as_path();
        let failed = |e| DiskError::while_writing(path, e);
        let old = self.file.metadata().map_err(|e| self.read_failed(e))?;
        let folder = SyncFolder::parent_of(path, d.syncs()).map_err(failed)?;
        let temp = self.write_new(&old, d, write)?;
        if self.len()? != old.len() {
            return Err(DiskError::Changed {
                path: path.to_owned(),
            });
        }
        // Locked since it has its temporary name: whoever opens it under its real one waits.
        self.file = temp.rename(path).map_err(failed)?;
        self.unsettled = AtomicBool::new(true);
        if let Some(folder) = folder {
            folder.sync(&self.path)?;
            self.unsettled = AtomicBool::new(false);
        }
        Ok(())
    }

    /// As [`LockedLog::rewrite`], for a log to which programs append that take no lock, such as
    /// [`UnlockedLog`](crate::UnlockedLog). What they append meanwhile is in the file that this
    /// gives: the old log, which keeps a second name. The caller appends to the new log what it
    /// lacks of it, syncs that, and then removes it. If the caller is killed before, or the power
    /// fails, [`retired_logs`](crate::retired_logs) finds it, and the next one does the same.
    ///
    /// Everything is synced, in this order: the content of the new log; the second name of the old
    /// one; only then the new log takes the first name. So whatever comes of the names in a power
    /// cut, everything that was synced in the old log is in a file that can be found.
    pub fn exchange(
        &mut self,
        write: impl FnOnce(&mut dyn Read, &mut dyn Write) -> io::Result<()>,
    ) -> Result<Retired, DiskError> {
        let path = self.path.as_path();
        let failed = |e| DiskError::while_writing(path, e);
        let changed = || DiskError::Changed {
            path: path.to_owned(),
        };
        let time = |meta: &Metadata| meta.modified().map_err(|e| self.read_failed(e));
        let old = self.file.metadata().map_err(|e| self.read_failed(e))?;
        let folder = SyncFolder::parent_of(path, true).map_err(failed)?;
        let temp = self.write_new(&old, Durability::Each, write)?;
        let mut link = Retired::link(path, &self.file)?;
        if let Some(folder) = &folder {
            folder
                .sync_itself()
                .map_err(|e| DiskError::while_syncing(path, e))?;
        }
        let now = self.file.metadata().map_err(|e| self.read_failed(e))?;
        // More lines are carried over; anything else is no append.
        let is_same = now.len() > old.len() || now.len() == old.len() && time(&now)? == time(&old)?;
        if !is_same || !self.is_in_place()? {
            return Err(changed());
        }
        // Locked since it has its temporary name: whoever opens it under its real one waits.
        let new = temp.rename(path).map_err(|e| {
            // Over a network it may have been done all the same.
            let is_undone = self.is_in_place().unwrap_or(false);
            link.disable_cleanup(!is_undone);
            failed(e)
        })?;
        let old = std::mem::replace(&mut self.file, new);
        self.unsettled = AtomicBool::new(true);
        Ok(Retired::new(link, old))
    }

    /// Writes a new log beside this one.
    fn write_new(
        &self,
        old: &Metadata,
        d: Durability,
        write: impl FnOnce(&mut dyn Read, &mut dyn Write) -> io::Result<()>,
    ) -> Result<TempFile, DiskError> {
        let mut reader = LogReader::new(&self.file, 0, old.len());
        let write = |out: &mut dyn Write| write(&mut reader, out);
        TempFile::write(&self.path, 0o600, Some(old), d, write)
    }

    /// Makes everything appended so far survive a power cut; the first time, its name as well. If that fails, it may be lost, and
    /// asking again would not bring it back.
    pub fn sync(&self) -> Result<(), DiskError> {
        sync::sync_content(&self.file).map_err(|e| DiskError::while_syncing(&self.path, e))?;
        if self.unsettled.load(Ordering::Relaxed) {
            sync::folder_at(&self.path)?;
            self.unsettled.store(false, Ordering::Relaxed);
        }
        Ok(())
    }

    fn read_failed(&self, cause: io::Error) -> DiskError {
        DiskError::while_reading(&self.path, cause)
    }
}

impl Drop for LockedLog {
    fn drop(&mut self) {
        unlock_file(&self.file);
    }
}

/// Reads a log from a position on.
#[derive(Debug)]
pub struct LogReader<'a> {
    file: &'a File,
    at: u64,
    end: u64,
}

impl<'a> LogReader<'a> {
    pub(crate) fn new(file: &'a File, at: u64, end: u64) -> Self {
        Self { file, at, end }
    }
}

impl Read for LogReader<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let wanted = buf.len().min(left);
        let n = scan::read_at(self.file, self.at, &mut buf[..wanted])?;
        self.at += n as u64;
        Ok(n)
    }
}
