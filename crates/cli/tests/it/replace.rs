//! `append --replace`: one message rewritten, all other lines as they were.

use std::fs;

use crate::world::World;

#[test]
fn a_tool_call_goes_from_running_to_completed() {
    let w = World::new();
    let id = w.thread("T");
    w.ok(&["append", &id, "go"]);
    let running = r#"{"id":"m2","role":"agent","content":[],"toolCalls":[{"toolCallId":"t","name":"bash","status":"running"}]}"#;
    w.message(&id, running);
    // A line of another program, spelled in its own way, and one that is damaged.
    let log = w.folder(&id).join("messages.jsonl");
    let mut text = fs::read_to_string(&log).unwrap();
    text.push_str("{ \"id\" : \"odd\", \"role\":\"user\", \"timestamp\":\"2026-11-15T12:00:00Z\", \"content\":[] }\r\nnot json\n");
    fs::write(&log, &text).unwrap();
    let done = r#"{"role":"agent","content":[{"type":"text","text":"ran"}],"toolCalls":[{"toolCallId":"t","name":"bash","status":"completed","output":"ok"},{"toolCallId":"u","name":"x","status":"completed"}]}"#;
    let answer = w.pipe(
        &["append", &id, "--replace", "m2", "--message-json", "-"],
        done,
    );
    assert_eq!((answer.code, answer.out.trim()), (0, "m2"), "{answer:?}");
    let after = w.log(&id);
    let (old, new): (Vec<&str>, Vec<&str>) =
        (text.split('\n').collect(), after.split('\n').collect());
    assert_eq!(old.len(), new.len());
    for (i, (old, new)) in old.iter().zip(&new).enumerate() {
        assert_eq!(old == new, i != 1, "line {i}");
    }
    let message: serde_json::Value = serde_json::from_str(new[1]).unwrap();
    assert_eq!(message["id"], "m2");
    assert_eq!(message["toolCalls"][0]["status"], "completed");
    let stats = &w.manifest(&id)["stats"];
    assert_eq!(stats["messageCount"], 3);
    assert_eq!(stats["toolCallCount"], 2);
}

#[test]
fn by_place_and_with_text() {
    let w = World::new();
    let id = w.thread("T");
    let first = w.ok(&["append", &id, "one"]);
    w.ok(&["append", &id, "two"]);
    w.ok(&["append", &id, "--replace", "#1", "changed"]);
    let lines = w.lines(&id);
    assert_eq!(lines[0]["id"], first.trim());
    assert_eq!(lines[0]["content"][0]["text"], "changed");
    assert_eq!(lines[1]["content"][0]["text"], "two");
}

#[test]
fn what_cannot_be_replaced() {
    let w = World::new();
    let id = w.thread("T");
    w.message(&id, r#"{"id":"m1","role":"user","content":[]}"#);
    let missing = w.pipe(
        &["append", &id, "--replace", "nope", "--message-json", "-"],
        "{}",
    );
    assert_eq!(missing.code, 1, "{missing:?}");
    assert!(missing.err.contains("is named `nope`"), "{}", missing.err);
    let other = r#"{"id":"m9","role":"user","content":[]}"#;
    let answer = w.pipe(
        &["append", &id, "--replace", "m1", "--message-json", "-"],
        other,
    );
    assert_eq!(answer.code, 1, "{answer:?}");
    assert!(
        answer.err.contains("the message to be replaced is `m1`"),
        "{}",
        answer.err
    );
}

#[test]
fn only_the_last_message_says_when_the_thread_was_updated() {
    let w = World::new();
    let id = w.thread("T");
    for (name, time) in [
        ("a", "2026-01-01T00:00:00.000Z"),
        ("b", "2026-01-02T00:00:00.000Z"),
    ] {
        w.message(
            &id,
            &format!(r#"{{"id":"{name}","role":"user","timestamp":"{time}","content":[]}}"#),
        );
    }
    let later = r#"{"role":"user","timestamp":"2026-03-03T00:00:00.000Z","content":[]}"#;
    w.pipe(
        &["append", &id, "--replace", "a", "--message-json", "-"],
        later,
    );
    assert_eq!(w.manifest(&id)["updatedAt"], "2026-01-02T00:00:00.000Z");
    w.pipe(
        &["append", &id, "--replace", "b", "--message-json", "-"],
        later,
    );
    assert_eq!(w.manifest(&id)["updatedAt"], "2026-03-03T00:00:00.000Z");
}
