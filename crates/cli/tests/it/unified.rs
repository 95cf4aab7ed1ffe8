//! Messages in the unified vocabulary, and what scripts read.

use crate::world::{World, json};

#[test]
fn a_unified_message_becomes_one_of_the_format_s_own() {
    let w = World::new();
    let id = w.thread("T");
    let call = r#"{"uuid":"u1","index":1,"parent_uuid":null,"role":"assistant","timestamp":"2026-01-01T00:00:00Z","content":[{"type":"text","text":"I'll look."},{"type":"tool_use","tool_id":"t1","tool_name":"Bash","input":{"command":"ls"}}],"metadata":{"model":{"name":"m","stop_reason":"tool_use"},"token_usage":{"input_tokens":10,"output_tokens":2}}}"#;
    assert_eq!(w.message(&id, call), "u1");
    let line = &w.lines(&id)[0];
    assert_eq!(line["id"], "u1");
    assert_eq!(line["role"], "agent");
    assert_eq!(line["model"], "m");
    assert_eq!(line["stopReason"], "tool_use");
    assert_eq!(line["tokens"], json(r#"{"input":10,"output":2}"#));
    assert_eq!(
        line["content"][1],
        json(r#"{"type":"tool_call_ref","toolCallId":"t1"}"#)
    );
    assert_eq!(
        line["toolCalls"][0],
        json(
            r#"{"toolCallId":"t1","name":"Bash","status":"pending","input":"{\"command\":\"ls\"}"}"#
        )
    );

    let result = r#"{"role":"user","content":[{"type":"tool_result","tool_id":"t1","tool_name":"Bash","output":"a\nb","is_error":false}]}"#;
    assert_eq!(
        w.message(&id, result),
        "u1",
        "the result went into the message of its call"
    );
    let lines = w.lines(&id);
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["toolCalls"][0]["status"], "completed");
    assert_eq!(lines[0]["toolCalls"][0]["output"], "a\nb");
    assert_eq!(w.manifest(&id)["stats"]["toolCallCount"], 1);
}

#[test]
fn results_find_their_calls_in_the_same_batch_and_orphans_are_kept() {
    let w = World::new();
    let id = w.thread("T");
    let input = concat!(
        r#"{"role":"assistant","content":[{"type":"tool_use","tool_id":"a","tool_name":"x","input":"plain"},{"type":"tool_use","tool_id":"b","tool_name":"y","input":{}}]}"#,
        "\n",
        r#"{"role":"user","content":[{"type":"tool_result","tool_id":"b","output":"no","is_error":true},{"type":"tool_result","tool_id":"a","output":"yes"},{"type":"text","text":"go on"}]}"#,
        "\n",
        r#"{"role":"user","content":[{"type":"tool_result","tool_id":"zzz","output":"lost"}]}"#,
        "\n",
    );
    let answer = w.pipe(&["append", &id, "--message-json", "-"], input);
    assert_eq!(answer.code, 0, "{answer:?}");
    let lines = w.lines(&id);
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0]["toolCalls"][0]["output"], "yes");
    assert_eq!(lines[0]["toolCalls"][1]["status"], "failed");
    assert_eq!(lines[1]["content"][0]["text"], "go on");
    assert_eq!(lines[2]["toolCalls"][0]["toolCallId"], "zzz");
    assert_eq!(lines[2]["toolCalls"][0]["output"], "lost");
    assert_eq!(w.manifest(&id)["stats"]["toolCallCount"], 3);
}

#[test]
fn show_json_is_one_session_record() {
    let w = World::with_git();
    let id = w.thread("T");
    w.ok(&["append", &id, "question"]);
    w.message(&id, r#"{"id":"m2","role":"agent","content":[{"type":"text","text":"answer"}],"toolCalls":[{"toolCallId":"t1","name":"bash","status":"completed","input":"{\"command\":\"ls\"}","output":"a"}],"model":"m","stopReason":"end_turn","tokens":{"input":5,"output":7}}"#);
    let out = w.ok(&["show", &id, "--json"]);
    assert_eq!(out.lines().count(), 1);
    let record = json(&out);
    assert_eq!(record["type"], "session");
    let session = &record["session"];
    assert_eq!(session["id"], id.as_str());
    assert_eq!(session["agent"], "atsf");
    assert_eq!(session["workspace"], w.project.to_str().unwrap());
    assert_eq!(session["source"]["type"], "local");
    assert_eq!(session["source"]["host"], serde_json::Value::Null);
    assert_eq!(session["is_agent_session"], false);
    let messages = record["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 3, "tool results are messages of their own");
    assert_eq!(messages[0]["index"], 1);
    assert_eq!(messages[0]["parent_uuid"], serde_json::Value::Null);
    assert_eq!(messages[1]["role"], "assistant");
    assert_eq!(messages[1]["content"][1]["type"], "tool_use");
    assert_eq!(messages[1]["content"][1]["input"]["command"], "ls");
    assert_eq!(messages[1]["metadata"]["model"]["name"], "m");
    assert_eq!(messages[1]["metadata"]["token_usage"]["output_tokens"], 7);
    assert_eq!(messages[2]["role"], "user");
    assert_eq!(messages[2]["content"][0]["tool_name"], "bash");
    assert_eq!(messages[2]["content"][0]["output"], "a");
}
