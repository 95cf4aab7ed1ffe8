//! Reading a session in one pass over its transcript.

use std::path::Path;

use rethread_disk::{open_sized, read_small};
use rethread_json::{LineBytes, LineSpan, Lines, Piece, SyntaxError, Tree};
use rethread_model::{Link, LinkKind, Note, RawRef, SessionBuilder};

use super::SLUG;
use super::build::build;
use super::facts::Facts;
use super::layout::{Named, agents_of, meta_file};
use super::meta::Meta;
use super::nodes::{Nodes, Place, Wrong};
use super::sniff::is_record;
use crate::error::unreadable;
use crate::salvaged::salvaged;
use crate::{Conversation, Marks, Native, OpenError, Part, RecordKind, Source};

/// The transcript among the parts.
pub(super) const TRANSCRIPT: u32 = 0;
/// What describes a sub-agent, among the parts.
const META: u32 = 1;

/// Reads a session.
pub(super) fn read(source: &Source) -> Result<Conversation, OpenError> {
    let path = &source.path;
    let (file, len) = open_sized(path)?;
    let transcript = Part::lines(path.clone(), file, len);
    let mut reader = Reader::new(path);
    reader.read(&transcript)?;
    if !reader.is_ours {
        return Err(OpenError::NotOurs {
            path: path.clone(),
            format: SLUG,
        });
    }
    let mut parts = vec![transcript.with_records(std::mem::take(&mut reader.marks))];
    let meta = meta_part(path, &mut reader.notes);
    if !reader.is_agent {
        for agent in agents_of(path) {
            let Some(Named::Agent(id)) = Named::of(&agent) else {
                continue;
            };
            let call = Meta::beside(&agent).and_then(|m| m.tool_call);
            reader.facts.agent(&id, call.as_deref());
        }
    }
    let (mut builder, wrong) = build(reader.nodes, &reader.facts, path, reader.builder);
    for raw in reader.unclaimed {
        builder.unclaimed(raw);
    }
    if let Some((part, meta)) = meta {
        fill(&mut builder, &meta);
        parts.push(part);
        builder.unclaimed(RawRef {
            part: META,
            record: 0,
        });
    }
    let mut notes = reader.notes;
    notes.extend(wrong.iter().map(|(at, wrong)| wrong_link(path, *at, wrong)));
    notes.sort_by_key(|n| n.offset);
    Ok(Conversation {
        source: source.clone(),
        native: Native { parts },
        session: builder.finish(),
        notes,
    })
}

/// What describes a sub-agent, as a part.
fn meta_part(transcript: &Path, notes: &mut Vec<Note>) -> Option<(Part, Meta)> {
    let path = meta_file(transcript);
    let is_agent = matches!(Named::of(transcript), Some(Named::Agent(_)));
    if !is_agent || !path.is_file() {
        return None;
    }
    match read_small(&path) {
        Ok(bytes) => {
            let meta = Meta::of(&bytes);
            if meta.is_none() {
                notes.push(Note::damage("not a JSON object; ignored").at(&path));
            }
            Some((Part::document(path, bytes), meta.unwrap_or_default()))
        }
        Err(e) => {
            notes.push(Note::damage(e.to_string()).at(&path));
            None
        }
    }
}

/// What the file beside a sub-agent's transcript says.
fn fill(builder: &mut SessionBuilder, meta: &Meta) {
    let head = builder.head();
    head.agent.role.clone_from(&meta.agent_type);
    meta.name(head);
    for link in &mut head.links {
        if link.kind == LinkKind::Parent {
            link.tool_call.clone_from(&meta.tool_call);
        }
    }
}

fn wrong_link(path: &Path, at: Place, wrong: &Wrong) -> Note {
    let note = match wrong {
        Wrong::Missing(true) => {
            Note::damage("its parent is missing; it follows what stands before it")
        }
        Wrong::Missing(false) => Note::damage("its parent is missing; it counts as a root"),
        Wrong::Circle => {
            return Note::damage("parents form a circle; the first of them counts as a root")
                .at(path);
        }
    };
    note.at(path).line(at.line).offset(at.offset)
}

