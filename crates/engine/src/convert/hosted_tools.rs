//! Calls that a vendor carried out while the model answered, such as a search of the web.
//!
//! No other client could carry them out again or has a result for them: to it, such a call would be one
//! that was broken off. What was asked, and what came of it as far as the session has that, is told as
//! text instead.

use std::collections::HashSet;

use rethread_json::{Tree, Value};
use rethread_model::{Block, Message, ToolCall, ToolInput};

/// The message with its hosted calls as text; none if it has none without a result of its own.
pub(super) fn as_text(message: &Message) -> Option<Message> {
    let is_hosted = |block: &Block| matches!(block, Block::ToolCall(call) if call.hosted);
    if !message.blocks.iter().any(is_hosted) {
        return None;
    }
    let answered: HashSet<&str> = message
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::ToolResult(result) => Some(result.call_id.as_str()),
            _ => None,
        })
        .collect();
    let mut told = message.clone();
    for block in &mut told.blocks {
        if let Block::ToolCall(call) = block
            && call.hosted
            && !answered.contains(call.id.as_str())
        {
            *block = Block::text(hosted_text(call, &message.blocks));
        }
    }
    Some(told)
}

/// What was asked, and what came of it.
fn hosted_text(call: &ToolCall, blocks: &[Block]) -> String {
    let asked = match &call.input {
        Some(ToolInput::Json(json)) => json.to_text(),
        Some(ToolInput::Text(text)) => text.value.clone(),
        None => String::new(),
    };
    let mut lines = vec![format!("[{}] {asked}", call.name).trim_end().to_owned()];
    for block in blocks {
        if let Block::Unknown { type_name, raw } = block
            && type_name.ends_with("_tool_result")
        {
            lines.extend(hosted_results(raw.bytes(), &call.id));
        }
    }
    lines.join("\n")
}

/// What a block of the vendor's own says to a call: titles and addresses of pages, or texts.
fn hosted_results(raw: &[u8], call: &str) -> Vec<String> {
    let Ok(tree) = Tree::parse(raw) else {
        return Vec::new();
    };
    let root = tree.root(raw);
    if !root.get("tool_use_id").is_some_and(|id| id.is_str(call)) {
        return Vec::new();
    }
    let content = root.get("content");
    let items = content.into_iter().flat_map(|content| {
        let one = content.is_object().then_some(content);
        one.into_iter().chain(content.items())
    });
    items
        .filter_map(|item| {
            let said = |key| item.get(key).and_then(Value::str);
            let parts: Vec<_> = ["title", "url", "text", "stdout", "stderr", "error_code"]
                .into_iter()
                .filter_map(said)
                .filter(|text| !text.is_empty())
                .collect();
            (!parts.is_empty()).then(|| format!("- {}", parts.join(" ")))
        })
        .collect()
}
