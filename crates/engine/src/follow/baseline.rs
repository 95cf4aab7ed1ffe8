//! What a session had said when somebody began to listen, where it was not read then.

use std::path::{Path, PathBuf};

use rethread_disk::{FileStamp, open_read, read_at};
use rethread_formats::{Conversation, PartKind, Source};
use rethread_model::{EntryIx, Moment};

use super::known::file_span;

/// What a session had said.
#[derive(Clone, Debug)]
pub(super) enum Baseline {
    /// What stood in this log before this byte.
    Log {
        /// The log.
        path: PathBuf,
        /// How long it was.
        len: u64,
    },
    /// What was said before this moment.
    Before(Moment),
    /// Nothing: the session is new.
    Nothing,
}

impl Baseline {
    /// What a session that was not read has said now.
    pub(super) fn of_source(source: &Source, now: Moment) -> Self {
        match log_of(source) {
            Some((path, stamp)) => Self::Log {
                path,
                len: stamp.size,
            },
            None => Self::Before(now),
        }
    }

    /// Which entries of the session, as it is now, were there.
    pub(super) fn told_entries(&self, read: &Conversation) -> Vec<bool> {
        let session = &read.session;
        let all = || session.indexed().map(|(ix, _)| ix);
        match self {
            Self::Nothing => all().map(|_| false).collect(),
            Self::Log { path, len } => all().map(|ix| ends_within(read, ix, path, *len)).collect(),
            Self::Before(start) => {
                let mut is_new = false;
                // What has no time is as new as what stands before it.
                let mut was_there = |ix: EntryIx| {
                    is_new = session.entry(ix).time.map_or(is_new, |time| time >= *start);
                    !is_new
                };
                all().map(&mut was_there).collect()
            }
        }
    }
}

/// Whether all records of an entry stand in the first bytes of a log, or in another file.
fn ends_within(read: &Conversation, ix: EntryIx, log: &PathBuf, len: u64) -> bool {
    let mut records = read.session.origin(ix).iter();
    records.all(|raw| {
        let part = read.native.parts.get(raw.part as usize);
        let is_log = part.is_some_and(|part| part.kind == PartKind::Lines && part.path == *log);
        !is_log || file_span(read, *raw).is_some_and(|span| span.end <= len)
    })
}

/// The byte up to which the first bytes of a log are whole lines.
pub(super) fn last_line_end(log: &Path, len: u64) -> Option<u64> {
    let file = open_read(log).ok()?;
    let mut block = vec![0; BLOCK];
    let mut end = len;
    while end > 0 {
        let start = end.saturating_sub(BLOCK as u64);
        let there = block.get_mut(..usize::try_from(end - start).ok()?)?;
        let read = read_at(&file, start, there).ok()?;
        if let Some(at) = memchr::memrchr(b'\n', there.get(..read)?) {
            return Some(start + at as u64 + 1);
        }
        end = start;
    }
    Some(0)
}

/// How much of a log is looked at at a time.
const BLOCK: usize = 64 * 1024;

/// The log that a session is added to, if it is kept in one.
pub(super) fn log_of(source: &Source) -> Option<(PathBuf, FileStamp)> {
    let is_log = |path: &PathBuf| path.extension().is_some_and(|e| e == "jsonl");
    let with_stamp = |path: PathBuf| FileStamp::at(&path).map(|stamp| (path, stamp));
    if source.path.is_dir() {
        let entries = std::fs::read_dir(&source.path).ok()?.flatten();
        return entries.map(|e| e.path()).find(is_log).and_then(with_stamp);
    }
    Some(source.path.clone())
        .filter(is_log)
        .and_then(with_stamp)
}
