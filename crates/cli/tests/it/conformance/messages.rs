//! Messages.

use std::fs;

use serde_json::json as value;

use super::{DOCUMENT_ID, assert_fields, document_thread, every_verb, example, new_folder};
use crate::world::{NOW, World, json};

#[test]
fn every_field_of_a_message_is_written_and_read() {
    let w = World::new();
    let id = w.thread("T");
    w.message(&id, r#"{"id":"m1","role":"agent","timestamp":"2026-01-02T03:04:05.678Z","content":[{"type":"text","text":"said"}],"toolCalls":[{"toolCallId":"t1","name":"bash","status":"pending"}],"stopReason":"max_tokens","model":"claude-sonnet-4-5-20250929","tokens":{"input":11,"output":22}}"#);
    assert_fields(
        &w.lines(&id)[0],
        &[
            ("/id", "m1".into()),
            ("/role", "agent".into()),
            ("/timestamp", "2026-01-02T03:04:05.678Z".into()),
            ("/content", value!([{"type": "text", "text": "said"}])),
            ("/toolCalls/0/toolCallId", "t1".into()),
            ("/stopReason", "max_tokens".into()),
            ("/model", "claude-sonnet-4-5-20250929".into()),
            ("/tokens/input", 11.into()),
            ("/tokens/output", 22.into()),
        ],
    );
    assert_fields(
        &json(&w.ok(&["show", &id, "--json"]))["messages"][0],
        &[
            ("/uuid", "m1".into()),
            ("/role", "assistant".into()),
            ("/timestamp", "2026-01-02T03:04:05.678Z".into()),
            ("/content/0", value!({"type": "text", "text": "said"})),
            ("/content/1/tool_id", "t1".into()),
            ("/metadata/model/stop_reason", "max_tokens".into()),
            ("/metadata/model/name", "claude-sonnet-4-5-20250929".into()),
            ("/metadata/token_usage/input_tokens", 11.into()),
            ("/metadata/token_usage/output_tokens", 22.into()),
        ],
    );
}

#[test]
fn what_is_optional_in_a_message_is_neither_needed_nor_added() {
    let w = World::new();
    let id = w.thread("T");
    let message =
        r#"{"id":"m1","role":"agent","timestamp":"2026-01-02T03:04:05.678Z","content":[]}"#;
    w.message(&id, message);
    assert_eq!(w.log(&id), format!("{message}\n"));
    let tokens = r#"{"id":"m2","role":"agent","timestamp":"2026-01-02T03:04:05.678Z","content":[],"tokens":{}}"#;
    w.message(&id, tokens);
    assert_eq!(w.log(&id), format!("{message}\n{tokens}\n"));
    assert_eq!(w.run(&["show", &id]).code, 0);
}

#[test]
fn every_role_is_read() {
    let w = World::new();
    let id = w.thread("T");
    for role in ["user", "agent", "system"] {
        w.ok(&["append", &id, "--role", role, role]);
    }
    let record = json(&w.ok(&["show", &id, "--json"]));
    for (i, (role, said)) in [
        ("user", "user"),
        ("assistant", "agent"),
        ("system", "system"),
    ]
    .into_iter()
    .enumerate()
    {
        let message = &record["messages"][i];
        assert_eq!(message["role"], role);
        assert_eq!(message["content"][0]["text"], said);
    }
}

#[test]
fn a_new_message_s_id_is_a_uuid_of_version_4() {
    let w = World::new();
    let id = w.thread("T");
    let given = [
        w.ok(&["append", &id, "text"]).trim().to_owned(),
        w.message(&id, r#"{"role":"agent","content":[]}"#),
    ];
    assert_ne!(given[0], given[1]);
    for id in given {
        let groups: Vec<&str> = id.split('-').collect();
        let lengths: Vec<usize> = groups.iter().map(|g| g.len()).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12], "{id}");
        let is_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        assert!(id.chars().all(|c| c == '-' || is_hex(c)), "{id}");
        assert!(groups[2].starts_with('4'), "version: {id}");
        assert!(groups[3].starts_with(['8', '9', 'a', 'b']), "variant: {id}");
    }
}

