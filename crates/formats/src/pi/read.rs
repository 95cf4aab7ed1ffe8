//! Reading a session in one pass over its file.

use std::path::Path;

use rethread_disk::open_sized;
use rethread_json::{LineBytes, LineSpan, Lines, Piece, SyntaxError, Tree, Value};
use rethread_model::{EntryIx, Kind, Note, RawRef, SessionBuilder};

use super::Flavour;
use super::facts::Facts;
use super::header::{Header, is_header_line};
use super::kinds::{entry_head, giant_head};
use super::links::{Links, Place, Wrong};
use crate::error::unreadable;
use crate::salvaged::salvaged;
use crate::{Conversation, Marks, Native, OpenError, Part, RecordKind, Source};

/// The one part of a session.
pub(super) const LOG_PART: u32 = 0;

/// Reads a session.
pub(crate) fn read(flavour: &'static Flavour, source: &Source) -> Result<Conversation, OpenError> {
    let path = &source.path;
    let (file, len) = open_sized(path)?;
    let part = Part::lines(path.clone(), file, len);
    let mut reader = Reader {
        path,
        builder: SessionBuilder::default(),
        marks: Marks::default(),
        notes: Vec::new(),
        links: Links::default(),
        facts: Facts::default(),
        header: None,
        values: 0,
        salvaged: 0,
        nameless: None,
    };
    if !reader.read(&part)? {
        return Err(OpenError::NotOurs {
            path: path.clone(),
            format: flavour.slug,
        });
    }
    let Reader {
        mut builder,
        marks,
        mut notes,
        links,
        facts,
        header,
        ..
    } = reader;
    let header = header.unwrap_or_default();
    notes.extend(header.note(path));
    *builder.head() = header.head(flavour, path);
    facts.fill(builder.head(), path);
    for (at, wrong) in links.settle(&mut builder) {
        notes.push(note(path, at, wrong_parent(&wrong)));
    }
    Ok(Conversation {
        source: source.clone(),
        native: Native {
            parts: vec![part.with_records(marks)],
        },
        session: builder.finish(),
        notes,
    })
}

fn wrong_parent(wrong: &Wrong) -> String {
    match wrong {
        Wrong::Itself => "the entry is its own parent; it counts as a root".to_owned(),
        Wrong::Missing(id) => format!("the parent `{id}` is missing; the entry counts as a root"),
        Wrong::Circle => "its parents form a circle; the entry counts as a root".to_owned(),
    }
}

fn note(path: &Path, at: Place, message: impl Into<String>) -> Note {
    let note = Note::damage(message).at(path);
    note.line(at.line).offset(at.offset)
}

pub(super) struct Reader<'a> {
    pub(super) path: &'a Path,
    pub(super) builder: SessionBuilder,
    pub(super) marks: Marks,
    pub(super) notes: Vec<Note>,
    pub(super) links: Links,
    facts: Facts,
    pub(super) header: Option<Header>,
    /// How many values were met that stand on a line of their own: the first version names entries
    /// by this number.
    values: u32,
    /// How many values were saved from damaged lines.
    salvaged: u32,
    /// A giant entry whose id lies beyond what is held of it.
    pub(super) nameless: Option<EntryIx>,
}

