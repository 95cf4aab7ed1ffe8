//! Getting entries into the file.

use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use rethread_disk::{
    Created, DiskError, Durability, LockedLog, Mode, create_with, remove_file, sync_path,
};
use rethread_json::{Lines, Tree};

use super::load::{LONGEST, LoadedValue, Today};
use super::{SessionError, SessionManager, Stored};
use crate::pi::entry::SessionEntry;
use crate::session_log::torn_line;

/// How many old files of one session are kept.
const BACKUPS: usize = 1000;

impl SessionManager {
    /// Writes an entry and moves to it; if it cannot be written, nothing changes.
    pub(super) fn commit(&mut self, line: &[u8]) -> Result<String, SessionError> {
        self.header.refuse_newer()?;
        let what = "the entry";
        let entry =
            SessionEntry::parse(line).map_err(|cause| SessionError::NotJson { what, cause })?;
        if let Some(path) = self.file.clone() {
            if matches!(self.stored, Stored::Old(_)) {
                self.migrate()?;
            }
            match self.stored {
                Stored::Nothing if entry.is_talk() => self.write_whole(line)?,
                Stored::Nothing => {}
                Stored::All | Stored::Old(_) => {
                    self.append_to(&path, &[line, b"\n"].concat())?;
                }
            }
        }
        let id = entry.id().to_owned();
        self.remember(entry);
        Ok(id)
    }

    /// Makes the file with all entries, and `more` behind them. Nothing is ever overwritten.
    pub(super) fn write_whole(&mut self, more: &[u8]) -> Result<(), SessionError> {
        let Some(path) = &self.file else {
            return Ok(());
        };
        let (header, entries) = (&self.header, &self.entries);
        let made = create_with(path, Mode::Private, self.host.durability, |out| {
            let mut out = BufWriter::new(out);
            let mut line = |raw: &[u8]| {
                out.write_all(raw)?;
                out.write_all(b"\n")
            };
            line(header.raw())?;
            for entry in entries {
                line(entry.raw())?;
            }
            if !more.is_empty() {
                line(more)?;
            }
            out.flush()
        })?;
        if made == Created::Existed {
            return Err(SessionError::Exists { path: path.clone() });
        }
        self.stored = Stored::All;
        Ok(())
    }

    /// Adds lines to a file that is there. A line that somebody is still writing is waited for; a
    /// torn one is ended first, in the same write.
    pub(super) fn append_to(&self, path: &Path, lines: &[u8]) -> Result<(), SessionError> {
        let mut log = LockedLog::open(path, self.host.lock_timeout)?;
        torn_line(&log)?;
        // Else what is added is synced all at once, when it is asked for.
        let d = match self.host.durability {
            Durability::Each => Durability::Each,
            Durability::Close | Durability::None => Durability::None,
        };
        log.append_lasting(lines, d)?;
        Ok(())
    }

    /// Writes a file of an older version anew, in today's, all at once. The old one is kept beside
    /// it, under the name that is returned; none if there was nothing to do. The first append does
    /// this by itself.
    pub fn migrate(&mut self) -> Result<Option<PathBuf>, SessionError> {
        let (Some(path), Stored::Old(len)) = (&self.file, self.stored) else {
            return Ok(None);
        };
        let mut log = LockedLog::open(path, self.host.lock_timeout)?;
        if log.len()? != len {
            let path = path.clone();
            return Err(DiskError::Changed { path }.into());
        }
        let backup = bring_up_to_date(&mut log, self.host.durability)?;
        self.stored = Stored::All;
        Ok(Some(backup))
    }

    /// Makes the file now, although nobody has said anything yet. It is an error if there is one.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, SessionManager}};
    /// # let home = tempfile::tempdir()?;
    /// # let env = Env::from_variables(Default::default(), Some(home.path().into()), home.path().into())?;
    /// # let host = Host::atomic(env);
    /// let mut session = SessionManager::create(&host, "/my/project", None)?;
    /// session.write_now()?;
    /// assert!(session.session_file().unwrap().exists());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_now(&mut self) -> Result<(), SessionError> {
        match self.stored {
            Stored::Nothing => self.write_whole(&[]),
            Stored::All | Stored::Old(_) => Ok(()),
        }
    }

    /// Makes everything that was written so far survive a power cut.
    pub fn sync(&self) -> Result<(), SessionError> {
        match (&self.file, self.stored) {
            (Some(path), Stored::All | Stored::Old(_)) => Ok(sync_path(path)?),
            _ => Ok(()),
        }
    }
}

/// Writes a log of an older version anew, in today's, all at once. Gives the name under which the
/// old one is kept beside it.
pub(crate) fn bring_up_to_date(
    log: &mut LockedLog,
    d: Durability,
) -> Result<PathBuf, SessionError> {
    let backup = back_up(log, d)?;
    if let Err(e) = log.rewrite(d, rewrite) {
        // The new file may be in place, and then the old one must stay.
        if !matches!(e, DiskError::Unsettled { .. }) {
            let _ = remove_file(&backup);
        }
        return Err(e.into());
    }
    Ok(backup)
}

/// Copies a log to the first free name with `.bak` behind it.
fn back_up(log: &LockedLog, d: Durability) -> Result<PathBuf, SessionError> {
    for n in 0..BACKUPS {
        let mut name = log.path().as_os_str().to_owned();
        name.push(".bak");
        if n > 0 {
            name.push(format!(".{n}"));
        }
        let backup = PathBuf::from(name);
        let made = create_with(&backup, Mode::Private, d, |out| {
            io::copy(&mut log.reader(0), out).map(|_| ())
        })?;
        if made == Created::New {
            return Ok(backup);
        }
    }
    let path = log.path().to_owned();
    Err(SessionError::Exists { path })
}

/// Puts today's header and entries in the place of the old ones. What is neither stays, and so
/// does what is around them.
fn rewrite(old: &mut dyn Read, new: &mut dyn Write) -> io::Result<()> {
    let mut out = BufWriter::new(new);
    let mut lines = Lines::with_cap(old, LONGEST);
    let mut tree = Tree::default();
    let mut today = Today::default();
    while let Some(line) = lines.next_line()? {
        let bytes = line.whole().ok_or(io::ErrorKind::InvalidData)?;
        let mut changed = None;
        if tree.parse_into(bytes).is_ok() {
            let value = tree.root(bytes);
            let raw = match today.of(value) {
                LoadedValue::Header(header) => Some(header.raw().to_vec()),
                LoadedValue::Entry(raw) => raw,
                LoadedValue::Foreign | LoadedValue::LaterHeader | LoadedValue::NoObject => None,
            };
            changed = raw.map(|raw| (value.span(), raw));
        }
        match changed {
            Some((span, raw)) => {
                out.write_all(bytes.get(..span.start).unwrap_or_default())?;
                out.write_all(&raw)?;
                out.write_all(bytes.get(span.end..).unwrap_or_default())?;
            }
            None => out.write_all(bytes)?,
        }
        if line.span.terminated {
            out.write_all(b"\n")?;
        }
    }
    out.flush()
}
