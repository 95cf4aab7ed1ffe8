//! One pass over a file: its records, and the messages in them.

use std::path::Path;

use rethread_disk::open_sized;
use rethread_json::{LineBytes, LineSpan, Lines, Piece, Skim, SyntaxError, Tree, Value};
use rethread_model::{Note, RawRef};

use super::SLUG;
use super::carry::OURS;
use super::head::Heads;
use super::message::{Message, MessageHead, giant_message};
use super::meta::{Meta, is_meta};
use super::replay::{Replay, Rewound};
use super::sniff::{What, has_lines};
use crate::carry::converted_from;
use crate::error::unreadable;
use crate::salvaged::salvaged;
use crate::{Marks, OpenError, Part, RecordKind};

/// The part that holds the messages.
pub(super) const MAIN_PART: u32 = 0;

/// A byte order mark, with which some editors begin a file.
pub(super) const MARK: &[u8] = b"\xEF\xBB\xBF";

/// What was found in a file.
pub(super) struct Scanned {
    pub(super) part: Part,
    pub(super) what: What,
    pub(super) meta: Meta,
    pub(super) replay: Replay,
    pub(super) unclaimed: Vec<RawRef>,
    pub(super) notes: Vec<Note>,
}

/// How closely to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// At everything.
    Whole,
    /// Only at what a list shows. Whether all that is passed over is JSON is not asked.
    Usage,
    /// Only at what a list without usage shows.
    Quick,
}

impl Look {
    /// Goes through some bytes.
    pub(super) fn skim(self, bytes: &[u8]) -> Skim<'_> {
        match self {
            Self::Whole => Skim::checking(bytes),
            Self::Usage | Self::Quick => Skim::trusting(bytes),
        }
    }

    /// Whether somebody asks for tokens.
    pub(super) fn with_usage(self) -> bool {
        self != Self::Quick
    }
}

/// Looks through a file.
pub(super) fn scan(path: &Path, look: Look) -> Result<Scanned, OpenError> {
    let (file, len) = open_sized(path)?;
    let mut scan = Scan {
        path,
        look,
        heads: Heads::new(look),
        what: What::Log,
        is_ours: false,
        marks: Marks::default(),
        meta: Meta::default(),
        replay: Replay::default(),
        unclaimed: Vec::new(),
        notes: Vec::new(),
    };
    let part = if has_lines(path) {
        let part = Part::lines(path.to_owned(), file, len);
        scan.lines(&part)?;
        part
    } else {
        scan.document(&file, len)?
    };
    if !scan.is_ours {
        return Err(OpenError::NotOurs {
            path: path.to_owned(),
            format: SLUG,
        });
    }
    scan.replay.settle();
    scan.replay.tools = scan.heads.tools;
    scan.replay.models = scan.heads.models;
    Ok(Scanned {
        part: part.with_records(scan.marks),
        what: scan.what,
        meta: scan.meta,
        replay: scan.replay,
        unclaimed: scan.unclaimed,
        notes: scan.notes,
    })
}

pub(super) struct Scan<'a> {
    pub(super) path: &'a Path,
    pub(super) look: Look,
    pub(super) heads: Heads,
    pub(super) what: What,
    pub(super) is_ours: bool,
    pub(super) marks: Marks,
    pub(super) meta: Meta,
    pub(super) replay: Replay,
    pub(super) unclaimed: Vec<RawRef>,
    pub(super) notes: Vec<Note>,
}

/// Where something stands, for notes.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) line: Option<u64>,
    pub(super) offset: u64,
}

