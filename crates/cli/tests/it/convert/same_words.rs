//! Where several things say the same, a change comes back to the one that was changed.

use std::fs;
use std::path::PathBuf;

use rethread_engine::{ConvertOutcome, Source, by_name};
use rethread_judges::{ClientKind, Turn};
use rethread_model::{Block, Bodies as _, Body, ToolInput, Visibility};
use serde_json::json as value;

use super::edits::NEW;
use super::judges::now;
use super::matrix::targets;
use super::{Desk, files_below};
use crate::world::{World, json};

const ID: &str = "0ab2c3d4-0000-4000-8000-000000000001";

/// What all tools give.
const SAME: &str = "All of it went well.";

/// Calls at once whose results came in another order, a call in the next turn, and texts, which all say
/// the same.
fn session(desk: &Desk) -> Source {
    let record = |n: usize, parent: usize, kind: &str, message: serde_json::Value| {
        let parent = (parent > 0).then(|| format!("u{parent}"));
        value!({"parentUuid": parent, "isSidechain": false, "cwd": "/p", "sessionId": ID,
            "version": "2.1.325", "type": kind, "message": message, "uuid": format!("u{n}"),
            "timestamp": format!("2026-11-15T12:00:{n:02}.000Z")})
    };
    let asked = |text: &str| value!({"role": "user", "content": text});
    let answer = |id: &str, block: serde_json::Value| value!({"id": id, "type": "message", "role": "assistant", "model": "m", "content": [block]});
    let call = |id: &str, command: &str| value!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}});
    let gave = |id: &str| {
        value!({"role": "user", "content": [
            {"tool_use_id": id, "type": "tool_result", "content": SAME}]})
    };
    let text = |text: &str| value!({"type": "text", "text": text});
    let records = [
        record(1, 0, "user", asked("Run them.")),
        record(2, 1, "assistant", answer("m1", call("t1", "first"))),
        record(3, 2, "assistant", answer("m1", call("t2", "second"))),
        record(4, 3, "assistant", answer("m1", call("t3", "third"))),
        record(5, 4, "user", gave("t3")),
        record(6, 2, "user", gave("t1")),
        record(7, 3, "user", gave("t2")),
        record(8, 7, "assistant", answer("m2", call("t4", "fourth"))),
        record(9, 8, "user", gave("t4")),
        record(10, 9, "assistant", answer("m3", text(SAME))),
        record(11, 10, "user", asked(SAME)),
        record(12, 11, "assistant", answer("m4", text(SAME))),
    ];
    let path = desk.world.root.join(format!("{ID}.jsonl"));
    let lines: String = records.iter().map(|r| format!("{r}\n")).collect();
    fs::write(&path, lines).unwrap();
    Source::new(rethread_formats::claude_code::FORMAT, ID.to_owned(), path)
}

/// What is said in a session, in an order that does not depend on when results came: each result with
/// what its tool was asked.
fn said(source: &Source) -> Vec<String> {
    let conversation = source.format.reader().read(source).unwrap();
    let mut asked = std::collections::HashMap::new();
    let (mut results, mut texts) = (Vec::new(), Vec::new());
    for ix in conversation.session.active_path() {
        let visibility = conversation.session.entry(ix).visibility;
        if !matches!(visibility, Visibility::Visible | Visibility::Injected) {
            continue;
        }
        let Body::Message(message) = conversation.body(ix) else {
            continue;
        };
        for block in message.blocks {
            match block {
                Block::ToolCall(call) => {
                    if let Some(ToolInput::Json(input)) = call.input {
                        asked.insert(call.id, json(&input.to_text()));
                    }
                }
                Block::ToolResult(result) => {
                    let text = result.blocks.iter().filter_map(|b| match b {
                        Block::Text(text) => Some(text.value.clone()),
                        _ => None,
                    });
                    let text: String = text.collect();
                    results.push(format!("{:?} {text}", asked.get(&result.call_id)));
                }
                Block::Text(text) => texts.push(text.value),
                _ => {}
            }
        }
    }
    results.sort();
    results.extend(texts);
    results
}

