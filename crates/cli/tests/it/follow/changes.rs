//! Logs that are written in pieces, cut, replaced and removed; documents that are written anew.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::{Following, say, session, text_of};
use crate::opencode::store::data;
use crate::world::{World, json};

/// The log of a session of pi.
fn log_of(w: &World, id: &str) -> PathBuf {
    let listed = json(&w.ok(&["list", "--agent", "pi", "--json"]));
    assert_eq!(listed["id"], *id);
    PathBuf::from(listed["source"]["path"].as_str().unwrap())
}

fn append_bytes(path: &Path, bytes: &[u8]) {
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
}

/// A message as pi writes it, behind the last one of a log.
fn line(log: &Path, id: &str, text: &str) -> String {
    let all = fs::read_to_string(log).unwrap();
    let last = all
        .lines()
        .rfind(|line| serde_json::from_str::<serde_json::Value>(line).is_ok());
    let parent = json(last.unwrap())["id"].clone();
    let message = serde_json::json!({
        "type": "message", "id": id, "parentId": parent, "timestamp": "2026-11-15T12:30:00.000Z",
        "message": { "role": "user", "content": [{ "type": "text", "text": text }], "timestamp": 1_794_745_800_000_u64 },
    });
    format!("{message}\n")
}

#[test]
fn a_line_that_comes_in_pieces_is_told_once_and_whole() {
    let w = World::with_git();
    let id = session(&w, "pi", "5");
    let other = session(&w, "codex", "6");
    let log = log_of(&w, &id);
    let follow = Following::library(&w, &["--json"]);
    let line = line(&log, "aaaa0001", "it comes in three pieces");
    let (first, rest) = line.split_at(40);
    let (second, third) = rest.split_at(60);
    append_bytes(&log, first.as_bytes());
    // When this is told, the first piece was looked at.
    say(&w, &other, "user", "meanwhile", "6");
    assert_eq!(follow.next_text(), "meanwhile");
    append_bytes(&log, second.as_bytes());
    say(&w, &other, "user", "meanwhile, again", "6");
    assert_eq!(follow.next_text(), "meanwhile, again");
    append_bytes(&log, third.as_bytes());
    assert_eq!(follow.next_text(), "it comes in three pieces");
    say(&w, &other, "user", "at the end", "6");
    assert_eq!(follow.next_text(), "at the end");
    assert_eq!(follow.stop(), [""; 0]);
}

#[test]
fn a_log_that_is_cut_replaced_or_removed_is_followed_on() {
    let w = World::with_git();
    let id = session(&w, "pi", "5");
    let log = log_of(&w, &id);
    let start = fs::read(&log).unwrap();
    append_bytes(&log, line(&log, "aaaa0001", "to be cut off").as_bytes());
    let follow = Following::start(&w, &["show", &id, "--follow", "--json"]);
    assert_eq!(follow.next_text(), "before");
    assert_eq!(follow.next_text(), "to be cut off");

    let file = OpenOptions::new().write(true).open(&log).unwrap();
    file.set_len(start.len() as u64).unwrap();
    follow.wait_for_note("was cut");
    append_bytes(&log, line(&log, "aaaa0002", "behind the cut").as_bytes());
    assert_eq!(follow.next_text(), "behind the cut");

    let other = log.with_extension("other");
    let mut all = fs::read(&log).unwrap();
    all.extend(line(&log, "aaaa0003", "in the new file").into_bytes());
    fs::write(&other, &all).unwrap();
    fs::rename(&other, &log).unwrap();
    follow.wait_for_note("replaced");
    assert_eq!(follow.next_text(), "in the new file");

    fs::remove_file(&log).unwrap();
    follow.wait_for_note("is gone");
    all.extend(b"\n");
    fs::write(&log, &all).unwrap();
    follow.wait_for_note("there again");
    append_bytes(&log, line(&log, "aaaa0004", "after all that").as_bytes());
    assert_eq!(follow.next_text(), "after all that");
    assert_eq!(follow.stop(), [""; 0]);
}

