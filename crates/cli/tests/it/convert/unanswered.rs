//! Calls without a result: those that the vendor carried out itself, and those that were broken off.

use std::fs;
use std::path::PathBuf;

use rethread_judges::{ClientKind, Turn};
use serde_json::{Value, json as value};

use super::judges::{client_in, id_to_resume, line};
use crate::opencode::store::{data, empty_database};
use crate::world::{World, json};

const ID: &str = "019ed50c-2fb3-7002-a384-0000000000f1";

/// A session of Codex in which the web was searched while the model answered, and in which a command
/// was broken off.
fn codex(w: &World) -> String {
    let item = |payload: Value| value!({"timestamp": "2026-11-15T10:00:00.000Z", "type": "response_item", "payload": payload});
    let said = |role: &str, kind: &str, text: &str| {
        item(value!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]}))
    };
    let lines = [
        value!({"timestamp": "2026-11-15T10:00:00.000Z", "type": "session_meta", "payload": {
            "id": ID, "timestamp": "2026-11-15T10:00:00.000Z", "cwd": w.project,
            "originator": "codex-tui", "cli_version": "0.140.0", "source": "cli",
            "model_provider": "openai"}}),
        said("user", "input_text", "Which colour has a sign?"),
        item(
            value!({"type": "web_search_call", "id": "ws_1", "status": "completed",
            "action": {"type": "search", "query": "sign colors"}}),
        ),
        said("assistant", "output_text", "Red, they say."),
        said("user", "input_text", "Paint it."),
        item(
            value!({"type": "function_call", "name": "paint", "arguments": "{\"colour\":\"red\"}",
            "call_id": "call_1"}),
        ),
        said("user", "input_text", "Stop. Why red?"),
        said("assistant", "output_text", "So that it is seen."),
    ];
    let folder = w.home.join(".codex/sessions/2026/11/15");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("rollout-2026-11-15T10-00-00-{ID}.jsonl"));
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A session of Claude Code in which the vendor searched, and says what it found.
fn claude(w: &World) -> String {
    let id = "aaaaaaaa-0000-4000-8000-0000000000f1";
    let base = |uuid: &str, parent: Value, kind: &str, message: Value| {
        value!({"parentUuid": parent, "isSidechain": false, "userType": "external",
            "cwd": w.project, "sessionId": id, "version": "2.1.300", "uuid": uuid, "type": kind,
            "message": message, "timestamp": "2026-11-15T10:00:00.000Z"})
    };
    let one = "11111111-0000-4000-8000-000000000001";
    let two = "11111111-0000-4000-8000-000000000002";
    let lines = [
        base(
            one,
            Value::Null,
            "user",
            value!({"role": "user", "content": "Which colour has a sign?"}),
        ),
        base(
            two,
            one.into(),
            "assistant",
            value!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
                "content": [
                    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search",
                        "input": {"query": "sign colors"}},
                    {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [
                        {"type": "web_search_result", "title": "Signs", "url": "https://example.org/signs",
                            "encrypted_content": "AAAA"}]},
                    {"type": "text", "text": "Red, they say."}],
                "stop_reason": "end_turn", "stop_sequence": null,
                "usage": {"input_tokens": 1, "output_tokens": 1}}),
        ),
    ];
    let folder = w.home.join(".claude/projects/-shop");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{id}.jsonl"));
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The path of what a session was converted to.
fn converted(w: &World, name: &str, to: &str) -> String {
    drop(empty_database(&data(w).join("opencode.db")));
    let made = json(&w.ok(&["convert", name, "--to", to, "--json"]));
    made["path"].as_str().unwrap().to_owned()
}

/// What a model sees of a session: the calls and the results by their ids, and the texts.
fn seen(w: &World, path: &str) -> (Vec<String>, Vec<String>, String) {
    let context = json(&w.ok(&["context", path, "--json"]));
    let (mut calls, mut results, mut texts) = (Vec::new(), Vec::new(), String::new());
    for message in context["messages"].as_array().unwrap() {
        for block in message["content"].as_array().unwrap() {
            let id = || block["tool_id"].as_str().unwrap().to_owned();
            match block["type"].as_str().unwrap() {
                "tool_use" => calls.push(id()),
                "tool_result" => results.push(id()),
                _ => texts += block["text"].as_str().unwrap_or_default(),
            }
        }
    }
    (calls, results, texts)
}

#[test]
fn what_the_vendor_carried_out_is_told_as_text_and_not_as_broken_off() {
    for to in [
        "claude", "gemini", "opencode", "pi", "atomic", "agentuse", "atsf",
    ] {
        let w = World::new();
        let path = converted(&w, &codex(&w), to);
        let (calls, results, texts) = seen(&w, &path);
        assert_eq!(calls.len(), 1, "{to}: only the one that was broken off");
        assert!(texts.contains("[web_search]"), "{to}: {texts}");
        assert!(texts.contains("sign colors"), "{to}: {texts}");
        if to == "gemini" {
            assert_eq!(results, calls, "a call never goes without a response");
        }
        // The way back is the original all the same.
        let before = fs::read(codex(&w)).unwrap();
        let back = json(&w.ok(&["convert", &path, "--to", "codex", "--json", "-o", "back"]));
        let back = PathBuf::from(back["path"].as_str().unwrap());
        assert_eq!(fs::read(back).unwrap(), before, "{to}");
    }
}

#[test]
fn what_a_search_found_goes_along_with_it() {
    for to in ["codex", "gemini", "opencode", "pi", "agentuse", "atsf"] {
        let w = World::new();
        let path = converted(&w, &claude(&w), to);
        let (calls, _, texts) = seen(&w, &path);
        assert!(calls.is_empty(), "{to}: {calls:?}");
        for found in [
            "[web_search]",
            "sign colors",
            "Signs https://example.org/signs",
        ] {
            assert!(texts.contains(found), "{to}: {texts}");
        }
    }
}

/// Lets a client go on with the session of Codex; gives what it sends.
fn sent(client: ClientKind, agent: &str) -> Option<Vec<Turn>> {
    let w = World::new();
    let desk = client_in(&w, client, agent)?;
    let id = id_to_resume(&w, &codex(&w), agent);
    Some(desk.resume_by_server(&id, "GO-ON"))
}

/// What every client must send: no call without a result, and the search as text. One leaves calls out
/// that were broken off.
fn assert_answered(client: ClientKind, agent: &str, expected: usize) {
    let Some(turns) = sent(client, agent) else {
        return;
    };
    let lines: Vec<String> = turns.iter().map(line).collect();
    let count = |is: fn(&Turn) -> bool| turns.iter().filter(|turn| is(turn)).count();
    let calls = count(|turn| matches!(turn, Turn::ToolCall(..)));
    let results = count(|turn| matches!(turn, Turn::ToolResult(..)));
    assert_eq!((calls, results), (expected, expected), "{lines:#?}");
    let said = |text: &str| lines.iter().any(|line| line.contains(text));
    assert!(said("[web_search]") && said("sign colors"), "{lines:#?}");
    assert!(said("GO-ON"), "{lines:#?}");
}

#[test]
fn claude_code_sends_no_call_without_a_result() {
    assert_answered(ClientKind::Claude, "claude-code", 0);
}

#[test]
fn gemini_sends_no_call_without_a_response() {
    assert_answered(ClientKind::Gemini, "gemini", 1);
}

#[test]
fn opencode_sends_no_call_without_a_result() {
    assert_answered(ClientKind::OpenCode, "opencode", 1);
}