/// Changes one place where a text stands, of all below a folder; false if there are not so many.
fn change(files: &[PathBuf], mut nth: usize) -> bool {
    let quoted = format!("\"{SAME}\"");
    for file in files {
        if file.file_name().is_some_and(|name| name == "opencode.db") {
            let db = rusqlite::Connection::open(file).unwrap();
            let rows = "SELECT id FROM part WHERE instr(data, ?1) ORDER BY id LIMIT 1 OFFSET ?2";
            let sql = format!("UPDATE part SET data = replace(data, ?1, ?3) WHERE id = ({rows})");
            let new = format!("\"{NEW}\"");
            let nth = i64::try_from(nth).unwrap();
            return db.execute(&sql, (&quoted, nth, &new)).unwrap() > 0;
        }
        let Ok(text) = fs::read_to_string(file) else {
            continue;
        };
        let places: Vec<usize> = text.match_indices(&quoted).map(|(at, _)| at).collect();
        if let Some(at) = places.get(nth) {
            let (before, rest) = text.split_at(*at);
            let changed = format!("{before}\"{NEW}\"{}", &rest[quoted.len()..]);
            fs::write(file, changed).unwrap();
            return true;
        }
        nth -= places.len();
    }
    false
}

#[test]
fn a_change_comes_back_to_what_was_changed() {
    let desk = Desk::new();
    let source = session(&desk);
    let before = fs::read_to_string(&source.path).unwrap();
    let home = by_name("claude-code").unwrap();
    for to in targets().filter(|f| f.slug() != "claude-code") {
        let name = to.slug();
        let mut seen = std::collections::BTreeSet::new();
        for nth in 0.. {
            let root = desk.root(to);
            let (_, there) = desk.convert_to(&source, to, &root).unwrap();
            let was = said(&there);
            if !change(&files_below(&root), nth) {
                break;
            }
            let wanted = said(&there);
            let (done, back) = desk.convert(&there, home).unwrap();
            let now = said(&back);
            // What nobody reads may have been changed, such as what is only shown.
            if wanted == was {
                assert_eq!(now, said(&source), "{name} {nth}");
                continue;
            }
            let is_one = |way: ConvertOutcome| {
                matches!(
                    way,
                    ConvertOutcome::Back {
                        added: 0,
                        changed: 1
                    }
                )
            };
            assert!(
                is_one(done.way),
                "{name} {nth}: {:?} {:?}",
                done.way,
                done.notes
            );
            assert_eq!(now, wanted, "{name} {nth}");
            let text = fs::read_to_string(&back.path).unwrap();
            let others = |text: &str| text.matches(SAME).count();
            assert_eq!(others(&text) + 1, others(&before), "{name} {nth}");
            seen.insert(wanted);
        }
        // Four results, and three texts.
        assert_eq!(seen.len(), 7, "{name}: {seen:#?}");
    }
}

/// Ids of calls that an agent uses again, and those that look like others with a number behind them.
#[test]
fn calls_whose_ids_repeat_keep_their_results() {
    let w = World::new();
    let Some(desk) = ClientKind::Claude.set_up(&w.home, &w.project) else {
        return;
    };
    let made = json(&now(&w, &["new", "--format", "pi", "--json"], ""));
    let path = made["path"].as_str().unwrap();
    now(&w, &["append", path, "Run them."], "");
    for (n, id) in ["call", "call", "call_2", "call_2", "run_7", "run"]
        .iter()
        .enumerate()
    {
        let asked = value!({"role": "assistant", "content": [{"type": "tool_use", "tool_id": id,
            "tool_name": "bash", "input": {"command": format!("command {n}")}}],
            "metadata": {"model": {"name": "m-1"}}});
        let gave = value!({"role": "user", "content": [{"type": "tool_result", "tool_id": id,
            "output": format!("output {n}")}]});
        let lines = format!("{asked}\n{gave}\n");
        now(&w, &["append", path, "--message-json", "-"], &lines);
    }
    now(&w, &["append", path, "--role", "assistant", "Done."], "");
    let made = json(&now(
        &w,
        &["convert", path, "--to", "claude-code", "--json"],
        "",
    ));
    let sent = desk.resume_session(made["id"].as_str().unwrap(), "Go on");
    let mut calls = Vec::new();
    for turn in &sent {
        match turn {
            Turn::ToolCall(id, _, input) => calls.push((id, input["command"].to_string(), None)),
            Turn::ToolResult(id, text) => {
                let call = calls.iter_mut().rfind(|(call, _, _)| *call == id).unwrap();
                call.2 = Some(text.as_str());
            }
            _ => {}
        }
    }
    let found: Vec<(String, Option<&str>)> = calls.into_iter().map(|(_, c, r)| (c, r)).collect();
    let expected: Vec<(String, String)> = (0..6)
        .map(|n| (format!("\"command {n}\""), format!("output {n}")))
        .collect();
    let expected: Vec<(String, Option<&str>)> = expected
        .iter()
        .map(|(call, result)| (call.clone(), Some(result.as_str())))
        .collect();
    assert_eq!(found, expected, "{sent:#?}");
}
