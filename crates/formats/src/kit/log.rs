//! The loop over the lines of a JSON log, for readers and lists: what is an object, blank, damaged,
//! torn or too long, and which record it is.

use std::io::{self, Read};
use std::ops::ControlFlow;

use rethread_json::{LineBytes, LineSpan, Lines, Piece, SyntaxError, Tree, Value, split_lines};
use rethread_model::Note;

use super::records::{LogRecords, SourcePos};
use crate::error::unreadable_file;
use crate::salvaged::salvaged;
use crate::{OpenError, Part, RecordKind};

/// Whether a visitor wants more of a log.
pub(crate) type Flow = ControlFlow<()>;

/// A line of a log, or a value that was saved from a damaged one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogLine<'a> {
    /// Where the line is.
    pub(crate) span: LineSpan,
    /// All of the line, or the beginning of one that is too long to be held.
    pub(crate) bytes: &'a [u8],
    /// Offset of the value in the log: that of the line, unless the value was saved from a damaged
    /// one.
    pub(crate) at: u64,
    /// Whether the value was saved from a damaged line.
    pub(crate) is_salvaged: bool,
    /// Whether a string in the line spells a character by its number.
    pub(crate) has_numbered_escapes: bool,
}

impl<'a> LogLine<'a> {
    fn new(span: LineSpan, bytes: &'a [u8]) -> Self {
        Self {
            span,
            bytes,
            at: span.offset,
            is_salvaged: false,
            has_numbered_escapes: false,
        }
    }

    /// Where the value stands.
    pub(crate) fn value_pos(&self) -> SourcePos {
        SourcePos {
            line: self.span.number,
            offset: self.at,
        }
    }
}

/// What a format makes of the lines of its log. Blank lines, values that are no objects and damage
/// are the same for all, unless a format says otherwise.
pub(crate) trait LogVisitor<'p> {
    /// What such a file is called in notes.
    const CALLED: &'static str = "file";

    /// Whether a damaged line is one record where none of the values in it is a record: these are
    /// pieces of one that is torn.
    const JOINS_PIECES: bool = false;

    /// The record table, where somebody reads the log as a whole.
    fn records(&mut self) -> Option<&mut LogRecords<'p>> {
        None
    }

    /// Takes a line that need not be parsed as a whole; none where it must be. The tree is free.
    fn take_unparsed(&mut self, _line: &LogLine<'_>, _tree: &mut Tree) -> Option<Flow> {
        None
    }

    /// Takes an object: a line, or one that was saved from a damaged line.
    fn object(&mut self, line: &LogLine<'_>, value: Value<'_>) -> Flow;

    /// Takes a line that is JSON, but no object.
    fn other_value(&mut self, line: &LogLine<'_>, _value: Value<'_>) -> Flow {
        match self.records() {
            Some(records) => records.skip_other_value(line),
            None => Flow::Continue(()),
        }
    }

    /// Takes a line that is too long to be held, of which the beginning is known.
    fn giant(&mut self, line: &LogLine<'_>) -> Flow;

    /// Takes a line that is no JSON.
    fn damaged(&mut self, line: &LogLine<'_>, error: &SyntaxError) -> Flow {
        salvage_line(self, line, error);
        Flow::Continue(())
    }

    /// Whether a last line that nobody ended may be a record that is still written.
    fn may_be_torn(&self) -> bool {
        true
    }

    /// Whether a value in a damaged line is a record.
    fn is_record(&self, value: Value<'_>) -> bool {
        value.is_object()
    }
}

/// Where the reading of a log ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogEnd {
    /// The byte behind what was taken.
    pub(crate) offset: u64,
    /// Whether the visitor wanted no more.
    pub(crate) is_stopped: bool,
}

/// Reads all lines of a log that is a part of a session, without a copy where it is in memory.
pub(crate) fn read_log<'p, V: LogVisitor<'p>>(
    part: &Part,
    visitor: &mut V,
) -> Result<LogEnd, OpenError> {
    let mut tree = Tree::default();
    let mut seen = 0;
    let mut visit = |span: LineSpan, bytes: LineBytes<'_>| {
        let flow = visit_line(visitor, span, bytes, &mut tree);
        seen = span.offset + span.len + u64::from(span.terminated);
        flow
    };
    let stopped = |span: LineSpan| LogEnd {
        offset: span.offset,
        is_stopped: true,
    };
    if let Some(bytes) = part.held() {
        for (span, line) in split_lines(bytes) {
            if visit(span, LineBytes::Whole(line)).is_break() {
                return Ok(stopped(span));
            }
        }
    } else {
        let mut lines = Lines::new(part.reader());
        while let Some(line) = lines
            .next_line()
            .map_err(|e| unreadable_file(&part.path, e))?
        {
            if visit(line.span, line.bytes).is_break() {
                return Ok(stopped(line.span));
            }
        }
    }
    if seen < part.len()
        && let Some(records) = visitor.records()
    {
        let message = format!("the {} became shorter while it was read", V::CALLED);
        let note = Note::damage(message).at(&part.path).offset(seen);
        records.notes.push(note);
    }
    Ok(LogEnd {
        offset: part.len(),
        is_stopped: false,
    })
}

