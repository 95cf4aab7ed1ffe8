//! A message of the log: its head, and what it says.

use std::path::Path;

use rethread_json::Value;
use rethread_model::{
    Blob, Block, Diff, Location, Media, Message, ModelRef, Moment, Role, Text, Thinking, ToolCall,
    ToolResult, ToolStatus, Usage,
};

use super::assets;
use crate::few::{Rest, few_items};
use crate::fields::{string_of, text_from};
use crate::kit::{parsed_input, unknown_block};

/// What is needed of a message to list and count it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ThreadMessageHead {
    pub(crate) id: Option<String>,
    pub(crate) role: Option<String>,
    pub(crate) time: Option<Moment>,
    /// The timestamp as it is spelled.
    pub(crate) time_text: Option<String>,
    pub(crate) tool_calls: u64,
}

/// Reads the head of a message.
pub(crate) fn message_head(message: Value<'_>) -> ThreadMessageHead {
    let time_text = string_of(message, "timestamp");
    ThreadMessageHead {
        id: string_of(message, "id"),
        role: string_of(message, "role"),
        time: time_text.as_deref().and_then(|t| t.parse().ok()),
        time_text,
        tool_calls: message
            .get("toolCalls")
            .map_or(0, |calls| calls.items().count() as u64),
    }
}

/// The role that a word stands for.
pub(crate) fn role_of_word(word: &str) -> Role {
    match word {
        "user" => Role::User,
        "agent" | "assistant" => Role::Assistant,
        "tool" => Role::Tool,
        _ => Role::System,
    }
}

/// The word that stands for a role; tools answer inside the agent's message.
pub(crate) fn word_of_role(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant | Role::Tool => "agent",
        Role::System => "system",
    }
}

/// The tokens of a message.
pub(crate) fn read_usage(message: Value<'_>) -> Option<Usage> {
    let tokens = message.get("tokens").filter(|t| t.is_object())?;
    let count = |key| tokens.get(key).and_then(Value::u64).unwrap_or(0);
    Some(Usage {
        input: count("input"),
        output: count("output"),
        ..Usage::default()
    })
}

/// What a message says.
pub(crate) fn message_body(message: Value<'_>, folder: &Path) -> Message {
    let word = string_of(message, "role").unwrap_or_default();
    let mut body = Message::new(role_of_word(&word), blocks(message, folder));
    body.model = string_of(message, "model").map(|id| ModelRef { provider: None, id });
    body.stop_reason = string_of(message, "stopReason");
    body.usage = read_usage(message);
    body
}

/// Content in its order; a tool call where `tool_call_ref` says it happened, else behind it all.
fn blocks(message: Value<'_>, folder: &Path) -> Vec<Block> {
    let (calls, more_calls) = message.get("toolCalls").map(few_items).unzip();
    let calls: Vec<Value<'_>> = calls.into_iter().flatten().collect();
    let mut placed = vec![false; calls.len()];
    let mut blocks = Vec::new();
    for item in content(message) {
        let ContentItem::Block(value) = item else {
            if let ContentItem::Text(text) = item {
                blocks.push(Block::Text(text));
            }
            continue;
        };
        let reference = value.get("type").filter(|t| t.is_str("tool_call_ref"));
        let id = reference.and_then(|_| string_of(value, "toolCallId"));
        let at = id.and_then(|id| {
            let fits = |c: &Value<'_>| c.get("toolCallId").is_some_and(|v| v.is_str(&id));
            (0..calls.len()).find(|i| !placed[*i] && fits(&calls[*i]))
        });
        match at {
            Some(i) => {
                placed[i] = true;
                push_call(&mut blocks, calls[i]);
            }
            None => blocks.push(block(value, folder)),
        }
    }
    blocks.extend(
        message
            .get("content")
            .and_then(|c| few_items(c).1)
            .map(Rest::block),
    );
    for (call, placed) in calls.into_iter().zip(placed) {
        if !placed {
            push_call(&mut blocks, call);
        }
    }
    blocks.extend(more_calls.flatten().map(Rest::block));
    blocks
}

enum ContentItem<'a> {
    Block(Value<'a>),
    Text(Text),
}

