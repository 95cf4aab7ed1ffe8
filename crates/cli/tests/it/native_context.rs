//! What a model sees, in the words of the formats themselves.

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use serde_json::Value;

use crate::opencode::everything as opencode;
use crate::world::{World, copy, json, tree};

const EVERYTHING: &str = "claude-code/2.1/everything/a1b2c3d4-0000-4000-8000-00000000aaaa.jsonl";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

/// The sessions of a case that have a file each.
fn files(case: &str) -> Vec<PathBuf> {
    let all = tree(&fixtures().join(case)).into_iter().map(|(p, _)| p);
    all.filter(|p| {
        let name = p.file_name().unwrap().to_str().unwrap();
        let is_session = name.ends_with(".jsonl") || name.ends_with(".json");
        is_session && !name.ends_with(".meta.json") && name != "session_index.jsonl"
    })
    .collect()
}

fn native(w: &World, session: &str) -> Vec<Value> {
    let answer = w.run(&["context", session, "--native"]);
    assert!([0, 3].contains(&answer.code), "{session}: {answer:?}");
    answer.out.lines().map(json).collect()
}

/// All strings in a value.
fn strings<'v>(value: &'v Value, out: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => out.push(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, out)),
        Value::Object(members) => members.values().for_each(|member| strings(member, out)),
        _ => {}
    }
}

/// Whatever text the model sees in the unified vocabulary is there in the format's own words, in the
/// same order. Gives how many texts there were.
fn assert_same_texts(w: &World, session: &str) -> usize {
    let answer = w.run(&["context", session, "--json"]);
    let seen = json(&answer.out);
    let own = native(w, session);
    let mut own_strings = Vec::new();
    for message in &own {
        strings(message, &mut own_strings);
    }
    let mut left = own_strings.iter();
    let mut count = 0;
    for message in seen["messages"].as_array().unwrap() {
        // The client asks this when it sends a compaction, and stores it nowhere.
        if message["metadata"]["extensions"]["extension"] == "compaction_question" {
            continue;
        }
        let blocks = message["content"].as_array().unwrap();
        for text in blocks.iter().filter(|b| b["type"] == "text") {
            let text = text["text"].as_str().unwrap().trim();
            let found = left.any(|own| own.contains(text));
            assert!(found, "{session}: {text:?} is not in {own_strings:?}");
            count += 1;
        }
    }
    count
}

/// The messages are bytes of the file.
fn assert_verbatim(w: &World, path: &Path) {
    let bytes = fs::read_to_string(path).unwrap();
    let out = w.run(&["context", path.to_str().unwrap(), "--native"]).out;
    for line in out.lines() {
        assert!(bytes.contains(line), "{}: {line}", path.display());
    }
}

