//! Codex CLI lists and continues what we write, and we read what it records.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rethread_judges::{ClientKind, InstalledClient, Turn};
use serde_json::json as value;

use super::ours::context;
use crate::world::{World, json, tree};

/// Starts a session and gives its id.
fn start(w: &World, args: &[&str]) -> String {
    let mut all = vec!["new", "--format", "codex", "--json"];
    all.extend(args);
    json(&w.ok(&all))["id"].as_str().unwrap().to_owned()
}

/// A session of three turns with all that a session can hold, what the model is to see of it, and
/// the entries after the first.
fn written(w: &World) -> (String, Vec<Turn>, Vec<String>) {
    let id = start(w, &["--title", "Counting apples"]);
    let picture = w.root.join("apples.png");
    fs::write(&picture, STANDARD.decode(PIXEL).unwrap()).unwrap();
    let picture = picture.to_str().unwrap();
    w.ok(&["append", &id, "What is in the picture?", "--image", picture]);
    let messages = [
        r#"{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","tool_id":"toolu_1","tool_name":"Bash","input":{"command":"ls"}},{"type":"tool_use","tool_id":"toolu_2","tool_name":"Read","input":{"path":"no.txt"}}],"metadata":{"model":{"name":"gpt-x"},"token_usage":{"input_tokens":10,"output_tokens":5},"extensions":{"blocks":[{"type":"thinking","text":"Hm."}]}}}"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_id":"toolu_1","output":"a\nb"},{"type":"tool_result","tool_id":"toolu_2","output":"no such file","is_error":true}]}"#,
        r#"{"role":"assistant","content":"Two apples, a and b."}"#,
        r#"{"role":"user","content":"And \"now\"?\n\nLook again: ü 🍎"}"#,
        r#"{"role":"assistant","content":"Still two."}"#,
        r#"{"role":"user","content":"Why?"}"#,
        r#"{"role":"assistant","content":"Nobody ate one."}"#,
    ];
    let entries = messages.iter().map(|m| w.message(&id, m)).collect();
    let turns = vec![
        said("user", "What is in the picture?"),
        Turn::Image("user".to_owned()),
        said("assistant", "I look."),
        called("toolu_1", "Bash", value!({ "command": "ls" })),
        called("toolu_2", "Read", value!({ "path": "no.txt" })),
        gave("toolu_1", "a\nb"),
        gave("toolu_2", "no such file"),
        said("assistant", "Two apples, a and b."),
        said("user", "And \"now\"?\n\nLook again: ü 🍎"),
        said("assistant", "Still two."),
        said("user", "Why?"),
        said("assistant", "Nobody ate one."),
    ];
    (id, turns, entries)
}

/// A picture of one point.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4ryAAAANRATBQ0IpfAAAAAElFTkSuQmCC";

fn said(role: &str, text: &str) -> Turn {
    Turn::Text(role.to_owned(), text.to_owned())
}

fn called(id: &str, name: &str, input: serde_json::Value) -> Turn {
    Turn::ToolCall(id.to_owned(), name.to_owned(), input)
}

fn gave(id: &str, text: &str) -> Turn {
    Turn::ToolResult(id.to_owned(), text.to_owned())
}

fn with(turns: &[Turn], prompt: &str) -> Vec<Turn> {
    let mut turns = turns.to_vec();
    turns.push(said("user", prompt));
    turns
}

fn desk(w: &World) -> Option<InstalledClient> {
    ClientKind::Codex.set_up(&w.home, &w.project)
}

#[test]
fn a_session_that_we_wrote_is_listed_and_continued() {
    let w = World::new();
    let Some(desk) = desk(&w) else { return };
    fs::create_dir(w.home.join(".codex")).unwrap();
    // A client that was given a name once has this file.
    fs::write(w.home.join(".codex/session_index.jsonl"), "").unwrap();
    let (id, turns, _) = written(&w);
    assert_eq!(context(&w, &id), turns);

    let listed = json(&desk.list_sessions().unwrap());
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    let listed = &listed[0];
    assert_eq!(listed["id"], id.as_str());
    assert_eq!(listed["name"], "Counting apples");
    assert_eq!(listed["preview"], "What is in the picture?");
    assert_eq!(listed["cwd"], w.project.to_str().unwrap());

    assert_eq!(
        desk.resume_session(&id, "And then?"),
        with(&turns, "And then?")
    );
    let mut then = with(&turns, "And then?");
    then.push(said("assistant", "reply 1"));
    assert_eq!(context(&w, &id), then, "what the client added, we read");
}

#[test]
fn a_fork_of_ours_is_continued_from_its_entry() {
    let w = World::new();
    let Some(desk) = desk(&w) else { return };
    let (id, turns, entries) = written(&w);
    let fork = |args: &[&str]| {
        let mut all = vec!["fork", id.as_str(), "--json"];
        all.extend(args);
        json(&w.ok(&all))["id"].as_str().unwrap().to_owned()
    };
    let whole = fork(&[]);
    assert_eq!(context(&w, &whole), turns);
    assert_eq!(desk.resume_session(&whole, "Go on"), with(&turns, "Go on"));
    let at = fork(&["--at", &entries[2]]);
    assert_eq!(context(&w, &at), turns[..8]);
    assert_eq!(desk.resume_session(&at, "Anew"), with(&turns[..8], "Anew"));
    let ids: Vec<String> = json(&desk.list_sessions().unwrap())
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(ids.len(), 3, "{ids:?}");
}

#[test]
fn a_session_of_the_client_is_read_as_it_was() {
    let w = World::new();
    let Some(desk) = desk(&w) else { return };
    fs::write(w.project.join("apples.txt"), "one\n").unwrap();
    let prompt = r#"Count [[tool:exec_command {"cmd":"cat apples.txt"}]]"#;
    let begun = desk.begin_session(prompt);
    let (session, _) = tree(&w.home.join(".codex/sessions")).remove(0);
    let session = session.to_str().unwrap();
    let id = json(&w.ok(&["list", "--json"]))["id"].clone();
    let id = id.as_str().unwrap();
    let mut all = begun;
    all.push(said("assistant", "reply 2"));
    assert_eq!(context(&w, session), all);
    assert!(
        all.iter()
            .any(|t| matches!(t, Turn::ToolResult(_, text) if text.contains("one")))
    );

    let resumed = desk.resume_session(id, "Are you sure?");
    assert_eq!(resumed, with(&all, "Are you sure?"));
    all = resumed;
    all.push(said("assistant", "reply 3"));
    assert_eq!(context(&w, session), all);

    // What we add and what we copy, the client continues too: this file has numbers.
    w.ok(&["append", session, "One more"]);
    w.ok(&["append", session, "--role", "agent", "Yes."]);
    all.extend([said("user", "One more"), said("assistant", "Yes.")]);
    assert_eq!(context(&w, session), all);
    assert_eq!(desk.resume_session(id, "Sure?"), with(&all, "Sure?"));
    all.extend([said("user", "Sure?"), said("assistant", "reply 4")]);
    let fork = json(&w.ok(&["fork", session, "--json"]));
    let fork = fork["id"].as_str().unwrap();
    assert_eq!(context(&w, fork), all);
    assert_eq!(desk.resume_session(fork, "There?"), with(&all, "There?"));
}
