//! The real Gemini CLI as judge of what we write, and of what we make of its own sessions.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use rethread_formats::Conversation;
use rethread_judges::{ClientKind, Turn};
use rethread_model::{Block, Bodies, Body, Kind, Visibility};
use serde_json::json as value;

use super::tokens::assert_tokens;
use super::written::{TALK, lines};
use super::{assert_lossless, read};
use crate::seen::seen;
use crate::world::{World, json, run_with};

/// The turns of a conversation as we read it, in the words of the judge.
fn turns(c: &Conversation) -> Vec<Turn> {
    let mut turns = Vec::new();
    for ix in c.session.active_path() {
        let Body::Message(message) = c.body(ix) else {
            continue;
        };
        if c.session.entry(ix).visibility == Visibility::Injected {
            continue;
        }
        let role = message.role.unified().to_owned();
        // Results of several calls follow all of them.
        let mut results = Vec::new();
        for block in message.blocks {
            match block {
                Block::Text(text) => turns.push(Turn::Text(role.clone(), text.value)),
                Block::ToolCall(call) => {
                    let Some(rethread_model::ToolInput::Json(input)) = call.input else {
                        panic!("{call:?}");
                    };
                    turns.push(Turn::ToolCall(call.id, call.name, json(&input.to_text())));
                }
                Block::ToolResult(result) => results.push(result),
                Block::Image(_) => turns.push(Turn::Image(role.clone())),
                Block::File(_) => turns.push(Turn::File(role.clone())),
                _ => {}
            }
        }
        for result in results {
            let texts = result.blocks.iter().filter_map(|b| match b {
                Block::Text(text) => Some(text.value.as_str()),
                _ => None,
            });
            turns.push(Turn::ToolResult(result.call_id, texts.collect()));
        }
    }
    turns
}

/// Whether two turns say the same. The client wraps results in an object, and puts the tool's name
/// before an id when it writes it down.
pub(super) fn says(sent: &Turn, read: &Turn) -> bool {
    match (sent, read) {
        (Turn::ToolResult(id, sent), Turn::ToolResult(known, read)) => {
            let quoted = serde_json::to_string(read).unwrap();
            known.ends_with(id) && (sent.contains(read) || sent.contains(&quoted))
        }
        (Turn::ToolCall(id, name, input), Turn::ToolCall(known, called, given)) => {
            known.ends_with(id) && (name, input) == (called, given)
        }
        _ => sent == read,
    }
}

#[track_caller]
fn assert_same(sent: &[Turn], read: &[Turn]) {
    let same = sent.len() == read.len() && sent.iter().zip(read).all(|(s, r)| says(s, r));
    assert!(same, "sent: {sent:#?}\nread: {read:#?}");
}

/// Runs a command by the clock of the client, which deletes what is old by it.
fn now(w: &World, args: &[&str], input: &str) -> String {
    let mut command = w.command(args);
    command.env_remove("RETHREAD_NOW");
    let answer = run_with(command, input.as_bytes());
    assert_eq!(answer.code, 0, "{args:?}: {answer:?}");
    answer.out
}

/// A session in which these are said in turns, and its file.
fn talk(w: &World, said: &[String]) -> (String, PathBuf) {
    let made = json(&now(w, &["new", "--format", "gemini", "--json"], ""));
    let id = made["id"].as_str().unwrap().to_owned();
    let roles = ["user", "assistant"].into_iter().cycle();
    let lines: String = roles
        .zip(said)
        .map(|(role, text)| format!("{}\n", value!({"role": role, "content": text})))
        .collect();
    now(w, &["append", &id, "--message-json", "-"], &lines);
    (id, PathBuf::from(made["path"].as_str().unwrap()))
}

#[test]
fn the_real_client_lists_and_resumes_what_we_wrote() {
    let w = World::new();
    let Some(desk) = ClientKind::Gemini.set_up(&w.home, &w.project) else {
        return;
    };
    let made = json(&now(
        &w,
        &[
            "new",
            "--format",
            "gemini",
            "--title",
            "Which tests",
            "--json",
        ],
        "",
    ));
    let id = made["id"].as_str().unwrap();
    now(&w, &["append", id, "--message-json", "-"], TALK);
    now(&w, &["append", id, "And a third turn?"], "");
    now(
        &w,
        &[
            "append",
            id,
            "That was it.",
            "--role",
            "agent",
            "--model",
            "gemini-2.5-pro",
        ],
        "",
    );
    let listed = desk.list_sessions().unwrap();
    assert!(
        listed.contains("Which tests") && listed.contains(id),
        "{listed}"
    );
    let path = PathBuf::from(made["path"].as_str().unwrap());
    let mut expected = turns(&read(&path));
    assert_eq!(expected.len(), 10, "{expected:#?}");
    assert_same(&expected, &seen(&w, id));
    let sent = desk.resume_session(id, "NEW-PROMPT");
    expected.push(Turn::Text("user".to_owned(), "NEW-PROMPT".to_owned()));
    assert_same(&sent, &expected);
    // What the client made of it is the same conversation, gone on with.
    let after = turns(&assert_lossless(&path));
    assert_same(&after[..expected.len()], &expected);
    assert!(after.len() > expected.len());
    assert_same(&sent, &seen(&w, path.to_str().unwrap())[..sent.len()]);
}

