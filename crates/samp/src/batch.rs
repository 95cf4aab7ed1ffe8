//! Messages that were found, and reading them once more to show them.

use std::{collections::BTreeSet, fs::File, ops::Range, path::Path};

use rethread_disk::read_at;

use crate::{
    folder::Log,
    id::Id,
    record::{LineReader, Record, StoredId},
    scan,
    trouble::{Trouble, What},
};

/// How much of all logs together is kept in memory to read messages from.
const WINDOWS: usize = 16 * 1024 * 1024;

/// How much of one log is kept in memory at most, and at least.
const WINDOW: (usize, usize) = (4 * 1024, 256 * 1024);

/// Messages that were found. They are read again when they are shown, so that memory follows their
/// number and not their length.
#[derive(Debug)]
pub struct Batch {
    pub(crate) items: Vec<BatchItem>,
    sources: Vec<LogSource>,
    troubles: Vec<Trouble>,
    /// Messages that were gone when they were to be shown, by their place among the items.
    pub(crate) missed: BTreeSet<usize>,
}

/// One message, as it is shown.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// Its id, which follows from its content.
    pub id: Id,
    /// What its line says.
    pub record: Record<'a>,
    /// The log it is in.
    pub path: &'a Path,
    /// Its line there, counted from 1.
    pub line: u64,
    /// Whether it came after messages of later times were shown.
    pub is_late: bool,
}

impl Message<'_> {
    /// What its record says of its own id.
    pub fn stored_id(&self) -> StoredId {
        self.record.stored_id_beside(self.id)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchItem {
    pub(crate) id: Id,
    pub(crate) ts: i64,
    pub(crate) offset: u64,
    pub(crate) line: u64,
    pub(crate) source: u32,
    pub(crate) len: u32,
    pub(crate) is_late: bool,
}

/// A log that was read, and the part of it that is in memory.
#[derive(Debug)]
pub(crate) struct LogSource {
    log: Log,
    file: Option<File>,
    window: Vec<u8>,
    start: u64,
}

impl LogSource {
    /// A file that is not given is opened again when it is needed.
    pub(crate) fn new(log: &Log, file: Option<File>) -> Self {
        Self {
            log: log.clone(),
            file,
            window: Vec::new(),
            start: 0,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.log.path
    }

    /// Brings a line into memory, with as much behind it as a window holds; says where it is.
    fn load_line(&mut self, item: &BatchItem, room: usize) -> Option<Range<usize>> {
        let len = item.len as usize;
        let inside = |start: u64, have: usize| {
            let at = usize::try_from(item.offset.checked_sub(start)?).ok()?;
            (at + len <= have).then_some(at..at + len)
        };
        let found = inside(self.start, self.window.len());
        if found.is_some() {
            return found;
        }
        let opened;
        let file = if let Some(file) = &self.file {
            file
        } else {
            opened = scan::open_log(&self.log).ok()?;
            &opened
        };
        self.window.resize(len.max(room), 0);
        let read = read_at(file, item.offset, &mut self.window).unwrap_or(0);
        self.window.truncate(read);
        self.start = item.offset;
        inside(self.start, self.window.len())
    }
}

impl Batch {
    pub(crate) fn new(
        items: Vec<BatchItem>,
        sources: Vec<LogSource>,
        troubles: Vec<Trouble>,
    ) -> Self {
        Self {
            items,
            sources,
            troubles,
            missed: BTreeSet::new(),
        }
    }

    /// How many messages there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// What was noticed so far.
    pub fn troubles(&self) -> &[Trouble] {
        &self.troubles
    }

    /// An open log, if it is kept open.
    pub(crate) fn open_log(&self, source: u32) -> Option<&File> {
        self.sources.get(source as usize)?.file.as_ref()
    }

    pub(crate) fn add_trouble(&mut self, trouble: Trouble) {
        self.troubles.push(trouble);
    }

    /// Oldest first; what is of the same second stays in the order of logs and lines.
    pub fn sort(&mut self) {
        self.items.sort_by_key(|item| item.ts);
    }

    /// Newest first; what is of the same second stays in the order of logs and lines.
    pub fn sort_newest_first(&mut self) {
        self.items.sort_by_key(|item| std::cmp::Reverse(item.ts));
    }

    /// Leaves only the first so many.
    pub fn truncate(&mut self, len: usize) {
        self.items.truncate(len);
    }

    /// The ids, in order.
    pub fn ids(&self) -> impl Iterator<Item = Id> {
        self.items.iter().map(|item| item.id)
    }

    /// Reads each message once more and hands it on, until one is refused. One that is no longer
    /// there is noted, and left out.
    pub fn each<E>(
        &mut self,
        mut show: impl FnMut(&Message<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (least, most) = WINDOW;
        // A few messages need no large window.
        let wanted = self.items.len().saturating_mul(least);
        let room = (WINDOWS / self.sources.len().max(1)).min(wanted);
        let room = room.clamp(least, most);
        let mut reader = LineReader::default();
        for (at, item) in self.items.iter().enumerate() {
            let Some(source) = self.sources.get_mut(item.source as usize) else {
                continue;
            };
            let line = source.load_line(item, room).unwrap_or_default();
            let line = source.window.get(line).unwrap_or_default();
            match reader.read(line) {
                Ok(record) if record.ts() == item.ts => show(&Message {
                    id: item.id,
                    record,
                    path: &source.log.path,
                    line: item.line,
                    is_late: item.is_late,
                })?,
                _ => {
                    self.missed.insert(at);
                    self.troubles.push(Trouble {
                        path: source.log.path.clone(),
                        line: Some(item.line),
                        offset: Some(item.offset),
                        what: What::Changed,
                    });
                }
            }
        }
        Ok(())
    }
}
