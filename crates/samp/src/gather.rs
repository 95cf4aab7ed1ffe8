//! Finding messages in all logs: each once, with a few bytes of memory, whatever they say.

use std::{
    collections::{BTreeMap, HashSet},
    fs::File,
    hash::{BuildHasherDefault, Hasher},
};

use rethread_disk::DiskError;
use rethread_json::LineSpan;

use crate::{
    alias::Alias,
    batch::{Batch, BatchItem, LogSource},
    folder::{Log, Logs},
    id::Id,
    record::{LineReader, Record, StoredId},
    scan::{self, LogPosition, ReadTo},
    trouble::{Trouble, What},
};

/// Which messages are wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WantedMessages<'a> {
    /// Those to somebody.
    To(&'a Alias),
    /// Those from or to somebody.
    With(&'a Alias),
    /// All.
    Every,
}

impl WantedMessages<'_> {
    fn includes(self, record: &Record<'_>) -> bool {
        match self {
            Self::To(alias) => record.is_to(alias.as_str()),
            Self::With(alias) => record.is_to(alias.as_str()) || record.is_from(alias.as_str()),
            Self::Every => true,
        }
    }
}

/// What to do with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Take,
    /// Take it, though the watermark is beyond it.
    Late,
    Leave,
}

/// Ids are hashes: they need no other.
#[derive(Default)]
pub(crate) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, bits: u64) {
        self.0 = bits;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

pub(crate) type Ids = HashSet<u64, BuildHasherDefault<IdHasher>>;

/// Reads logs and collects what is wanted of them.
pub(crate) struct Gathering<'a> {
    want: WantedMessages<'a>,
    lenient: bool,
    /// What is later than this is from the future.
    horizon: i64,
    now: i64,
    met: Ids,
    items: Vec<BatchItem>,
    sources: Vec<LogSource>,
    /// How many of them are open.
    open: usize,
    troubles: Vec<Trouble>,
    /// Records in a log that is not their sender's, by log and sender.
    foreign: BTreeMap<(usize, String), Vec<(u64, LineSpan)>>,
}

/// How many logs are kept open until their messages are shown.
const MOST_OPEN: usize = 128;

/// How far ahead of ours another clock may be, in seconds.
pub(crate) const SKEW: i64 = 300;

impl<'a> Gathering<'a> {
    pub(crate) fn new(want: WantedMessages<'a>, lenient: bool, now: i64, logs: &mut Logs) -> Self {
        Self {
            want,
            lenient,
            horizon: now.saturating_add(SKEW),
            now,
            met: Ids::default(),
            items: Vec::new(),
            sources: Vec::new(),
            open: 0,
            troubles: std::mem::take(&mut logs.troubles),
            foreign: BTreeMap::new(),
        }
    }

    /// Reads one log from a place on; says how far, or nothing if it cannot be read.
    pub(crate) fn read_log(
        &mut self,
        log: &Log,
        file: File,
        from: LogPosition,
        reader: &mut LineReader,
        judge: &mut dyn FnMut(Id, i64) -> Verdict,
    ) -> Option<ReadTo> {
        let number = self.sources.len();
        let read = scan::read_lines(log, &file, from, reader, &mut |span, record| match record {
            Ok(record) => self.take_record(number, log, span, &record, judge),
            // What is no record is named where the log is.
            Err(_) if log.is_retired => {}
            Err(what) => self.note_trouble(log, Some(span), what),
        });
        let is_needed = self
            .items
            .last()
            .is_some_and(|i| i.source as usize == number);
        let file = (is_needed && self.open < MOST_OPEN).then_some(file);
        self.open += usize::from(file.is_some());
        self.sources.push(LogSource::new(log, file));
        match read {
            Ok(read) => Some(read),
            Err(e) => {
                self.note_trouble(log, None, What::CannotRead(e.to_string()));
                None
            }
        }
    }

    /// Notes that a log cannot be opened. A retired one that went meanwhile is not missing.
    pub(crate) fn cannot_open(&mut self, log: &Log, why: &DiskError) {
        if log.is_retired && matches!(why, DiskError::NotFound { .. }) {
            return;
        }
        self.note_trouble(log, None, What::CannotRead(why.to_string()));
    }

    fn take_record(
        &mut self,
        number: usize,
        log: &Log,
        span: LineSpan,
        record: &Record<'_>,
        judge: &mut dyn FnMut(Id, i64) -> Verdict,
    ) {
        if log.is_retired && !record.is_from(&log.owner) {
            return;
        }
        if let Some(missing) = missing_field(record) {
            return self.note_trouble(log, Some(span), What::Nameless(missing));
        }
        if !self.want.includes(record) {
            return;
        }
        let id = record.id();
        let stored = record.stored_id_beside(id);
        let is_own = record.is_from(&log.owner);
        if !is_own && !self.lenient {
            let from = record.from().unwrap_or_default();
            if stored != StoredId::Right || !log.is_conflict_copy_of(&from) {
                let key = (number, from.into_owned());
                self.foreign.entry(key).or_default().push((id.bits(), span));
                return;
            }
        }
        if !self.met.insert(id.bits()) {
            return;
        }
        let ts = record.ts();
        let verdict = judge(id, ts);
        if verdict == Verdict::Leave {
            return;
        }
        if let StoredId::Wrong(stored) = stored {
            self.note_trouble(log, Some(span), What::WrongId { stored, id });
        }
        if ts > self.horizon {
            let ahead = ts.saturating_sub(self.now);
            self.note_trouble(log, Some(span), What::Future { ahead });
        }
        self.items.push(BatchItem {
            id,
            ts,
            source: u32::try_from(number).unwrap_or(u32::MAX),
            len: u32::try_from(span.len).unwrap_or(u32::MAX),
            offset: span.offset,
            line: span.number,
            is_late: verdict == Verdict::Late,
        });
    }

    fn note_trouble(&mut self, log: &Log, span: Option<LineSpan>, what: What) {
        self.troubles.push(Trouble {
            path: log.path.clone(),
            line: span.map(|s| s.number),
            offset: span.map(|s| s.offset),
            what,
        });
    }

    /// What was collected, in the order of logs and lines.
    ///
    /// A record in a wrong log is not missing if it is in its sender's own as well, or `is_known`.
    pub(crate) fn into_batch(mut self, is_known: &mut dyn FnMut(Id) -> bool) -> Batch {
        for ((number, from), mut records) in std::mem::take(&mut self.foreign) {
            let met = &self.met;
            records.retain(|(id, _)| !met.contains(id) && !is_known(Id::from_bits(*id)));
            let (Some((_, first)), Some(source)) = (records.first(), self.sources.get(number))
            else {
                continue;
            };
            self.troubles.push(Trouble {
                path: source.path().to_owned(),
                line: Some(first.number),
                offset: Some(first.offset),
                what: What::Foreign {
                    from,
                    count: records.len() as u64,
                },
            });
        }
        Batch::new(self.items, self.sources, self.troubles)
    }
}

fn missing_field(record: &Record<'_>) -> Option<&'static str> {
    if record.from().is_none() {
        return Some("from");
    }
    record.to().is_none().then_some("to")
}
