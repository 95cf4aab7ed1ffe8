//! What is said in sessions of pi and Atomic: started, continued, refused.

use std::fs;
use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::{Value, json as value};

use super::{answered, entries, parents, types};
use crate::world::{World, json};

#[test]
fn new_and_append_write_what_the_programs_write() {
    let w = World::new();
    let path = answered(&w, "pi");
    let text = fs::read_to_string(&path).unwrap();
    assert_snapshot!(w.plain(&path), @"[ROOT]/home/.pi/agent/sessions/--[ROOT]-shop--/2026-11-15T12-00-00-000Z_01a1df14-1e00-7948-8523-d812268295b1.jsonl");
    assert_snapshot!(w.plain(&text), @r#"
    {"type":"session","version":3,"id":"01a1df14-1e00-7948-8523-d812268295b1","timestamp":"2026-11-15T12:00:00.000Z","cwd":"[ROOT]/shop"}
    {"type":"session_info","id":"09f1545c","parentId":null,"timestamp":"2026-11-15T12:00:00.000Z","name":"Prices"}
    {"type":"message","id":"ae3cd13e","parentId":"09f1545c","timestamp":"2026-11-15T12:00:00.000Z","message":{"role":"user","content":"Round the prices.","timestamp":1794744000000}}
    {"type":"message","id":"c1a1393c","parentId":"ae3cd13e","timestamp":"2026-11-15T12:00:00.000Z","message":{"role":"assistant","content":[{"type":"text","text":"Done."}],"api":"unknown","provider":"acme","model":"m-1","usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop","timestamp":1794744000000}}
    "#);
    let atomic = answered(&w, "atomic");
    assert!(atomic.contains("/.atomic/agent/sessions/"), "{atomic}");
    assert_eq!(w.ok(&["list", "--tsv"]).lines().count(), 2);
    assert_snapshot!(w.plain(&w.ok(&["check", &path, &atomic])), @"");
}

#[test]
fn a_header_is_written_at_once_under_the_id_that_was_asked_for() {
    let w = World::new();
    let out = w.root.join("other");
    let args = [
        "new",
        "--format",
        "pi",
        "--id",
        "mine.1",
        "-o",
        out.to_str().unwrap(),
    ];
    let (id, path) = w
        .ok(&args)
        .trim()
        .split_once('\t')
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .unwrap();
    assert_eq!(id, "mine.1");
    assert!(
        path.starts_with(out.join("sessions").to_str().unwrap()),
        "{path}"
    );
    assert_eq!(types(&path), ["session"]);
    let again = w.run(&args);
    assert_eq!(again.code, 1, "{again:?}");
    assert!(again.err.contains("exists already"), "{}", again.err);
    let bad = w.run(&["new", "--format", "pi", "--id", "../x"]);
    assert_eq!(bad.code, 2, "{bad:?}");
    assert!(bad.err.contains("Session id must be"), "{}", bad.err);
    let agent = w.run(&["new", "--format", "pi", "--agent-id", "x"]);
    assert_eq!(agent.code, 2, "{agent:?}");
    assert_eq!(agent.err, "error: pi sessions have no agent ids\n");
}

#[test]
fn whole_messages_in_the_formats_own_and_in_the_unified_words() {
    let w = World::new();
    let path = answered(&w, "pi");
    let native = [
        value!({"role": "user", "content": "own words", "timestamp": 1, "mood": "x"}),
        value!({"type": "custom", "customType": "todo", "data": {"open": 3}}),
        value!({"type": "custom_message", "customType": "weather", "content": "It rains.", "display": false}),
        value!({"type": "model_change", "provider": "acme", "modelId": "m-2"}),
        value!({"type": "thinking_level_change", "thinkingLevel": "high"}),
        value!({"type": "mystery", "payload": [1, 2]}),
    ];
    let unified = [
        value!({"role": "assistant", "timestamp": "2026-11-15T12:00:01Z", "content": [
            {"type": "text", "text": "Looking."},
            {"type": "tool_use", "tool_id": "c1", "tool_name": "bash", "input": {"command": "ls"}}],
            "metadata": {"model": {"name": "m-2"}, "token_usage": {"input_tokens": 5, "output_tokens": 7}}}),
        value!({"role": "user", "content": [
            {"type": "tool_result", "tool_id": "c1", "output": "a.txt", "is_error": false}]}),
    ];
    let lines: Vec<String> = native
        .iter()
        .chain(&unified)
        .map(Value::to_string)
        .collect();
    let answer = w.pipe(&["append", &path, "--message-json", "-"], lines.join("\n"));
    assert_eq!(
        (answer.code, answer.out.lines().count()),
        (0, 8),
        "{answer:?}"
    );
    let text = fs::read_to_string(&path).unwrap();
    let added: Vec<&str> = text.lines().skip(4).collect();
    assert_snapshot!(added.join("\n"), @r#"
    {"type":"message","id":"5e0375ee","parentId":"c1a1393c","timestamp":"2026-11-15T12:00:00.000Z","message":{"role":"user","content":"own words","timestamp":1,"mood":"x"}}
    {"type":"custom","customType":"todo","data":{"open":3},"id":"87801197","parentId":"5e0375ee","timestamp":"2026-11-15T12:00:00.000Z"}
    {"type":"custom_message","customType":"weather","content":"It rains.","display":false,"id":"1107b101","parentId":"87801197","timestamp":"2026-11-15T12:00:00.000Z"}
    {"type":"model_change","id":"92872494","parentId":"1107b101","timestamp":"2026-11-15T12:00:00.000Z","provider":"acme","modelId":"m-2"}
    {"type":"thinking_level_change","id":"7692a0c2","parentId":"92872494","timestamp":"2026-11-15T12:00:00.000Z","thinkingLevel":"high"}
    {"type":"mystery","id":"e409042c","parentId":"7692a0c2","timestamp":"2026-11-15T12:00:00.000Z","payload":[1,2]}
    {"type":"message","id":"61ec919f","parentId":"e409042c","timestamp":"2026-11-15T12:00:01.000Z","message":{"role":"assistant","content":[{"type":"text","text":"Looking."},{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"ls"}}],"api":"unknown","provider":"acme","model":"m-2","usage":{"input":5,"output":7,"cacheRead":0,"cacheWrite":0,"totalTokens":12,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"toolUse","timestamp":1794744001000}}
    {"type":"message","id":"672b1e89","parentId":"61ec919f","timestamp":"2026-11-15T12:00:00.000Z","message":{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"a.txt"}],"isError":false,"timestamp":1794744000000}}
    "#);
    assert_eq!(w.run(&["check", &path]).out.matches("error").count(), 0);
}

