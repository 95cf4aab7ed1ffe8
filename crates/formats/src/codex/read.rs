//! Reading a session in one pass over its file, and before it over those that it goes on from.

use std::path::Path;

use rethread_disk::DiskError;
use rethread_json::{LineBytes, LineSpan, Lines, Piece, SyntaxError, Tree, split_lines};
use rethread_model::{Head, LinkKind, ModelRef, Note, RawRef, UsageRecord};

use super::base::{Bases, bases};
use super::glance::glance;
use super::grow::Grow;
use super::layout::home_of;
use super::meta::{Base, Beginning, Meta, beginning_of};
use super::prefix::Prefix;
use super::record::{Record, What};
use super::said::has_lone_surrogate;
use super::{SLUG, document, names, packed};
use crate::salvaged::salvaged;
use crate::times::dated;
use crate::{Conversation, Marks, Native, OpenError, Part, RecordKind, Source};

/// Reads a session.
pub(super) fn read(source: &Source) -> Result<Conversation, OpenError> {
    let path = &source.path;
    if document::is_document(path) {
        return document::read(source);
    }
    let opened = packed::open(path)?;
    let meta = match beginning_of(opened.0.reader()) {
        Beginning::Session(meta) => Some(*meta),
        Beginning::Nameless | Beginning::Other => None,
    };
    let mut grow = Grow::default();
    let mut notes = Vec::new();
    let base = meta.as_ref().and_then(|m| m.base.clone());
    let Bases { parts, missing } = bases(path, base);
    notes.extend(missing);
    let mut borrowed = Vec::new();
    // The oldest first; the session's own file is part 0.
    let numbered: Vec<_> = (1_u32..).zip(&parts).collect();
    for (number, (file, end)) in numbered.into_iter().rev() {
        let mut reader = Reader::new(file, number, Some(end), &mut grow);
        match reader.file() {
            Ok(part) => borrowed.push(part),
            Err(e) => {
                borrowed.push(Part::missing(file.clone(), crate::PartKind::Lines));
                reader.notes.push(Note::damage(e.to_string()).at(file));
            }
        }
        notes.append(&mut reader.notes);
    }
    grow.facts.own();
    let mut reader = Reader::new(path, 0, None, &mut grow);
    let part = reader.part(opened)?;
    if reader.ours == 0 {
        return Err(OpenError::NotOurs {
            path: path.clone(),
            format: SLUG,
        });
    }
    notes.append(&mut reader.notes);
    let mut parts = vec![part];
    parts.extend(borrowed.into_iter().rev());
    let meta = meta.or_else(|| grow.meta.take());
    let head = head(path, meta, &mut grow);
    let mut builder = grow.finish();
    *builder.head() = head;
    Ok(Conversation {
        source: source.clone(),
        native: Native { parts },
        session: dated(builder.finish()),
        notes,
    })
}

/// The facts about the whole session.
fn head(path: &Path, meta: Option<Meta>, grow: &mut Grow) -> Head {
    let mut meta = meta.unwrap_or_default();
    if meta.id.is_empty() {
        meta.id = Meta::unsaid(path).id;
    }
    let mut head = meta.head(path);
    grow.facts.fill(&mut head, path, || {
        names::name_of(&home_of(path)?, &meta.id)
    });
    head.model = grow.model().map(|id| ModelRef {
        provider: meta.provider.clone(),
        id: id.to_owned(),
    });
    head.links.extend(grow.children.iter().cloned());
    let last_inherited = Some(grow.drafts.last_inherited()).filter(|id| !id.is_empty());
    for link in &mut head.links {
        if link.kind == LinkKind::ForkOf {
            link.entry = last_inherited.map(str::to_owned);
        }
    }
    let total = grow.meter.total().map(|usage| UsageRecord {
        usage,
        ..UsageRecord::default()
    });
    head.recorded_usage.extend(total);
    head
}

/// Reads one file.
struct Reader<'a> {
    path: &'a Path,
    number: u32,
    /// How much of the file is meant, where it is another session's.
    end: Option<&'a Base>,
    grow: &'a mut Grow,
    marks: Marks,
    notes: Vec<Note>,
    prefix: Prefix,
    /// How many records were met that are this format's.
    ours: u64,
    /// The last number of a record.
    last_ordinal: Option<u64>,
}

impl<'a> Reader<'a> {
    fn new(path: &'a Path, number: u32, end: Option<&'a Base>, grow: &'a mut Grow) -> Self {
        Self {
            path,
            number,
            end,
            grow,
            marks: Marks::default(),
            notes: Vec::new(),
            prefix: Prefix::default(),
            ours: 0,
            last_ordinal: None,
        }
    }

    /// Opens the file, and reads all lines that are meant.
    fn file(&mut self) -> Result<Part, OpenError> {
        self.part(packed::open(self.path)?)
    }

    /// Reads all lines that are meant.
    fn part(&mut self, (part, damage): (Part, Option<Note>)) -> Result<Part, OpenError> {
        self.notes.extend(damage);
        let end = self.lines(&part)?;
        self.ends_early();
        let part = match self.end {
            Some(_) => part.borrowed(end),
            None => part,
        };
        Ok(part.with_records(std::mem::take(&mut self.marks)))
    }

