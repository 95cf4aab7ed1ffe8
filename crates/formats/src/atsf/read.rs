//! Reading a thread in one pass over its log.

use std::path::{Path, PathBuf};

use memchr::memmem;
use rethread_disk::{DiskError, open_sized};
use rethread_json::{LineBytes, LineSpan, Lines, Piece, SyntaxError, Tree, Value};
use rethread_model::{
    Block, Body, EntryIx, Event, Json, Kind, Level, Message, NewEntry, Note, RawRef, Session,
    SessionBuilder, Visibility,
};

use super::assets;
use super::config::Config;
use super::layout::{LOG, conflict_copies, project_of};
use super::manifest::Manifest;
use super::message::{Head, body as message_body, head, role};
use super::tally::giant_head;
use crate::error::unreadable;
use crate::salvaged::salvaged;
use crate::times::dated;
use crate::{Conversation, Marks, Native, OpenError, Part, PartKind, RawJson, RecordKind, Source};

/// The parts of a thread, by their numbers.
const MANIFEST_PART: u32 = 0;
const LOG_PART: u32 = 1;

/// Reads a thread.
pub(crate) fn read(source: &Source) -> Result<Conversation, OpenError> {
    let folder = &source.path;
    let mut notes = Vec::new();
    if let Some(project) = project_of(folder) {
        notes.extend(Config::read(project)?.notes);
    }
    let manifest = Manifest::read(folder)?;
    notes.extend(manifest.version().note(&manifest.path));
    let head = manifest.head(&source.id);
    notes.extend(conflict_copies(folder).into_iter().map(|copy| {
        let note = Note::damage("a copy that a sync tool left; it is not read").at(copy);
        note.hint("compare it with the original, then remove one of them")
    }));

    let mut reader = LogReader {
        folder,
        path: folder.join(LOG),
        builder: SessionBuilder::new(head),
        marks: Marks::default(),
        notes,
        last: None,
    };
    reader.builder.unclaimed(RawRef {
        part: MANIFEST_PART,
        record: 0,
    });
    let path = reader.path.clone();
    let log = match open_sized(&path) {
        Ok((file, len)) => {
            let part = Part::lines(path, file, len);
            reader.read(&part)?;
            part.with_records(reader.marks)
        }
        Err(DiskError::NotFound { .. }) => {
            reader.notes.push(no_log(&path, manifest.counts().messages));
            Part::missing(path, PartKind::Lines)
        }
        Err(e) => return Err(e.into()),
    };
    let document = Part::document(manifest.path.clone(), manifest.into_bytes());
    Ok(Conversation {
        source: source.clone(),
        native: Native {
            parts: vec![document, log],
        },
        session: dated(reader.builder.finish()),
        notes: reader.notes,
    })
}

/// A project's default ignore file keeps logs out of git, so a clone has descriptions alone.
fn no_log(path: &Path, expected: u64) -> Note {
    let message = match expected {
        0 => "the log is not there".to_owned(),
        n => format!("the log is not there; `thread.json` counts {n} messages in it"),
    };
    Note::remark(message)
        .at(path)
        .hint("git ignores logs by default; copy it from where it was written")
}

struct LogReader<'a> {
    folder: &'a Path,
    path: PathBuf,
    builder: SessionBuilder,
    marks: Marks,
    notes: Vec<Note>,
    /// The message before: threads are linear.
    last: Option<EntryIx>,
}