#[test]
fn an_extension_s_message_is_in_the_tree_with_all_that_it_says() {
    let w = World::new();
    let path = answered(&w, "pi");
    let message = value!({"type": "custom_message", "customType": "weather", "content": "It rains.",
        "display": true, "details": {"mm": 3.10, "where": ["here"]}});
    w.pipe(
        &["append", &path, "--message-json", "-"],
        message.to_string(),
    );
    let tree = w.ok(&["tree", &path, "--json"]);
    let last = json(tree.lines().last().unwrap());
    assert_eq!(last["extension"], "weather");
    assert_eq!(last["details"], value!({"mm": 3.1, "where": ["here"]}));
    assert_eq!(last["text"], "user: It rains.");
}

#[test]
fn a_short_id_is_found_where_it_is_the_whole_id() {
    let w = World::new();
    w.ok(&["new", "--format", "pi", "--id", "big"]);
    w.ok(&["append", "big", "--role", "user", "Hello."]);
    w.ok(&["append", "big", "--role", "agent", "Hello, too."]);
    assert!(w.ok(&["show", "pi:big"]).contains("Hello, too."));
    let beginning = w.run(&["show", "bi"]);
    assert_eq!(beginning.code, 1, "{beginning:?}");
    assert!(beginning.err.contains("too short"), "{}", beginning.err);
}

