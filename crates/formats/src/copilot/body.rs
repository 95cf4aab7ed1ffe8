//! What an entry says, decoded from its event.

use std::path::PathBuf;

use rethread_json::Value;
use rethread_model::{
    Blob, Block, Body, Compaction, EntryIx, Event, Json, Kind, Level, Media, Message, ModelRef,
    RawRef, Role, Session, Thinking, ToolCall, ToolResult, ToolStatus, UsageRecord,
};

use super::Copilot;
use super::event::LogEvent;
use crate::few::few_blocks;
use crate::fields::{filled_of, is_true, json_of, string_of, text_of};
use crate::kit::{decode_record, inline_blob, media_block, parsed_input, unknown_block};
use crate::{BodyReader, Native};

impl BodyReader for Copilot {
    fn body(&self, native: &Native, session: &Session, entry: EntryIx) -> Body {
        decode_record(native, session, entry, "event", |value, raw| {
            decoded(value, session.entry(entry).kind, raw, "content")
        })
    }

    /// What the client sends: what the person said with what it puts around that.
    fn sent(&self, native: &Native, session: &Session, entry: EntryIx) -> Body {
        decode_record(native, session, entry, "event", |value, raw| {
            decoded(value, session.entry(entry).kind, raw, "transformedContent")
        })
    }
}

fn decoded(value: Value<'_>, kind: Kind, raw: RawRef, content: &str) -> Body {
    let (Some(event), Some(data)) = (LogEvent::of(value), value.get("data")) else {
        return Body::Unknown(string_of(value, "type"));
    };
    match kind {
        Kind::Message(role) => {
            let mut message = Message::new(role, blocks(data, role, raw, content));
            message.model = event.model("model").filter(|_| role == Role::Assistant);
            message.usage = event.usage();
            message.response_id = filled_of(data, "apiCallId").filter(|_| role == Role::Assistant);
            message.request_id = filled_of(data, "requestId");
            Body::Message(message)
        }
        Kind::ModelChange => Body::ModelChange(event.model("newModel").unwrap_or_default()),
        Kind::Usage => Body::Usage(UsageRecord {
            usage: event.usage().unwrap_or_default(),
            model: data
                .get("usage")
                .and_then(|usage| filled_of(usage, "model"))
                .map(|id| ModelRef { provider: None, id }),
            purpose: None,
        }),
        Kind::Compaction => {
            let count = |key| data.get(key).and_then(Value::u64);
            Body::Compaction(Compaction {
                summary: text_of(data, "summaryContent"),
                trigger: string_of(data, "trigger"),
                tokens_before: count("preCompactionTokens"),
                tokens_after: count("postCompactionTokens"),
                ..Compaction::default()
            })
        }
        _ => {
            let said = ["message", "reason", "agentName", "name", "newMode"];
            let level = match event.type_name.as_ref() {
                "session.error" | "subagent.failed" => Level::Error,
                "session.warning" | "abort" => Level::Warning,
                _ => Level::Info,
            };
            Body::Event(Event {
                name: event.type_name.into_owned(),
                text: said.iter().find_map(|key| text_of(data, key)),
                level,
                details: Some(Json::new(data.raw())),
            })
        }
    }
}

/// What a message is made of.
fn blocks(data: Value<'_>, role: Role, raw: RawRef, content: &str) -> Vec<Block> {
    if role == Role::Tool {
        return vec![Block::ToolResult(tool_result(data, raw))];
    }
    let mut blocks = Vec::new();
    let encrypted =
        filled_of(data, "reasoningOpaque").or_else(|| filled_of(data, "encryptedContent"));
    let thought = text_of(data, "reasoningText");
    if thought.is_some() || encrypted.is_some() {
        blocks.push(Block::Thinking(Thinking {
            redacted: thought.is_none(),
            text: thought.unwrap_or_default(),
            encrypted,
            ..Thinking::default()
        }));
    }
    let said = text_of(data, content).or_else(|| text_of(data, "content"));
    blocks.extend(said.filter(|said| !said.value.is_empty()).map(Block::Text));
    if let Some(list) = data.get("attachments") {
        blocks.extend(few_blocks(list, |item| attachment(item, raw)));
    }
    blocks.extend(
        data.get("toolRequests")
            .into_iter()
            .flat_map(|list| few_blocks(list, tool_call)),
    );
    blocks
}

fn tool_call(value: Value<'_>) -> Block {
    let of = |key: &str| string_of(value, key).unwrap_or_default();
    Block::ToolCall(ToolCall {
        namespace: filled_of(value, "mcpServerName"),
        title: filled_of(value, "intentionSummary").or_else(|| filled_of(value, "toolTitle")),
        input: value.get("arguments").map(parsed_input),
        status: ToolStatus::Completed,
        ..ToolCall::new(of("toolCallId"), of("name"))
    })
}

/// What a tool gave: what the model was told of it, or what went wrong.
fn tool_result(data: Value<'_>, raw: RawRef) -> ToolResult {
    let result = data.get("result");
    let failure = || text_of(data.get("error")?, "message");
    let said = result
        .and_then(|result| text_of(result, "content"))
        .or_else(failure);
    let mut blocks: Vec<Block> = said.map(Block::Text).into_iter().collect();
    if let Some(list) = result.and_then(|result| result.get("binaryResultsForLlm")) {
        blocks.extend(few_blocks(list, |item| attachment(item, raw)));
    }
    let exit_code = data
        .at(&["shellExecution", "exitCode"])
        .and_then(Value::i64);
    ToolResult {
        blocks,
        is_error: !is_true(data, "success"),
        structured: result.and_then(|result| json_of(result, "structuredContent")),
        exit_code,
        ..ToolResult::new(string_of(data, "toolCallId").unwrap_or_default())
    }
}

/// A picture or a file: its bytes where they are in the event, else its path.
fn attachment(value: Value<'_>, raw: RawRef) -> Block {
    let mime = filled_of(value, "mimeType");
    let outside = || Some(Blob::Outside(PathBuf::from(filled_of(value, "path")?)));
    let blob = value
        .get("data")
        .and_then(|data| inline_blob(data, raw))
        .or_else(outside);
    let name = filled_of(value, "displayName");
    let Some(blob) = blob.or_else(|| filled_of(value, "url").map(Blob::Url)) else {
        return unknown_block(value);
    };
    media_block(Media {
        mime,
        name,
        ..Media::new(blob)
    })
}
