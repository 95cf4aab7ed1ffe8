//! What `context` says that a model would see, as what the clients sent is told.

use rethread_judges::Turn;
use serde_json::Value;

use crate::world::{World, json};

/// The turns of a session, without what the client put in by itself.
pub(crate) fn context(w: &World, session: &str) -> Vec<Turn> {
    let context = json(&w.ok(&["context", session, "--json"]));
    let messages = items(&context["messages"]);
    messages
        .filter(|m| m["metadata"]["extensions"]["visibility"] != "injected")
        .flat_map(message)
        .collect()
}

fn message(message: &Value) -> Vec<Turn> {
    let role = string(&message["role"]);
    let mut plain = items(&message["content"]);
    let mut others = items(&message["metadata"]["extensions"]["blocks"]).peekable();
    let mut turns = Vec::new();
    for place in 0.. {
        // Blocks that the vocabulary does not know stand beside, with their places.
        let block = match others.next_if(|b| b["at"] == place) {
            Some(other) => other,
            None => match plain.next().or_else(|| others.next()) {
                Some(block) => block,
                None => break,
            },
        };
        let id = || string(&block["tool_id"]);
        match block["type"].as_str() {
            Some("text") => turns.push(Turn::Text(role.clone(), string(&block["text"]))),
            Some("thinking") => turns.push(Turn::Thinking(string(&block["text"]))),
            Some("image") => turns.push(Turn::Image(role.clone())),
            Some("tool_use") => {
                let (name, input) = (string(&block["tool_name"]), block["input"].clone());
                turns.push(Turn::ToolCall(id(), name, input));
            }
            Some("tool_result") => {
                turns.push(Turn::ToolResult(id(), string(&block["output"])));
            }
            _ => {}
        }
    }
    turns
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