#[test]
fn what_the_real_client_records_is_read() {
    let w = World::new();
    let Some(desk) = ClientKind::Gemini.set_up(&w.home, &w.project) else {
        return;
    };
    fs::write(w.project.join("a.txt"), "one apple\n").unwrap();
    let call = r#"[[tool:read_file {"file_path":"a.txt"}]]"#;
    let sent = desk.begin_session(&format!("count the apples {call} {call}"));
    let listed = w.ok(&["list", "--json", "--agent", "gemini"]);
    let found = json(listed.lines().next().unwrap());
    assert_eq!(found["workspace"], w.project.to_str().unwrap());
    let path = PathBuf::from(found["source"]["path"].as_str().unwrap());
    let before = turns(&assert_lossless(&path));
    let calls = before.iter().filter(|t| matches!(t, Turn::ToolCall(..)));
    assert_eq!(calls.count(), 2, "{before:#?}");
    assert_same(&sent, &before[..sent.len()]);
    // It also stands when the client goes on with it, and writes the list anew.
    let sent = desk.resume_session(found["id"].as_str().unwrap(), "NEW-PROMPT");
    let after = turns(&assert_lossless(&path));
    assert_same(&after[..before.len()], &before);
    // What was said before counts, though the client wrote it again without its tokens.
    assert_eq!(assert_tokens(&path), 3 * 14);
    // Of its own sessions it sends results again that stand beside their calls and in a message.
    let mut once: Vec<Turn> = Vec::new();
    for turn in sent {
        if !matches!(turn, Turn::ToolResult(..)) || !once.contains(&turn) {
            once.push(turn);
        }
    }
    assert_same(&once, &seen(&w, path.to_str().unwrap())[..once.len()]);
}

#[test]
fn the_real_client_deletes_what_is_old_but_for_what_it_resumes() {
    let w = World::new();
    let Some(desk) = ClientKind::Gemini.set_up(&w.home, &w.project) else {
        return;
    };
    let long_ago = |args: &[&str]| {
        let mut command = w.command(args);
        command.env("RETHREAD_NOW", "2024-01-01T12:00:00.000Z");
        crate::world::run_with(command, b"").out
    };
    let [(id, kept), (_, other)] = ["1", "2"].map(|seed| {
        let id = format!("{seed}a6f0c1e-0000-4000-8000-000000000000");
        let made = json(&long_ago(&[
            "new", "--format", "gemini", "--id", &id, "--json",
        ]));
        long_ago(&["append", &id, "Hello"]);
        (id, PathBuf::from(made["path"].as_str().unwrap()))
    });
    // What it cannot read goes as well, and so does what is named like a file in which nothing is
    // said: such a file is begun whenever a session is resumed.
    let (_, said) = talk(&w, &["Hello?", "Hello."].map(str::to_owned));
    let bytes = fs::read_to_string(&said).unwrap();
    let put = |name: &str, text: &str| {
        let path = said.with_file_name(name);
        fs::write(&path, text).unwrap();
        path
    };
    let marked = put(
        "session-2026-11-14T12-00-0abcdef1.jsonl",
        &format!("\u{feff}{bytes}"),
    );
    let headless = put(
        "session-2026-11-14T12-00-0abcdef2.jsonl",
        bytes.split_once('\n').unwrap().1,
    );
    let named_alike = put("session-2026-11-14T12-00-0abcdef3.jsonl", &bytes);
    let begun = put(
        "session-2026-11-14T12-30-0abcdef3.jsonl",
        bytes.split_once('\n').unwrap().0,
    );
    let warned = w.run(&["resume", &id, "--print"]).err;
    assert!(warned.contains("1 other file"), "{warned}");
    assert!(warned.contains("cannot read 3 other files"), "{warned}");
    let sent = desk.resume_session(&id, "NEW-PROMPT");
    assert_eq!(sent.len(), 2, "{sent:?}");
    let gone = [other, marked, headless, named_alike, begun];
    let left = || gone.iter().filter(|path| path.exists()).count();
    // It deletes while it works, and what is left when it has an answer the next time.
    for _ in 0..10 {
        if left() == 0 {
            break;
        }
        desk.resume_session(&id, "NEXT-PROMPT");
    }
    assert_eq!(left(), 0, "{gone:?}");
    assert!(kept.is_file() && said.is_file());
}

