//! The sessions of the first client, of 2025: one JSON document each, `{session, items}`.

use std::path::Path;

use rethread_disk::read_small;
use rethread_json::{SyntaxError, Tree, Value};
use rethread_model::{
    Block, Body, Head, Kind, Message, Moment, NewEntry, Note, RawRef, Role, SessionBuilder, Text,
    Thinking, ToolCall, ToolInput, ToolStatus, Visibility,
};

use super::SLUG;
use super::blocks;
use super::facts::Facts;
use super::meta::Meta;
use super::record::{Item, Record, What};
use super::said::is_all_injected;
use crate::few::{Rest, few};
use crate::fields::{filled, string, text_of};
use crate::mended::{Readable, not_utf8};
use crate::{Conversation, Marks, Native, OpenError, Part, RecordKind, Source};

/// Whether a file is a document, by its name.
pub(super) fn is_document(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "json")
}

/// The id of the session that a document is; none if it is something else.
pub(super) fn id_of(path: &Path) -> Option<String> {
    let document = Read::of(path, read_small(path).ok()?).ok()?;
    let root = document.root();
    is_ours(root).then(|| {
        let id = root.get("session").and_then(|s| string(s, "id"));
        id.unwrap_or_default()
    })
}

/// A document that was read, with what is wrong in it.
pub(super) struct Read {
    bytes: Vec<u8>,
    /// Where values are damaged, what is read in their place.
    readable: Option<Readable>,
    tree: Tree,
}

impl Read {
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

fn is_ours(root: Value<'_>) -> bool {
    root.get("items").is_some_and(Value::is_array)
        && root.get("session").is_some_and(|s| s.get("id").is_some())
}

/// Reads a session.
pub(super) fn read(source: &Source) -> Result<Conversation, OpenError> {
    let path = &source.path;
    let bytes = read_small(path)?;
    let len = bytes.len();
    let document = Read::of(path, bytes).map_err(|e| OpenError::Damaged {
        path: path.clone(),
        line: None,
        why: e.to_string(),
    })?;
    let root = document.root();
    if !is_ours(root) {
        return Err(OpenError::NotOurs {
            path: path.clone(),
            format: SLUG,
        });
    }
    let mut builder = SessionBuilder::new(head(root, path));
    let mut marks = Marks::default();
    let mut record = |start: usize, kind| {
        let record = marks.add(start as u64, kind)?;
        Some(RawRef { part: 0, record })
    };
    // Each item is a record, and so is what stands around them.
    let items = || root.get("items").into_iter().flat_map(Value::items);
    let around = match items().next() {
        Some(_) => RecordKind::Frame,
        None => RecordKind::Value,
    };
    if let Some(raw) = record(0, around) {
        builder.unclaimed(raw);
    }
    let mut parent = None;
    let mut end = len;
    for item in items() {
        end = item.span().end;
        let is_damaged = document.is_damaged(item);
        let record_kind = if is_damaged {
            RecordKind::Junk
        } else {
            RecordKind::Value
        };
        let Some(raw) = record(item.span().start, record_kind) else {
            break;
        };
        if is_damaged {
            builder.unclaimed(raw);
            continue;
        }
        let (kind, visibility) = kind(item);
        let added = builder.add(&NewEntry {
            id: &filled(item, "id").unwrap_or_default(),
            parent,
            kind,
            time: time(item),
            visibility,
            origin: &[raw],
        });
        if added.is_none() {
            builder.unclaimed(raw);
        }
        parent = added.or(parent);
    }
    if end < len
        && let Some(raw) = record(end, around)
    {
        builder.unclaimed(raw);
    }
    let notes = document.notes(path);
    let bytes = document.into_bytes();
    Ok(Conversation {
        source: source.clone(),
        native: Native {
            parts: vec![Part::document_of(path.clone(), bytes, marks)],
        },
        session: builder.finish(),
        notes,
    })
}

/// The facts about the whole session.
pub(super) fn head(root: Value<'_>, path: &Path) -> Head {
    let meta = root.get("session").map(|s| Meta::of(s, true));
    let mut head = meta.unwrap_or_default().head(path);
    head.dialect = Some("document".to_owned());
    let mut facts = Facts::default();
    for item in root.get("items").into_iter().flat_map(Value::items) {
        let Kind::Message(role) = kind(item).0 else {
            continue;
        };
        facts.times.add(time(item));
        if role == Role::User {
            facts.user(item);
        }
    }
    facts.fill(&mut head, path, || None);
    head
}

pub(super) fn time(item: Value<'_>) -> Option<Moment> {
    item.get("timestamp")?.str()?.parse().ok()
}

/// What an item is.
pub(super) fn kind(item: Value<'_>) -> (Kind, Visibility) {
    let visible = |role| (Kind::Message(role), Visibility::Visible);
    match (Record::of(item).what, string(item, "role").as_deref()) {
        (What::Item(Item::Message), Some("user")) if is_all_injected(item) => {
            (Kind::Message(Role::User), Visibility::Injected)
        }
        (What::Item(Item::Message), Some("user")) => visible(Role::User),
        (What::Item(Item::Message), Some("assistant")) => visible(Role::Assistant),
        (What::Item(Item::Message), Some("tool")) | (What::Item(Item::Output), _) => {
            visible(Role::Tool)
        }
        (What::Item(Item::Message), _) => (Kind::Message(Role::System), Visibility::Injected),
        (What::Item(Item::Reasoning | Item::Call | Item::HostedCall), _) => {
            visible(Role::Assistant)
        }
        _ => (Kind::Unknown, Visibility::Visible),
    }
}

/// What an entry says that is an item of a document.
pub(super) fn body(item: Value<'_>, raw: RawRef, kind: Kind) -> Body {
    let Kind::Message(role) = kind else {
        return Body::Unknown(Some(Record::of(item).name()));
    };
    Body::Message(Message::new(role, content(item, raw, role)))
}

fn content(item: Value<'_>, raw: RawRef, role: Role) -> Vec<Block> {
    match Record::of(item).what {
        What::Item(Item::Reasoning) => vec![Block::Thinking(blocks::reasoning(item))],
        What::Item(Item::Call) => vec![Block::ToolCall(blocks::call(item))],
        What::Item(Item::HostedCall) => vec![Block::ToolCall(blocks::hosted(item))],
        What::Item(Item::Output) => vec![Block::ToolResult(blocks::output(item, raw))],
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
            let said = blocks::message(item, raw, role == Role::User);
            let empty = |b: &Block| matches!(b, Block::Text(t) if t.value.is_empty());
            let (calls, rest) = item.get("tool_calls").map(few).unzip();
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
    let input = call.get("function").and_then(super::calls::arguments);
    ToolCall {
        input: input.or_else(|| text_of(call, "arguments").map(ToolInput::Text)),
        status: ToolStatus::Completed,
        ..ToolCall::new(
            filled(call, "id").unwrap_or_default(),
            name.unwrap_or_default(),
        )
    }
}

fn answered(item: Value<'_>, said: Text) -> rethread_model::ToolResult {
    let exit_code = super::calls::exit_code(&said.value);
    rethread_model::ToolResult {
        call_id: filled(item, "tool_call_id").unwrap_or_default(),
        name: filled(item, "name"),
        blocks: vec![Block::Text(said)],
        is_error: exit_code.is_some_and(|code| code != 0),
        structured: None,
        exit_code,
        full_output: None,
    }
}
