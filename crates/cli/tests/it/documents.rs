//! Damage in sessions that are one JSON document each: of Codex of 2025, of Gemini CLI, and exports
//! of OpenCode.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::world::{World, json, tree};

/// A document with many messages, as its client writes it.
struct Document {
    name: &'static str,
    text: String,
    /// What each message says.
    said: Vec<String>,
}

fn said(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("word number {n}")).collect()
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap()
}

fn codex(said: &[String]) -> Value {
    let items = said.iter().enumerate().map(|(n, text)| {
        let (role, kind) = match n % 2 {
            0 => ("user", "input_text"),
            _ => ("assistant", "output_text"),
        };
        serde_json::json!({ "id": format!("i{n}"), "type": "message", "role": role, "content": [{ "type": kind, "text": text }] })
    });
    serde_json::json!({
        "session": { "timestamp": "2025-04-20T10:00:00.000Z", "id": "5973b6c0-94b8-487b-a530-2aeb6098ae0e", "instructions": "" },
        "items": items.collect::<Vec<_>>(),
    })
}

fn gemini(said: &[String]) -> Value {
    let messages = said.iter().enumerate().map(|(n, text)| {
        let kind = if n % 2 == 0 { "user" } else { "gemini" };
        serde_json::json!({ "id": format!("m{n}"), "timestamp": format!("2025-11-14T09:00:{n:02}.000Z"), "type": kind, "content": text })
    });
    serde_json::json!({
        "sessionId": "01b2c3d4-0000-4000-8000-0000000000e1",
        "projectHash": "0".repeat(64),
        "startTime": "2025-11-14T09:00:00.000Z",
        "lastUpdated": "2025-11-14T09:01:00.000Z",
        "messages": messages.collect::<Vec<_>>(),
    })
}

fn opencode(said: &[String]) -> Value {
    let messages = said.iter().enumerate().map(|(n, text)| {
        let role = if n % 2 == 0 { "user" } else { "assistant" };
        let id = format!("msg_{n:03}");
        serde_json::json!({
            "info": { "id": id, "sessionID": "ses_damage", "role": role, "time": { "created": 1_763_000_000_000_u64 + n as u64 } },
            "parts": [{ "id": format!("prt_{n:03}"), "messageID": id, "sessionID": "ses_damage", "type": "text", "text": text }],
        })
    });
    serde_json::json!({
        "info": { "id": "ses_damage", "title": "Damage", "version": "1.18.0", "time": { "created": 1_763_000_000_000_u64, "updated": 1_763_000_100_000_u64 } },
        "messages": messages.collect::<Vec<_>>(),
    })
}

fn documents() -> Vec<Document> {
    documents_of(&said(9))
}

/// As long as nobody holds them: those of Gemini CLI and of OpenCode.
fn long_documents() -> Vec<Document> {
    let mut said = said(9);
    said[7].push_str(&" and so on".repeat(1_700_000));
    let mut all = documents_of(&said);
    all.retain(|document| !document.name.starts_with("rollout") && !document.text.contains('\n'));
    all
}

fn documents_of(said: &[String]) -> Vec<Document> {
    let mut all = Vec::new();
    for (name, value) in [
        (
            "rollout-2025-04-20-5973b6c0-94b8-487b-a530-2aeb6098ae0e.json",
            codex(said),
        ),
        ("session-2025-11-14T09-00-01b2c3d4.json", gemini(said)),
        ("ses_damage.json", opencode(said)),
    ] {
        for text in [pretty(&value), value.to_string()] {
            all.push(Document {
                name,
                text,
                said: said.to_vec(),
            });
        }
    }
    all
}

/// The texts that are shown of a file, and how the command ended.
fn shown(w: &World, file: &str) -> (Vec<String>, i32, String) {
    let answer = w.run(&["show", file, "--json"]);
    let mut texts = Vec::new();
    if answer.code != 1 {
        for message in json(&answer.out)["messages"].as_array().unwrap() {
            texts.extend(message["content"][0]["text"].as_str().map(str::to_owned));
        }
    }
    (texts, answer.code, answer.err)
}

/// Replaces one byte in the midst of the fifth message.
fn damaged(document: &Document, find: &str, byte: u8) -> Vec<u8> {
    let mut bytes = document.text.clone().into_bytes();
    let at = document.text.find("word number 4").unwrap();
    let offset = document.text[at..].find(find).unwrap();
    bytes[at + offset] = byte;
    bytes
}