impl Reader<'_> {
    /// Reads all lines; whether this is a session.
    fn read(&mut self, part: &Part) -> Result<bool, OpenError> {
        let mut lines = Lines::new(part.reader());
        let mut tree = Tree::default();
        let mut seen = 0;
        while let Some(line) = lines.next_line().map_err(|e| unreadable(&part.path, e))? {
            let span = line.span;
            seen = span.offset + span.len + u64::from(span.terminated);
            let goes_on = match line.bytes {
                LineBytes::Whole(bytes) => self.line(span, bytes, &mut tree),
                LineBytes::Giant { head } => self.giant(span, head),
            };
            if !goes_on {
                return Ok(false);
            }
        }
        if seen < part.len() {
            let note = Note::damage("the file became shorter while it was read");
            self.notes.push(note.at(&part.path).offset(seen));
        }
        Ok(self.header.is_some())
    }

    /// Reads one line; whether this can still be a session.
    fn line(&mut self, span: LineSpan, bytes: &[u8], tree: &mut Tree) -> bool {
        if bytes.trim_ascii().is_empty() {
            self.unclaimed(span.offset, RecordKind::Blank);
            return true;
        }
        if let Err(e) = tree.parse_into(bytes) {
            self.damaged(span, bytes, &e);
            return true;
        }
        let value = tree.root(bytes);
        if self.header.is_none() {
            return self.first_value(span.offset, value);
        }
        self.values = self.values.saturating_add(1);
        if value.is_object() {
            self.object(span, span.offset, value, self.values);
        } else {
            self.note(span, "not a JSON object; skipped");
            self.unclaimed(span.offset, RecordKind::Junk);
        }
        true
    }

    fn first_value(&mut self, at: u64, value: Value<'_>) -> bool {
        self.header = Header::of(value);
        self.unclaimed(at, RecordKind::Value);
        self.header.is_some()
    }

    /// A line that is no JSON value: keep what can be read of it, and name the rest.
    fn damaged(&mut self, span: LineSpan, bytes: &[u8], error: &SyntaxError) {
        let is_open = !span.terminated && self.header.is_some();
        let found = salvaged(bytes, error, is_open);
        self.note(span, &found.message);
        let mut tree = Tree::default();
        for piece in &found.pieces {
            let range = piece.range();
            let at = span.offset + range.start as u64;
            let value = &bytes[range];
            let is_object = matches!(piece, Piece::Value(_))
                && tree.parse_into(value).is_ok()
                && tree.root(value).is_object();
            if !is_object {
                self.unclaimed(at, found.junk);
            } else if self.header.is_none() {
                self.first_value(at, tree.root(value));
            } else {
                self.salvaged = self.salvaged.saturating_add(1);
                // Others do not see these, so they are counted from the other end.
                self.object(span, at, tree.root(value), u32::MAX - self.salvaged);
            }
        }
    }

    fn object(&mut self, span: LineSpan, at: u64, value: Value<'_>, number: u32) {
        if is_header_line(value) {
            let place = Place {
                line: span.number,
                offset: at,
            };
            let mut note = note(self.path, place, "another header; ignored, as by its agent");
            note.severity = rethread_model::Severity::Remark;
            self.notes.push(note);
            self.unclaimed(at, RecordKind::Value);
            return;
        }
        self.facts.add(value);
        self.entry(span, at, RecordKind::Value, entry_head(value), number);
    }

    fn giant(&mut self, span: LineSpan, start: &[u8]) -> bool {
        if self.header.is_none() {
            return false;
        }
        self.values = self.values.saturating_add(1);
        let head = giant_head(start);
        if head.kind.is_none() {
            self.note(
                span,
                &format!("a line of {} bytes that is no entry; skipped", span.len),
            );
            self.unclaimed(span.offset, RecordKind::Giant);
            return true;
        }
        self.note(
            span,
            &format!("an entry of {} bytes, too long to be shown", span.len),
        );
        if head.kind.is_some_and(Kind::is_message) {
            self.facts.add_other_message(head.time);
        }
        self.entry(span, span.offset, RecordKind::Giant, head, self.values);
        true
    }

    fn unclaimed(&mut self, at: u64, kind: RecordKind) {
        if let Some(record) = self.marks.add(at, kind) {
            self.builder.unclaimed(RawRef {
                part: LOG_PART,
                record,
            });
        }
    }

    fn note(&mut self, span: LineSpan, message: &str) {
        let at = Place {
            line: span.number,
            offset: span.offset,
        };
        self.notes.push(note(self.path, at, message));
    }
}