#[test]
fn claude_code_gives_the_messages_of_its_records() {
    let w = World::new();
    let mut texts = 0;
    for case in ["1.0", "2.0", "2.1/compaction", "2.1/links", "2.1/rewind"] {
        for path in files(&format!("claude-code/{case}")) {
            texts += assert_same_texts(&w, path.to_str().unwrap());
            assert_verbatim(&w, &path);
        }
    }
    assert!(texts > 20, "{texts}");
    let compacted = &files("claude-code/2.1/compaction")[0];
    let compacted = compacted.to_str().unwrap();
    assert_snapshot!(w.ok(&["context", compacted, "--native", "--json"]), @r#"{"messages":[{"role":"user","content":"This session is being continued from a previous conversation. The shop was started."},{"role":"user","content":"Add a cart."},{"model":"claude-sonnet-4-5-20250929","id":"msg_02B","type":"message","role":"assistant","content":[{"type":"text","text":"Added."}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"cache_creation":{"ephemeral_5m_input_tokens":60,"ephemeral_1h_input_tokens":40},"output_tokens":20,"service_tier":"standard"}},{"role":"user","content":"Now the checkout."},{"model":"claude-sonnet-4-5-20250929","id":"msg_02C","type":"message","role":"assistant","content":[{"type":"text","text":"The checkout is there."}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"cache_creation":{"ephemeral_5m_input_tokens":60,"ephemeral_1h_input_tokens":40},"output_tokens":20,"service_tier":"standard"}}],"model":"claude-sonnet-4-5-20250929","thinking_level":null}"#);
}

#[test]
fn claude_code_gives_what_was_attached_as_messages() {
    let w = World::new();
    let everything = fixtures().join(EVERYTHING);
    let everything = everything.to_str().unwrap();
    assert!(assert_same_texts(&w, everything) > 5);
    assert_snapshot!(w.run(&["context", everything, "--native"]).out, @r#"
    {"role":"user","content":[{"type":"text","text":"<system-reminder>\nToday is a Monday.\n</system-reminder>"},{"type":"text","text":"Look at the sign-in page and the picture."},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="}},{"type":"document","title":"notes.txt","source":{"type":"text","media_type":"text/plain","data":"The cookie is called `next`."}}]}
    {"role":"system","content":"<system-reminder>\nToday's date is 2026-03-02.\n</system-reminder>"}
    {"model":"claude-sonnet-4-5-20250929","id":"msg_01A","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"Two files and a picture.","signature":"c2lnbmF0dXJl"}],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"cache_creation":{"ephemeral_5m_input_tokens":60,"ephemeral_1h_input_tokens":40},"output_tokens":1,"service_tier":"standard"}}
    {"model":"claude-sonnet-4-5-20250929","id":"msg_01A","type":"message","role":"assistant","content":[{"type":"text","text":"I look at both files, and ask somebody for the tests."}],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"cache_creation":{"ephemeral_5m_input_tokens":60,"ephemeral_1h_input_tokens":40},"output_tokens":1,"service_tier":"standard"}}
    {"model":"claude-sonnet-4-5-20250929","id":"msg_01A","type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_01","name":"Read","input":{"file_path":"/home/me/shop/signin.js"}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"cache_creation":{"ephemeral_5m_input_tokens":60,"ephemeral_1h_input_tokens":40},"output_tokens":1,"service_tier":"standard"}}
    {"model":"claude-sonnet-4-5-20250929","id":"msg_01A","type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_02","name":"Bash","input":{"command":"seq 1 20000","description":"Count"}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"cache_creation":{"ephemeral_5m_input_tokens":60,"ephemeral_1h_input_tokens":40},"output_tokens":90,"service_tier":"standard"}}
    {"model":"claude-sonnet-4-5-20250929","id":"msg_01A","type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_03","name":"Agent","input":{"description":"Find the tests","prompt":"Where are the tests?","subagent_type":"Explore"}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"cache_creation":{"ephemeral_5m_input_tokens":60,"ephemeral_1h_input_tokens":40},"output_tokens":90,"service_tier":"standard"}}
    {"role":"user","content":[{"tool_use_id":"toolu_03","type":"tool_result","content":[{"type":"text","text":"The tests are in test/."}]}]}
    {"role":"user","content":[{"tool_use_id":"toolu_01","type":"tool_result","content":"1\texport const signin = 1;"}]}
    {"role":"user","content":[{"tool_use_id":"toolu_02","type":"tool_result","content":"<persisted-output>\nOutput too large (106KB). Full output saved to: /home/me/.claude/projects/-home-me-shop/a1b2c3d4-0000-4000-8000-00000000aaaa/tool-results/b3.txt\n\nPreview:\n1\n2\n</persisted-output>"}]}
    {"model":"claude-sonnet-4-5-20250929","id":"msg_01B","type":"message","role":"assistant","content":[{"type":"text","text":"The page is fine; one test fails."}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"cache_creation":{"ephemeral_5m_input_tokens":60,"ephemeral_1h_input_tokens":40},"output_tokens":30,"service_tier":"standard"}}
    {"model":"claude-sonnet-4-5-20250929","id":"msg_01B","type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_04","name":"Bash","input":{"command":"npm test"}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"cache_creation":{"ephemeral_5m_input_tokens":60,"ephemeral_1h_input_tokens":40},"output_tokens":30,"service_tier":"standard"}}
    {"role":"user","content":[{"tool_use_id":"toolu_04","type":"tool_result","content":"Exit code 1\n1 failing","is_error":true}]}
    {"role":"user","content":"And keep the old tests."}
    {"model":"claude-sonnet-4-5-20250929","id":"msg_01C","type":"message","role":"assistant","content":[{"type":"redacted_thinking","data":"ZW5jcnlwdGVk"},{"type":"text","text":"I keep them."}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"cache_creation":{"ephemeral_5m_input_tokens":60,"ephemeral_1h_input_tokens":40},"output_tokens":12,"service_tier":"standard"}}
    {"role":"user","content":"<command-name>/rename</command-name>\n<command-message>rename</command-message>\n<command-args>The sign-in page</command-args>"}
    {"role":"user","content":"<local-command-stdout>Session renamed</local-command-stdout>"}
    {"role":"user","content":"<system-reminder>\nThe user named this session.\n</system-reminder>"}
    {"role":"user","content":"Thanks. What about the cookie?"}
    {"model":"claude-sonnet-4-5-20250929","id":"msg_01D","type":"message","role":"assistant","content":[{"type":"text","text":"It is called `next`."},{"type":"hologram","shape":"cube"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"cache_creation":{"ephemeral_5m_input_tokens":60,"ephemeral_1h_input_tokens":40},"output_tokens":9,"service_tier":"standard"}}
    "#);
}

#[test]
fn codex_gives_the_items_of_its_records() {
    let w = World::new();
    let mut texts = 0;
    for case in [
        "2025",
        "0.20",
        "0.140/everything",
        "0.140/rolled-back",
        "0.140/copied-fork",
    ] {
        for path in files(&format!("codex/{case}")) {
            texts += assert_same_texts(&w, path.to_str().unwrap());
        }
    }
    assert!(texts > 10, "{texts}");
    assert_verbatim(&w, &files("codex/0.20")[0]);
    let everything = &files("codex/0.140/everything")[0];
    assert_snapshot!(w.ok(&["context", everything.to_str().unwrap(), "--native", "--json"]), @r#"{"messages":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Why is the sign red?"}]},{"type":"compaction","encrypted_content":"Z2VoZWltMw=="},{"type":"message","role":"user","content":[{"type":"input_text","text":"Thanks"}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Any time."}]}],"model":"gpt-5.5-mini","thinking_level":"high"}"#);
}

#[test]
fn gemini_gives_its_messages() {
    let w = World::new();
    let mut texts = 0;
    for case in [
        "0.61/compressed",
        "0.61/rewound",
        "0.61/resumed",
        "0.20/keys-sorted",
    ] {
        for path in files(&format!("gemini/{case}")) {
            texts += assert_same_texts(&w, path.to_str().unwrap());
        }
    }
    assert!(texts > 5, "{texts}");
    assert_verbatim(&w, &files("gemini/0.61/compressed")[0]);
    let sorted = &files("gemini/0.20/keys-sorted")[0];
    assert_snapshot!(w.ok(&["context", sorted.to_str().unwrap(), "--native", "--json"]), @r#"{"messages":[{"content":"Hi.","id":"m1","timestamp":"2026-11-14T09:00:01.000Z","type":"user"},{"content":null,"id":"m2","parts":[{"text":"Hello."}],"timestamp":"2026-11-14T09:00:02.000Z","type":"model"}],"model":null,"thinking_level":null}"#);
}

#[test]
fn opencode_gives_messages_with_their_parts() {
    let (w, sessions) = opencode();
    for session in sessions {
        assert!(assert_same_texts(&w, session) > 0, "{session}");
    }
    assert_snapshot!(w.ok(&["context", sessions[0], "--native", "--json"]), @r#"{"messages":[{"info":{"role":"user","time":{"created":1794700006000},"agent":"build","model":{"providerID":"acme","modelID":"large-2"},"id":"msg_000000000004Compact0000000","sessionID":"ses_5aaaaaaaa001Everything0001"},"parts":[{"type":"compaction","auto":false,"tail_start_id":"msg_000000000003Done0000000000","id":"prt_fffffffff01800000000000024","sessionID":"ses_5aaaaaaaa001Everything0001","messageID":"msg_000000000004Compact0000000"}]},{"info":{"parentID":"msg_000000000004Compact0000000","role":"assistant","mode":"compaction","agent":"compaction","path":{"cwd":"/home/me/shop/web","root":"/home/me/shop"},"cost":0.01,"tokens":{"total":30,"input":20,"output":10,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"large-2","providerID":"acme","time":{"created":1794700007000,"completed":1794700009000},"summary":true,"finish":"stop","id":"msg_000000000005Summary0000000","sessionID":"ses_5aaaaaaaa001Everything0001"},"parts":[{"type":"text","text":"The basket counted twice because of two listeners.","id":"prt_fffffffff01900000000000025","sessionID":"ses_5aaaaaaaa001Everything0001","messageID":"msg_000000000005Summary0000000"}]},{"info":{"parentID":"msg_fffffffff001Prompt00000000","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/shop/web","root":"/home/me/shop"},"cost":0.01,"tokens":{"total":40,"input":30,"output":10,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"large-2","providerID":"acme","time":{"created":1794700005000,"completed":1794700007000},"finish":"stop","id":"msg_000000000003Done0000000000","sessionID":"ses_5aaaaaaaa001Everything0001"},"parts":[{"type":"text","text":"One listener is gone; the total is right.","id":"prt_fffffffff01700000000000023","sessionID":"ses_5aaaaaaaa001Everything0001","messageID":"msg_000000000003Done0000000000"}]},{"info":{"role":"user","time":{"created":1794700008000},"agent":"build","model":{"providerID":"acme","modelID":"large-2"},"id":"msg_000000000006Go000000000000","sessionID":"ses_5aaaaaaaa001Everything0001"},"parts":[{"type":"text","synthetic":true,"text":"Continue if you have next steps","id":"prt_fffffffff01a00000000000026","sessionID":"ses_5aaaaaaaa001Everything0001","messageID":"msg_000000000006Go000000000000"}]}],"model":{"providerID":"acme","modelID":"large-2"},"thinking_level":null}"#);
    let export = &files("opencode/1.18/export")[0];
    let export = export.to_str().unwrap();
    assert!(assert_same_texts(&w, export) > 0);
    let exported = json(&fs::read_to_string(export).unwrap());
    let exported = exported["messages"].as_array().unwrap();
    for message in native(&w, export) {
        assert!(exported.contains(&message), "{message}");
    }
}

#[test]
fn atsf_gives_the_lines_of_its_log() {
    let w = World::new();
    let thread = w.thread("Prices");
    for message in [
        r#"{"role":"user","content":[{"type":"text","text":"Round the prices."}],"x":1e2}"#,
        r#"{"role":"agent","content":[{"type":"text","text":"Done."}]}"#,
    ] {
        w.message(&thread, message);
    }
    assert_eq!(w.ok(&["context", &thread, "--native"]), w.log(&thread));
    let first = w.lines(&thread)[0]["id"].as_str().unwrap().to_owned();
    let out = w.ok(&["context", &thread, "--native", "--at", &first]);
    assert_eq!(out, w.log(&thread).split_inclusive('\n').next().unwrap());
}

#[test]
fn formats_without_words_of_their_own_say_so() {
    let w = World::new();
    copy(&fixtures().join("agentuse/document/minimal"), &w.project);
    let folder = w
        .project
        .join("project/global/session/01KA3J1000S000000000000004-default");
    let answer = w.run(&["context", folder.to_str().unwrap(), "--native"]);
    assert_eq!(answer.code, 2);
    assert_snapshot!(answer.err, @"error: agentuse sessions have no words of their own for what a model sees");
}

#[test]
fn damage_is_said() {
    let w = World::new();
    let damaged = &files("claude-code/2.1/damaged")[0];
    let answer = w.run(&["context", damaged.to_str().unwrap(), "--native"]);
    assert_eq!(answer.code, 3);
    assert!(!answer.out.is_empty() && !answer.err.is_empty());
}

#[test]
fn the_native_context_as_json_is_json_whatever_the_bytes_of_the_session() {
    let w = World::new();
    let head = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-11-15T12:00:00.000Z","cwd":"/p"}"#;
    let path = w.root.join("session.jsonl");
    for entry in [
        &b"{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"message\":{\"role\":\"user\",\"content\":\"a\xFFb\"}}"[..],
        b"{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"message\":{\"role\":\"user\",\"content\":\"x\",\"k\xC3\":1}}",
        b"{\"type\":\"model_change\",\"id\":\"a\",\"parentId\":null,\"provider\":\"\xFF\",\"modelId\":\"m\"}",
        b"{\"type\":\"compaction\",\"id\":\"a\",\"parentId\":null,\"summary\":\"\xF0\x9F\"}",
        b"{\"type\":\"message\",\"id\":\"a\",\"message\":null}",
        b"no JSON \xFF",
    ] {
        fs::write(&path, [head.as_bytes(), b"\n", entry, b"\n"].concat()).unwrap();
        for args in [&["--native", "--json"][..], &["--json"], &["--native"]] {
            let asked = [&["context", path.to_str().unwrap()], args].concat();
            let output = w.command(&asked).output().unwrap();
            let text = std::str::from_utf8(&output.stdout).unwrap();
            for line in text.lines() {
                json(line);
            }
            assert!(!args.contains(&"--json") || text.lines().count() == 1, "{text}");
        }
    }
}
