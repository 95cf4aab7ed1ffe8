//! What is shown of sessions of pi and Atomic.

use std::fs;

use insta::assert_snapshot;
use serde_json::json as value;

use super::{answered, entries, fixture};
use crate::world::{World, copy, json};

#[test]
fn context_applies_compactions_edits_and_summaries() {
    let w = World::new();
    let path = answered(&w, "pi");
    let kept = entries(&path)[3]["id"].as_str().unwrap().to_owned();
    let compaction = value!({"type": "compaction", "summary": "Prices were rounded.", "firstKeptEntryId": kept, "tokensBefore": 900,
        "details": {"readFiles": ["a"]}, "fromHook": true});
    let edit = value!({"type": "context_edit", "targetId": kept, "replacement": {"content": "Done, in short."}});
    let lines = format!("{compaction}\n{edit}\n");
    assert_eq!(
        w.pipe(&["append", &path, "--message-json", "-"], lines)
            .code,
        0
    );
    w.ok(&["append", &path, "And now?"]);
    assert_snapshot!(w.plain(&w.ok(&["context", &path])), @r"
    Prices
    pi · shop · today 12:00 · 3 messages · 01a1df14-1e00-7948-8523-d812268295b1

    #1  System  12:00  (injected)
        · compaction summary 20 B
          Prices were rounded.

    #2  pi  m-1  12:00
        Done, in short.

    #3  You  12:00
        And now?
    ");
    assert_snapshot!(w.plain(&w.ok(&["context", &path, "--json"])), @r#"{"messages":[{"index":1,"uuid":"5e0375ee","parent_uuid":null,"id":"5e0375ee","parent_id":null,"role":"user","timestamp":"2026-11-15T12:00:00.000Z","content":[{"type":"text","text":"Prices were rounded."}],"metadata":{"cwd":"[ROOT]/shop","is_meta":true,"extensions":{"visibility":"injected","extension":"compaction_summary"}}},{"index":2,"uuid":"c1a1393c","parent_uuid":"5e0375ee","id":"c1a1393c","parent_id":"5e0375ee","role":"assistant","timestamp":"2026-11-15T12:00:00.000Z","content":[{"type":"text","text":"Done, in short."}],"metadata":{"cwd":"[ROOT]/shop","model":{"name":"m-1","stop_reason":"stop","stop_sequence":null},"token_usage":{"input_tokens":0,"output_tokens":0,"cache_creation_tokens":0,"cache_read_tokens":0},"extensions":{"provider":"acme","usage":{"recorded_total":0,"cost_usd":0},"details":{"api":"unknown"}}}},{"index":3,"uuid":"1107b101","parent_uuid":"c1a1393c","id":"1107b101","parent_id":"c1a1393c","role":"user","timestamp":"2026-11-15T12:00:00.000Z","content":[{"type":"text","text":"And now?"}],"metadata":{"cwd":"[ROOT]/shop"}}],"model":"acme/m-1","thinking_level":null}"#);
    assert_snapshot!(w.plain(&w.ok(&["context", &path, "--native", "--json"])), @r#"{"messages":[{"role":"compactionSummary","summary":"Prices were rounded.","tokensBefore":900,"timestamp":1794744000000},{"role":"assistant","content":[{"type":"text","text":"Done, in short."}],"api":"unknown","provider":"acme","model":"m-1","usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop","timestamp":1794744000000},{"role":"user","content":"And now?","timestamp":1794744000000}],"model":{"provider":"acme","modelId":"m-1"},"thinking_level":"off"}"#);
    assert_snapshot!(w.plain(&w.ok(&["context", &path, "--native", "--at", &kept])), @r#"
    {"role":"user","content":"Round the prices.","timestamp":1794744000000}
    {"role":"assistant","content":[{"type":"text","text":"Done."}],"api":"unknown","provider":"acme","model":"m-1","usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop","timestamp":1794744000000}
    "#);
    let tree = w.ok(&["tree", &path, "--json"]);
    let compaction = tree
        .lines()
        .map(json)
        .find(|e| e["type"] == "compaction")
        .unwrap();
    assert_eq!(
        (&compaction["from_hook"], &compaction["details"]),
        (&value!(true), &value!({"readFiles": ["a"]}))
    );
}

#[test]
fn show_hides_what_extensions_hide_and_marks_what_they_show() {
    let w = World::new();
    let path = answered(&w, "pi");
    let message = |text: &str, display: bool| value!({"type": "custom_message", "customType": "weather", "content": text, "display": display});
    let lines = format!(
        "{}\n{}\n",
        message("It rains.", true),
        message("Secret forecast.", false)
    );
    assert_eq!(
        w.pipe(&["append", &path, "--message-json", "-"], lines)
            .code,
        0
    );
    let shown = w.ok(&["show", &path]);
    assert!(shown.contains("  weather  "), "{shown}");
    assert!(!shown.contains("Secret"), "{shown}");
    let markdown = w.ok(&["show", &path, "--to", "markdown"]);
    assert!(
        markdown.contains("It rains.") && !markdown.contains("Secret"),
        "{markdown}"
    );
    // The model sees both, and scripts see everything.
    assert!(w.ok(&["context", &path]).contains("Secret forecast."));
    assert!(
        w.ok(&["show", &path, "--json"])
            .contains("Secret forecast.")
    );
}

#[test]
fn internal_sessions_are_listed_only_when_asked_for() {
    let w = World::new();
    for case in ["workflow", "half-workflow"] {
        let from = fixture(&format!("atomic/3/{case}"));
        copy(
            from.parent().unwrap(),
            &w.home.join(".atomic/agent/sessions/--home-me-shop--"),
        );
    }
    assert_eq!(w.ok(&["list", "--tsv"]).lines().count(), 1);
    assert_eq!(w.ok(&["list", "--tsv", "--hidden"]).lines().count(), 2);
}

#[test]
fn check_names_line_rule_and_section() {
    let w = World::new();
    let path = w.root.join("2026-11-15T12-00-00-000Z_s1.jsonl");
    let lines = [
        r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-11-15T12:00:00.000Z","cwd":"/p"}"#,
        r#"{"type":"message","id":"a","parentId":"z","timestamp":"2026-11-15T12:00:00.000Z","message":{"role":"user","content":"x","timestamp":1}}"#,
        r#"{"type":"message","id":"a","parentId":null,"timestamp":"yesterday","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"n"}],"timestamp":1}}"#,
        "",
        "not json",
        r#"{"type":"label","id":"b","parentId":"d","timestamp":"2026-11-15T12:00:00.000Z","targetId":"nobody"}"#,
        r#"{"type":"mystery","id":"c","parentId":"b","timestamp":"2026-11-15T12:00:00.000Z"}"#,
        r#"{"type":"session_info","id":"d","parentId":"c","timestamp":"2026-11-15T12:00:00.000Z","name":5}"#,
        r#"{"type":"message","id":"e","parentId":"gone","timestamp":"2026-11-15T12:00:00.000Z","message":{"role":"hookMessage","customType":"t","content":"x","display":true}}"#,
        r#"{"type":"torn"#,
    ];
    fs::write(&path, lines.join("\n")).unwrap();
    let answer = w.run(&["check", path.to_str().unwrap()]);
    assert_eq!(answer.code, 1, "{answer:?}");
    assert_snapshot!(w.plain(&answer.out), @"
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:2: error[first-entry]: the first entry has a parent; its `parentId` must be null (Tree Structure)
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:3: error[timestamp]: `timestamp` is `yesterday`, not an ISO 8601 date and time (Entry Base)
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:3: error[duplicate-id]: the id `a` is that of line 2 too (Entry Types)
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:3: error[required-field]: `message.api` is missing (Base Message Types (from @earendil-works/pi-ai))
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:3: error[required-field]: `message.provider` is missing (Base Message Types (from @earendil-works/pi-ai))
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:3: error[required-field]: `message.model` is missing (Base Message Types (from @earendil-works/pi-ai))
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:3: error[required-field]: `message.usage` is missing (Base Message Types (from @earendil-works/pi-ai))
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:3: error[required-field]: `message.stopReason` is missing (Base Message Types (from @earendil-works/pi-ai))
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:3: error[required-field]: `message.content[0].arguments` is missing (Content Blocks)
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:4: warning[blank-line]: a blank line (Session File Format)
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:5: error[json]: not JSON: expected `true`, `false` or `null`, at column 2 (Session File Format)
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:6: warning[parent-later]: the parent stands below it, in line 8 (Tree Structure)
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:6: error[circle]: the way to the root goes in a circle (Tree Structure)
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:6: warning[unknown-entry]: `targetId` names `nobody`, which is nowhere (Tree Structure)
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:7: warning[unknown-type]: `mystery` is no type of the document (Entry Types)
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:8: error[field-type]: `name` is a number, not a string (SessionInfoEntry)
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:9: error[role]: `hookMessage` is called `custom` since version 3 (Session Version)
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:9: error[orphan]: the parent `gone` is nowhere (Tree Structure)
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:10: error[torn-line]: not JSON: unexpected end, at column 14 (Session File Format)
    ");
}

/// A session of Atomic with a compaction of its own kind.
fn compacted(w: &World, details: &str, kept: &str) -> String {
    let made = json(&w.ok(&["new", "--format", "atomic", "--json"]));
    let path = made["path"].as_str().unwrap().to_owned();
    let message = |id: &str, parent: &str, text: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-11-15T12:00:00.000Z","message":{{"role":"user","content":"{text}","timestamp":1}}}}"#
        )
    };
    let compaction = format!(
        r#"{{"type":"compaction","id":"c1","parentId":"m2","timestamp":"2026-11-15T12:00:01.000Z","summary":"[User]: one\n(filtered 4 lines)","firstKeptEntryId":{kept},"tokensBefore":900,"details":{details}}}"#
    );
    let lines = [
        message("m1", "null", "one"),
        message("m2", r#""m1""#, "two"),
        compaction,
        message("m3", r#""c1""#, "three"),
    ];
    let mut text = fs::read_to_string(&path).unwrap();
    for line in lines {
        text.push_str(&line);
        text.push('\n');
    }
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn compactions_of_today_s_atomic_are_what_it_sends() {
    let own = r#"{"strategy":"verbatim-lines","promptVersion":3,"rung":"planned","stats":{"tokensAfter":300}}"#;
    let collapsed = r#"{"strategy":"verbatim-lines","promptVersion":4,"format":"full-collapse"}"#;
    for (details, kept, tail) in [
        (own, r#""m2""#, 1),
        (own, "null", 0),
        (collapsed, r#""m2""#, 0),
    ] {
        let w = World::new();
        let path = compacted(&w, details, kept);
        let seen = json(&w.ok(&["context", &path, "--native", "--json"]));
        let messages = seen["messages"].as_array().unwrap();
        assert_eq!(messages.len(), 2 + tail, "{seen}");
        let boundary = &messages[0];
        assert_eq!(
            (&boundary["role"], &boundary["customType"]),
            (&"custom".into(), &"compaction".into())
        );
        let text = boundary["content"][0]["text"].as_str().unwrap();
        assert!(
            text.starts_with("The earlier conversation was compacted. ")
                && text.ends_with("\n\n[User]: one\n(filtered 4 lines)"),
            "{text}"
        );
        assert_eq!(messages.last().unwrap()["content"], "three");
        let seen = json(&w.ok(&["context", &path, "--json"]));
        assert_eq!(seen["messages"].as_array().unwrap().len(), 2 + tail);
        let tree = w.ok(&["tree", &path, "--json"]);
        assert!(tree.contains("(filtered 4 lines)"), "{tree}");
    }
    // pi writes and knows no such thing: to it, a summary is a summary.
    let w = World::new();
    let path = compacted(&w, own, r#""m2""#);
    let pi = w.root.join("session.jsonl");
    fs::copy(&path, &pi).unwrap();
    let seen = json(&w.ok(&["context", pi.to_str().unwrap(), "--native", "--json"]));
    assert_eq!(seen["messages"][0]["role"], "compactionSummary");
}
