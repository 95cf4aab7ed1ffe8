//! The scan of a transcript, for readers and lists. A list passes over most of it.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use rethread_json::{LineSpan, Tree, Value};

use super::counted::CountedIds;
use super::facts::TranscriptFacts;
use super::kinds::{RecordUse, giant_part, record_use};
use super::placement::{ThreadRecord, TranscriptThread};
use super::quick_record::{QuickRecord, quick_record};
use super::record::{GiantHead, TranscriptRecord};
use super::sniff::{is_ours, is_record};
use super::store::TranscriptName;
use super::usage::Sum;
use crate::Want;
use crate::kit::{Flow, LogLine, LogRecords, LogVisitor, SavedState, ScanDepth};

/// What is known of a transcript while it is scanned.
pub(super) struct TranscriptScan<'p> {
    depth: ScanDepth,
    pub(super) facts: TranscriptFacts,
    /// Whether a record of the client was met.
    pub(super) is_ours: bool,
    /// The last record that was passed over: where and when the session ended.
    skipped: Option<LineSpan>,
    /// The thread of messages, where somebody reads the session as a whole.
    pub(super) thread: Option<TranscriptThread<'p>>,
}

impl<'p> TranscriptScan<'p> {
    /// A scan that gives the whole session.
    pub(super) fn whole(path: &'p Path) -> Self {
        let is_agent = matches!(TranscriptName::of(path), Some(TranscriptName::Agent(_)));
        Self {
            depth: ScanDepth::Whole,
            facts: TranscriptFacts::of_file(path),
            is_ours: false,
            skipped: None,
            thread: Some(TranscriptThread::new(path, is_agent)),
        }
    }

    /// A scan that gives what a list shows.
    pub(super) fn of_list(path: &Path, want: Want) -> Self {
        let mut facts = TranscriptFacts::of_file(path);
        facts.sum = want.usage.then(Sum::default);
        facts.counted = Some(CountedIds::default());
        Self {
            depth: ScanDepth::of_list(want.usage),
            facts,
            is_ours: false,
            skipped: None,
            thread: None,
        }
    }

    /// What the records say, if they are the client's.
    pub(super) fn finish(mut self, file: &File) -> io::Result<Option<TranscriptFacts>> {
        self.add_last_skipped(file)?;
        Ok(self.is_ours.then_some(self.facts))
    }

    /// Where and when the session ended, from the last record that was passed over.
    fn add_last_skipped(&mut self, mut file: &File) -> io::Result<()> {
        let Some(span) = self.skipped else {
            return Ok(());
        };
        let mut line = Vec::new();
        file.seek(SeekFrom::Start(span.offset))?;
        file.take(span.len).read_to_end(&mut line)?;
        if let Ok(tree) = Tree::parse(&line) {
            let record = TranscriptRecord::of(tree.root(&line));
            self.facts.ended(&record);
        }
        Ok(())
    }

    /// Counts a record by its beginning; whether that was enough.
    fn count_by_beginning(&mut self, line: &LogLine<'_>) -> bool {
        match quick_record(line.bytes) {
            None => return false,
            Some(QuickRecord::Progress) => return true,
            Some(QuickRecord::Results) => self.facts.count_message(None),
            Some(QuickRecord::Response { id, model, calls }) => {
                self.facts
                    .count_response(Some(id), Some(model), calls, None);
            }
        }
        self.skipped = Some(line.span);
        true
    }

    /// Counts a record of which only the beginning is known.
    fn count_giant(&mut self, head: &GiantHead, part: Option<RecordUse>) {
        match part {
            Some(RecordUse::Response(_)) => {
                self.is_ours = true;
                let id = head.message_id.as_deref();
                self.facts.count_response(id, None, 0, head.time);
            }
            Some(RecordUse::Entry(kind, _)) if kind.is_message() => {
                self.is_ours = true;
                self.facts.count_message(head.time);
            }
            _ => {}
        }
    }
}

impl<'p> LogVisitor<'p> for TranscriptScan<'p> {
    const JOINS_PIECES: bool = true;

    fn records(&mut self) -> Option<&mut LogRecords<'p>> {
        self.thread.as_mut().map(|thread| &mut thread.records)
    }

    fn take_unparsed(&mut self, line: &LogLine<'_>, _tree: &mut Tree) -> Option<Flow> {
        let may_pass = self.depth == ScanDepth::Quick && self.facts.has_begun();
        (may_pass && self.count_by_beginning(line)).then_some(Flow::Continue(()))
    }

    fn object(&mut self, line: &LogLine<'_>, value: Value<'_>) -> Flow {
        let record = TranscriptRecord::of(value);
        let part = record_use(&record);
        if !self.is_ours {
            self.is_ours = is_ours(value) == Some(true);
        }
        let is_message = match part {
            RecordUse::Entry(kind, _) => kind.is_message(),
            part => matches!(part, RecordUse::Response(_)),
        };
        if is_message {
            self.skipped = None;
        }
        let repeats_title = match part {
            RecordUse::Title(source) => self.facts.repeats_title(source, &record),
            _ => false,
        };
        self.facts.add(value, &record, part);
        if let Some(thread) = &mut self.thread {
            let new = ThreadRecord {
                value,
                record: &record,
                part,
                repeats_title,
            };
            thread.add_record(line, new, &mut self.facts);
        }
        Flow::Continue(())
    }

    fn giant(&mut self, line: &LogLine<'_>) -> Flow {
        let head = GiantHead::of(line.bytes);
        let part = giant_part(&head);
        if let Some(thread) = &mut self.thread {
            self.is_ours |= part.is_some_and(|part| part != RecordUse::Unknown);
            thread.add_giant(line, head, part);
        } else {
            self.count_giant(&head, part);
        }
        Flow::Continue(())
    }

    fn is_record(&self, value: Value<'_>) -> bool {
        is_record(value)
    }
}

/// What a list knows; the thread is built in one go.
impl SavedState for TranscriptScan<'_> {
    fn save(&self, out: &mut Vec<u8>) {
        self.depth.save(out);
        self.facts.save(out);
        self.is_ours.save(out);
        self.skipped.save(out);
    }

    fn load(bytes: &mut &[u8]) -> Option<Self> {
        Some(Self {
            depth: SavedState::load(bytes)?,
            facts: SavedState::load(bytes)?,
            is_ours: SavedState::load(bytes)?,
            skipped: SavedState::load(bytes)?,
            thread: None,
        })
    }
}
