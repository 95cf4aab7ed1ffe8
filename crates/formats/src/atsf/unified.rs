//! Messages as the model has them, turned into the format's own.

use rethread_json::{Array, Object, Tree, Value};
use rethread_model::{Block, Media, Message, Role, ToolCall, ToolInput, ToolResult};

use super::message::word_of_role;
use super::results::ToolOutput;
use crate::NewMessage;
use crate::kit::{data_url, output_text};

/// Whether a message that a user gives is in our own vocabulary, and not in the unified one.
pub(crate) fn is_own(message: Value<'_>) -> bool {
    let is_tool = |b: Value<'_>| {
        b.get("type")
            .is_some_and(|t| t.is_str("tool_use") || t.is_str("tool_result"))
    };
    let role = message.get("role").and_then(Value::str);
    let content = message.get("content");
    matches!(role.as_deref(), Some("user" | "agent" | "system"))
        && message.get("uuid").is_none()
        && message.get("index").is_none()
        && !content.is_some_and(|c| c.items().any(is_tool))
}

/// The message in our vocabulary, and the results of tools that it holds for earlier calls. The
/// message is empty when it held nothing but results.
pub(crate) fn to_native(new: &NewMessage) -> (Vec<u8>, Vec<ToolOutput>) {
    let message = &new.message;
    let (mut content, mut calls, mut outputs) = (Array::new(), Array::new(), Vec::new());
    for block in &message.blocks {
        content = match block {
            Block::Text(text) | Block::Aside { text, .. } => {
                let object = Object::new().str("type", "text");
                content.raw(&object.str("text", &text.value).finish())
            }
            Block::Thinking(thought) => {
                let object = Object::new().str("type", "thinking");
                let object = object.str("text", &thought.text.value);
                let signature = thought.signature.as_deref();
                content.raw(&object.opt_str("signature", signature).finish())
            }
            Block::ToolCall(call) => {
                calls = calls.raw(&tool_call(call));
                let reference = Object::new().str("type", "tool_call_ref");
                content.raw(&reference.str("toolCallId", &call.id).finish())
            }
            Block::ToolResult(result) => {
                outputs.push(tool_output(result));
                content
            }
            Block::Image(media) => content.raw(&attachment("image", "name", media)),
            Block::File(media) => content.raw(&attachment(kind_of(media), "uri", media)),
            Block::Unknown { raw, .. } => content.raw(raw.bytes()),
        };
    }
    if content.is_empty() && !outputs.is_empty() {
        return (Vec::new(), outputs);
    }
    let role = match message.role {
        Role::User | Role::Tool if new.is_told => "system",
        Role::Tool => "user",
        role => word_of_role(role),
    };
    let tokens = message.usage.map(|usage| {
        Object::new()
            .u64("input", usage.input)
            .u64("output", usage.output)
            .finish()
    });
    let model = message.model.as_ref().map(|model| model.id.as_str());
    let given = new.metadata.as_ref().map(|json| json.bytes().to_vec());
    let metadata = given.or_else(|| match role {
        "agent" => metadata(message),
        _ if new.is_told => Some(Object::new().bool("is_meta", true).finish()),
        _ => None,
    });
    let calls = (!calls.is_empty()).then(|| calls.finish());
    let mut native = Object::new()
        .opt_str("id", new.id.as_deref())
        .str("role", role)
        .opt_str("timestamp", new.time.map(|t| t.to_string()).as_deref())
        .raw("content", &content.finish())
        .opt_raw("toolCalls", calls.as_deref())
        .opt_str("stopReason", message.stop_reason.as_deref())
        .opt_str("model", model)
        .opt_raw("tokens", tokens.as_deref())
        .opt_raw("metadata", metadata.as_deref());
    if let Some(others) = &new.others
        && let Ok(tree) = Tree::parse(others.bytes())
    {
        for (key, value) in tree.root(others.bytes()).members() {
            native = native.raw(&key.str().unwrap_or_default(), value.raw());
        }
    }
    (native.finish(), outputs)
}

/// Who answered, and what it cost, in the unified vocabulary: our own has no place for all of it.
fn metadata(message: &Message) -> Option<Vec<u8>> {
    let model = message.model.as_ref().map(|model| {
        Object::new()
            .str("name", &model.id)
            .opt_str("stop_reason", message.stop_reason.as_deref())
            .finish()
    });
    let usage = message.usage.as_ref().map(|usage| {
        Object::new()
            .u64("input_tokens", usage.input)
            .u64("output_tokens", usage.output)
            .u64("cache_creation_tokens", usage.cache_write)
            .u64("cache_read_tokens", usage.cache_read)
            .finish()
    });
    let provider = message.model.as_ref().and_then(|m| m.provider.as_deref());
    let extensions = provider.map(|p| Object::new().str("provider", p).finish());
    let metadata = Object::new()
        .opt_raw("model", model.as_deref())
        .opt_raw("token_usage", usage.as_deref())
        .opt_raw("extensions", extensions.as_deref());
    (!metadata.is_empty()).then(|| metadata.finish())
}

fn tool_call(call: &ToolCall) -> Vec<u8> {
    let input = match &call.input {
        Some(ToolInput::Json(json)) => Some(json.to_text()),
        Some(ToolInput::Text(text)) => Some(text.value.clone()),
        None => None,
    };
    Object::new()
        .str("toolCallId", &call.id)
        .str("name", &call.name)
        .str("status", "pending")
        .opt_str("input", input.as_deref())
        .finish()
}

/// What programs that write such threads call a file.
fn kind_of(media: &Media) -> &'static str {
    match media.mime.as_deref() {
        Some(mime) if mime.starts_with("audio/") => "audio",
        _ => "resource",
    }
}

/// A picture or a file. Its bytes become an asset.
fn attachment(kind: &str, name_key: &str, media: &Media) -> Vec<u8> {
    let rethread_model::Blob::Url(url) = &media.blob else {
        return Object::new().str("type", kind).finish();
    };
    let name = media.name.as_deref().filter(|_| kind != "image");
    let object = Object::new()
        .str("type", kind)
        .opt_str(name_key, name)
        .opt_str("mimeType", media.mime.as_deref());
    match data_url(url) {
        Some((_, data)) => object.str("data", data).finish(),
        None => object.str("url", url).finish(),
    }
}

fn tool_output(result: &ToolResult) -> ToolOutput {
    ToolOutput {
        call_id: result.call_id.clone(),
        name: result.name.clone(),
        output: output_text(result),
        is_error: result.is_error,
    }
}
