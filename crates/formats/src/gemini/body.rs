//! What an entry says, decoded from its record.

use rethread_json::{Tree, Value};
use rethread_model::{
    Blob, Block, Body, EntryIx, Event, Json, Kind, Level, Message, ModelRef, RawRef, Role, Session,
    Text, Thinking, ToolCall,
};

use super::calls::{Outputs, call_and_result};
use super::content::block;
use super::fields::{others, string, text_of, usage};
use super::message::{part_text, parts};
use crate::{Native, PartKind, RecordKind};

/// What an entry says.
pub(crate) fn body(native: &Native, session: &Session, entry: EntryIx) -> Body {
    // The version that speaks stands first.
    let Some(raw) = session.origin(entry).first().copied() else {
        return Body::Unknown(None);
    };
    let kind = session.entry(entry).kind;
    if native.record_kind(raw) == Some(RecordKind::Giant) {
        return giant(native, kind, raw);
    }
    let mut buffer = Vec::new();
    let bytes = match native.view(raw, &mut buffer) {
        Ok(bytes) => bytes,
        Err(e) => return unreadable(&e.to_string()),
    };
    let mut tree = Tree::default();
    // What separates it from the next item of a list may follow.
    if tree.parse_prefix(bytes, 0).is_err() && tree.parse_into(bytes).is_err() {
        return unreadable("the file was changed while it was read");
    }
    let mut body = decoded(tree.root(bytes), kind, raw, &|name| saved(native, name));
    if let Body::Message(message) = &mut body
        && message.role == Role::Assistant
        && message.usage.is_none()
    {
        remember(native, session.origin(entry), message);
    }
    body
}

/// Adds what earlier versions of a message say of its cost and its model, and the last one does not.
fn remember(native: &Native, versions: &[RawRef], message: &mut Message) {
    let mut tree = Tree::default();
    // The version that speaks is first, then come the others, the oldest first.
    for raw in versions.iter().skip(1).rev() {
        if native.part_kind(*raw) == Some(PartKind::Opaque)
            || native.record_kind(*raw) == Some(RecordKind::Giant)
        {
            continue;
        }
        let Ok(bytes) = native.read(*raw) else {
            continue;
        };
        if tree.parse_prefix(&bytes, 0).is_err() {
            continue;
        }
        let value = tree.root(&bytes);
        if let Some(usage) = usage(value) {
            message.usage = Some(usage);
            message.model = message.model.take().or_else(|| model(value));
            return;
        }
    }
}

fn model(value: Value<'_>) -> Option<ModelRef> {
    string(value, "model").map(|id| ModelRef { provider: None, id })
}

fn giant(native: &Native, kind: Kind, raw: RawRef) -> Body {
    let len = native.span(raw).map_or(0, |s| s.end - s.start);
    let type_name = format!("message of {len} bytes");
    let Kind::Message(role) = kind else {
        return Body::Unknown(Some(type_name));
    };
    let raw = Json::new(b"null");
    Body::Message(Message::new(role, vec![Block::Unknown { type_name, raw }]))
}

fn unreadable(why: &str) -> Body {
    Body::Event(Event {
        name: "unreadable".to_owned(),
        text: Some(why.into()),
        level: Level::Error,
        details: None,
    })
}

/// The file in which an answer was saved.
fn saved(native: &Native, name: &str) -> Option<Blob> {
    let fits = |part: &crate::Part| {
        part.kind == PartKind::Opaque && part.path.file_stem().is_some_and(|stem| stem == name)
    };
    let at = native.parts.iter().position(fits)?;
    let part = u32::try_from(at).ok()?;
    Some(Blob::Record(RawRef { part, record: 0 }))
}

fn decoded(value: Value<'_>, kind: Kind, raw: RawRef, outputs: Outputs<'_>) -> Body {
    let word = string(value, "type").or_else(|| string(value, "role"));
    match kind {
        Kind::Message(role) => Body::Message(message(value, role, raw, outputs)),
        Kind::Event => Body::Event(event(value, word.unwrap_or_default())),
        _ => Body::Unknown(word.or_else(|| {
            let first = value.members().next()?.0.str()?;
            Some(first.into_owned())
        })),
    }
}

