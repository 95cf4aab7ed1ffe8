//! Sessions of GitHub Copilot CLI as a user meets them.

mod checked;
mod found;
mod lossless;
mod meaning;

use std::fs;
use std::path::{Path, PathBuf};

use rethread_formats::Conversation;
use rethread_formats::copilot::FORMAT;
use serde_json::{Value, json as value};

use crate::world::{World, copy};

const EVERYTHING: &str = "c0a10001-1111-4222-8333-444455556666";
const MINIMAL: &str = "c0a10002-1111-4222-8333-444455556666";
const RESUMED: &str = "c0a10003-1111-4222-8333-444455556666";
const FLAT: &str = "c0a10004-1111-4222-8333-444455556666";
const DAMAGED: &str = "c0a10005-1111-4222-8333-444455556666";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/copilot")
}

/// Lays all fixtures out as the client does it.
fn lay_out(folder: &Path) {
    let sessions = folder.join("session-state");
    for (case, id) in [
        ("1.0/everything", EVERYTHING),
        ("1.0/minimal", MINIMAL),
        ("1.0/resumed", RESUMED),
        ("1.0/damaged", DAMAGED),
    ] {
        copy(&fixtures().join(case), &sessions.join(id));
    }
    copy(&fixtures().join("0.0/flat"), &sessions);
}

fn world() -> World {
    let w = World::new();
    lay_out(&w.home.join(".copilot"));
    w
}

fn read(path: &Path) -> Conversation {
    let sources = FORMAT.store().at_path(path);
    assert_eq!(sources.len(), 1, "{}", path.display());
    FORMAT.reader().read(&sources[0]).unwrap()
}

/// Writes messages of the unified vocabulary as the client would: nothing of ours writes such sessions.
/// Gives the path.
pub(crate) fn written(w: &World, talk: &[Value]) -> String {
    let mut events = vec![value!({"type": "session.start", "data": {
        "sessionId": MINIMAL, "version": 1, "producer": "copilot-agent", "copilotVersion": "1.0.102",
        "startTime": "2026-11-15T09:00:00.000Z", "context": {"cwd": w.project},
    }})];
    let blocks = |message: &Value, kind: &str| -> Vec<Value> {
        let blocks = message["content"].as_array().unwrap().iter();
        blocks.filter(|b| b["type"] == kind).cloned().collect()
    };
    for message in talk {
        let texts = blocks(message, "text");
        let text = texts.first().map_or("", |b| b["text"].as_str().unwrap());
        if message["role"] == "assistant" {
            let calls = blocks(message, "tool_use");
            let calls: Vec<Value> = calls.iter().map(|c| value!({"toolCallId": c["tool_id"], "name": c["tool_name"], "arguments": c["input"]})).collect();
            events.push(value!({"type": "assistant.message", "data": {"model": "m-1", "content": text, "toolRequests": calls}}));
        } else if !text.is_empty() {
            let pictures = blocks(message, "image");
            let pictures: Vec<Value> = pictures
                .iter()
                .map(|p| value!({"type": "blob", "data": p["data"], "mimeType": p["mimeType"]}))
                .collect();
            events.push(value!({"type": "user.message", "data": {"content": text, "attachments": pictures}}));
        }
        for result in blocks(message, "tool_result") {
            events.push(value!({"type": "tool.execution_complete", "data": {"toolCallId": result["tool_id"], "success": result["is_error"] != true, "result": {"content": result["output"]}}}));
        }
    }
    let folder = w.home.join(".copilot/session-state").join(MINIMAL);
    fs::create_dir_all(&folder).unwrap();
    let mut log = String::new();
    for (i, mut event) in events.into_iter().enumerate() {
        let id = |n: usize| format!("c0a1ffff-0000-4000-8000-{n:012}");
        event["id"] = id(i).into();
        event["timestamp"] = format!("2026-11-15T09:00:{i:02}.000Z").into();
        event["parentId"] = i.checked_sub(1).map(id).into();
        log.push_str(&format!("{event}\n"));
    }
    let path = folder.join("events.jsonl");
    fs::write(&path, log).unwrap();
    path.to_str().unwrap().to_owned()
}
