//! One pass over a file: its records, and the messages in them.

use std::path::Path;

use rethread_disk::open_sized;
use rethread_json::{Skim, Tree, Value};
use rethread_model::{Note, RawRef};

use super::SLUG;
use super::carrier::OURS;
use super::head::Heads;
use super::message::{FoundMessage, MessageHead, giant_message};
use super::meta::{LogMeta, is_meta};
use super::replay::{Replay, Rewound};
use super::sniff::{ClientFile, has_lines};
use crate::carry::converted_from;
use crate::kit::{Flow, LogLine, LogRecords, LogVisitor, ScanDepth, SourcePos, read_log};
use crate::{LogWindow, OpenError, Part, RecordKind};

/// The part that holds the messages.
pub(super) const MAIN_PART: u32 = 0;

/// A byte order mark, with which some editors begin a file.
pub(super) const MARK: &[u8] = b"\xEF\xBB\xBF";

/// What was found in a file.
pub(super) struct Scanned {
    pub(super) part: Part,
    pub(super) what: ClientFile,
    pub(super) meta: LogMeta,
    pub(super) replay: Replay,
    pub(super) unclaimed: Vec<RawRef>,
    pub(super) notes: Vec<Note>,
}

/// Goes through some bytes as closely as is asked.
pub(super) fn new_skim(look: ScanDepth, bytes: &[u8]) -> Skim<'_> {
    match look {
        ScanDepth::Whole => Skim::checking(bytes),
        ScanDepth::Usage | ScanDepth::Quick => Skim::trusting(bytes),
    }
}

/// Looks through a file.
pub(super) fn scan_file(path: &Path, look: ScanDepth) -> Result<Scanned, OpenError> {
    scan_in(path, look, None)
}

/// As [`scan`]; of a log only a window is looked through, where one is asked for.
pub(super) fn scan_in(
    path: &Path,
    look: ScanDepth,
    window: Option<LogWindow>,
) -> Result<Scanned, OpenError> {
    let (file, len) = open_sized(path)?;
    let mut scan = Scan {
        path,
        look,
        heads: Heads::new(look),
        what: ClientFile::Log,
        is_ours: false,
        meta: LogMeta::default(),
        replay: Replay::default(),
        records: LogRecords::new(path, MAIN_PART),
    };
    let part = if has_lines(path) {
        let part = Part::lines_in(window, path.to_owned(), file, len);
        read_log(&part, &mut scan)?;
        scan.end_of_log();
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
        part: part.with_records(scan.records.marks),
        what: scan.what,
        meta: scan.meta,
        replay: scan.replay,
        unclaimed: scan.records.unclaimed,
        notes: scan.records.notes,
    })
}

pub(super) struct Scan<'a> {
    pub(super) path: &'a Path,
    pub(super) look: ScanDepth,
    pub(super) heads: Heads,
    pub(super) what: ClientFile,
    pub(super) is_ours: bool,
    pub(super) meta: LogMeta,
    pub(super) replay: Replay,
    pub(super) records: LogRecords<'a>,
}

impl<'a> LogVisitor<'a> for Scan<'a> {
    fn records(&mut self) -> Option<&mut LogRecords<'a>> {
        Some(&mut self.records)
    }

    /// Takes a message, as most lines are.
    fn take_unparsed(&mut self, line: &LogLine<'_>, _tree: &mut Tree) -> Option<Flow> {
        let message = self.plain_message(line.bytes)?;
        self.message(line.at, RecordKind::Value, message);
        Some(Flow::Continue(()))
    }

    fn object(&mut self, line: &LogLine<'_>, value: Value<'_>) -> Flow {
        if !line.is_salvaged {
            self.has_mark_before(line);
            if self.meta.converted_from.is_none()
                && let Some(carried) = value.get(OURS)
            {
                self.meta.converted_from = converted_from(carried);
            }
        }
        self.value(line.span.into(), line.at, value);
        Flow::Continue(())
    }

    fn other_value(&mut self, line: &LogLine<'_>, _value: Value<'_>) -> Flow {
        self.has_mark_before(line);
        self.records.skip_other_value(line)
    }

    fn giant(&mut self, line: &LogLine<'_>) -> Flow {
        let len = line.span.len;
        if let Some(message) = giant_message(line.bytes) {
            let what = format!("a message of {len} bytes, too long to be shown");
            self.records.note_damage(line.span, what);
            self.message(line.at, RecordKind::Giant, message);
        } else {
            let what = format!("a line of {len} bytes that is no message; skipped");
            self.records.note_damage(line.span, what);
            self.records.add_unclaimed(line.at, RecordKind::Giant);
        }
        Flow::Continue(())
    }

    fn may_be_torn(&self) -> bool {
        self.is_ours
    }
}

