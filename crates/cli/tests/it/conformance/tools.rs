//! Tool calls.

use serde_json::{Value, json as value};

use super::assert_fields;
use crate::world::{World, json};

#[test]
fn every_field_of_a_tool_call_is_written_and_read() {
    let w = World::new();
    let id = w.thread("T");
    w.message(&id, r#"{"role":"agent","content":[],"toolCalls":[{"toolCallId":"t1","name":"file_edit","title":"Edit a.rs","status":"completed","input":"{\"path\":\"a.rs\"}","output":"1 replacement","duration":1234,"diff":{"path":"a.rs","oldText":"x","newText":"y"}}]}"#);
    assert_fields(
        &w.lines(&id)[0]["toolCalls"][0],
        &[
            ("/toolCallId", "t1".into()),
            ("/name", "file_edit".into()),
            ("/title", "Edit a.rs".into()),
            ("/status", "completed".into()),
            ("/input", "{\"path\":\"a.rs\"}".into()),
            ("/output", "1 replacement".into()),
            ("/duration", 1234.into()),
            ("/diff/path", "a.rs".into()),
            ("/diff/oldText", "x".into()),
            ("/diff/newText", "y".into()),
        ],
    );
    assert_fields(
        &json(&w.ok(&["show", &id, "--json"]))["messages"],
        &[
            ("/0/content/0/tool_id", "t1".into()),
            ("/0/content/0/tool_name", "file_edit".into()),
            ("/0/content/0/input/path", "a.rs".into()),
            ("/0/metadata/extensions/tools/0/title", "Edit a.rs".into()),
            ("/0/metadata/extensions/tools/0/status", "completed".into()),
            ("/0/metadata/extensions/tools/0/duration_ms", 1234.into()),
            (
                "/0/metadata/extensions/tools/0/diffs/0",
                value!({"path": "a.rs", "old": "x", "new": "y"}),
            ),
            ("/1/content/0/tool_id", "t1".into()),
            ("/1/content/0/output", "1 replacement".into()),
        ],
    );
    let shown = w.ok(&["show", &id]);
    assert!(shown.contains("✓ file_edit  a.rs"), "{shown}");
    assert!(shown.contains("1.2 s"), "milliseconds: {shown}");
}

#[test]
fn what_is_required_in_a_tool_call_is_demanded() {
    let w = World::new();
    let id = w.thread("T");
    let whole = value!({"toolCallId": "t", "name": "n", "status": "pending",
        "diff": {"path": "a", "oldText": "x", "newText": "y"}});
    let append = |call: &Value| {
        let message = value!({"role": "agent", "content": [], "toolCalls": [call]});
        w.pipe(&["append", &id, "--message-json", "-"], message.to_string())
    };
    for (parent, key, named) in [
        ("", "toolCallId", "`toolCallId`"),
        ("", "name", "`name`"),
        ("", "status", "`status`"),
        ("/diff", "path", "`diff.path`"),
        ("/diff", "oldText", "`diff.oldText`"),
        ("/diff", "newText", "`diff.newText`"),
    ] {
        let mut call = whole.clone();
        let object = call.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        assert!(object.remove(key).is_some());
        let answer = append(&call);
        assert_eq!(answer.code, 1, "{named}: {answer:?}");
        let why = format!("{named} is missing");
        assert!(answer.err.contains(&why), "{named}: {answer:?}");
    }
    assert_eq!(append(&whole).code, 0);
    assert_eq!(w.lines(&id).len(), 1);
}

#[test]
fn every_status_of_a_tool_call_is_kept_and_shown() {
    for (status, sign, has_result) in [
        ("pending", "…", false),
        ("running", "…", false),
        ("completed", "✓", true),
        ("failed", "✗", true),
    ] {
        let w = World::new();
        let id = w.thread("T");
        w.message(&id, &format!(r#"{{"role":"agent","content":[],"toolCalls":[{{"toolCallId":"t","name":"bash","status":"{status}"}}]}}"#));
        assert_eq!(w.lines(&id)[0]["toolCalls"][0]["status"], status);
        let shown = w.ok(&["show", &id]);
        assert!(shown.contains(&format!("{sign} bash")), "{shown}");
        assert_eq!(shown.contains(status), !has_result, "{shown}");
        let result = &json(&w.ok(&["show", &id, "--json"]))["messages"][1]["content"][0];
        assert_eq!(result["type"] == "tool_result", has_result, "{status}");
        assert_eq!(result["is_error"] == true, status == "failed", "{status}");
    }
}

#[test]
fn tool_input_is_json_text_or_plain_text() {
    let w = World::new();
    let id = w.thread("T");
    for (input, read) in [
        ("{\"command\":\"ls\"}", value!({"command": "ls"})),
        ("ls -l", value!("ls -l")),
        ("{not json", value!("{not json")),
    ] {
        let call =
            value!({"toolCallId": input, "name": "bash", "status": "running", "input": input});
        w.message(
            &id,
            &value!({"role": "agent", "content": [], "toolCalls": [call]}).to_string(),
        );
        assert_eq!(w.lines(&id).last().unwrap()["toolCalls"][0]["input"], input);
        let record = json(&w.ok(&["show", &id, "--json"]));
        let last = record["messages"].as_array().unwrap().last().unwrap();
        assert_eq!(last["content"][0]["input"], read, "{input}");
    }
}