pub(super) struct Reader<'a> {
    pub(super) path: &'a Path,
    pub(super) nodes: Nodes,
    pub(super) marks: Marks,
    pub(super) notes: Vec<Note>,
    pub(super) facts: Facts,
    /// The session, which holds nothing yet but what identifies the responses.
    pub(super) builder: SessionBuilder,
    pub(super) unclaimed: Vec<RawRef>,
    pub(super) is_ours: bool,
    pub(super) is_agent: bool,
}

impl<'a> Reader<'a> {
    fn new(path: &'a Path) -> Self {
        Self {
            path,
            nodes: Nodes::default(),
            marks: Marks::default(),
            notes: Vec::new(),
            facts: Facts::of_file(path),
            builder: SessionBuilder::default(),
            unclaimed: Vec::new(),
            is_ours: false,
            is_agent: matches!(Named::of(path), Some(Named::Agent(_))),
        }
    }

    fn read(&mut self, part: &Part) -> Result<(), OpenError> {
        let mut lines = Lines::new(part.reader());
        let mut tree = Tree::default();
        let mut seen = 0;
        while let Some(line) = lines.next_line().map_err(|e| unreadable(&part.path, e))? {
            let span = line.span;
            seen = span.offset + span.len + u64::from(span.terminated);
            match line.bytes {
                LineBytes::Whole(bytes) => self.line(span, bytes, &mut tree),
                LineBytes::Giant { head } => self.giant(span, head),
            }
        }
        if seen < part.len() {
            let note = Note::damage("the file became shorter while it was read");
            self.notes.push(note.at(&part.path).offset(seen));
        }
        Ok(())
    }

    fn line(&mut self, span: LineSpan, bytes: &[u8], tree: &mut Tree) {
        if bytes.trim_ascii().is_empty() {
            self.keep(span.offset, RecordKind::Blank);
            return;
        }
        if let Err(e) = tree.parse_into(bytes) {
            self.damaged(span, bytes, &e);
            return;
        }
        let value = tree.root(bytes);
        if value.is_object() {
            self.object(span, span.offset, value);
        } else {
            self.note(span, "not a JSON object; skipped");
            self.keep(span.offset, RecordKind::Junk);
        }
    }

    /// A line that is no JSON value: keep what can be read of it, and name the rest.
    fn damaged(&mut self, span: LineSpan, bytes: &[u8], error: &SyntaxError) {
        let found = salvaged(bytes, error, !span.terminated);
        let mut tree = Tree::default();
        let mut is_record_at = |piece: &Piece| {
            let value = &bytes[piece.range()];
            matches!(piece, Piece::Value(_))
                && tree.parse_into(value).is_ok()
                && is_record(tree.root(value))
        };
        let records: Vec<bool> = found.pieces.iter().map(&mut is_record_at).collect();
        if !records.contains(&true) {
            let (message, kind) = if span.terminated {
                let why = format!("not JSON: {}, at column {}", error.kind, error.column);
                (format!("{why}; skipped"), RecordKind::Junk)
            } else {
                let message = "the last line is not finished; ignored";
                (message.to_owned(), RecordKind::Torn)
            };
            let is_plain = found.pieces.len() == 1;
            self.note(span, if is_plain { &found.message } else { &message });
            self.keep(span.offset, kind);
            return;
        }
        self.note(span, &found.message);
        let mut tree = Tree::default();
        for (piece, is_record) in found.pieces.iter().zip(records) {
            let range = piece.range();
            let at = span.offset + range.start as u64;
            let value = &bytes[range];
            if is_record && tree.parse_into(value).is_ok() {
                self.object(span, at, tree.root(value));
            } else {
                self.keep(at, found.junk);
            }
        }
    }

    pub(super) fn keep(&mut self, at: u64, kind: RecordKind) {
        if let Some(record) = self.marks.add(at, kind) {
            self.unclaimed.push(raw(record));
        }
    }

    pub(super) fn note(&mut self, span: LineSpan, message: &str) {
        let note = Note::damage(message).at(self.path);
        self.notes.push(note.line(span.number).offset(span.offset));
    }
}

/// A record of the transcript.
pub(super) fn raw(record: u32) -> RawRef {
    RawRef {
        part: TRANSCRIPT,
        record,
    }
}

/// The sub-agent that a call of a tool started.
pub(super) fn child_of_call(links: &[Link], call: &str) -> Option<String> {
    let started = |l: &&Link| l.kind == LinkKind::SubAgent && l.tool_call.as_deref() == Some(call);
    links.iter().find(started).map(|l| l.session.clone())
}
