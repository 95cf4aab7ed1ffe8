//! What must be true of every session record, whoever wrote the session.

use std::collections::BTreeMap;

use serde_json::Value;

const RECORD: [&str; 4] = ["type", "session", "messages", "graph"];
const SESSION: [&str; 11] = [
    "id",
    "agent",
    "workspace",
    "workspace_encoded",
    "started_at",
    "ended_at",
    "source",
    "is_agent_session",
    "parent_session_id",
    "agent_id",
    // Where there is no message to hold it.
    "extensions",
];
const MESSAGE: [&str; 7] = [
    "index",
    "uuid",
    "parent_uuid",
    "role",
    "timestamp",
    "content",
    "metadata",
];
const METADATA: [&str; 9] = [
    "cwd",
    "git_branch",
    "agent_version",
    "user_type",
    "is_meta",
    "model",
    "token_usage",
    "request_id",
    "extensions",
];

/// An object has these keys, in this order, and no other.
fn assert_keys(object: &Value, allowed: &[&str]) {
    let mut left = allowed.iter();
    for key in object.as_object().unwrap().keys() {
        assert!(left.any(|k| k == key), "{key} of {object}");
    }
}

pub(super) fn assert_record(record: &Value) {
    assert_keys(record, &RECORD);
    let session = &record["session"];
    assert_keys(session, &SESSION);
    assert_keys(&session["source"], &["type", "host", "path"]);
    for nullable in ["parent_session_id", "agent_id"] {
        assert!(session.get(nullable).is_some(), "{session}");
    }
    assert!(session["source"].get("host").is_some(), "{session}");
    let is_agent = session["is_agent_session"].as_bool().unwrap();
    assert_eq!(
        session["parent_session_id"].is_string(),
        is_agent,
        "{session}"
    );
    let messages = record["messages"].as_array().unwrap();
    assert_eq!(
        session.get("extensions").is_some(),
        messages.is_empty(),
        "what belongs to the whole stands in the first message: {session}"
    );
    let mut calls = BTreeMap::new();
    // A damaged source may have an id twice.
    let mut ids: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for (at, message) in (1..).zip(messages) {
        assert_eq!(message["index"], at);
        assert_message(message, &mut calls);
        if let Some(id) = message["uuid"].as_str() {
            ids.entry(id).or_default().push(message);
        }
    }
    if let Some(graph) = record.get("graph") {
        assert_graph(graph, &ids);
    }
}

fn assert_message<'a>(message: &'a Value, calls: &mut BTreeMap<&'a str, &'a Value>) {
    assert_keys(message, &MESSAGE);
    let role = message["role"].as_str().unwrap();
    assert!(["user", "assistant", "system"].contains(&role), "{message}");
    for block in message["content"].as_array().unwrap() {
        let id = block["tool_id"].as_str();
        match block["type"].as_str().unwrap() {
            "text" => assert_keys(block, &["type", "text"]),
            "tool_use" => {
                assert_keys(block, &["type", "tool_id", "tool_name", "input"]);
                calls.insert(id.unwrap(), &block["tool_name"]);
            }
            "tool_result" => {
                let keys = ["type", "tool_id", "tool_name", "output", "is_error"];
                assert_keys(block, &keys);
                assert_eq!(role, "user", "{message}");
                if let Some(name) = calls.get(id.unwrap()) {
                    assert_eq!(&&block["tool_name"], name, "{message}");
                }
            }
            other => panic!("a block `{other}`"),
        }
    }
    let Some(metadata) = message.get("metadata") else {
        return;
    };
    assert_keys(metadata, &METADATA);
    for of_models in ["model", "token_usage"] {
        let is_there = metadata.get(of_models).is_some();
        assert!(!is_there || role == "assistant", "{of_models} of {message}");
    }
}

/// It forks, and the active path is a way from a root: what a message on it names is on it. Results
/// of parallel calls each name their own call.
fn assert_graph(graph: &Value, ids: &BTreeMap<&str, Vec<&Value>>) {
    assert_keys(graph, &["is_linear", "fork_points", "active_path"]);
    let forks = graph["fork_points"].as_array().unwrap();
    assert!(!forks.is_empty(), "{graph}");
    for fork in forks {
        assert_keys(fork, &["uuid", "index", "branches"]);
        let branches = fork["branches"].as_array().unwrap();
        assert!(branches.len() > 1, "{graph}");
        let is_at = |place: &Value, m: &&&Value| m["index"] == place["index"];
        let message = |place: &Value| {
            let mut found = ids[place["uuid"].as_str().unwrap()].iter();
            *found.find(|m| is_at(place, m)).unwrap()
        };
        message(fork);
        for branch in branches {
            message(branch);
        }
    }
    let path = graph["active_path"].as_array().unwrap();
    for (at, id) in path.iter().enumerate() {
        let mut found = ids[id.as_str().unwrap()].iter();
        let is_on_it = |m: &&Value| match m["parent_uuid"].as_str() {
            None => at == 0,
            Some(_) => at > 0 && path.contains(&m["parent_uuid"]),
        };
        assert!(found.any(is_on_it), "{id}: {graph}");
    }
}