#[test]
fn what_a_sub_agent_of_the_real_client_does_is_read() {
    let w = World::new();
    let Some(desk) = ClientKind::Gemini.set_up(&w.home, &w.project) else {
        return;
    };
    desk.begin_session(
        r#"[[tool:invoke_agent {"agent_name":"codebase_investigator","prompt":"find the bug"}]]"#,
    );
    let listed = w.ok(&["list", "--json", "--subagents", "--agent", "gemini"]);
    let (children, parents): (Vec<_>, Vec<_>) = listed
        .lines()
        .map(json)
        .partition(|s| s["is_agent_session"] == true);
    let ([child], [parent]) = (children.as_slice(), parents.as_slice()) else {
        panic!("{listed}");
    };
    assert_eq!(child["parent_session_id"], parent["id"]);
    let path =
        |session: &serde_json::Value| PathBuf::from(session["source"]["path"].as_str().unwrap());
    let said = turns(&assert_lossless(&path(child)));
    assert!(
        format!("{:?}", said[0]).contains("find the bug"),
        "{said:?}"
    );
    let c = assert_lossless(&path(parent));
    let calls = c.session.head.links.iter().filter_map(|link| {
        let is_child = child["id"] == *link.session;
        is_child.then_some(link.tool_call.as_deref()).flatten()
    });
    assert_eq!(calls.count(), 1, "{:?}", c.session.head.links);
    let shown = w.ok(&["show", parent["id"].as_str().unwrap()]);
    let named = format!("sub-agent {}", child["id"].as_str().unwrap());
    assert!(shown.contains(&named), "{shown}");
}

#[test]
fn what_was_rewound_is_not_sent() {
    let w = World::new();
    let Some(desk) = ClientKind::Gemini.set_up(&w.home, &w.project) else {
        return;
    };
    let said = ["First?", "First.", "Second?", "Second.", "Third?", "Third."];
    let (id, path) = talk(&w, &said.map(str::to_owned));
    // As the client notes it: from this message on all is dropped.
    let second = lines(&path)
        .into_iter()
        .find(|line| line.to_string().contains("Second?"))
        .unwrap();
    let mut log = fs::OpenOptions::new().append(true).open(&path).unwrap();
    writeln!(log, "{}", value!({"$rewindTo": second["id"]})).unwrap();
    drop(log);
    now(&w, &["append", &id, "Another?"], "");
    now(&w, &["append", &id, "Another.", "--role", "agent"], "");
    let shown = seen(&w, &id);
    let texts: Vec<String> = shown.iter().map(|t| format!("{t:?}")).collect();
    assert_eq!(shown.len(), 4, "{texts:?}");
    let mut sent = desk.resume_session(&id, "NEW-PROMPT");
    sent.pop();
    assert_same(&sent, &shown);
    // It is a branch, also when the client has written the list anew.
    let c = assert_lossless(&path);
    assert_same(&turns(&c)[..shown.len()], &shown);
    let all = w.ok(&["show", path.to_str().unwrap(), "--all-branches"]);
    assert!(all.contains("Second.") && all.contains("Third."), "{all}");
}

#[test]
fn what_a_compression_leaves_is_what_the_real_client_sends() {
    let w = World::new();
    let Some(desk) = ClientKind::Gemini.set_up(&w.home, &w.project) else {
        return;
    };
    // Short of nothing: the client compresses before it says anything more.
    let desk = desk.with_settings(value!({"model": {"compressionThreshold": 0.0001}}));
    let said: Vec<String> = (0..12)
        .map(|n| format!("Turn {n}: {}", "words and words ".repeat(800)))
        .collect();
    let (id, path) = talk(&w, &said);
    let sent = desk.resume_session(&id, "NEW-PROMPT");
    assert!(sent.len() < said.len(), "it was compressed: {}", sent.len());
    let Some(Turn::Text(_, summary)) = sent.first() else {
        panic!("{sent:?}");
    };
    assert!(summary.starts_with("reply "), "{summary}");
    let shown = seen(&w, &id);
    assert_same(&sent, &shown[..sent.len()]);
    // The next time the client goes on from there, and what was compressed is still a branch.
    let desk = desk.with_settings(value!({}));
    let again = desk.resume_session(&id, "NEXT-PROMPT");
    let shown = seen(&w, &id);
    assert_same(&again, &shown[..again.len()]);
    assert_same(&again[..sent.len()], &sent);
    let all = w.ok(&["show", path.to_str().unwrap(), "--all-branches"]);
    assert!(all.contains("Turn 0: words"), "{}", all.len());
    // It is a compaction, which continues what is no longer seen.
    let c = assert_lossless(&path);
    let mut entries = c.session.entries().iter();
    let compaction = entries.find(|e| e.kind == Kind::Compaction).unwrap();
    let before = compaction.logical_parent.unwrap();
    assert!(format!("{:?}", c.body(before)).contains("Turn 11: words"));
}