#[test]
fn bad_messages_are_refused_one_by_one() {
    let w = World::new();
    let path = answered(&w, "pi");
    let before = fs::read_to_string(&path).unwrap();
    let lines = [
        r#"{"role":"assistant","api":"x","content":[]}"#,
        r#"{"role":"user","content":"fine"}"#,
        "[1]",
        r#"{"type":"session","id":"x"}"#,
        r#"{"type":"label","targetId":"nowhere","label":"x"}"#,
        r#"{"type":"message"}"#,
        r#"{"role":"compactionSummary","summary":"x"}"#,
    ]
    .join("\n");
    let strict = w.pipe(
        &["append", &path, "--message-json", "-", "--strict"],
        &lines,
    );
    assert_eq!(strict.code, 1, "{strict:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
    let answer = w.pipe(&["append", &path, "--message-json", "-"], &lines);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert_snapshot!(w.plain(&answer.err), @"
    error: message 1: `provider` is missing in a message of role `assistant`
    error: message 3: not a JSON object
    error: message 4: an entry cannot be another header
    error: message 5: an entry of type `label` has a `targetId` that is `nowhere`, which is no entry of the session
    error: message 6: `message` is missing
    error: message 7: `role` is `compactionSummary`, not `user`, `assistant`, `system` or `tool`
    ");
    assert_eq!(entries(&path).len(), before.lines().count() + 1);
}

#[test]
fn entries_that_are_no_messages_are_refused_with_what_is_wrong() {
    let w = World::new();
    let path = answered(&w, "atomic");
    let before = fs::read_to_string(&path).unwrap();
    let lines = [
        r#"{"type":"model_change","provider":"acme"}"#,
        r#"{"type":"model_change","provider":"acme","modelId":5}"#,
        r#"{"type":"thinking_level_change","thinkingLevel":""}"#,
        r#"{"type":"compaction","tokensBefore":5}"#,
        r#"{"type":"compaction","summary":"S","firstKeptEntryId":"nowhere"}"#,
        r#"{"type":"compaction","summary":"S","tokensBefore":"many"}"#,
        r#"{"type":"custom","data":1}"#,
        r#"{"type":"custom_message","customType":"x","content":1,"display":true}"#,
        r#"{"type":"custom_message","customType":"x","content":"c","display":"yes"}"#,
    ]
    .join("\n");
    let answer = w.pipe(&["append", &path, "--message-json", "-"], &lines);
    assert_eq!(answer.code, 1, "{answer:?}");
    assert_snapshot!(answer.err, @"
    error: message 1: an entry of type `model_change` must have a `modelId`
    error: message 2: an entry of type `model_change` has a `modelId` that is not a text
    error: message 3: an entry of type `thinking_level_change` has a `thinkingLevel` that is empty
    error: message 4: an entry of type `compaction` must have a `summary`
    error: message 5: an entry of type `compaction` has a `firstKeptEntryId` that is `nowhere`, which is no entry of the session
    error: message 6: an entry of type `compaction` has a `tokensBefore` that is not a whole number
    error: message 7: an entry of type `custom` must have a `customType`
    error: message 8: an entry of type `custom_message` has a `content` that is not a text or a list of blocks
    error: message 9: an entry of type `custom_message` has a `display` that is not `true` or `false`
    ");
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
    // With `--strict`, nothing is added where one cannot be.
    let one_is_fine = format!("{{\"type\":\"custom\",\"customType\":\"x\"}}\n{lines}");
    let strict = ["append", &path, "--message-json", "-", "--strict"];
    assert_eq!(w.pipe(&strict, one_is_fine).code, 1);
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
}

#[test]
fn a_compaction_is_written_as_its_program_does() {
    let w = World::new();
    for format in ["pi", "atomic"] {
        let path = answered(&w, format);
        let kept = entries(&path).pop().unwrap()["id"].clone();
        let lines = [
            value!({"details": {"readFiles": []}, "type": "compaction", "firstKeptEntryId": kept,
                "summary": "S"}),
            value!({"type": "compaction", "firstKeptEntryId": null, "summary": "T", "tokensBefore": 7}),
        ];
        let lines = lines.map(|line| line.to_string()).join("\n");
        let answer = w.pipe(&["append", &path, "--message-json", "-"], lines);
        assert_eq!(answer.code, 0, "{answer:?}");
        let text = fs::read_to_string(&path).unwrap();
        let added: Vec<&str> = text.lines().rev().take(2).collect();
        let id = json(added[0])["id"].as_str().unwrap().to_owned();
        assert!(
            added[1].ends_with(&format!(
                r#","summary":"S","firstKeptEntryId":{kept},"tokensBefore":0,"details":{{"readFiles":[]}}}}"#
            )),
            "{}",
            added[1]
        );
        assert!(
            added[0].ends_with(&format!(
                r#","summary":"T","firstKeptEntryId":"{id}","tokensBefore":7}}"#
            )),
            "{}",
            added[0]
        );
        let seen = json(&w.ok(&["context", &path, "--json"]));
        assert_eq!(seen["messages"].as_array().unwrap().len(), 1, "{seen}");
    }
}

#[test]
fn forty_writers_at_once_follow_each_other() {
    let w = World::new();
    for format in ["pi", "atomic"] {
        let path = answered(&w, format);
        let writers: Vec<_> = (0..40)
            .map(|n| {
                let text = format!("message {n}");
                let args = ["append", &path, &text, "--lock-timeout", "300"];
                let mut command = w.command(&args);
                // Each has its own randomness, as real ones do.
                command.env("RETHREAD_SEED", format!("{n}"));
                command.stdout(Stdio::null()).spawn().unwrap()
            })
            .collect();
        for mut writer in writers {
            assert!(writer.wait().unwrap().success());
        }
        let chain: Vec<Option<usize>> = (0..43).map(|n| (n > 0).then_some(n)).collect();
        assert_eq!(parents(&path), chain, "one behind the other");
        let seen = json(&w.ok(&["context", &path, "--native", "--json"]));
        let messages = seen["messages"].as_array().unwrap();
        let said = |n: usize| {
            let text = format!("message {n}");
            messages.iter().filter(|m| m["content"] == *text).count()
        };
        assert_eq!((0..40).map(said).sum::<usize>(), 40);
        assert!((0..40).all(|n| said(n) == 1));
    }
}

#[test]
fn pictures_and_system_messages() {
    let w = World::new();
    let path = answered(&w, "pi");
    let picture = w.project.join("p.png");
    fs::write(&picture, b"\x89PNG\r\n\x1a\nrest").unwrap();
    w.ok(&[
        "append",
        &path,
        "What is this?",
        "--image",
        picture.to_str().unwrap(),
    ]);
    w.ok(&["append", &path, "--role", "system", "Be brief."]);
    let all = entries(&path);
    assert_eq!(
        all[4]["message"]["content"][1],
        value!({"type": "image", "data": "iVBORw0KGgpyZXN0", "mimeType": "image/png"})
    );
    assert_eq!(
        (&all[5]["type"], &all[5]["customType"]),
        (&value!("custom_message"), &value!("system"))
    );
}