impl LogReader<'_> {
    fn read(&mut self, part: &Part) -> Result<(), OpenError> {
        let mut lines = Lines::new(part.reader());
        let mut tree = Tree::default();
        let mut seen = 0;
        while let Some(line) = lines.next_line().map_err(|e| unreadable(&part.path, e))? {
            let span = line.span;
            seen = span.offset + span.len + u64::from(span.terminated);
            match line.bytes {
                LineBytes::Whole(bytes) => self.line(span, bytes, &mut tree),
                LineBytes::Giant { head, .. } => self.giant(span, head),
            }
        }
        if seen < part.len() {
            let note = Note::damage("the log became shorter while it was read");
            self.notes.push(note.at(&part.path).offset(seen));
        }
        Ok(())
    }

    fn line(&mut self, span: LineSpan, bytes: &[u8], tree: &mut Tree) {
        if bytes.trim_ascii().is_empty() {
            self.unclaimed(span.offset, RecordKind::Blank);
            return;
        }
        match tree.parse_into(bytes) {
            Ok(()) if tree.root(bytes).is_object() => {
                self.object(span, span.offset, tree.root(bytes));
            }
            Ok(()) => {
                self.note(span, "not a JSON object; skipped".to_owned());
                self.unclaimed(span.offset, RecordKind::Junk);
            }
            Err(e) => self.damaged(span, bytes, &e),
        }
    }

    /// A line that is no JSON value: keep what can be read of it, and name the rest.
    fn damaged(&mut self, span: LineSpan, bytes: &[u8], error: &SyntaxError) {
        let found = salvaged(bytes, error, !span.terminated);
        self.note(span, found.message);
        let mut tree = Tree::default();
        for piece in &found.pieces {
            let range = piece.range();
            let at = span.offset + range.start as u64;
            let value = &bytes[range];
            let is_object = matches!(piece, Piece::Value(_))
                && tree.parse_into(value).is_ok()
                && tree.root(value).is_object();
            if is_object {
                self.object(span, at, tree.root(value));
            } else {
                self.unclaimed(at, found.junk);
            }
        }
    }

    fn object(&mut self, span: LineSpan, at: u64, value: Value<'_>) {
        if memmem::find(value.raw(), b"assetRef").is_some() {
            for name in assets::references(value) {
                if assets::find(self.folder, &name).is_none() {
                    self.note(span, format!("the asset `{name}` is missing"));
                }
            }
        }
        self.entry(at, RecordKind::Value, &head(value));
    }

    fn giant(&mut self, span: LineSpan, start: &[u8]) {
        let head = giant_head(start);
        if head.role.is_none() {
            self.note(
                span,
                format!("a line of {} bytes that is no message; skipped", span.len),
            );
            self.unclaimed(span.offset, RecordKind::Giant);
            return;
        }
        self.note(
            span,
            format!("a message of {} bytes, too long to be shown", span.len),
        );
        self.entry(span.offset, RecordKind::Giant, &head);
    }

    fn entry(&mut self, at: u64, kind: RecordKind, head: &Head) {
        let Some(record) = self.marks.add(at, kind) else {
            return;
        };
        let origin = [RawRef {
            part: LOG_PART,
            record,
        }];
        let added = self.builder.add(&NewEntry {
            id: head.id.as_deref().unwrap_or_default(),
            parent: self.last,
            kind: head
                .role
                .as_deref()
                .map_or(Kind::Unknown, |word| Kind::Message(role(word))),
            time: head.time,
            visibility: if head.role.as_deref() == Some("system") {
                // The role is there for context that nobody wrote.
                Visibility::Injected
            } else {
                Visibility::Visible
            },
            origin: &origin,
        });
        match added {
            Some(ix) => self.last = Some(ix),
            None => self.builder.unclaimed(origin[0]),
        }
    }

    fn unclaimed(&mut self, at: u64, kind: RecordKind) {
        if let Some(record) = self.marks.add(at, kind) {
            self.builder.unclaimed(RawRef {
                part: LOG_PART,
                record,
            });
        }
    }

    fn note(&mut self, span: LineSpan, message: String) {
        let note = Note::damage(message)
            .at(&self.path)
            .line(span.number)
            .offset(span.offset);
        self.notes.push(note);
    }
}

/// What an entry says.
pub(crate) fn body(native: &Native, session: &Session, entry: EntryIx) -> Body {
    let Some(raw) = session.origin(entry).first().copied() else {
        return Body::Unknown(None);
    };
    if native.record_kind(raw) == Some(RecordKind::Giant) {
        return giant_body(native, session, entry, raw);
    }
    let bytes = match native.read(raw) {
        Ok(bytes) => bytes,
        Err(e) => return unreadable_event(&e.to_string()),
    };
    // What follows the value in its record is the line break.
    let mut tree = Tree::default();
    if tree.parse_into(&bytes).is_err() {
        return unreadable_event("the log was changed while it was read");
    }
    let value = tree.root(&bytes);
    if !session.entry(entry).kind.is_message() {
        return Body::Unknown(super::message::string(value, "type"));
    }
    let folder = native
        .parts
        .first()
        .and_then(|p| p.path.parent())
        .unwrap_or(Path::new(""));
    Body::Message(message_body(value, folder))
}

/// The message of an entry, as it is.
pub(crate) fn own_messages(conversation: &Conversation, entry: EntryIx) -> Vec<RawJson> {
    let native = &conversation.native;
    let raw = conversation.session.origin(entry).first();
    let raw = raw.filter(|raw| native.record_kind(**raw) == Some(RecordKind::Value));
    let bytes = raw.and_then(|raw| native.read(*raw).ok());
    let bytes = bytes.unwrap_or_default();
    let tree = Tree::parse(&bytes).ok();
    let message = tree.map(|tree| tree.root(&bytes).raw().to_vec().into());
    message.into_iter().collect()
}

fn giant_body(native: &Native, session: &Session, entry: EntryIx, raw: RawRef) -> Body {
    let len = native.span(raw).map_or(0, |s| s.end - s.start);
    let Kind::Message(role) = session.entry(entry).kind else {
        return Body::Unknown(None);
    };
    let type_name = format!("message of {len} bytes");
    Body::Message(Message::new(
        role,
        vec![Block::Unknown {
            type_name,
            raw: Json::new(b"null"),
        }],
    ))
}

fn unreadable_event(why: &str) -> Body {
    Body::Event(Event {
        name: "unreadable".to_owned(),
        text: Some(why.into()),
        level: Level::Error,
        details: None,
    })
}
