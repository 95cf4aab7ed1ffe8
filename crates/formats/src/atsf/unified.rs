//! Messages in the unified vocabulary, turned into the format's own.

use rethread_json::{Array, Object, Value};

use super::message::string;
use super::results::ToolOutput;
use crate::unified::is_told;

/// Whether a message is in the unified vocabulary and not in our own.
pub(crate) fn is_unified(message: Value<'_>) -> bool {
    let is_tool = |b: Value<'_>| {
        b.get("type")
            .is_some_and(|t| t.is_str("tool_use") || t.is_str("tool_result"))
    };
    message.get("uuid").is_some()
        || message.get("index").is_some()
        || message.get("role").is_some_and(|r| r.is_str("assistant"))
        || message
            .get("content")
            .is_some_and(|c| c.items().any(is_tool))
}

/// The fields that have a place in our vocabulary, or that follow from the order of the log.
const UNDERSTOOD: [&str; 8] = [
    "uuid",
    "id",
    "index",
    "parent_uuid",
    "role",
    "timestamp",
    "content",
    "metadata",
];

/// The message in our vocabulary, and the results of tools that it holds for earlier calls. The
/// message is empty when it held nothing but results.
pub(crate) fn to_native(message: Value<'_>) -> Result<(Vec<u8>, Vec<ToolOutput>), String> {
    let mut content = Array::new();
    let mut calls = Array::new();
    let mut outputs = Vec::new();
    let given = message.get("content").ok_or("`content` is missing")?;
    if given.str().is_some() {
        content = content.raw(
            &Object::new()
                .str("type", "text")
                .raw("text", given.raw())
                .finish(),
        );
    }
    for block in given.items() {
        match string(block, "type").as_deref() {
            Some("tool_use") => {
                let (reference, call) = tool_use(block)?;
                content = content.raw(&reference);
                calls = calls.raw(&call);
            }
            Some("tool_result") => outputs.push(tool_result(block)?),
            Some("file") => content = content.raw(&file(block)),
            _ => content = content.raw(block.raw()),
        }
    }
    if content.is_empty() && calls.is_empty() && !outputs.is_empty() {
        return Ok((Vec::new(), outputs));
    }
    let role = string(message, "role").ok_or("`role` is missing")?;
    let role = match role.as_str() {
        "assistant" => "agent".to_owned(),
        "user" if is_told(message) => "system".to_owned(),
        _ => role,
    };
    let id = string(message, "uuid").or_else(|| string(message, "id"));
    let metadata = message.get("metadata").filter(|m| m.is_object());
    let at = |path: &[&str]| metadata.and_then(|m| m.at(path));
    let tokens = at(&["token_usage"]).map(|usage| {
        Object::new()
            .opt_raw("input", usage.get("input_tokens").map(Value::raw))
            .opt_raw("output", usage.get("output_tokens").map(Value::raw))
            .finish()
    });
    let text = |path: &[&str]| at(path).and_then(Value::str);
    let calls = (!calls.is_empty()).then(|| calls.finish());
    let mut native = Object::new()
        .opt_str("id", id.as_deref())
        .str("role", &role)
        .opt_raw("timestamp", message.get("timestamp").map(Value::raw))
        .raw("content", &content.finish())
        .opt_raw("toolCalls", calls.as_deref())
        .opt_str("stopReason", text(&["model", "stop_reason"]).as_deref())
        .opt_str("model", text(&["model", "name"]).as_deref())
        .opt_raw("tokens", tokens.as_deref())
        .opt_raw("metadata", metadata.map(Value::raw));
    for (key, value) in message.members() {
        let key = key.str().unwrap_or_default();
        if !UNDERSTOOD.contains(&key.as_ref()) {
            native = native.raw(&key, value.raw());
        }
    }
    Ok((native.finish(), outputs))
}

/// The place of a call in the content, and the call.
fn tool_use(block: Value<'_>) -> Result<(Vec<u8>, Vec<u8>), String> {
    let id = string(block, "tool_id").ok_or("a `tool_use` block has no `tool_id`")?;
    let name = string(block, "tool_name").ok_or("a `tool_use` block has no `tool_name`")?;
    let input = block.get("input").map(|v| match v.str() {
        Some(text) => text.into_owned(),
        None => String::from_utf8_lossy(v.raw()).into_owned(),
    });
    let reference = Object::new()
        .str("type", "tool_call_ref")
        .str("toolCallId", &id)
        .finish();
    let call = Object::new()
        .str("toolCallId", &id)
        .str("name", &name)
        .str("status", "pending")
        .opt_str("input", input.as_deref())
        .finish();
    Ok((reference, call))
}

/// A file, in the words of programs that write such threads. Its bytes become an asset.
fn file(block: Value<'_>) -> Vec<u8> {
    let mime = block.get("mimeType").or_else(|| block.get("mime"));
    let is_sound = mime
        .and_then(Value::str)
        .is_some_and(|m| m.starts_with("audio/"));
    let name = block.get("name").or_else(|| block.get("filename"));
    let object = Object::new()
        .str("type", if is_sound { "audio" } else { "resource" })
        .opt_raw("uri", name.map(Value::raw))
        .opt_raw("mimeType", mime.map(Value::raw));
    let of = |key: &str| block.get(key).map(Value::raw);
    object
        .opt_raw("data", of("data"))
        .opt_raw("url", of("url"))
        .finish()
}

fn tool_result(block: Value<'_>) -> Result<ToolOutput, String> {
    let call_id = string(block, "tool_id").ok_or("a `tool_result` block has no `tool_id`")?;
    let output = block.get("output").map(|v| match v.str() {
        Some(text) => text.into_owned(),
        None => String::from_utf8_lossy(v.raw()).into_owned(),
    });
    Ok(ToolOutput {
        call_id,
        name: string(block, "tool_name"),
        output: output.unwrap_or_default(),
        is_error: block.get("is_error").and_then(Value::bool).unwrap_or(false),
    })
}