/// The items of `content`, which some programs write as one string.
fn content(message: Value<'_>) -> impl Iterator<Item = ContentItem<'_>> {
    let value = message.get("content");
    let lone = value.and_then(text_from).map(ContentItem::Text);
    let items = value.into_iter().flat_map(|value| few_items(value).0);
    lone.into_iter()
        .chain(items.map(|v| text_from(v).map_or(ContentItem::Block(v), ContentItem::Text)))
}

fn block(value: Value<'_>, folder: &Path) -> Block {
    let type_name = string_of(value, "type").unwrap_or_default();
    let said = || value.get("text").and_then(text_from);
    let known = match type_name.as_str() {
        "text" => said().map(Block::Text),
        "thinking" => said().map(|text| {
            Block::Thinking(Thinking {
                text,
                ..Thinking::default()
            })
        }),
        "image" => media(value, folder).map(Block::Image),
        "audio" => media(value, folder).map(Block::File),
        "resource" => resource(value, folder).map(Block::File),
        "resource_link" => string_of(value, "uri").map(|uri| {
            Block::File(Media {
                mime: string_of(value, "mimeType"),
                name: string_of(value, "title").or_else(|| string_of(value, "name")),
                ..Media::new(Blob::Url(uri))
            })
        }),
        _ => None,
    };
    known.unwrap_or_else(|| unknown_block(value))
}

/// A resource is an asset or a text, with an address of its own.
fn resource(value: Value<'_>, folder: &Path) -> Option<Media> {
    let uri = string_of(value, "uri");
    if value.get("assetRef").is_some() {
        return media(value, folder).map(|media| Media { uri, ..media });
    }
    let blob = value.get("text").and_then(text_from).map(Blob::Text)?;
    Some(Media {
        mime: string_of(value, "mimeType"),
        name: uri.clone(),
        uri,
        blob,
    })
}

fn media(value: Value<'_>, folder: &Path) -> Option<Media> {
    let name = string_of(value, "assetRef")?;
    let blob =
        assets::find_asset(folder, &name).map_or_else(|| Blob::Missing(name.clone()), Blob::File);
    Some(Media {
        mime: string_of(value, "mimeType"),
        name: Some(name),
        ..Media::new(blob)
    })
}

/// A call, and its result where there is one: the format keeps both in one object.
fn push_call(blocks: &mut Vec<Block>, value: Value<'_>) {
    let id = string_of(value, "toolCallId").unwrap_or_default();
    let name = string_of(value, "name").unwrap_or_default();
    let status = status(string_of(value, "status").as_deref());
    let output = value.get("output").filter(|v| !v.is_null());
    let is_error = status == ToolStatus::Failed;
    let ended = matches!(status, ToolStatus::Completed | ToolStatus::Failed);
    blocks.push(Block::ToolCall(ToolCall {
        title: string_of(value, "title"),
        kind: string_of(value, "kind"),
        input: value
            .get("input")
            .filter(|v| !v.is_null())
            .map(parsed_input),
        status,
        duration_ms: value.get("duration").and_then(Value::f64),
        diffs: value.get("diff").and_then(diff).into_iter().collect(),
        locations: value.get("locations").map(locations).unwrap_or_default(),
        ..ToolCall::new(id.clone(), name.clone())
    }));
    if output.is_some() || ended {
        let said = output.map(|v| text_from(v).unwrap_or_else(|| raw_text(v)));
        blocks.push(Block::ToolResult(ToolResult {
            name: Some(name),
            blocks: said.map(Block::Text).into_iter().collect(),
            is_error,
            ..ToolResult::new(id)
        }));
    }
}

fn status(word: Option<&str>) -> ToolStatus {
    match word {
        Some("pending") | None => ToolStatus::Pending,
        Some("running" | "in_progress") => ToolStatus::Running,
        Some("completed") => ToolStatus::Completed,
        Some("failed") => ToolStatus::Failed,
        Some("cancelled") => ToolStatus::Cancelled,
        Some(other) => ToolStatus::Other(other.to_owned()),
    }
}

fn diff(value: Value<'_>) -> Option<Diff> {
    Some(Diff {
        path: string_of(value, "path")?,
        old: value.get("oldText").and_then(text_from),
        new: value.get("newText").and_then(text_from),
    })
}

fn locations(value: Value<'_>) -> Vec<Location> {
    let location = |v: Value<'_>| {
        Some(Location {
            path: string_of(v, "path")?,
            line: v.get("line").and_then(Value::u64),
        })
    };
    value.items().filter_map(location).collect()
}

fn raw_text(value: Value<'_>) -> Text {
    Text::new(String::from_utf8_lossy(value.raw()))
}
