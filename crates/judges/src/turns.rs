//! What a client sent to a model, as turns that can be compared: the conversation as the client
//! understood it.

use serde_json::Value;

use crate::standin::ModelCall;

/// One thing in a conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Turn {
    /// Text, by role.
    Text(String, String),
    /// What the model thought.
    Thinking(String),
    /// A call of a tool: id, name, input.
    ToolCall(String, String, Value),
    /// What a tool gave: the id of its call, and its text.
    ToolResult(String, String),
    /// A picture, by role.
    Image(String),
    /// A file that is no picture, by role.
    File(String),
}

/// What a call holds, without instructions and what the client puts in by itself.
pub fn turns_of_call(call: &ModelCall) -> Vec<Turn> {
    let body = &call.body;
    if call.path.ends_with("/v1/messages") {
        anthropic_turns(body)
    } else if call.path.ends_with("/responses") {
        responses_turns(body)
    } else if call.path.ends_with("/chat/completions") {
        chat_turns(body)
    } else {
        gemini_turns(body)
    }
}

/// What clients put into what a user says.
const INJECTED_PREFIXES: [&str; 6] = [
    "<system-reminder>",
    "<environment_context>",
    "<session_context>",
    "<skills_instructions>",
    "<permissions instructions>",
    "# AGENTS.md instructions",
];

fn is_injected(text: &str) -> bool {
    let text = text.trim_start();
    INJECTED_PREFIXES.iter().any(|mark| text.starts_with(mark))
}

fn string_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn array_items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Blocks; a text is one block of text.
fn content_blocks(content: &Value) -> Vec<Value> {
    match content.as_str() {
        Some(text) => vec![serde_json::json!({ "type": "text", "text": text })],
        None => array_items(content).cloned().collect(),
    }
}

fn text_turn(role: &str, text: &Value) -> Option<Turn> {
    let text = string_of(text);
    let is_said = !text.is_empty() && !is_injected(&text);
    is_said.then(|| Turn::Text(role.to_owned(), text))
}

/// The text of what a tool gave.
fn result_text(content: &Value) -> String {
    let texts = content_blocks(content);
    let texts: Vec<&str> = texts.iter().filter_map(|b| b["text"].as_str()).collect();
    if texts.is_empty() && !content.is_null() && content.as_array().is_none() {
        return content.to_string();
    }
    texts.join("\n")
}

/// A picture or a file, in the words of any vendor.
fn media_turn(role: &str, block: &Value) -> Option<Turn> {
    match block["type"].as_str()? {
        "image" | "input_image" | "image_url" => Some(Turn::Image(role.to_owned())),
        "document" | "file" | "input_file" => Some(Turn::File(role.to_owned())),
        _ => None,
    }
}

fn anthropic_turns(body: &Value) -> Vec<Turn> {
    let mut turns = Vec::new();
    for message in array_items(&body["messages"]).filter(|m| m["role"] != "system") {
        let role = string_of(&message["role"]);
        for block in content_blocks(&message["content"]) {
            match block["type"].as_str() {
                Some("text") => turns.extend(text_turn(&role, &block["text"])),
                Some("thinking") => turns.push(Turn::Thinking(string_of(&block["thinking"]))),
                Some("tool_use") => turns.push(Turn::ToolCall(
                    string_of(&block["id"]),
                    string_of(&block["name"]),
                    block["input"].clone(),
                )),
                Some("tool_result") => {
                    let id = string_of(&block["tool_use_id"]);
                    turns.push(Turn::ToolResult(id, result_text(&block["content"])));
                    turns.extend(
                        array_items(&block["content"]).filter_map(|b| media_turn(&role, b)),
                    );
                }
                _ => turns.extend(media_turn(&role, &block)),
            }
        }
    }
    turns
}

fn responses_turns(body: &Value) -> Vec<Turn> {
    let mut turns = Vec::new();
    for item in array_items(&body["input"]) {
        match item["type"].as_str().unwrap_or("message") {
            "message" => {
                let role = string_of(&item["role"]);
                if matches!(role.as_str(), "developer" | "system") {
                    continue;
                }
                for block in content_blocks(&item["content"]) {
                    match media_turn(&role, &block) {
                        Some(media) => turns.push(media),
                        None => turns.extend(text_turn(&role, &block["text"])),
                    }
                }
            }
            "reasoning" => {
                let texts = array_items(&item["summary"]).map(|s| string_of(&s["text"]));
                turns.push(Turn::Thinking(texts.collect::<Vec<_>>().join("\n")));
            }
            "function_call" | "custom_tool_call" => {
                let input = match item["arguments"].as_str() {
                    Some(text) => serde_json::from_str(text).unwrap_or(Value::from(text)),
                    None => item["input"].clone(),
                };
                let (id, name) = (string_of(&item["call_id"]), string_of(&item["name"]));
                turns.push(Turn::ToolCall(id, name, input));
            }
            "function_call_output" | "custom_tool_call_output" => {
                let id = string_of(&item["call_id"]);
                turns.push(Turn::ToolResult(id, result_text(&item["output"])));
                turns.extend(array_items(&item["output"]).filter_map(|b| media_turn("user", b)));
            }
            _ => {}
        }
    }
    turns
}

fn chat_turns(body: &Value) -> Vec<Turn> {
    let mut turns = Vec::new();
    for message in array_items(&body["messages"]) {
        let role = string_of(&message["role"]);
        match role.as_str() {
            "system" | "developer" => continue,
            "tool" => {
                let id = string_of(&message["tool_call_id"]);
                turns.push(Turn::ToolResult(id, result_text(&message["content"])));
                continue;
            }
            _ => {}
        }
        for block in content_blocks(&message["content"]) {
            match media_turn(&role, &block) {
                Some(media) => turns.push(media),
                None => turns.extend(text_turn(&role, &block["text"])),
            }
        }
        for call in array_items(&message["tool_calls"]) {
            let function = &call["function"];
            let input = function["arguments"].as_str().unwrap_or_default();
            turns.push(Turn::ToolCall(
                string_of(&call["id"]),
                string_of(&function["name"]),
                serde_json::from_str(input).unwrap_or(Value::from(input)),
            ));
        }
    }
    turns
}

fn gemini_turns(body: &Value) -> Vec<Turn> {
    let mut turns = Vec::new();
    for content in array_items(&body["contents"]) {
        let is_model = content["role"] == "model";
        let role = if is_model { "assistant" } else { "user" };
        for part in array_items(&content["parts"]) {
            let (call, result) = (&part["functionCall"], &part["functionResponse"]);
            if call.is_object() {
                let (id, name) = (string_of(&call["id"]), string_of(&call["name"]));
                turns.push(Turn::ToolCall(id, name, call["args"].clone()));
            } else if result.is_object() {
                let response = &result["response"];
                let text = response["output"].as_str().or(response["error"].as_str());
                let text = text.map_or_else(|| response.to_string(), str::to_owned);
                turns.push(Turn::ToolResult(string_of(&result["id"]), text));
            } else if part["inlineData"].is_object() {
                let mime = part["inlineData"]["mimeType"].as_str().unwrap_or_default();
                turns.push(if mime.starts_with("image/") {
                    Turn::Image(role.to_owned())
                } else {
                    Turn::File(role.to_owned())
                });
            } else if part["thought"] == true {
                turns.push(Turn::Thinking(string_of(&part["text"])));
            } else {
                turns.extend(text_turn(role, &part["text"]));
            }
        }
    }
    turns
}