impl Scan<'_> {
    fn lines(&mut self, part: &Part) -> Result<(), OpenError> {
        let mut lines = Lines::new(part.reader());
        let mut tree = Tree::default();
        let mut seen = 0;
        while let Some(line) = lines.next_line().map_err(|e| unreadable(self.path, e))? {
            let span = line.span;
            seen = span.offset + span.len + u64::from(span.terminated);
            match line.bytes {
                LineBytes::Whole(bytes) => self.line(span, bytes, &mut tree),
                LineBytes::Giant { head } => self.giant(span, head),
            }
        }
        if seen < part.len() {
            let place = Place {
                line: None,
                offset: seen,
            };
            self.damage(place, "the file became shorter while it was read");
        }
        let mut clashes = std::mem::take(&mut self.replay.clashes);
        clashes.sort();
        clashes.dedup();
        for id in clashes {
            let what =
                format!("two messages have the id `{id}`; the client keeps only the later one");
            self.notes.push(Note::remark(what).at(self.path));
        }
        let is_named = self.meta.id.is_some() && self.meta.project_hash.is_some();
        if self.is_ours && !is_named {
            let what = "no line says `sessionId` and `projectHash`, so its client does not list it, and deletes it when it starts";
            self.notes.push(Note::damage(what).at(self.path));
        }
        Ok(())
    }

    fn line(&mut self, span: LineSpan, bytes: &[u8], tree: &mut Tree) {
        if bytes.trim_ascii().is_empty() {
            self.unclaimed(span.offset, RecordKind::Blank);
            return;
        }
        if let Some(message) = self.plain_message(bytes) {
            self.message(span.offset, RecordKind::Value, message);
            return;
        }
        if let Err(e) = tree.parse_into(bytes) {
            self.damaged(span, bytes, &e);
            return;
        }
        if span.offset == 0 && bytes.starts_with(MARK) {
            self.has_mark();
        }
        let value = tree.root(bytes);
        if self.meta.converted_from.is_none()
            && let Some(carried) = value.get(OURS)
        {
            self.meta.converted_from = converted_from(carried);
        }
        self.value(place(span), span.offset, value);
    }

    /// Says what comes of a byte order mark.
    pub(super) fn has_mark(&mut self) {
        let what = "a byte order mark, for which its client does not list this session, and deletes it when it starts";
        self.notes.push(Note::remark(what).at(self.path).line(1));
    }

    /// The message that a line is, as most are.
    fn plain_message<'l>(&mut self, line: &'l [u8]) -> Option<Message<'l>> {
        if !line.starts_with(b"{\"") || line.starts_with(b"{\"$") {
            return None;
        }
        let mut skim = self.look.skim(line);
        let seen = self.heads.see(&mut skim).ok()?;
        (seen.has_id && !seen.is_rewind && skim.is_done()).then_some(seen.message)
    }

    /// A line that is no JSON value: keep what can be read of it, and name the rest.
    fn damaged(&mut self, span: LineSpan, bytes: &[u8], error: &SyntaxError) {
        let found = salvaged(bytes, error, !span.terminated && self.is_ours);
        self.damage(place(span), &found.message);
        let mut tree = Tree::default();
        for piece in &found.pieces {
            let range = piece.range();
            let at = span.offset + range.start as u64;
            let value = &bytes[range];
            let is_object = matches!(piece, Piece::Value(_))
                && tree.parse_into(value).is_ok()
                && tree.root(value).is_object();
            if is_object {
                self.value(place(span), at, tree.root(value));
            } else {
                self.unclaimed(at, found.junk);
            }
        }
    }

    /// Takes a value into account that begins its record at this byte. The order of the questions
    /// is the client's.
    fn value(&mut self, place: Place, at: u64, value: Value<'_>) {
        if !value.is_object() {
            self.damage(place, "not a JSON object; skipped");
            self.unclaimed(at, RecordKind::Junk);
        } else if let Some(id) = value.get("$rewindTo").and_then(Value::str) {
            self.is_ours = true;
            let before = self.replay.live.len();
            if self.replay.rewind(&id) == Rewound::Emptied && before > 0 {
                let what = format!("rewound to `{id}`, which is not there: all before is dropped");
                self.remark(place, &what);
            }
            self.unclaimed(at, RecordKind::Value);
        } else if value.get("id").is_some_and(|id| id.str().is_some()) {
            let message = self.heads.of(value.raw());
            self.message(at, RecordKind::Value, message);
        } else if let Some(set) = value.get("$set").filter(|s| s.is_object()) {
            self.is_ours = true;
            self.meta.merge(set);
            match set.get("messages").filter(|m| m.is_array()) {
                Some(list) => self.list(place, at, list, true),
                None => self.unclaimed(at, RecordKind::Value),
            }
        } else if is_meta(value) {
            self.is_ours = true;
            self.meta.merge(value);
            match value.get("messages").filter(|m| m.is_array()) {
                Some(list) => self.list(place, at, list, false),
                None => self.unclaimed(at, RecordKind::Value),
            }
        } else if let Some(raw) = self.record(at, RecordKind::Value) {
            self.replay.beside(MessageHead::unknown(), raw);
        }
    }

    /// A list of messages inside a line: each is a record, and so is what stands around them.
    fn list(&mut self, place: Place, at: u64, list: Value<'_>, replaces: bool) {
        let mut messages = Vec::new();
        self.unclaimed(at, RecordKind::Frame);
        let mut end = at;
        for item in list.items() {
            let span = item.span();
            let start = at + span.start as u64;
            end = at + span.end as u64;
            if item.get("id").is_some_and(|id| id.str().is_some()) {
                let raw = self.record(start, RecordKind::Value);
                messages.extend(raw.map(|raw| (self.heads.of(item.raw()), raw)));
            } else if item.is_object() {
                let raw = self.record(start, RecordKind::Value);
                messages.extend(raw.map(|raw| (Message::unknown(), raw)));
            } else {
                self.damage(
                    place,
                    "an item among messages is not a JSON object; skipped",
                );
                self.unclaimed(start, RecordKind::Junk);
            }
        }
        if end > at {
            self.unclaimed(end, RecordKind::Frame);
        }
        if replaces {
            self.replay.replace(messages);
        } else {
            for (message, raw) in messages {
                if message.id.is_empty() {
                    self.replay.beside(message.head, raw);
                } else {
                    self.replay.message(message, raw);
                }
            }
        }
    }

    fn giant(&mut self, span: LineSpan, start: &[u8]) {
        let Some(message) = giant_message(start) else {
            let what = format!("a line of {} bytes that is no message; skipped", span.len);
            self.damage(place(span), &what);
            self.unclaimed(span.offset, RecordKind::Giant);
            return;
        };
        let what = format!("a message of {} bytes, too long to be shown", span.len);
        self.damage(place(span), &what);
        self.message(span.offset, RecordKind::Giant, message);
    }

    fn message(&mut self, at: u64, kind: RecordKind, message: Message<'_>) {
        self.is_ours |= message.head.kind != rethread_model::Kind::Unknown;
        if let Some(raw) = self.record(at, kind) {
            self.replay.message(message, raw);
        }
    }

    /// Begins a record.
    pub(super) fn record(&mut self, at: u64, kind: RecordKind) -> Option<RawRef> {
        let record = self.marks.add(at, kind)?;
        Some(RawRef {
            part: MAIN_PART,
            record,
        })
    }

    pub(super) fn unclaimed(&mut self, at: u64, kind: RecordKind) {
        let raw = self.record(at, kind);
        self.unclaimed.extend(raw);
    }

    pub(super) fn damage(&mut self, place: Place, message: &str) {
        self.notes.push(self.note(place, Note::damage(message)));
    }

    fn remark(&mut self, place: Place, message: &str) {
        self.notes.push(self.note(place, Note::remark(message)));
    }

    fn note(&self, place: Place, note: Note) -> Note {
        let mut note = note.at(self.path).offset(place.offset);
        note.line = place.line;
        note
    }
}

fn place(span: LineSpan) -> Place {
    Place {
        line: Some(span.number),
        offset: span.offset,
    }
}
