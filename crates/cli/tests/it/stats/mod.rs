//! What is counted of sessions, by the law of `docs/statistics.md`.

mod bad_input;
mod judged;
mod law;
mod page;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::world::{World, json as parse};

pub(super) fn fixture(path: &str) -> PathBuf {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    all.join(path)
}

/// What `stats` says with these arguments.
#[track_caller]
pub(super) fn stats(w: &World, args: &[&str]) -> Value {
    let mut all = vec!["stats", "--json"];
    all.extend(args);
    parse(&w.ok(&all))
}

/// All tokens of a sum.
pub(super) fn tokens(sums: &Value) -> u64 {
    sums["token_usage"]["total_tokens"].as_u64().unwrap()
}

/// The group with a key.
#[track_caller]
pub(super) fn group<'a>(answer: &'a Value, key: &str) -> &'a Value {
    let groups = answer["groups"].as_array().unwrap();
    let found = groups.iter().find(|group| group["key"] == key);
    found.unwrap_or_else(|| panic!("no `{key}`: {answer}"))
}

/// Writes a transcript of Claude Code with these records.
pub(super) fn claude_log(w: &World, session: &str, records: &[Value]) -> PathBuf {
    let folder = w.home.join(".claude/projects/-shop");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{session}.jsonl"));
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    path
}

/// What a person said.
pub(super) fn prompt(session: &str, n: u32, time: &str) -> Value {
    json!({
        "type": "user", "sessionId": session, "uuid": format!("u{n}-{session}"),
        "parentUuid": null, "cwd": "/shop", "timestamp": time, "version": "2.1.0",
        "message": {"role": "user", "content": format!("Question {n}")},
    })
}

/// A response with this usage.
pub(super) fn response(session: &str, id: &str, time: &str, usage: &Value) -> Value {
    json!({
        "type": "assistant", "sessionId": session, "uuid": format!("{id}-{session}"),
        "parentUuid": null, "cwd": "/shop", "timestamp": time, "version": "2.1.0",
        "requestId": format!("req_{id}"),
        "message": {
            "id": format!("msg_{id}"), "role": "assistant", "type": "message",
            "model": "claude-sonnet-4-5-20250929",
            "content": [{"type": "text", "text": "Answer"}], "usage": usage,
        },
    })
}

/// A usage with so many tokens of input and output.
pub(super) fn used(input: u64, output: u64) -> Value {
    json!({"input_tokens": input, "output_tokens": output})
}
