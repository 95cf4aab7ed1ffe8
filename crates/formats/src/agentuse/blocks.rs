//! Parts as blocks of a message.

use rethread_json::Value;
use rethread_model::{
    Blob, Block, Json, Media, RawRef, Thinking, ToolCall, ToolResult, ToolStatus, Visibility,
};

use super::fields::{as_text, millis_between, moment_at_path};
use super::load::child_session;
use crate::Native;
use crate::fields::{string_of, text_of};
use crate::kit::{media_block, plain_input, unknown_block, url_blob};

/// The record that a part comes from, and the others of its entry.
pub(super) struct PartRecord<'a> {
    pub(super) native: &'a Native,
    pub(super) origin: &'a [RawRef],
    pub(super) raw: RawRef,
}

/// Adds what a part says. Marks of steps say nothing.
pub(super) fn push_blocks(blocks: &mut Vec<Block>, part: Value<'_>, record: &PartRecord<'_>) {
    let kind = string_of(part, "type").unwrap_or_default();
    let block = match kind.as_str() {
        "text" => text_of(part, "text").map(|said| {
            if part.get("synthetic").and_then(Value::bool) == Some(true) {
                Block::Aside {
                    text: said,
                    visibility: Visibility::Injected,
                }
            } else {
                Block::Text(said)
            }
        }),
        "reasoning" => text_of(part, "text").map(|text| {
            Block::Thinking(Thinking {
                text,
                ..Thinking::default()
            })
        }),
        "tool" if part.get("state").is_some_and(Value::is_object) => {
            return push_call(blocks, part, record);
        }
        "file" => file(part, record),
        "step-start" | "step-finish" => return,
        _ => None,
    };
    blocks.push(block.unwrap_or_else(|| unknown_block(part)));
}

/// A call, and its result once there is one.
fn push_call(blocks: &mut Vec<Block>, part: Value<'_>, record: &PartRecord<'_>) {
    let Some(state) = part.get("state") else {
        return;
    };
    let id = string_of(part, "callID").unwrap_or_default();
    let name = string_of(part, "tool").unwrap_or_default();
    let status = status(string_of(state, "status").as_deref());
    let (start, end) = (
        moment_at_path(state, &["time", "start"]),
        moment_at_path(state, &["time", "end"]),
    );
    #[allow(clippy::cast_precision_loss, reason = "no call takes so long")]
    let duration_ms = millis_between(start, end).map(|ms| ms as f64);
    let is_error = status == ToolStatus::Failed;
    let ended = is_error || status == ToolStatus::Completed;
    blocks.push(Block::ToolCall(ToolCall {
        title: string_of(state, "title"),
        input: state.get("input").filter(|v| !v.is_null()).map(plain_input),
        status,
        duration_ms,
        child_session: child_session(state),
        ..ToolCall::new(id.clone(), name.clone())
    }));
    let output = state.get("output");
    let error = state.get("error").filter(|_| is_error);
    if !ended && output.is_none() {
        return;
    }
    let full = output
        .and_then(|o| o.get("artifact"))
        .and_then(|a| artifact(a, record));
    let preview = output
        .filter(|_| full.is_some())
        .and_then(|o| text_of(o, "preview"));
    let said = error.or(output).map(as_text);
    blocks.push(Block::ToolResult(ToolResult {
        name: Some(name),
        blocks: preview.or(said).map(Block::Text).into_iter().collect(),
        is_error,
        structured: state.get("metadata").map(|m| Json::new(m.raw())),
        exit_code: state.at(&["metadata", "exit"]).and_then(Value::i64),
        full_output: full,
        ..ToolResult::new(id)
    }));
}

fn status(word: Option<&str>) -> ToolStatus {
    match word {
        Some("pending") | None => ToolStatus::Pending,
        Some("running") => ToolStatus::Running,
        Some("completed") => ToolStatus::Completed,
        Some("error") => ToolStatus::Failed,
        Some(other) => ToolStatus::Other(other.to_owned()),
    }
}

/// The file with the whole answer: one of the records of this entry, or it is missing.
fn artifact(value: Value<'_>, record: &PartRecord<'_>) -> Option<Blob> {
    let path = string_of(value, "path").or_else(|| string_of(value, "absolutePath"))?;
    let name = path.rsplit(['/', '\\']).next()?;
    let parts = record.origin.iter().filter_map(|raw| {
        let part = record.native.parts.get(raw.part as usize)?;
        Some(&part.path)
    });
    let mut named = parts.filter(|path| path.file_name().is_some_and(|n| n == name));
    let found = named.next().cloned();
    Some(found.map_or_else(|| Blob::Missing(name.to_owned()), Blob::File))
}

fn file(part: Value<'_>, record: &PartRecord<'_>) -> Option<Block> {
    Some(media_block(Media {
        name: string_of(part, "filename"),
        mime: string_of(part, "mime"),
        ..Media::new(url_blob(part.get("url")?, record.raw)?)
    }))
}