#[test]
fn the_document_s_log_keeps_its_bytes_under_every_verb() {
    let w = World::new();
    let log = example("messages.jsonl");
    document_thread(&w, &log);
    every_verb(&w, DOCUMENT_ID);
    assert!(w.log(DOCUMENT_ID).starts_with(&log));
    let lines = w.lines(DOCUMENT_ID);
    assert_eq!(lines.len(), 3, "what is new stands at the end");
    assert_eq!(lines[2]["content"][0]["text"], "and changed");
    let fork = new_folder(&w, &[DOCUMENT_ID]);
    assert_eq!(w.log(&fork), w.log(DOCUMENT_ID));
}

#[test]
fn the_document_s_blocks_are_read_and_keep_their_bytes() {
    let w = World::new();
    let blocks = ["text", "thinking", "image"].map(|kind| {
        let block = example(&format!("block-{kind}.json"));
        block.trim_end().to_owned()
    });
    let line = format!(
        "{{\"id\":\"m1\",\"role\":\"agent\",\"timestamp\":\"{NOW}\",\"content\":[{}]}}\n",
        blocks.join(",")
    );
    document_thread(&w, &line);
    let assets = w.folder(DOCUMENT_ID).join("assets");
    fs::create_dir(&assets).unwrap();
    let image = assets.join("sha256-a1b2c3d4e5f6g7h8.png");
    fs::write(&image, "a picture").unwrap();

    let record = json(&w.ok(&["show", DOCUMENT_ID, "--json"]));
    assert_fields(
        &record["messages"][0],
        &[
            ("/content/0/text", "Hello world".into()),
            ("/metadata/extensions/blocks/0/type", "thinking".into()),
            (
                "/metadata/extensions/blocks/0/text",
                "Let me analyze this...".into(),
            ),
            ("/metadata/extensions/blocks/1/mime", "image/png".into()),
            (
                "/metadata/extensions/blocks/1/path",
                image.to_str().unwrap().into(),
            ),
        ],
    );
    every_verb(&w, DOCUMENT_ID);
    assert!(w.log(DOCUMENT_ID).starts_with(&line));
}

#[test]
fn text_is_shown_as_it_is_and_thinking_when_asked_for() {
    let w = World::new();
    let id = w.thread("T");
    let text = "# not a heading\n\n    four spaces  *and* <b>two</b>\n\\n";
    let message = value!({"role": "user", "content": [{"type": "text", "text": text}]});
    w.message(&id, &message.to_string());
    let shown = w.ok(&["show", &id]).replace("\n    ", "\n");
    assert!(shown.contains(text), "what a person typed: {shown}");
    let message = value!({"role": "agent", "content": [
        {"type": "thinking", "text": "a quiet thought"}, {"type": "text", "text": text}]});
    w.message(&id, &message.to_string());
    let shown = w.ok(&["show", &id]);
    assert!(!shown.contains("a quiet thought"), "{shown}");
    assert!(
        w.ok(&["show", &id, "--thinking"])
            .contains("a quiet thought")
    );
    let record = json(&w.ok(&["show", &id, "--json"]));
    assert_eq!(record["messages"][1]["content"][0]["text"], text);
}

#[test]
fn unknown_fields_and_blocks_survive_a_change_to_their_own_message() {
    let w = World::new();
    let id = w.thread("T");
    w.message(&id, r#"{"id":"m1","role":"agent","timestamp":"2026-01-02T03:04:05Z","content":[{"type":"text","text":"x","mood":1e2},{"type":"chart","n":[1, 2]}],"toolCalls":[{"toolCallId":"t1","name":"edit","status":"running","diff":{"path":"a","oldText":"x","newText":"y","lines":3},"extra":-0}],"tokens":{"input":1,"output":2,"cached":3},"shade":"\u00e9"}"#);
    let before = w.log(&id);
    w.message(
        &id,
        r#"{"role":"user","content":[{"type":"tool_result","tool_id":"t1","output":"done"}]}"#,
    );
    let expected = before
        .replace("\"running\"", "\"completed\"")
        .replace("\"extra\":-0}", "\"extra\":-0,\"output\":\"done\"}");
    assert_eq!(w.log(&id), expected);
}
