//! The answers, in the form of each vendor.

use serde_json::{Map, Value, json};

use super::http::HttpResponse;
use super::script::{RequestedTool, parse_requested_tools, text_of};

/// An event with its type in the data as well.
fn typed_event(name: &'static str, mut data: Value) -> (Option<&'static str>, String) {
    if let Some(object) = data.as_object_mut() {
        object.insert("type".to_owned(), json!(name));
    }
    (Some(name), data.to_string())
}

/// What the user said last, if that is the last thing at all.
fn last_prompt(messages: &Value, key: &str) -> String {
    let last = messages
        .as_array()
        .into_iter()
        .flatten()
        .rfind(|m| m["role"] != "system");
    match last {
        Some(last) if last["role"] == "user" => text_of(&last[key]),
        _ => String::new(),
    }
}

/// Messages of Anthropic.
pub(super) fn anthropic_reply(body: &Value, n: u64) -> HttpResponse {
    let usage = |output: u64| {
        json!({ "input_tokens": 11, "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0, "output_tokens": output })
    };
    let tools = parse_requested_tools(&last_prompt(&body["messages"], "content"));
    let mut blocks = vec![json!({ "type": "text", "text": format!("reply {n}") })];
    if !tools.is_empty() {
        blocks.insert(
            0,
            json!({ "type": "thinking", "thinking": "a thought", "signature": "c2ln" }),
        );
    }
    blocks.extend(tools.iter().enumerate().map(|(i, tool)| {
        json!({ "type": "tool_use", "id": format!("toolu_standin_{n}_{i}"),
            "name": tool.name, "input": tool.input })
    }));
    let reason = if tools.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    };
    let message = |content: &[Value], reason: Option<&str>| {
        json!({ "id": format!("msg_standin_{n}"), "type": "message", "role": "assistant",
            "model": body["model"], "content": content, "stop_reason": reason,
            "stop_sequence": null, "usage": usage(3) })
    };
    if body["stream"] != true {
        return HttpResponse::json(&message(&blocks, Some(reason)));
    }
    let mut events = vec![typed_event(
        "message_start",
        json!({ "message": message(&[], None) }),
    )];
    for (index, block) in blocks.iter().enumerate() {
        let (start, deltas) = block_deltas(block);
        let start = json!({ "index": index, "content_block": start });
        events.push(typed_event("content_block_start", start));
        for delta in deltas {
            let delta = json!({ "index": index, "delta": delta });
            events.push(typed_event("content_block_delta", delta));
        }
        events.push(typed_event("content_block_stop", json!({ "index": index })));
    }
    let end =
        json!({ "delta": { "stop_reason": reason, "stop_sequence": null }, "usage": usage(77) });
    events.push(typed_event("message_delta", end));
    events.push(typed_event("message_stop", json!({})));
    HttpResponse::event_stream(&events)
}

/// A block as it begins, and what it grows by.
fn block_deltas(block: &Value) -> (Value, Vec<Value>) {
    match block["type"].as_str() {
        Some("thinking") => (
            json!({ "type": "thinking", "thinking": "", "signature": "" }),
            vec![
                json!({ "type": "thinking_delta", "thinking": block["thinking"] }),
                json!({ "type": "signature_delta", "signature": block["signature"] }),
            ],
        ),
        Some("tool_use") => {
            let mut start = block.clone();
            start["input"] = json!({});
            let input = block["input"].to_string();
            let delta = json!({ "type": "input_json_delta", "partial_json": input });
            (start, vec![delta])
        }
        _ => (
            json!({ "type": "text", "text": "" }),
            vec![json!({ "type": "text_delta", "text": block["text"] })],
        ),
    }
}

/// Responses of `OpenAI`.
pub(super) fn responses_reply(body: &Value, n: u64) -> HttpResponse {
    let id = format!("resp_standin_{n}");
    let usage = json!({ "input_tokens": 11, "input_tokens_details": { "cached_tokens": 0 },
        "output_tokens": 3, "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": 14 });
    let mut items = vec![json!({ "type": "message", "id": format!("msg_standin_{n}"),
        "role": "assistant", "status": "completed",
        "content": [{ "type": "output_text", "text": format!("reply {n}"), "annotations": [] }] })];
    let tools = parse_requested_tools(&last_prompt(&body["input"], "content"));
    if !tools.is_empty() {
        items.insert(
            0,
            json!({ "type": "reasoning", "id": format!("rs_standin_{n}"),
            "summary": [{ "type": "summary_text", "text": "a thought" }],
            "encrypted_content": "c2VjcmV0" }),
        );
    }
    items.extend(
        tools
            .iter()
            .enumerate()
            .map(|(i, tool)| function_call(tool, n, i)),
    );
    let whole = json!({ "id": id, "object": "response", "status": "completed",
        "model": body["model"], "output": items, "usage": usage });
    if body["stream"] == false {
        return HttpResponse::json(&whole);
    }
    let mut events = vec![typed_event(
        "response.created",
        json!({ "response": { "id": id } }),
    )];
    for (index, item) in items.iter().enumerate() {
        let data = json!({ "output_index": index, "item": item });
        events.push(typed_event("response.output_item.added", data.clone()));
        events.push(typed_event("response.output_item.done", data));
    }
    events.push(typed_event(
        "response.completed",
        json!({ "response": whole }),
    ));
    HttpResponse::event_stream(&events)
}

/// A call; the part of its name before a dot is its namespace.
fn function_call(tool: &RequestedTool, n: u64, i: usize) -> Value {
    let mut call = Map::new();
    call.insert("type".into(), json!("function_call"));
    call.insert("id".into(), json!(format!("fc_standin_{n}_{i}")));
    call.insert("call_id".into(), json!(format!("call_standin_{n}_{i}")));
    let name = match tool.name.split_once('.') {
        Some((space, name)) => {
            call.insert("namespace".into(), json!(space));
            name
        }
        None => &tool.name,
    };
    call.insert("name".into(), json!(name));
    call.insert("arguments".into(), json!(tool.input.to_string()));
    Value::Object(call)
}

/// Chat completions of `OpenAI`, which many others speak as well.
pub(super) fn chat_reply(body: &Value, n: u64) -> HttpResponse {
    let text = format!("reply {n}");
    let usage = json!({ "prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14 });
    let has_tools = body["tools"].as_array().is_some_and(|t| !t.is_empty());
    let mut tools = parse_requested_tools(&last_prompt(&body["messages"], "content"));
    if !has_tools {
        tools.clear();
    }
    let calls: Vec<Value> = tools
        .iter()
        .enumerate()
        .map(|(i, tool)| {
            json!({ "index": i, "id": format!("call_standin_{n}_{i}"), "type": "function",
                "function": { "name": tool.name, "arguments": tool.input.to_string() } })
        })
        .collect();
    let reason = if tools.is_empty() {
        "stop"
    } else {
        "tool_calls"
    };
    let base = |object: &str, choice: Value| {
        json!({ "id": format!("chatcmpl-standin-{n}"), "object": object, "created": 1,
            "model": body["model"], "choices": [choice], "usage": usage })
    };
    if body["stream"] != true {
        let message = json!({ "role": "assistant", "content": text });
        let choice = json!({ "index": 0, "message": message, "finish_reason": reason });
        return HttpResponse::json(&base("chat.completion", choice));
    }
    let mut deltas = vec![json!({ "role": "assistant", "content": text })];
    if !tools.is_empty() {
        let thought = json!({ "role": "assistant", "reasoning_content": "a thought" });
        deltas.insert(0, thought);
        deltas.push(json!({ "tool_calls": calls }));
    }
    let chunk = |delta: Value, reason: Option<&str>| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": reason });
        (None, base("chat.completion.chunk", choice).to_string())
    };
    let mut events: Vec<(Option<&str>, String)> =
        deltas.into_iter().map(|delta| chunk(delta, None)).collect();
    events.push(chunk(json!({}), Some(reason)));
    events.push((None, "[DONE]".to_owned()));
    HttpResponse::event_stream(&events)
}

/// Gemini of Google.
pub(super) fn gemini_reply(body: &Value, n: u64, is_stream: bool) -> HttpResponse {
    let has_tools = body["tools"].as_array().is_some_and(|t| !t.is_empty());
    let mut tools = parse_requested_tools(&last_prompt(&body["contents"], "parts"));
    if !has_tools {
        tools.clear();
    }
    let mut parts = vec![json!({ "text": format!("reply {n}") })];
    if !tools.is_empty() {
        parts.insert(0, json!({ "text": "**Plan** a thought", "thought": true }));
    }
    parts.extend(tools.iter().enumerate().map(|(i, tool)| {
        json!({ "functionCall": { "id": format!("fc_standin_{n}_{i}"), "name": tool.name,
            "args": tool.input }, "thoughtSignature": "c2ln" })
    }));
    let answer = json!({
        "candidates": [{ "content": { "role": "model", "parts": parts }, "finishReason": "STOP",
            "index": 0 }],
        "usageMetadata": { "promptTokenCount": 11, "candidatesTokenCount": 3,
            "totalTokenCount": 14 },
        "modelVersion": "gemini-standin", "responseId": format!("standin-{n}"),
    });
    if is_stream {
        HttpResponse::event_stream(&[(None, answer.to_string())])
    } else {
        HttpResponse::json(&answer)
    }
}
