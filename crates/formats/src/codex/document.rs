//! The sessions of the first client, of 2025: one JSON document each, `{session, items}`.

use std::ops::Range;
use std::path::Path;

use rethread_disk::{SMALL, open_sized, read_small};
use rethread_json::{SyntaxError, Tree, Value};
use rethread_model::{
    Block, Body, Head, Kind, Message, Moment, NewEntry, Note, RawRef, Role, SessionBuilder, Text,
    Thinking, ToolCall, ToolInput, ToolResult, ToolStatus, Visibility,
};

use super::SLUG;
use super::blocks;
use super::facts::RolloutFacts;
use super::long_document::LongDocument;
use super::meta::SessionMeta;
use super::record::{Item, RolloutRecord, RolloutType};
use super::said::is_all_injected;
use crate::few::{Rest, few_items};
use crate::fields::{filled_of, moment_of, string_of, text_of};
use crate::mended::{Readable, not_utf8};
use crate::{Conversation, Native, OpenError, Part, RecordKind, RecordTable, Source};

/// Whether a file is a document, by its name.
pub(super) fn is_document(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "json")
}

/// The id of the session that a document is; none if it is something else.
pub(super) fn id_of(path: &Path) -> Option<String> {
    let document = Document::open(path).ok()?;
    let mut id = None;
    let find = |session: Value<'_>| id = Some(string_of(session, "id").unwrap_or_default());
    document.session(find).ok()?;
    id.filter(|_| document.is_ours())
}

/// A document that was read, with what is wrong in it.
pub(super) struct ReadDocument {
    bytes: Vec<u8>,
    /// Where values are damaged, what is read in their place.
    readable: Option<Readable>,
    tree: Tree,
}

impl ReadDocument {
    /// Reads a document, but for the values in it that are damaged.
    pub(super) fn of(path: &Path, bytes: Vec<u8>) -> Result<Self, SyntaxError> {
        let (tree, readable) = match Tree::parse(&bytes) {
            Ok(tree) => (tree, None),
            Err(e) => {
                let readable = Readable::of(path, &bytes, &["items"]);
                let tree = readable.as_ref().map(|r| Tree::parse(r.bytes()));
                (tree.and_then(Result::ok).ok_or(e)?, readable)
            }
        };
        Ok(Self {
            bytes,
            readable,
            tree,
        })
    }

    pub(super) fn root(&self) -> Value<'_> {
        let bytes = self
            .readable
            .as_ref()
            .map_or(&self.bytes[..], |r| r.bytes());
        self.tree.root(bytes)
    }

    /// Whether an item was damaged.
    pub(super) fn is_damaged(&self, item: Value<'_>) -> bool {
        let readable = self.readable.as_ref();
        readable.is_some_and(|r| r.is_damaged(item.span().start))
    }

    /// What is wrong with it.
    pub(super) fn notes(&self, path: &Path) -> Vec<Note> {
        let mut notes = match &self.readable {
            Some(readable) => readable.notes().to_vec(),
            None => Vec::new(),
        };
        notes.extend(not_utf8(path, &self.bytes));
        notes
    }

    fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// A document, held or too long for that.
pub(super) enum Document {
    Held(ReadDocument),
    Long(LongDocument),
}

impl Document {
    /// Opens a document.
    pub(super) fn open(path: &Path) -> Result<Self, OpenError> {
        Self::open_within(path, SMALL)
    }

    /// Opens a document, which is held if it has no more bytes than this.
    fn open_within(path: &Path, held: u64) -> Result<Self, OpenError> {
        let (file, len) = open_sized(path)?;
        if len > held {
            return LongDocument::of(path, file, len).map(Self::Long);
        }
        let read = ReadDocument::of(path, read_small(path)?);
        read.map(Self::Held).map_err(|e| not_json(path, &e))
    }

