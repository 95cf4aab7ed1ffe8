//! Parts as blocks of a message.

use rethread_json::Value;
use rethread_model::{
    Blob, Block, Json, Media, RawRef, Thinking, ToolCall, ToolInput, ToolResult, ToolStatus,
    Visibility,
};

use super::fields::{as_text, between, moment, string, text};
use super::load::child_session;
use crate::Native;

/// The record that a part comes from, and the others of its entry.
pub(super) struct PartRecord<'a> {
    pub(super) native: &'a Native,
    pub(super) origin: &'a [RawRef],
    pub(super) raw: RawRef,
}

/// Adds what a part says. Marks of steps say nothing.
pub(super) fn push_blocks(blocks: &mut Vec<Block>, part: Value<'_>, record: &PartRecord<'_>) {
    let kind = string(part, "type").unwrap_or_default();
    let block = match kind.as_str() {
        "text" => text(part, "text").map(|said| {
            if part.get("synthetic").and_then(Value::bool) == Some(true) {
                Block::Aside {
                    text: said,
                    visibility: Visibility::Injected,
                }
            } else {
                Block::Text(said)
            }
        }),
        "reasoning" => text(part, "text").map(|text| {
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
    blocks.push(block.unwrap_or_else(|| Block::Unknown {
        type_name: kind,
        raw: Json::new(part.raw()),
    }));
}

/// A call, and its result once there is one.
fn push_call(blocks: &mut Vec<Block>, part: Value<'_>, record: &PartRecord<'_>) {
    let Some(state) = part.get("state") else {
        return;
    };
    let id = string(part, "callID").unwrap_or_default();
    let name = string(part, "tool").unwrap_or_default();
    let status = status(string(state, "status").as_deref());
    let (start, end) = (
        moment(state, &["time", "start"]),
        moment(state, &["time", "end"]),
    );
    #[allow(clippy::cast_precision_loss, reason = "no call takes so long")]
    let duration_ms = between(start, end).map(|ms| ms as f64);
    let is_error = status == ToolStatus::Failed;
    let ended = is_error || status == ToolStatus::Completed;
    blocks.push(Block::ToolCall(ToolCall {
        title: string(state, "title"),
        input: state.get("input").filter(|v| !v.is_null()).map(input),
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
        .and_then(|o| text(o, "preview"));
    let said = error.or(output).map(as_text);
    blocks.push(Block::ToolResult(ToolResult {
        call_id: id,
        name: Some(name),
        blocks: preview.or(said).map(Block::Text).into_iter().collect(),
        is_error,
        structured: state.get("metadata").map(|m| Json::new(m.raw())),
        exit_code: state.at(&["metadata", "exit"]).and_then(Value::i64),
        full_output: full,
    }));
}

fn input(value: Value<'_>) -> ToolInput {
    match value.str() {
        Some(_) => ToolInput::Text(as_text(value)),
        None => ToolInput::Json(Json::new(value.raw())),
    }
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
    let path = string(value, "path").or_else(|| string(value, "absolutePath"))?;
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
    let url = part.get("url")?;
    let mime = string(part, "mime");
    let media = Media {
        name: string(part, "filename"),
        uri: None,
        blob: blob(url, record)?,
        mime: mime.clone(),
    };
    let is_image = mime.is_some_and(|m| m.starts_with("image/"));
    Some(if is_image {
        Block::Image(media)
    } else {
        Block::File(media)
    })
}

/// The bytes of a file: in the address itself, or at it.
fn blob(url: Value<'_>, record: &PartRecord<'_>) -> Option<Blob> {
    let address = url.str()?;
    let Some(data) = address.strip_prefix("data:") else {
        return Some(Blob::Url(address.into_owned()));
    };
    let (head, content) = data.split_once(',')?;
    if !head.ends_with(";base64") {
        return Some(Blob::Url(address.into_owned()));
    }
    // Only where no escape is in the way are these the bytes that stand there.
    if url.content()?.len() != address.len() {
        return Some(Blob::Url(address.into_owned()));
    }
    let start = url.span().start + 1 + (address.len() - content.len());
    Some(Blob::Inline {
        record: record.raw,
        start: start as u64,
        len: content.len() as u64,
    })
}
