//! What a model would see, as `context` tells it, in the words of the judges.

use rethread_judges::Turn;
use serde_json::Value;

use crate::world::{World, json};

/// The turns that `context` gives for a session. Thoughts are left out, because not every client
/// sends them, and so is what a client says anew each time it starts.
pub(crate) fn seen(w: &World, session: &str) -> Vec<Turn> {
    let context = json(&w.ok(&["context", session, "--json"]));
    let messages = context["messages"].as_array().unwrap();
    let mut turns: Vec<Turn> = messages.iter().flat_map(of_message).collect();
    turns.retain(|t| !matches!(t, Turn::Text(_, text) if text.starts_with("<session_context>")));
    turns
}

fn of_message(message: &Value) -> Vec<Turn> {
    let role = message["role"].as_str().unwrap();
    let extensions = &message["metadata"]["extensions"];
    let beside = extensions["blocks"].as_array().into_iter().flatten();
    let beside: Vec<&Value> = beside.collect();
    let content = message["content"].as_array().unwrap();
    let mut turns = Vec::new();
    // Blocks that have no place in `content` say before which of it they stood.
    for at in 0..=content.len() {
        let here = beside.iter().filter(|b| b["at"] == at);
        turns.extend(here.filter_map(|b| of_other(role, b)));
        turns.extend(content.get(at).and_then(|b| of_block(role, b)));
    }
    turns
}

fn of_block(role: &str, block: &Value) -> Option<Turn> {
    let text = |key: &str| block[key].as_str().unwrap().to_owned();
    match block["type"].as_str()? {
        "text" => Some(Turn::Text(role.to_owned(), text("text"))),
        "tool_use" => Some(Turn::ToolCall(
            text("tool_id"),
            text("tool_name"),
            block["input"].clone(),
        )),
        "tool_result" => Some(Turn::ToolResult(text("tool_id"), text("output"))),
        other => panic!("{other}"),
    }
}

fn of_other(role: &str, block: &Value) -> Option<Turn> {
    match block["type"].as_str()? {
        "image" => Some(Turn::Image(role.to_owned())),
        "aside" if block["visibility"] == "injected" => {
            let text = block["text"].as_str().unwrap();
            Some(Turn::Text(role.to_owned(), text.to_owned()))
        }
        _ => None,
    }
}
