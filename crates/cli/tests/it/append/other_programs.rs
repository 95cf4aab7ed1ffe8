//! Times, and what other programs wrote to the same thread.

use std::fs;

use crate::world::{NOW, World, json};

#[test]
fn times_are_written_in_utc() {
    let w = World::new();
    let id = w.thread("T");
    w.message(
        &id,
        r#"{"role":"user","timestamp":"2026-01-02T03:00:00+02:00","content":[]}"#,
    );
    assert_eq!(w.lines(&id)[0]["timestamp"], "2026-01-02T01:00:00.000Z");
    assert_eq!(w.manifest(&id)["updatedAt"], "2026-01-02T01:00:00.000Z");
}

#[test]
fn other_tools_writes_are_counted_and_unknown_fields_survive() {
    let w = World::new();
    let id = w.thread("T");
    w.ok(&["append", &id, "one"]);
    let manifest = w.folder(&id).join("thread.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let text = text.replace(
        "\"title\": \"T\",",
        "\"title\": \"T\",\n  \"colour\" :  1e2,",
    );
    let text = text.replace(
        "\"metadata\": {",
        "\"metadata\": {\n    \"app\": {\"deep\": [1, 2]},",
    );
    fs::write(&manifest, &text).unwrap();
    // Another program appends two messages and does not touch the description.
    let log = w.folder(&id).join("messages.jsonl");
    let mut bytes = fs::read_to_string(&log).unwrap();
    bytes.push_str("{\"id\":\"x\",\"role\":\"agent\",\"timestamp\":\"2026-11-15T12:00:01Z\",\"content\":[],\"toolCalls\":[{},{}]}\n");
    fs::write(&log, bytes).unwrap();
    let listed = json(&w.ok(&["list", "--json"]));
    assert_eq!(
        listed["message_count"], 2,
        "a list counts anew when the log has grown"
    );
    w.ok(&["append", &id, "two"]);
    let stats = &w.manifest(&id)["stats"];
    assert_eq!(stats["messageCount"], 3);
    assert_eq!(stats["agentMessageCount"], 1);
    assert_eq!(stats["toolCallCount"], 2);
    let after = fs::read_to_string(&manifest).unwrap();
    assert!(after.contains("\"colour\" :  1e2,"), "{after}");
    assert!(after.contains("\"app\": {\"deep\": [1, 2]}"), "{after}");
}

#[test]
fn a_last_timestamp_that_does_not_fit_means_counting_anew() {
    let w = World::new();
    let id = w.thread("T");
    w.ok(&["append", &id, "one"]);
    // The same length, but another message: somebody edited the log in place.
    let log = w.folder(&id).join("messages.jsonl");
    let text = fs::read_to_string(&log).unwrap();
    let edited = text
        .replace("\"role\":\"user\"", "\"role\":\"agen\"")
        .replace(NOW, "2026-11-15T11:00:00.000Z");
    assert_eq!(edited.len(), text.len());
    fs::write(&log, edited.replace("\"agen\"", "\"agnt\"")).unwrap();
    w.ok(&["append", &id, "two"]);
    let stats = &w.manifest(&id)["stats"];
    assert_eq!(
        (
            stats["messageCount"].as_u64(),
            stats["userMessageCount"].as_u64()
        ),
        (Some(2), Some(1))
    );
}

#[test]
fn a_message_out_of_the_order_of_time_is_remarked_on() {
    let w = World::new();
    let id = w.thread("T");
    w.ok(&["append", &id, "now"]);
    let early = r#"{"role":"user","timestamp":"2020-01-01T00:00:00Z","content":[]}"#;
    let answer = w.pipe(&["append", &id, "--message-json", "-"], early);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(answer.err.contains("note: "), "{}", answer.err);
    assert!(
        answer
            .err
            .contains("the last message is of 2020-01-01T00:00:00.000Z"),
        "{}",
        answer.err
    );
}

#[test]
fn times_of_other_programs_become_utc_where_we_write_them() {
    let w = World::new();
    let id = w.thread("T");
    let log = w.folder(&id).join("messages.jsonl");
    let foreign = "{\"id\":\"m\",\"role\":\"user\",\"timestamp\":\"2026-01-02T03:00:00+02:00\",\"content\":[]}\n";
    fs::write(&log, foreign).unwrap();
    let fork = json(&w.ok(&["fork", &id, "--json"]));
    let fork = fork["id"].as_str().unwrap();
    assert_eq!(w.manifest(fork)["updatedAt"], "2026-01-02T01:00:00.000Z");
    assert_eq!(w.log(fork), foreign, "a copied line keeps its bytes");
    w.ok(&["append", &id, "--replace", "m", "new text"]);
    assert_eq!(w.lines(&id)[0]["timestamp"], "2026-01-02T01:00:00.000Z");
    assert_eq!(w.manifest(&id)["updatedAt"], "2026-01-02T01:00:00.000Z");
    for odd in ["2026-01-02 03:00:00Z", " 2026-01-02T03:00:00Z "] {
        w.message(
            &id,
            &format!(r#"{{"role":"user","timestamp":"{odd}","content":[]}}"#),
        );
        let lines = w.lines(&id);
        assert_eq!(
            lines.last().unwrap()["timestamp"],
            "2026-01-02T03:00:00.000Z",
            "{odd}"
        );
    }
}
