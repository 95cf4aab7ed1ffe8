//! The content of messages.

use std::path::PathBuf;

use rethread_json::{Object, Value};
use rethread_model::{
    Blob, Block, Json, Media, RawRef, Text, Thinking, ToolCall, ToolInput, ToolResult, ToolStatus,
};

use crate::fields::{is_true, json_of, string_of, text_from, text_of};
use crate::kit::{content_blocks, inline_blob, unknown_block};

/// The blocks of a content, which is one text or an array.
pub(super) fn read_blocks(content: Option<Value<'_>>, raw: RawRef) -> Vec<Block> {
    content_blocks(content, |item| block(item, raw))
}

fn block(value: Value<'_>, raw: RawRef) -> Block {
    let type_name = string_of(value, "type").unwrap_or_default();
    let known = match type_name.as_str() {
        "text" => text_of(value, "text").map(Block::Text),
        "image" => image(value, raw).map(Block::Image),
        "thinking" => thinking(value).map(Block::Thinking),
        "toolCall" => Some(Block::ToolCall(call(value))),
        // A text that is no block, as in a list of lines.
        _ => text_from(value).map(Block::Text),
    };
    known.unwrap_or_else(|| unknown_block(value))
}

fn image(value: Value<'_>, record: RawRef) -> Option<Media> {
    Some(Media {
        mime: string_of(value, "mimeType"),
        ..Media::new(inline_blob(value.get("data")?, record)?)
    })
}

fn thinking(value: Value<'_>) -> Option<Thinking> {
    Some(Thinking {
        text: text_of(value, "thinking")?,
        signature: string_of(value, "thinkingSignature"),
        redacted: is_true(value, "redacted"),
        ..Thinking::default()
    })
}

fn call(value: Value<'_>) -> ToolCall {
    let named = |key| string_of(value, key).unwrap_or_default();
    ToolCall {
        namespace: string_of(value, "namespace"),
        input: json_of(value, "arguments").map(ToolInput::Json),
        // How it ended is in its result, which is an entry of its own.
        status: ToolStatus::Completed,
        signature: string_of(value, "thoughtSignature"),
        ..ToolCall::new(named("id"), named("name"))
    }
}

/// Calls of a response that broke off were never carried out.
pub(super) fn not_carried_out(blocks: &mut [Block]) {
    for block in blocks {
        if let Block::ToolCall(call) = block {
            call.status = ToolStatus::Pending;
        }
    }
}

/// What a tool answered.
pub(super) fn tool_result(message: Value<'_>, raw: RawRef) -> Block {
    Block::ToolResult(ToolResult {
        name: string_of(message, "toolName"),
        blocks: flat(read_blocks(message.get("content"), raw)),
        is_error: is_true(message, "isError"),
        structured: json_of(message, "details"),
        ..ToolResult::new(string_of(message, "toolCallId").unwrap_or_default())
    })
}

/// A result holds no calls; one that stands there is kept as a block that nobody knows.
fn flat(blocks: Vec<Block>) -> Vec<Block> {
    let plain = |block| match block {
        Block::ToolCall(call) => Block::Unknown {
            type_name: "toolCall".to_owned(),
            raw: match call.input {
                Some(ToolInput::Json(json)) => json,
                _ => Json::new(b"null"),
            },
        },
        other => other,
    };
    blocks.into_iter().map(plain).collect()
}

/// A command that the person ran, and what it printed.
pub(super) fn bash_blocks(message: Value<'_>, id: &str) -> Vec<Block> {
    let exit_code = message.get("exitCode").and_then(Value::i64);
    let cancelled = is_true(message, "cancelled");
    let failed = exit_code.is_some_and(|code| code != 0);
    let input = message
        .get("command")
        .map(|c| Object::new().raw("command", c.raw()).finish());
    let output = text_of(message, "output").filter(|t: &Text| !t.value.is_empty());
    let outside = |path| Blob::Outside(PathBuf::from(path));
    vec![
        Block::ToolCall(ToolCall {
            input: input.map(|bytes| ToolInput::Json(Json::new(&bytes))),
            status: if cancelled {
                ToolStatus::Cancelled
            } else if failed {
                ToolStatus::Failed
            } else {
                ToolStatus::Completed
            },
            by_user: true,
            ..ToolCall::new(id, "bash")
        }),
        Block::ToolResult(ToolResult {
            name: Some("bash".to_owned()),
            blocks: output.map(Block::Text).into_iter().collect(),
            is_error: failed,
            exit_code,
            full_output: string_of(message, "fullOutputPath").map(outside),
            ..ToolResult::new(id)
        }),
    ]
}