/// Gemini CLI of 2025 writes its whole document anew, with what came in the midst of it.
#[test]
fn a_document_that_is_written_anew_tells_what_is_new_in_it() {
    let w = World::new();
    let chats = w.home.join(".gemini/tmp/shop/chats");
    fs::create_dir_all(&chats).unwrap();
    let path = chats.join("session-2025-11-14T09-00-01b2c3d4.json");
    let message = |n: usize, kind: &str, text: &str| serde_json::json!({ "id": format!("m{n}"), "timestamp": format!("2026-11-15T12:00:{n:02}.000Z"), "type": kind, "content": text });
    let write = |messages: &[serde_json::Value]| {
        let document = serde_json::json!({
            "sessionId": "01b2c3d4-0000-4000-8000-0000000000e1",
            "projectHash": "0".repeat(64),
            "startTime": "2026-11-14T09:00:00.000Z",
            "lastUpdated": "2026-11-15T12:00:00.000Z",
            "messages": messages,
        });
        let new = path.with_extension("new");
        fs::write(&new, serde_json::to_vec_pretty(&document).unwrap()).unwrap();
        fs::rename(&new, &path).unwrap();
    };
    let mut messages = vec![message(1, "user", "What is this?")];
    write(&messages);
    let follow = Following::start(&w, &["show", "01b2c3d4", "--follow", "--json"]);
    assert_eq!(follow.next_text(), "What is this?");
    messages.push(message(2, "gemini", "A shop."));
    write(&messages);
    assert_eq!(follow.next_text(), "A shop.");
    // The same message, with a call that was added to it.
    messages[1]["toolCalls"] = serde_json::json!([{ "id": "c1", "name": "read_file", "args": { "path": "a" }, "status": "success" }]);
    write(&messages);
    let more = follow.next_message();
    assert_eq!(more["id"], "m2", "{more}");
    assert_eq!(more["content"].as_array().unwrap().len(), 1, "{more}");
    assert_eq!(more["content"][0]["tool_name"], "read_file", "{more}");
    messages.push(message(3, "user", "Thanks."));
    write(&messages);
    assert_eq!(follow.next_text(), "Thanks.");
    assert_eq!(follow.stop(), [""; 0]);
}

/// An answer in a database is told when it is complete, or when something follows it.
#[test]
fn an_answer_in_a_database_is_told_when_it_is_complete() {
    let w = World::with_git();
    let id = session(&w, "opencode", "5");
    let path = data(&w).join("opencode.db");
    let follow = Following::start(&w, &["show", &id, "--follow", "--json"]);
    assert_eq!(follow.next_text(), "before");
    let database = rusqlite::Connection::open(path).unwrap();
    let write_message = |time: serde_json::Value| {
        let data = serde_json::json!({ "role": "assistant", "time": time, "parentID": "x", "modelID": "m", "providerID": "p", "mode": "build", "agent": "build", "path": { "cwd": "/", "root": "/" }, "cost": 0, "tokens": { "input": 0, "output": 0, "reasoning": 0, "cache": { "read": 0, "write": 0 } } });
        let sql = "INSERT INTO message VALUES ('msg_zzz', ?1, 1794745800000, ?2, ?3) ON CONFLICT DO UPDATE SET time_updated = ?2, data = ?3";
        let updated = time["completed"].as_i64().unwrap_or(1_794_745_800_000);
        database
            .execute(sql, rusqlite::params![id, updated, data.to_string()])
            .unwrap();
    };
    let write_part = |text: &str| {
        let data = serde_json::json!({ "type": "text", "text": text });
        let sql = "INSERT OR REPLACE INTO part VALUES ('prt_zzz', 'msg_zzz', ?1, 1794745800000, 1794745800000, ?2)";
        database
            .execute(sql, rusqlite::params![id, data.to_string()])
            .unwrap();
    };
    write_message(serde_json::json!({ "created": 1_794_745_800_000_u64 }));
    write_part("It is");
    write_part("It is a shop.");
    write_message(
        serde_json::json!({ "created": 1_794_745_800_000_u64, "completed": 1_794_745_801_000_u64 }),
    );
    let told = follow.next_message();
    assert_eq!(text_of(&told), "It is a shop.");
    say(&w, &id, "user", "Good.", "5");
    assert_eq!(follow.next_text(), "Good.");
    assert_eq!(follow.stop(), [""; 0]);
}

/// Of a long log only its end is read, whatever its client leaves to the lines before it.
#[test]
fn a_long_log_is_followed_from_its_end() {
    for format in ["atsf", "pi", "claude-code", "codex", "gemini"] {
        let w = World::with_git();
        let id = session(&w, format, "5");
        let long = "many words ".repeat(150_000);
        let answer = w.pipe(&["append", &id, "--role", "user"], &long);
        assert_eq!(answer.code, 0, "{format}: {answer:?}");
        for n in 0..9 {
            say(&w, &id, "agent", &"and more ".repeat(2_000 + n), "6");
        }
        let args = ["show", &id, "--follow", "--last", "1", "--json"];
        let one = Following::start(&w, &args);
        assert!(one.next_text().starts_with("and more"), "{format}");
        let all = Following::library(&w, &["--json"]);
        for text in ["one", "second", "the last"] {
            say(&w, &id, "user", text, "7");
            assert_eq!(one.next_text(), text, "{format}");
            let message = all.next_message();
            assert_eq!(text_of(&message), text, "{format}");
            assert_eq!(message["session_id"], *id, "{format}");
            assert_ne!(message["parent_id"], serde_json::Value::Null, "{format}");
        }
        assert_eq!(one.stop(), [""; 0], "{format}");
        assert_eq!(all.stop(), [""; 0], "{format}");
    }
}