#[test]
fn a_bad_byte_costs_the_message_it_is_in() {
    for document in documents() {
        // A control character in a text, and the quote that ends it gone.
        for (find, byte) in [("number", 1), ("\"", b' ')] {
            let w = World::new();
            let path: PathBuf = w.project.join(document.name);
            fs::write(&path, damaged(&document, find, byte)).unwrap();
            let before = tree(&w.root);
            let (texts, code, err) = shown(&w, document.name);
            let mut left = document.said.clone();
            left.remove(4);
            let beginning = &document.text[..document.text.len().min(2000)];
            let place = format!("{} {find}: {err}\n{beginning}", document.name);
            assert!(texts == left, "{place}\n{} texts", texts.len());
            assert_eq!(code, 3, "{place}");
            assert!(
                err.contains("not JSON") && err.contains("is skipped"),
                "{place}"
            );
            let listed = w.run(&["list", document.name, "--json"]);
            assert!([0, 3].contains(&listed.code), "{listed:?}");
            // Its bytes come back as they are.
            assert_eq!(tree(&w.root), before);
            w.run(&["export", document.name, "-o", "a.ndjson"]);
            w.run(&["export", "a.ndjson", "--source", "-o", "back"]);
            let back = tree(&w.project.join("back"));
            let original = fs::read(&path).unwrap();
            assert!(back.iter().any(|(_, bytes)| *bytes == original), "{place}");
        }
    }
}

/// Those that are too long to be held once they are whole.
#[test]
fn a_bad_byte_in_a_long_document_costs_no_more() {
    for document in long_documents() {
        let w = World::new();
        fs::write(
            w.project.join(document.name),
            damaged(&document, "number", 1),
        )
        .unwrap();
        let (texts, code, err) = shown(&w, document.name);
        let mut left = document.said.clone();
        left.remove(4);
        assert!(
            texts == left,
            "{}: {} texts, {err}",
            document.name,
            texts.len()
        );
        assert_eq!(code, 3, "{err}");
        assert!(
            err.contains("not JSON") && err.contains("is skipped"),
            "{err}"
        );
    }
}

/// What an export says of its session may be damaged: its messages are there, and what else is said.
#[test]
fn a_bad_byte_in_the_description_of_an_export_costs_only_that() {
    let said = said(9);
    let value = opencode(&said);
    for text in [pretty(&value), value.to_string()] {
        // In the title; and in a key, behind which nothing of the description is known.
        for (find, keeps_id) in [("Damage", true), ("title", false)] {
            let w = World::new();
            let mut bytes = text.clone().into_bytes();
            bytes[text.find(find).unwrap() + 1] = if keeps_id { 1 } else { b'"' };
            fs::write(w.project.join("talk.json"), &bytes).unwrap();
            let (texts, code, err) = shown(&w, "talk.json");
            assert_eq!((texts, code), (said.clone(), 3), "{find}: {err}\n{text}");
            assert!(err.contains("not JSON"), "{err}");
            let listed = w.run(&["list", "talk.json", "--json"]);
            let listed = json(&listed.out);
            assert_eq!(listed["message_count"], 9, "{find}: {listed}");
            let id = if keeps_id { "ses_damage" } else { "talk" };
            assert_eq!(listed["id"], id, "{find}: {listed}");
        }
    }
}

#[test]
fn text_that_is_not_utf8_is_named() {
    for document in documents().into_iter().chain(long_documents()) {
        let w = World::new();
        fs::write(
            w.project.join(document.name),
            damaged(&document, "number", 0xFF),
        )
        .unwrap();
        let (texts, code, err) = shown(&w, document.name);
        assert_eq!(texts.len(), document.said.len(), "{err}");
        assert_eq!(texts[4], "word \u{FFFD}umber 4");
        assert_eq!(code, 3, "{err}");
        assert!(err.contains("not UTF-8"), "{err}");
    }
}

/// Longer than what is ever held of a document: what stands behind the damage is looked for in blocks.
#[test]
fn a_bad_byte_in_a_document_of_any_size_costs_no_more() {
    let mut said = said(9);
    // Each can be held by itself.
    for text in said.iter_mut().take(3) {
        text.push_str(&" and so on".repeat(2_400_000));
    }
    let all = documents_of(&said);
    let find = |start: &str, is_on_lines: bool| {
        let is_it =
            |d: &&Document| d.name.starts_with(start) && d.text.contains('\n') == is_on_lines;
        all.iter().find(is_it).unwrap()
    };
    let w = World::new();
    let write = |document: &Document| {
        assert!(document.text.len() > 64 << 20);
        let bytes = damaged(document, "\"", b' ');
        fs::write(w.project.join(document.name), bytes).unwrap();
    };
    let chat = find("session", true);
    write(chat);
    let answer = w.run(&["show", chat.name, "--last", "5", "--json"]);
    let shown = json(&answer.out);
    let shown = shown["messages"].as_array().unwrap().iter();
    let texts: Vec<_> = shown
        .filter_map(|m| m["content"][0]["text"].as_str())
        .collect();
    let left = [3, 5, 6, 7, 8].map(|n: usize| said[n].as_str());
    assert_eq!(texts, left, "{}", answer.err);
    assert_eq!(answer.code, 3, "{}", answer.err);
    assert!(answer.err.contains("is skipped"), "{}", answer.err);
    for document in [find("ses_", false), find("rollout", false)] {
        write(document);
        let listed = w.run(&["list", document.name, "--json"]);
        assert_eq!(json(&listed.out)["message_count"], 8, "{}", listed.err);
        assert!(listed.err.contains("is skipped"), "{}", listed.err);
    }
}
