//! Each rule of the document, broken alone: its name, its weight, its line, and the exit code.

use std::fs;

use super::good::{ASSET, Good, LOG, line_of};

/// A file, what is changed in it, and what is then wrong.
type Case = (&'static str, &'static str, &'static str, &'static str);

#[rustfmt::skip]
const CASES: &[Case] = &[
    // Versions.
    ("thread.json", r#""1.1""#, r#""2.0""#, "error[version] thread.json:2"),
    ("thread.json", r#""1.1""#, r#""one""#, "error[version] thread.json:2"),
    ("thread.json", r#""1.1""#, r#""1.7""#, ""),
    ("thread.json", r#""1.1""#, r#""1.0""#, ""),
    ("config.json", r#""1.1""#, r#""3.1""#, "error[version] config.json:2"),
    // Ids and folders.
    ("thread.json", r#""t-1""#, r#""t-2""#, "error[folder-name] thread.json:3"),
    ("thread.json", r#""t-1""#, r#""../t""#, "error[thread-id] thread.json:3"),
    ("thread.json", r#""t-1""#, r#""""#, "error[thread-id] thread.json:3"),
    ("thread.json", r#""t-1""#, r#""a\u0000b""#, "error[thread-id] thread.json:3"),
    ("messages.jsonl", r#""id":"m2""#, r#""id":"m1""#, "warning[duplicate-id] messages.jsonl:2"),
    ("messages.jsonl", r#""id":"m2""#, r#""id":"""#, "error[required-field] messages.jsonl:2"),
    // Times.
    ("thread.json", "2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00.000+02:00", "error[timestamp] thread.json:5"),
    ("thread.json", "2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00.000", "error[timestamp] thread.json:5"),
    ("thread.json", "2026-01-01T00:00:00.000Z", "2026-01-01 00:00:00Z", "error[timestamp] thread.json:5"),
    ("thread.json", "2026-01-01T00:00:00.000Z", "2026-01-01t00:00:00z", "error[timestamp] thread.json:5"),
    ("thread.json", "2026-01-01T00:00:00.000Z", "2026-01-01", "error[timestamp] thread.json:5"),
    ("thread.json", "2026-01-01T00:00:00.000Z", "1767225600000", "error[timestamp] thread.json:5"),
    ("thread.json", "2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00+00:00", ""),
    ("messages.jsonl", "2026-01-01T00:00:02.000Z", "yesterday", "error[timestamp] messages.jsonl:2"),
    ("messages.jsonl", "2026-01-01T00:00:02.000Z", "2026-01-01T01:00:02.000+01:00", "error[timestamp] messages.jsonl:2"),
    ("messages.jsonl", "2026-01-01T00:00:02.000Z", "2026-02-30T00:00:02.000Z", "error[timestamp] messages.jsonl:2"),
    ("messages.jsonl", "2026-01-01T00:00:02.000Z", "2025-12-31T00:00:02.000Z", "warning[time-order] messages.jsonl:2"),
    // What is derived from the log.
    ("thread.json", r#""messageCount": 3"#, r#""messageCount": 4"#, "error[stats] thread.json:25"),
    ("thread.json", r#""userMessageCount": 1"#, r#""userMessageCount": 2"#, "error[stats] thread.json:26"),
    ("thread.json", r#""agentMessageCount": 1"#, r#""agentMessageCount": 3"#, "error[stats] thread.json:27"),
    ("thread.json", r#""agentMessageCount": 1"#, r#""agentMessageCount": 2"#, ""),
    ("thread.json", r#""toolCallCount": 1"#, r#""toolCallCount": 0"#, "error[stats] thread.json:28"),
    ("thread.json", r#""toolCallCount": 1"#, r#""toolCallCount": 1.5"#, "error[stats] thread.json:28"),
    ("thread.json", r#""toolCallCount": 1"#, r#""toolCallCount": 1.0"#, ""),
    ("thread.json", "00:00:04.000Z", "00:00:05.000Z", "error[updated-at] thread.json:6"),
    ("thread.json", "00:00:04.000Z", "00:00:04Z", ""),
    // Words that the document names.
    ("thread.json", r#""acp""#, r#""telnet""#, "warning[protocol] thread.json:11"),
    ("messages.jsonl", r#""role":"system""#, r#""role":"reviewer""#, "warning[role] messages.jsonl:1"),
    ("messages.jsonl", r#""status":"completed""#, r#""status":"in_progress""#, "warning[tool-status] messages.jsonl:3"),
    ("config.json", r#""linux""#, r#""beos""#, "warning[platform] config.json:35"),
    // Paths.
    ("thread.json", r#""/w""#, r#""w""#, "error[absolute-path] thread.json:15"),
    ("thread.json", r#""/w/t""#, r#""t""#, "error[absolute-path] thread.json:20"),
    ("thread.json", r#""/w""#, r#""C:\\w""#, ""),
    ("thread.json", r#"Dir": ".""#, r#"Dir": "/x""#, "error[relative-path] thread.json:16"),
    ("config.json", r#"".env.local""#, r#""/etc/passwd""#, "error[hook-path] config.json:24"),
    ("config.json", r#"".env.local""#, r#""a/../../b""#, "error[hook-path] config.json:24"),
    ("config.json", r#""config/.env""#, r#"".git/hooks/pre-commit""#, "error[hook-path] config.json:25"),
    ("config.json", r#""config/.env""#, r#""..\\x""#, "error[hook-path] config.json:25"),
    ("config.json", r#""config/.env""#, r#""C:\\x""#, "error[hook-path] config.json:25"),
    // Assets.
    ("messages.jsonl", "sha256-ba7816bf8f01cfea.png", "../../config.json", "error[asset-ref] messages.jsonl:2"),
    ("messages.jsonl", "sha256-ba7816bf8f01cfea.png", "sha256-0000000000000000.png", "warning[missing-asset] messages.jsonl:2"),
    (ASSET, "abc", "abd", "error[asset-hash] sha256-ba7816bf8f01cfea.png"),
    // Lines.
    ("messages.jsonl", "}]}\n", "}]}\n\n", "warning[blank-line] messages.jsonl:2"),
    ("messages.jsonl", "}}\n", "}}\n{\"id\":\"m4\",\"ro", "warning[torn-line] messages.jsonl:4"),
    ("messages.jsonl", "}}\n", "}}", ""),
    ("messages.jsonl", "}}\n", "}}\noops\n", "error[json] messages.jsonl:4"),
    ("messages.jsonl", "}}\n", "}}\n42\n", "error[json] messages.jsonl:4"),
    ("messages.jsonl", "}]}\n", "}]}", "error[json] messages.jsonl:1"),
    // Text.
    ("thread.json", "{\n", "\u{feff}{\n", "warning[byte-order-mark] thread.json:1"),
    ("messages.jsonl", "{\"id\":\"m1\"", "\u{feff}{\"id\":\"m1\"", "warning[byte-order-mark] messages.jsonl:1"),
    ("config.json", "{\n", "\u{feff}{\n", "warning[byte-order-mark] config.json:1"),
    ("thread.json", r#""title": "T""#, r#""title": "U","title": "T""#, "warning[duplicate-key] thread.json:4"),
    ("thread.json", r#""metadata": {}"#, r#""metadata": {"a":1,"\u0061":2}"#, "warning[duplicate-key] thread.json:30"),
    ("messages.jsonl", r#""text":"rules""#, r#""text":"x","text":"rules""#, "warning[duplicate-key] messages.jsonl:1"),
    ("config.json", r#""initialPrompt": "p""#, r#""initialPrompt": "q", "initialPrompt": "p""#, "warning[duplicate-key] config.json:39"),
    ("thread.json", r#""title": "T","#, r#""title": oops,"#, "error[json] thread.json:4"),
    ("config.json", "}\n}\n", "}\n", "error[json] config.json:41"),
    // Unknown fields are fine.
    ("thread.json", r#""metadata": {}"#, r#""metadata": {}, "later": {"x": null}"#, ""),
    ("messages.jsonl", r#""type":"text","text":"look""#, r#""type":"canvas","layers":[]"#, ""),
];

#[test]
fn a_good_store_has_no_fault() {
    let found = Good::new().check();
    assert_eq!((found.code, found.found.len()), (0, 0), "{found:?}");
}

#[test]
fn each_rule_broken_alone_is_told_with_file_and_line() {
    for (file, from, to, expected) in CASES {
        let good = Good::new();
        good.edit(file, from, to);
        let found = good.check();
        let expected: Vec<&str> = expected.split(' ').filter(|e| !e.is_empty()).collect();
        let what = format!("{file}: {from} -> {to}: {found:?}");
        assert_eq!(found.found.join(" "), expected.join(" "), "{what}");
        let code = i32::from(found.found.iter().any(|f| f.starts_with("error")));
        assert_eq!(found.code, code, "{what}");
    }
}

#[test]
fn bytes_that_are_not_utf_8_are_an_error() {
    for (file, from) in [
        ("config.json", "\"N\""),
        ("thread.json", "\"T\""),
        ("messages.jsonl", "look"),
    ] {
        let good = Good::new();
        let text = fs::read_to_string(good.path(file)).unwrap();
        let line = line_of(&text, from);
        let at = text.find(from).unwrap() + 1;
        let mut bytes = text.into_bytes();
        bytes[at] = 0xff;
        good.put(file, bytes);
        let found = good.check();
        assert_eq!(
            found.found,
            [format!("error[utf-8] {file}:{line}")],
            "{found:?}"
        );
        assert_eq!(found.code, 1);
    }
}

#[test]
fn files_that_are_missing() {
    for (file, expected) in [
        (".gitignore", "warning[gitignore] .gitignore"),
        ("config.json", ""),
        ("messages.jsonl", "warning[log-missing] messages.jsonl"),
        ("thread.json", "error[manifest-missing] thread.json"),
        (ASSET, "warning[missing-asset] messages.jsonl:2"),
    ] {
        let good = Good::new();
        fs::remove_file(good.path(file)).unwrap();
        let found = good.check();
        assert_eq!(found.found.join(" "), expected, "{file}");
        assert_eq!(found.code, i32::from(expected.starts_with("error")));
    }
}

#[test]
fn the_name_of_an_asset_is_its_hash() {
    let good = Good::new();
    for name in ["sha256-xyz.png", "sha256-ba7816bf8f01cfea", "photo.png"] {
        good.put(
            "messages.jsonl",
            LOG.replace("sha256-ba7816bf8f01cfea.png", name),
        );
        let found = good.check();
        let expected = [
            "error[asset-name] messages.jsonl:2",
            "warning[missing-asset] messages.jsonl:2",
        ];
        assert_eq!(found.found, expected, "{name}");
    }
    good.put("messages.jsonl", LOG);
    // What nobody refers to is nobody's business, unless it is named like an asset.
    good.put("assets/.DS_Store", "x");
    assert_eq!(good.check().code, 0);
    good.put("assets/sha256-0123456789abcdef.bin", "x");
    let found = good.check();
    assert_eq!(
        found.found,
        ["error[asset-hash] sha256-0123456789abcdef.bin"]
    );
}

#[test]
fn a_thread_without_messages_was_updated_when_it_was_created() {
    let good = Good::new();
    good.put("messages.jsonl", "");
    for count in [
        "\"messageCount\": 3",
        "MessageCount\": 1",
        "tMessageCount\": 1",
        "CallCount\": 1",
    ] {
        let (name, _) = count.split_once(':').unwrap();
        good.edit("thread.json", count, &format!("{name}: 0"));
    }
    assert_eq!(good.check().found, ["error[updated-at] thread.json:6"]);
    good.edit("thread.json", "00:00:04.000Z", "00:00:00.000Z");
    assert_eq!(good.check().code, 0);
}

#[test]
fn tool_calls_with_one_id_are_an_error() {
    let good = Good::new();
    good.edit(
        "messages.jsonl",
        "\"toolCalls\":[",
        "\"toolCalls\":[{\"toolCallId\":\"c1\",\"name\":\"n\",\"status\":\"failed\"},",
    );
    good.edit(
        "thread.json",
        "\"toolCallCount\": 1",
        "\"toolCallCount\": 2",
    );
    let found = good.check();
    assert_eq!(found.found, ["error[duplicate-id] messages.jsonl:3"]);
    assert_eq!(found.code, 1);
}
