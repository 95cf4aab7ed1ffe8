//! Results of tools: the client keeps them beside their calls.

use std::collections::HashSet;

use rethread_json::{Array, Object, Patch, Tree, Value, quote};
use rethread_model::{Block, ToolResult};

use super::message::inline_part;
use crate::fields::string_of;

/// The message with this result beside its call, and the message's id; none if the call is not in
/// it.
pub(super) fn with_result(message: &[u8], result: &ToolResult) -> Option<(Vec<u8>, String)> {
    memchr::memmem::find(message, b"toolCalls")?;
    let tree = Tree::parse(message).ok()?;
    let root = tree.root(message);
    let is_it = |call: &Value<'_>| call.get("id").is_some_and(|id| id.is_str(&result.call_id));
    let call = root.get("toolCalls")?.items().find(is_it)?;
    let name = string_of(call, "name").unwrap_or_default();
    let status = if result.is_error { "error" } else { "success" };
    let mut patch = Patch::new(root);
    patch.set(call, "result", &parts(result, &name));
    patch.set(call, "status", &quote(status));
    Some((patch.finish(), string_of(root, "id").unwrap_or_default()))
}

/// What the model is told of a call that nothing came of: the vendor's API takes no call without a
/// response. The client itself says so of calls that were broken off.
const NO_RESULT: &str = "[Operation Cancelled] Reason: no result is known";

/// The message with a response to each call that has none and will get none; none if there is no such
/// call in it.
pub(super) fn end_calls(message: &[u8], answered: &HashSet<String>) -> Option<Vec<u8>> {
    memchr::memmem::find(message, b"toolCalls")?;
    let tree = Tree::parse(message).ok()?;
    let root = tree.root(message);
    let mut patch = Patch::new(root);
    let mut is_changed = false;
    for call in root.get("toolCalls")?.items() {
        let id = string_of(call, "id").unwrap_or_default();
        if call.get("result").is_some() || answered.contains(&id) {
            continue;
        }
        let name = string_of(call, "name").unwrap_or_default();
        let response = Object::new().str("error", NO_RESULT).finish();
        let response = Object::new()
            .str("id", &id)
            .str("name", &name)
            .raw("response", &response);
        let part = Object::new().raw("functionResponse", &response.finish());
        patch.set(call, "result", &Array::new().raw(&part.finish()).finish());
        patch.set(call, "status", &quote("cancelled"));
        is_changed = true;
    }
    is_changed.then(|| patch.finish())
}

/// What a tool answered, in the words of the model's API.
fn parts(result: &ToolResult, name: &str) -> Vec<u8> {
    let key = if result.is_error { "error" } else { "output" };
    let response = Object::new().str(key, &said(result)).finish();
    let response = Object::new()
        .str("id", &result.call_id)
        .str("name", name)
        .raw("response", &response);
    let response = Object::new().raw("functionResponse", &response.finish());
    let mut parts = Array::new().raw(&response.finish());
    for block in &result.blocks {
        if let Block::Image(media) | Block::File(media) = block {
            parts = parts.raw(&inline_part(media));
        }
    }
    parts.finish()
}

/// The text of a result.
fn said(result: &ToolResult) -> String {
    let texts = result.blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.value.clone()),
        Block::Unknown { raw, .. } => Some(raw.to_text()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// A message of the person for a result whose call is nowhere.
pub(super) fn orphan_message(result: &ToolResult, id: &str, time: &str) -> Vec<u8> {
    let name = result.name.as_deref().unwrap_or("a tool");
    let text = format!("[what {name} answered]\n{}", said(result));
    let part = Object::new().str("text", &text).finish();
    Object::new()
        .str("id", id)
        .str("timestamp", time)
        .str("type", "user")
        .raw("content", &Array::new().raw(&part).finish())
        .finish()
}
