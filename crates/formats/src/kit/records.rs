//! The record table of one log while it is read, and what is to be said about its lines.

use std::path::Path;

use rethread_json::LineSpan;
use rethread_model::{Note, RawRef};

use super::log::{Flow, LogLine};
use crate::{RecordKind, RecordTable};

/// The line and the byte at which something stands in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SourcePos {
    /// The number of the line, from 1.
    pub(crate) line: u64,
    /// The offset of the first byte.
    pub(crate) offset: u64,
}

impl SourcePos {
    /// A note about what stands here.
    pub(crate) fn note(self, note: Note, path: &Path) -> Note {
        note.at(path).line(self.line).offset(self.offset)
    }
}

impl From<LineSpan> for SourcePos {
    fn from(span: LineSpan) -> Self {
        Self {
            line: span.number,
            offset: span.offset,
        }
    }
}

/// The records of one log, which tile it, with those that no entry comes from, and notes.
#[derive(Debug)]
pub(crate) struct LogRecords<'p> {
    /// The file, for notes.
    pub(crate) path: &'p Path,
    /// The number of the part that the log is.
    part: u32,
    pub(crate) marks: RecordTable,
    /// Records that no entry comes from.
    pub(crate) unclaimed: Vec<RawRef>,
    pub(crate) notes: Vec<Note>,
}

impl<'p> LogRecords<'p> {
    /// No records so far, of the log that is this part.
    pub(crate) fn new(path: &'p Path, part: u32) -> Self {
        Self {
            path,
            part,
            marks: RecordTable::default(),
            unclaimed: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Begins a record at this byte; none if it goes on with the one before, or if there are too
    /// many.
    pub(crate) fn add(&mut self, at: u64, kind: RecordKind) -> Option<RawRef> {
        let record = self.marks.add(at, kind)?;
        Some(RawRef {
            part: self.part,
            record,
        })
    }

    /// Begins a record that no entry comes from.
    pub(crate) fn add_unclaimed(&mut self, at: u64, kind: RecordKind) {
        let raw = self.add(at, kind);
        self.unclaimed.extend(raw);
    }

    /// Passes over a line that is JSON, but no object.
    pub(crate) fn skip_other_value(&mut self, line: &LogLine<'_>) -> Flow {
        self.note_damage(line.span, "not a JSON object; skipped");
        self.add_unclaimed(line.at, RecordKind::Junk);
        Flow::Continue(())
    }

    /// Notes damage that stands here.
    pub(crate) fn note_damage(&mut self, pos: impl Into<SourcePos>, message: impl Into<String>) {
        let note = pos.into().note(Note::damage(message), self.path);
        self.notes.push(note);
    }

    /// Notes something worth knowing that stands here.
    pub(crate) fn note_remark(&mut self, pos: impl Into<SourcePos>, message: impl Into<String>) {
        let note = pos.into().note(Note::remark(message), self.path);
        self.notes.push(note);
    }
}