/// The fields that have a place in the model.
const KNOWN: [&str; 15] = [
    "id",
    "timestamp",
    "type",
    "role",
    "content",
    "parts",
    "message",
    "messageId",
    "sessionId",
    "displayContent",
    "toolCalls",
    "thoughts",
    "tokens",
    "model",
    "ts",
];

fn message(value: Value<'_>, role: Role, raw: RawRef, outputs: Outputs<'_>) -> Message {
    let mut blocks = Vec::new();
    if role == Role::Assistant {
        said_by_the_model(value, raw, outputs, &mut blocks);
    } else {
        blocks.extend(parts(value).map(|part| block(part, raw)));
    }
    let mut message = Message::new(role, blocks);
    message.model = model(value);
    message.usage = usage(value);
    message.details = others(value, &KNOWN);
    message
}

/// Thoughts, text and calls. Where the content itself holds thoughts or calls, it says in which
/// order they came; else thoughts come first and calls last.
fn said_by_the_model(value: Value<'_>, raw: RawRef, outputs: Outputs<'_>, out: &mut Vec<Block>) {
    let content: Vec<Block> = parts(value)
        // The client writes an empty text where there is none.
        .filter(|part| part_text(*part).is_none_or(|text| !text.is_empty()))
        .map(|part| block(part, raw))
        .collect();
    let has_thoughts = content.iter().any(|b| matches!(b, Block::Thinking(_)));
    if !has_thoughts {
        let thoughts = value.get("thoughts").into_iter().flat_map(Value::items);
        out.extend(thoughts.map(|thought| Block::Thinking(thinking(thought))));
    }
    let mut calls: Vec<Option<Value<'_>>> = value
        .get("toolCalls")
        .into_iter()
        .flat_map(Value::items)
        .map(Some)
        .collect();
    for block in content {
        let Block::ToolCall(call) = &block else {
            out.push(block);
            continue;
        };
        let is_this = |known: &Option<Value<'_>>| {
            known.is_some_and(|k| k.get("id").is_some_and(|id| id.is_str(&call.id)))
        };
        let kept = calls.iter_mut().find(|known| is_this(known));
        match kept.and_then(Option::take) {
            Some(kept) => out.extend(joined(call, call_and_result(kept, raw, outputs))),
            None => out.push(block),
        }
    }
    for call in calls.into_iter().flatten() {
        out.extend(call_and_result(call, raw, outputs));
    }
}

/// A call in the content with what the client keeps beside it; the vendor's signature is only in
/// the content.
fn joined(call: &ToolCall, mut blocks: Vec<Block>) -> Vec<Block> {
    if let Some(Block::ToolCall(kept)) = blocks.first_mut() {
        kept.signature.clone_from(&call.signature);
        if kept.input.is_none() {
            kept.input.clone_from(&call.input);
        }
    }
    blocks
}

/// A thought: its subject, then what it says.
fn thinking(thought: Value<'_>) -> Thinking {
    let texts = [text_of(thought, "subject"), text_of(thought, "description")];
    let texts: Vec<Text> = texts
        .into_iter()
        .flatten()
        .filter(|t| !t.value.is_empty())
        .collect();
    Thinking {
        text: Text::joined(&texts, "\n"),
        summary: true,
        ..Thinking::default()
    }
}

fn event(value: Value<'_>, name: String) -> Event {
    let texts: Vec<String> = parts(value)
        .filter_map(|part| part_text(part).map(std::borrow::Cow::into_owned))
        .collect();
    Event {
        level: match name.as_str() {
            "warning" => Level::Warning,
            "error" => Level::Error,
            _ => Level::Info,
        },
        name,
        text: (!texts.is_empty()).then(|| Text::new(texts.join("\n"))),
        details: others(value, &KNOWN),
    }
}
