//! The sessions of the first client, of 2025: one JSON document each, `{session, items}`.

use std::path::Path;

use rethread_disk::read_small;
use rethread_json::{Document, Tree, Value};
use rethread_model::{
    Block, Body, EntryIx, Event, Head, Kind, Level, Message, Moment, NewEntry, Note, RawRef, Role,
    Session, SessionBuilder, Text, Thinking, ToolCall, ToolInput, ToolStatus, Visibility,
};

use super::blocks;
use super::facts::Facts;
use super::meta::Meta;
use super::record::{Item, Record, What};
use super::said::is_all_injected;
use super::{Codex, SLUG};
use crate::fields::{filled, string, text_of};
use crate::{Conversation, Native, OpenError, Part, Source};

/// The one record of a document.
const RECORD: RawRef = RawRef { part: 0, record: 0 };

/// Whether a file is a document, by its name.
pub(super) fn is_document(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "json")
}

/// The id of the session that a document is; none if it is something else.
pub(super) fn id_of(path: &Path) -> Option<String> {
    let document = Document::parse(read_small(path).ok()?).ok()?;
    is_ours(document.root()).then(|| {
        let id = document.root().get("session").and_then(|s| string(s, "id"));
        id.unwrap_or_default()
    })
}

fn is_ours(root: Value<'_>) -> bool {
    root.get("items").is_some_and(Value::is_array)
        && root.get("session").is_some_and(|s| s.get("id").is_some())
}

/// Reads a session.
pub(super) fn read(source: &Source) -> Result<Conversation, OpenError> {
    let path = &source.path;
    let bytes = read_small(path)?;
    let tree = Tree::parse(&bytes).map_err(|e| OpenError::Damaged {
        path: path.clone(),
        line: None,
        why: e.to_string(),
    })?;
    let root = tree.root(&bytes);
    if !is_ours(root) {
        return Err(OpenError::NotOurs {
            path: path.clone(),
            format: SLUG,
        });
    }
    let mut builder = SessionBuilder::new(head(root, path));
    let mut parent = None;
    for item in root.get("items").into_iter().flat_map(Value::items) {
        let (kind, visibility) = kind(item);
        let added = builder.add(&NewEntry {
            id: &filled(item, "id").unwrap_or_default(),
            parent,
            kind,
            time: time(item),
            visibility,
            origin: &[RECORD],
        });
        parent = added.or(parent);
    }
    if builder.is_empty() {
        builder.unclaimed(RECORD);
    }
    Ok(Conversation {
        source: source.clone(),
        native: Native {
            parts: vec![Part::document(path.clone(), bytes)],
        },
        session: builder.finish(),
        notes: Vec::<Note>::new(),
        format: &Codex,
    })
}

/// The facts about the whole session.
pub(super) fn head(root: Value<'_>, path: &Path) -> Head {
    let meta = root.get("session").map(|s| Meta::of(s, true));
    let mut head = meta.unwrap_or_default().head(path);
    head.dialect = Some("document".to_owned());
    let mut facts = Facts::default();
    for item in root.get("items").into_iter().flat_map(Value::items) {
        facts.time(time(item));
        if kind(item).0 == Kind::Message(Role::User) {
            facts.user(item);
        }
    }
    facts.fill(&mut head, path, || None);
    head
}

fn time(item: Value<'_>) -> Option<Moment> {
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

/// What an entry says: the n-th one is the n-th item.
pub(super) fn body(native: &Native, session: &Session, entry: EntryIx) -> Body {
    let bytes = native.read(RECORD).unwrap_or_default();
    let tree = Tree::parse(&bytes).unwrap_or_default();
    let root = if bytes.is_empty() {
        None
    } else {
        Some(tree.root(&bytes))
    };
    let items = root.and_then(|r| r.get("items"));
    let Some(item) = items.and_then(|i| i.items().nth(entry.get())) else {
        return Body::Event(Event {
            name: "unreadable".to_owned(),
            text: None,
            level: Level::Error,
            details: None,
        });
    };
    let Kind::Message(role) = session.entry(entry).kind else {
        return Body::Unknown(Some(Record::of(item).name()));
    };
    Body::Message(Message::new(role, content(item, role)))
}

fn content(item: Value<'_>, role: Role) -> Vec<Block> {
    match Record::of(item).what {
        What::Item(Item::Reasoning) => vec![Block::Thinking(blocks::reasoning(item))],
        What::Item(Item::Call | Item::HostedCall) => vec![Block::ToolCall(blocks::call(item))],
        What::Item(Item::Output) => vec![Block::ToolResult(blocks::output(item, RECORD))],
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
            let said = blocks::message(item, RECORD, role == Role::User);
            let empty = |b: &Block| matches!(b, Block::Text(t) if t.value.is_empty());
            let calls = item.get("tool_calls").into_iter().flat_map(Value::items);
            thought
                .into_iter()
                .chain(said.into_iter().filter(|b| !empty(b)))
                .chain(calls.map(|c| Block::ToolCall(function(c))))
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
