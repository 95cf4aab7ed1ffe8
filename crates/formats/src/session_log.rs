//! Adding lines to a session's log, beside programs that take no lock.

use std::ops::{Deref, Range};
use std::path::Path;

use rethread_disk::{DiskError, LockedLog};
use rethread_json::{Event, Pull};
use rethread_model::Note;

use crate::{WriteError, Writing};

/// A log that nobody else of us writes to while this exists.
pub(crate) struct SessionLog<'a> {
    w: &'a Writing<'a>,
    log: LockedLog,
}

impl<'a> SessionLog<'a> {
    /// Locks a log. A record that its agent is still writing is waited for, so that what is read
    /// from here on ends with it.
    pub(crate) fn open(w: &'a Writing<'a>, path: &Path) -> Result<Self, WriteError> {
        let log = LockedLog::open(path, w.lock_timeout)?;
        torn_line(&log)?;
        Ok(Self { w, log })
    }

    /// Locks a file that is one JSON document, which needs no line break at its end.
    pub(crate) fn of_document(w: &'a Writing<'a>, path: &Path) -> Result<Self, WriteError> {
        let log = LockedLog::open(path, w.lock_timeout)?;
        Ok(Self { w, log })
    }

    /// Adds whole lines and syncs them as was asked for, or leaves the log as it was. Gives a note
    /// where a line that nobody finished had to be ended before them.
    pub(crate) fn append(&mut self, lines: &[u8]) -> Result<Option<Note>, WriteError> {
        if lines.is_empty() {
            return Ok(None);
        }
        // Another one may have been begun since this was opened.
        let torn = torn_line(&self.log)?;
        self.log.append_lasting(lines, self.w.durability)?;
        Ok(torn.map(|line| ended(&self.log, &line)))
    }

    /// The log itself, to be written anew.
    pub(crate) fn whole(&mut self) -> &mut LockedLog {
        &mut self.log
    }
}

impl Deref for SessionLog<'_> {
    type Target = LockedLog;

    fn deref(&self) -> &LockedLog {
        &self.log
    }
}

/// The last line, where nobody finishes it. A value that lacks only its line break is finished.
pub(crate) fn torn_line(log: &LockedLog) -> Result<Option<Range<u64>>, DiskError> {
    log.torn_line(|line| {
        let mut pull = Pull::new(line);
        loop {
            match pull.next_event() {
                Ok(Event::End) => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
    })
}

fn ended(log: &LockedLog, line: &Range<u64>) -> Note {
    let len = line.end - line.start;
    let message =
        format!("the last line, of {len} bytes, was unfinished: it was ended and left as it is");
    Note::remark(message).at(log.path()).offset(line.start)
}