    /// How many bytes it has.
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Held(read) => read.bytes.len() as u64,
            Self::Long(long) => long.part.len(),
        }
    }

    /// Whether it is a session.
    pub(super) fn is_ours(&self) -> bool {
        let mut has_id = false;
        let found = self.session(|session| has_id = session.get("id").is_some());
        let has_items = match self {
            Self::Held(read) => read.root().get("items").is_some_and(Value::is_array),
            Self::Long(long) => long.items.is_some(),
        };
        found.is_ok() && has_id && has_items
    }

    /// Gives what it says of the session to somebody.
    fn session(&self, mut take: impl FnMut(Value<'_>)) -> Result<(), OpenError> {
        match self {
            Self::Held(read) => {
                if let Some(session) = read.root().get("session") {
                    take(session);
                }
                Ok(())
            }
            Self::Long(long) => long.session(take),
        }
    }

    /// Gives where each of its items stands, and the item, to somebody; none of one that is damaged or
    /// too long.
    pub(super) fn each_item(
        &self,
        mut take: impl FnMut(Range<u64>, Option<Value<'_>>),
    ) -> Result<(), OpenError> {
        match self {
            Self::Held(read) => {
                for item in read.root().get("items").into_iter().flat_map(Value::items) {
                    let span = item.span();
                    let place = span.start as u64..span.end as u64;
                    take(place, Some(item).filter(|item| !read.is_damaged(*item)));
                }
                Ok(())
            }
            Self::Long(long) => long.each_item(take),
        }
    }

    /// What is wrong with it.
    pub(super) fn notes(&self, path: &Path) -> Result<Vec<Note>, OpenError> {
        match self {
            Self::Held(read) => Ok(read.notes(path)),
            Self::Long(long) => long.notes(path),
        }
    }

    fn into_part(self, path: &Path, marks: RecordTable) -> Part {
        match self {
            Self::Held(read) => Part::document_of(path.to_owned(), read.into_bytes(), marks),
            Self::Long(long) => long.part.with_records(marks),
        }
    }
}

/// Reads a session.
pub(super) fn read_source(source: &Source) -> Result<Conversation, OpenError> {
    read_document(source, Document::open(&source.path)?)
}

fn read_document(source: &Source, document: Document) -> Result<Conversation, OpenError> {
    let path = &source.path;
    let len = document.len();
    if !document.is_ours() {
        return Err(OpenError::NotOurs {
            path: path.clone(),
            format: SLUG,
        });
    }
    let mut builder = SessionBuilder::new(document_head(&document, path)?);
    let mut marks = RecordTable::default();
    let mut record = |start: u64, kind| {
        let record = marks.add(start, kind)?;
        Some(RawRef { part: 0, record })
    };
    // Each item is a record, and so is what stands around them.
    let mut around = RecordKind::Value;
    let mut parent = None;
    let mut end = 0;
    document.each_item(|place, item| {
        if end == 0 {
            around = RecordKind::Frame;
            let before = record(0, around);
            if let Some(raw) = before {
                builder.unclaimed(raw);
            }
        }
        end = place.end;
        let kind_of_record = match item {
            Some(_) => RecordKind::Value,
            None => RecordKind::Junk,
        };
        let Some(raw) = record(place.start, kind_of_record) else {
            return;
        };
        let Some(item) = item else {
            builder.unclaimed(raw);
            return;
        };
        let (kind, visibility) = item_kind(item);
        let added = builder.add(&NewEntry {
            id: &filled_of(item, "id").unwrap_or_default(),
            parent,
            kind,
            time: item_time(item),
            visibility,
            origin: &[raw],
        });
        if added.is_none() {
            builder.unclaimed(raw);
        }
        parent = added.or(parent);
    })?;
    if end < len
        && let Some(raw) = record(end, around)
    {
        builder.unclaimed(raw);
    }
    let notes = document.notes(path)?;
    Ok(Conversation {
        source: source.clone(),
        native: Native {
            parts: vec![document.into_part(path, marks)],
        },
        session: builder.finish(),
        notes,
    })
}

fn not_json(path: &Path, why: &dyn std::fmt::Display) -> OpenError {
    OpenError::Damaged {
        path: path.to_owned(),
        line: None,
        why: why.to_string(),
    }
}

/// The facts about the whole session.
pub(super) fn document_head(document: &Document, path: &Path) -> Result<Head, OpenError> {
    let mut meta = SessionMeta::default();
    document.session(|session| meta = SessionMeta::of(session, true))?;
    let mut head = meta.head(path);
    head.dialect = Some("document".to_owned());
    let mut facts = RolloutFacts::default();
    document.each_item(|_, item| {
        let Some(item) = item else { return };
        let Kind::Message(role) = item_kind(item).0 else {
            return;
        };
        facts.times.add(item_time(item));
        if role == Role::User {
            facts.user(item);
        }
    })?;
    facts.fill(&mut head, path, || None);
    Ok(head)
}

pub(super) fn item_time(item: Value<'_>) -> Option<Moment> {
    moment_of(item, "timestamp")
}

/// What an item is.
pub(super) fn item_kind(item: Value<'_>) -> (Kind, Visibility) {
    let visible = |role| (Kind::Message(role), Visibility::Visible);
    match (
        RolloutRecord::of(item).what,
        string_of(item, "role").as_deref(),
    ) {
        (RolloutType::Item(Item::Message), Some("user")) if is_all_injected(item) => {
            (Kind::Message(Role::User), Visibility::Injected)
        }
        (RolloutType::Item(Item::Message), Some("user")) => visible(Role::User),
        (RolloutType::Item(Item::Message), Some("assistant")) => visible(Role::Assistant),
        (RolloutType::Item(Item::Message), Some("tool")) | (RolloutType::Item(Item::Output), _) => {
            visible(Role::Tool)
        }
        (RolloutType::Item(Item::Message), _) => {
            (Kind::Message(Role::System), Visibility::Injected)
        }
        (RolloutType::Item(Item::Reasoning | Item::Call | Item::HostedCall), _) => {
            visible(Role::Assistant)
        }
        _ => (Kind::Unknown, Visibility::Visible),
    }
}

/// What an entry says that is an item of a document.
pub(super) fn item_body(item: Value<'_>, raw: RawRef, kind: Kind) -> Body {
    let Kind::Message(role) = kind else {
        return Body::Unknown(Some(RolloutRecord::of(item).name()));
    };
    Body::Message(Message::new(role, content(item, raw, role)))
}

fn content(item: Value<'_>, raw: RawRef, role: Role) -> Vec<Block> {
    match RolloutRecord::of(item).what {
        RolloutType::Item(Item::Reasoning) => vec![Block::Thinking(blocks::read_reasoning(item))],
        RolloutType::Item(Item::Call) => vec![Block::ToolCall(blocks::tool_call(item))],
        RolloutType::Item(Item::HostedCall) => vec![Block::ToolCall(blocks::hosted_call(item))],
        RolloutType::Item(Item::Output) => vec![Block::ToolResult(blocks::tool_output(item, raw))],
        _ if role == Role::Tool => {
            let said = text_of(item, "content").unwrap_or_default();
            vec![Block::ToolResult(answered(item, said))]
        }
        _ => {
            let thought = text_of(item, "reasoning").filter(|t| !t.value.is_empty());
            let thought = thought.map(|text| {
                Block::Thinking(Thinking {
                    text,
                    ..Thinking::default()
                })
            });
            let said = blocks::message_blocks(item, raw, role == Role::User);
            let empty = |b: &Block| matches!(b, Block::Text(t) if t.value.is_empty());
            let (calls, rest) = item.get("tool_calls").map(few_items).unzip();
            let calls = calls.into_iter().flatten();
            thought
                .into_iter()
                .chain(said.into_iter().filter(|b| !empty(b)))
                .chain(calls.map(|c| Block::ToolCall(function(c))))
                .chain(rest.flatten().map(Rest::block))
                .collect()
        }
    }
}

/// A call as chat completions spell it.
fn function(call: Value<'_>) -> ToolCall {
    let name = call.at(&["function", "name"]).and_then(Value::str);
    let input = call.get("function").and_then(super::calls::call_input);
    ToolCall {
        input: input.or_else(|| text_of(call, "arguments").map(ToolInput::Text)),
        status: ToolStatus::Completed,
        ..ToolCall::new(
            filled_of(call, "id").unwrap_or_default(),
            name.unwrap_or_default(),
        )
    }
}

fn answered(item: Value<'_>, said: Text) -> ToolResult {
    let exit_code = super::calls::exit_code(&said.value);
    ToolResult {
        name: filled_of(item, "name"),
        blocks: vec![Block::Text(said)],
        is_error: exit_code.is_some_and(|code| code != 0),
        exit_code,
        ..ToolResult::new(filled_of(item, "tool_call_id").unwrap_or_default())
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "files are laid out for the test")]
mod tests {
    use super::*;

    /// All that was read of a document, as a text.
    fn told(path: &Path, held: u64) -> String {
        let source = Source::new(super::super::FORMAT, "x".to_owned(), path.to_owned());
        let read = Document::open_within(path, held);
        let Ok(read) = read.and_then(|document| read_document(&source, document)) else {
            return "none".to_owned();
        };
        let [part] = read.native.parts.as_slice() else {
            panic!("not one part")
        };
        let records = 0..u32::try_from(part.record_count()).unwrap();
        let records: Vec<_> = records
            .map(|n| (part.span(n), part.record_kind(n), part.read(n).unwrap()))
            .collect();
        let notes: Vec<_> = read
            .notes
            .iter()
            .map(|n| (&n.message, n.line, n.offset))
            .collect();
        let entries: Vec<_> = read
            .session
            .indexed()
            .map(|(ix, e)| (read.session.id(ix), e.kind))
            .collect();
        format!(
            "{:?}\n{entries:?}\n{:?}\n{records:?}\n{notes:?}",
            read.session.head,
            read.session.unclaimed()
        )
    }

    /// What is read of a document does not depend on how much of it is held in memory.
    #[test]
    fn long_documents_are_read_like_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rollout-1.json");
        let item = |n: u8| {
            format!(
                r#"{{"id":"i{n}","type":"message","role":"user","content":[{{"type":"input_text","text":"[{n}]"}}]}}"#
            )
        };
        let whole = format!(
            "{{\"session\": {{\"id\":\"s\",\"timestamp\":\"2025-04-20T10:00:00.000Z\"}},\n\"items\": [\n{} ,\n{},\n{}] }}\n",
            item(1),
            item(2),
            item(3)
        );
        let whole = whole.as_bytes();
        let damaged = (0..whole.len()).flat_map(|at| {
            [1, b'"', b' ', 0xFF].map(|byte| [&whole[..at], &[byte], &whole[at + 1..]].concat())
        });
        for document in std::iter::once(whole.to_vec()).chain(damaged) {
            std::fs::write(&path, &document).unwrap();
            let document = String::from_utf8_lossy(&document);
            assert_eq!(told(&path, 0), told(&path, SMALL), "{document}");
        }
    }
}