    /// Reads the lines of a part; gives the byte behind what is meant.
    fn lines(&mut self, part: &Part) -> Result<u64, OpenError> {
        let path = self.path;
        let unreadable = |cause| DiskError::Read {
            path: path.to_owned(),
            cause,
        };
        let mut tree = Tree::default();
        let mut seen = 0;
        let mut meant = |span: LineSpan, bytes: LineBytes<'_>| {
            let goes_on = match bytes {
                LineBytes::Whole(bytes) => self.line(span, bytes, &mut tree),
                LineBytes::Giant { head } => self.giant(span, head),
            };
            seen = span.offset + span.len + u64::from(span.terminated);
            goes_on
        };
        if let Some(bytes) = part.held() {
            for (span, line) in split_lines(bytes) {
                if !meant(span, LineBytes::Whole(line)) {
                    return Ok(span.offset);
                }
            }
        } else {
            let mut lines = Lines::new(part.reader());
            while let Some(line) = lines.next_line().map_err(unreadable)? {
                if !meant(line.span, line.bytes) {
                    return Ok(line.span.offset);
                }
            }
        }
        if seen < part.len() {
            let note = Note::damage("the file became shorter while it was read");
            self.notes.push(note.at(self.path).offset(seen));
        }
        Ok(part.len())
    }

    /// Says so when the file of another session does not hold all that this one has from it.
    fn ends_early(&mut self) {
        let Some(end) = self.end.and_then(|end| end.end_ordinal) else {
            return;
        };
        if self.last_ordinal.is_none_or(|last| last + 1 < end) {
            let message = format!("the fork goes on from record {end}, and the file ends before");
            self.notes.push(Note::damage(message).at(self.path));
        }
    }

    /// Reads one line; whether more of the file is meant.
    fn line(&mut self, span: LineSpan, bytes: &[u8], tree: &mut Tree) -> bool {
        if bytes.trim_ascii().is_empty() {
            self.unclaimed(span.offset, RecordKind::Blank);
            return true;
        }
        if let Err(e) = tree.parse_into(bytes) {
            if self.is_beyond(None, span.offset) {
                return false;
            }
            self.damaged(span, bytes, &e);
            return true;
        }
        let value = tree.root(bytes);
        if !value.is_object() {
            self.note(span, "not a JSON object; skipped");
            self.unclaimed(span.offset, RecordKind::Junk);
            return true;
        }
        let record = Record::of(value);
        if self.is_beyond(record.ordinal(), span.offset) {
            return false;
        }
        self.unread_by_the_client(span, bytes, tree);
        self.record(span.offset, &record);
        true
    }

    /// Says so when the client itself could not read a line that we can.
    fn unread_by_the_client(&mut self, span: LineSpan, bytes: &[u8], tree: &Tree) {
        let message = if bytes.starts_with(b"\xef\xbb\xbf") {
            "begins with a byte order mark, with which the client does not read the session"
        } else if tree.has_numbered_escapes() && has_lone_surrogate(bytes) {
            "holds half of a surrogate pair; the client passes over the record"
        } else {
            return;
        };
        let note = Note::remark(message).at(self.path);
        self.notes.push(note.line(span.number).offset(span.offset));
    }

    /// Whether a record is behind those that are meant. Numbers say it; bytes where there is none.
    fn is_beyond(&self, ordinal: Option<u64>, offset: u64) -> bool {
        let Some(end) = self.end else { return false };
        match (ordinal, end.end_ordinal) {
            (Some(ordinal), Some(end)) => ordinal >= end,
            _ => end.end_byte.is_some_and(|end| offset >= end),
        }
    }

    fn record(&mut self, at: u64, record: &Record<'_>) {
        let Some(raw) = self.mark(at, RecordKind::Value) else {
            return;
        };
        self.ours += u64::from(record.is_ours());
        self.last_ordinal = record.ordinal().or(self.last_ordinal);
        let inherited = self.prefix.is_copy(record) || self.end.is_some();
        if record.what == What::Meta && self.end.is_none() && self.grow.meta.is_none() {
            let is_bare = record.name() == "bare/header";
            self.grow.meta = Some(Meta::of(record.payload, is_bare));
        }
        self.grow.record(record, raw, inherited);
    }

    /// A line that is no JSON value: keep what can be read of it, and name the rest.
    fn damaged(&mut self, span: LineSpan, bytes: &[u8], error: &SyntaxError) {
        let found = salvaged(bytes, error, !span.terminated);
        self.note(span, &found.message);
        let mut tree = Tree::default();
        for piece in &found.pieces {
            let range = piece.range();
            let at = span.offset + range.start as u64;
            let value = bytes.get(range).unwrap_or_default();
            let is_object = matches!(piece, Piece::Value(_))
                && tree.parse_into(value).is_ok()
                && tree.root(value).is_object();
            if is_object {
                self.record(at, &Record::of(tree.root(value)));
            } else {
                self.unclaimed(at, found.junk);
            }
        }
    }

    fn giant(&mut self, span: LineSpan, start: &[u8]) -> bool {
        if self.is_beyond(None, span.offset) {
            return false;
        }
        let what = glance(start);
        let message = match &what {
            Some(_) => format!("a record of {} bytes, too long to be shown", span.len),
            None => format!("a line of {} bytes that is no record; skipped", span.len),
        };
        self.note(span, &message);
        if let Some(raw) = self.mark(span.offset, RecordKind::Giant) {
            match what {
                Some(found) => self.grow.giant(&found, raw, self.end.is_some()),
                None => self.grow.unclaimed.push(raw),
            }
            self.ours += 1;
        }
        true
    }

    fn mark(&mut self, at: u64, kind: RecordKind) -> Option<RawRef> {
        let record = self.marks.add(at, kind)?;
        Some(RawRef {
            part: self.number,
            record,
        })
    }

    fn unclaimed(&mut self, at: u64, kind: RecordKind) {
        if let Some(raw) = self.mark(at, kind) {
            self.grow.unclaimed.push(raw);
        }
    }

    fn note(&mut self, span: LineSpan, message: &str) {
        let note = Note::damage(message).at(self.path);
        self.notes.push(note.line(span.number).offset(span.offset));
    }
}