impl Scan<'_> {
    /// Says what is worth knowing of the log as a whole.
    fn end_of_log(&mut self) {
        let mut clashes = std::mem::take(&mut self.replay.clashes);
        clashes.sort();
        clashes.dedup();
        for id in clashes {
            let what =
                format!("two messages have the id `{id}`; the client keeps only the later one");
            self.records.notes.push(Note::remark(what).at(self.path));
        }
        let is_named = self.meta.id.is_some() && self.meta.project_hash.is_some();
        if self.is_ours && !is_named {
            let what = "no line says `sessionId` and `projectHash`, so its client does not list it, and deletes it when it starts";
            self.records.notes.push(Note::damage(what).at(self.path));
        }
    }

    /// Says what comes of a byte order mark.
    pub(super) fn has_mark(&mut self) {
        let what = "a byte order mark, for which its client does not list this session, and deletes it when it starts";
        let note = Note::remark(what).at(self.path).line(1);
        self.records.notes.push(note);
    }

    fn has_mark_before(&mut self, line: &LogLine<'_>) {
        if line.at == 0 && line.bytes.starts_with(MARK) {
            self.has_mark();
        }
    }

    /// The message that a line is, as most are.
    fn plain_message<'l>(&mut self, line: &'l [u8]) -> Option<FoundMessage<'l>> {
        if !line.starts_with(b"{\"") || line.starts_with(b"{\"$") {
            return None;
        }
        let mut skim = new_skim(self.look, line);
        let seen = self.heads.see(&mut skim).ok()?;
        (seen.has_id && !seen.is_rewind && skim.is_done()).then_some(seen.message)
    }

    /// Takes an object into account that begins its record at this byte. The order of the questions
    /// is the client's.
    fn value(&mut self, place: SourcePos, at: u64, value: Value<'_>) {
        if let Some(id) = value.get("$rewindTo").and_then(Value::str) {
            self.is_ours = true;
            let before = self.replay.live.len();
            if self.replay.rewind(&id) == Rewound::Emptied && before > 0 {
                let what = format!("rewound to `{id}`, which is not there: all before is dropped");
                self.records.note_remark(place, what);
            }
            self.records.add_unclaimed(at, RecordKind::Value);
        } else if value.get("id").is_some_and(|id| id.str().is_some()) {
            let message = self.heads.of(value.raw());
            self.message(at, RecordKind::Value, message);
        } else if let Some(set) = value.get("$set").filter(|s| s.is_object()) {
            self.is_ours = true;
            self.meta.merge(set);
            match set.get("messages").filter(|m| m.is_array()) {
                Some(list) => self.list(place, at, list, true),
                None => self.records.add_unclaimed(at, RecordKind::Value),
            }
        } else if is_meta(value) {
            self.is_ours = true;
            self.meta.merge(value);
            match value.get("messages").filter(|m| m.is_array()) {
                Some(list) => self.list(place, at, list, false),
                None => self.records.add_unclaimed(at, RecordKind::Value),
            }
        } else if let Some(raw) = self.records.add(at, RecordKind::Value) {
            self.replay.beside(MessageHead::unknown(), raw);
        }
    }

    /// A list of messages inside a line: each is a record, and so is what stands around them.
    fn list(&mut self, place: SourcePos, at: u64, list: Value<'_>, replaces: bool) {
        let mut messages = Vec::new();
        self.records.add_unclaimed(at, RecordKind::Frame);
        let mut end = at;
        for item in list.items() {
            let span = item.span();
            let start = at + span.start as u64;
            end = at + span.end as u64;
            if item.get("id").is_some_and(|id| id.str().is_some()) {
                let raw = self.records.add(start, RecordKind::Value);
                messages.extend(raw.map(|raw| (self.heads.of(item.raw()), raw)));
            } else if item.is_object() {
                let raw = self.records.add(start, RecordKind::Value);
                messages.extend(raw.map(|raw| (FoundMessage::unknown(), raw)));
            } else {
                let message = "an item among messages is not a JSON object; skipped";
                self.records.note_damage(place, message);
                self.records.add_unclaimed(start, RecordKind::Junk);
            }
        }
        if end > at {
            self.records.add_unclaimed(end, RecordKind::Frame);
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

    fn message(&mut self, at: u64, kind: RecordKind, message: FoundMessage<'_>) {
        self.is_ours |= message.head.kind != rethread_model::Kind::Unknown;
        if let Some(raw) = self.records.add(at, kind) {
            self.replay.message(message, raw);
        }
    }
}