/// A line break of a log behind which one can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogPoint {
    /// The offset of the next line.
    pub(crate) offset: u64,
    /// The number of the next line, from 1.
    pub(crate) number: u64,
}

impl LogPoint {
    /// The beginning of a log.
    pub(crate) const START: Self = Self {
        offset: 0,
        number: 1,
    };
}

/// Goes over the lines of a stream, for a list.
pub(crate) fn scan_log<'p, V: LogVisitor<'p>>(
    content: impl Read,
    visitor: &mut V,
) -> io::Result<LogEnd> {
    scan_log_from(content, LogPoint::START, visitor, |_, _| {})
}

/// Goes over the lines of a stream that begins at a point of a log. Behind the last line that is
/// finished, `at_last_break` is called with what the visitor knows there.
pub(super) fn scan_log_from<'p, V: LogVisitor<'p>>(
    content: impl Read,
    from: LogPoint,
    visitor: &mut V,
    mut at_last_break: impl FnMut(&V, LogPoint),
) -> io::Result<LogEnd> {
    let mut lines = Lines::starting_at(content, from.offset, from.number);
    let mut tree = Tree::default();
    let mut next = from;
    let mut is_stopped = false;
    let mut is_torn = false;
    while !is_stopped && let Some(line) = lines.next_line()? {
        let span = line.span;
        if !span.terminated {
            is_torn = true;
            at_last_break(visitor, next);
        }
        is_stopped = visit_line(visitor, span, line.bytes, &mut tree).is_break();
        next = LogPoint {
            offset: span.offset + span.len + u64::from(span.terminated),
            number: span.number + 1,
        };
    }
    if !is_torn {
        at_last_break(visitor, next);
    }
    Ok(LogEnd {
        offset: next.offset,
        is_stopped,
    })
}

#[inline]
fn visit_line<'p, V: LogVisitor<'p>>(
    visitor: &mut V,
    span: LineSpan,
    bytes: LineBytes<'_>,
    tree: &mut Tree,
) -> Flow {
    let bytes = match bytes {
        LineBytes::Whole(bytes) => bytes,
        LineBytes::Giant { head } => return visitor.giant(&LogLine::new(span, head)),
    };
    let mut line = LogLine::new(span, bytes);
    if bytes.trim_ascii().is_empty() {
        if let Some(records) = visitor.records() {
            records.add_unclaimed(span.offset, RecordKind::Blank);
        }
        return Flow::Continue(());
    }
    if let Some(flow) = visitor.take_unparsed(&line, tree) {
        return flow;
    }
    if let Err(e) = tree.parse_into(bytes) {
        return visitor.damaged(&line, &e);
    }
    line.has_numbered_escapes = tree.has_numbered_escapes();
    let value = tree.root(bytes);
    if value.is_object() {
        visitor.object(&line, value)
    } else {
        visitor.other_value(&line, value)
    }
}

/// Takes a line that is no JSON: what can be read of it is kept, and the rest is named.
pub(crate) fn salvage_line<'p, V: LogVisitor<'p> + ?Sized>(
    visitor: &mut V,
    line: &LogLine<'_>,
    error: &SyntaxError,
) {
    let is_open = !line.span.terminated && visitor.may_be_torn();
    let found = salvaged(line.bytes, error, is_open);
    let mut tree = Tree::default();
    let mut pieces = found.pieces.iter();
    if V::JOINS_PIECES && !pieces.any(|p| is_record(visitor, line, p, &mut tree)) {
        let kind = if is_open {
            RecordKind::Torn
        } else {
            RecordKind::Junk
        };
        let message = if found.pieces.len() == 1 {
            found.message
        } else if is_open {
            "the last line is not finished; ignored".to_owned()
        } else {
            let (kind, column) = (error.kind, error.column);
            format!("not JSON: {kind}, at column {column}; skipped")
        };
        if let Some(records) = visitor.records() {
            records.note_damage(line.span, message);
            records.add_unclaimed(line.at, kind);
        }
        return;
    }
    if let Some(records) = visitor.records() {
        records.note_damage(line.span, found.message);
    }
    for piece in &found.pieces {
        let at = line.at + piece.range().start as u64;
        if is_record(visitor, line, piece, &mut tree) {
            let bytes = &line.bytes[piece.range()];
            let salvaged = LogLine {
                bytes,
                at,
                is_salvaged: true,
                ..*line
            };
            // Whether more is wanted is decided by whole lines.
            let _ = visitor.object(&salvaged, tree.root(bytes));
        } else if let Some(records) = visitor.records() {
            records.add_unclaimed(at, found.junk);
        }
    }
}

/// Whether a piece of a damaged line is a record, which the tree then holds.
fn is_record<'p, V: LogVisitor<'p> + ?Sized>(
    visitor: &V,
    line: &LogLine<'_>,
    piece: &Piece,
    tree: &mut Tree,
) -> bool {
    let value = &line.bytes[piece.range()];
    matches!(piece, Piece::Value(_))
        && tree.parse_into(value).is_ok()
        && visitor.is_record(tree.root(value))
}
