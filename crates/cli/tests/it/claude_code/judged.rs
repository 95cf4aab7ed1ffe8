//! The real clients as judges: they resume what we wrote, and we read what they wrote.

use std::fs;
use std::path::PathBuf;

use rethread_formats::claude_code::encode_cwd;
use rethread_judges::{ClientKind, InstalledClient, Turn};
use serde_json::Value;

use super::fixtures;
use crate::judges::sent::{apart, turns};
use crate::world::{World, copy, json, tree};

const CLIENTS: [ClientKind; 2] = [ClientKind::Claude, ClientKind::Claude2025];

/// A picture of one dot, which is small enough for a client to send it as it is.
const DOT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const FIRST: [&str; 4] = [
    r#"{"role":"user","content":"Look at both files."}"#,
    r#"{"role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"toolu_one","name":"Read","input":{"file_path":"/a"}},{"type":"tool_use","id":"call.two","name":"ForeignTool","input":{"deep":[1,{"x":null}]}}]}"#,
    r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_one","content":"an apple"},{"type":"tool_result","tool_use_id":"call.two","content":"no such pear","is_error":true}]}"#,
    r#"{"role":"assistant","content":"One is there."}"#,
];

/// A session of three turns that we wrote, with parallel calls, a failed one, a picture and a title.
fn written(w: &World) -> String {
    let made = json(&w.ok(&[
        "new",
        "--format",
        "claude",
        "--title",
        "Two files",
        "--json",
    ]));
    let id = made["id"].as_str().unwrap().to_owned();
    let answer = w.pipe(&["append", &id, "--message-json", "-"], FIRST.join("\n"));
    assert_eq!(answer.code, 0, "{answer:?}");
    let picture = w.root.join("dot.png");
    fs::write(&picture, decoded(DOT)).unwrap();
    w.ok(&[
        "append",
        &id,
        "And this?",
        "--image",
        picture.to_str().unwrap(),
    ]);
    w.ok(&["append", &id, "--role", "assistant", "A dot."]);
    w.ok(&["append", &id, "Thanks."]);
    w.ok(&["append", &id, "--role", "assistant", "You are welcome."]);
    w.ok(&["rename", &id, "Apples and pears"]);
    id
}

fn decoded(base64: &str) -> Vec<u8> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD
        .decode(base64)
        .unwrap()
}

fn user(text: &str) -> Turn {
    Turn::Text("user".to_owned(), text.to_owned())
}

fn model(text: &str) -> Turn {
    Turn::Text("assistant".to_owned(), text.to_owned())
}

/// What was written, as a client should send it.
fn expected(call: &str) -> Vec<Turn> {
    let read = serde_json::json!({ "file_path": "/a" });
    let foreign = serde_json::json!({ "deep": [1, { "x": null }] });
    vec![
        user("Look at both files."),
        model("I look."),
        Turn::ToolCall("toolu_one".to_owned(), "Read".to_owned(), read),
        Turn::ToolCall(call.to_owned(), "ForeignTool".to_owned(), foreign),
        Turn::ToolResult("toolu_one".to_owned(), "an apple".to_owned()),
        Turn::ToolResult(call.to_owned(), "no such pear".to_owned()),
        model("One is there."),
        user("And this?"),
        Turn::Image("user".to_owned()),
        model("A dot."),
        user("Thanks."),
        model("You are welcome."),
    ]
}

/// What we say that a model would see.
fn context(w: &World, session: &str) -> Vec<Turn> {
    let answer = w.run(&["context", session, "--json"]);
    assert!(matches!(answer.code, 0 | 3), "{answer:?}");
    let context = json(&answer.out);
    let said = context["messages"].as_array().unwrap().iter();
    let is_own = |turn: &Turn| match turn {
        Turn::Text(_, text) => {
            text.is_empty() || text.trim_start().starts_with("<system-reminder>")
        }
        _ => false,
    };
    said.flat_map(turns).filter(|turn| !is_own(turn)).collect()
}

/// The ids of the sessions that a client wrote, the oldest first.
fn recorded(w: &World) -> Vec<String> {
    let files = tree(&w.home.join(".claude/projects")).into_iter();
    let mut files: Vec<PathBuf> = files
        .map(|(path, _)| path)
        .filter(|p| p.extension().is_some_and(|e| e == "jsonl"))
        // One of them leaves empty files, and sub-agents that warm up.
        .filter(|p| fs::metadata(p).unwrap().len() > 0)
        .filter(|p| !p.to_str().unwrap().contains("agent-"))
        .collect();
    files.sort_by_key(|p| fs::metadata(p).unwrap().modified().unwrap());
    let stems = files
        .iter()
        .map(|p| p.file_stem().unwrap().to_str().unwrap());
    stems.map(str::to_owned).collect()
}

/// The client goes on with a session: it sends what we say that it would, and the prompt.
#[track_caller]
fn resumed(w: &World, desk: &InstalledClient, session: &str, prompt: &str) -> Vec<Turn> {
    let mut ours = context(w, session);
    ours.push(user(prompt));
    let theirs = desk.resume_session(session, prompt);
    assert_eq!(ours, theirs);
    theirs
}

#[test]
fn what_we_wrote_is_resumed_whole() {
    for client in CLIENTS {
        let w = World::new();
        let Some(desk) = client.set_up(&w.home, &w.project) else {
            return;
        };
        let id = written(&w);
        let ours = context(&w, &id);
        let Some(Turn::ToolCall(call, ..)) = ours.get(3) else {
            panic!("{ours:?}")
        };
        let mut all = expected(call);
        all.push(user("And now?"));
        assert_eq!(resumed(&w, &desk, &id, "And now?"), all);
        // It went on in the same file, and so do we.
        let conversation = context(&w, &id);
        assert_eq!(conversation[..all.len()], all);
        assert!(matches!(&conversation[all.len()..], [Turn::Text(role, _)] if role == "assistant"));
        w.ok(&["append", &id, "Once more."]);
        w.ok(&["append", &id, "--role", "assistant", "Again."]);
        let told = resumed(&w, &desk, &id, "The end?");
        assert_eq!(told[told.len() - 2], model("Again."));
        let listed = json(&w.ok(&["list", "--json"]));
        assert_eq!(listed["title"], "Apples and pears");
    }
}

#[test]
fn a_fork_is_resumed() {
    for client in CLIENTS {
        let w = World::new();
        let Some(desk) = client.set_up(&w.home, &w.project) else {
            return;
        };
        let id = written(&w);
        let whole = json(&w.ok(&["fork", &id, "--json"]));
        let whole = whole["id"].as_str().unwrap();
        let all = context(&w, &id);
        let told = resumed(&w, &desk, whole, "And in the fork?");
        assert_eq!(told[..told.len() - 1], all, "all of it");
        // Only the first turn.
        let part = json(&w.ok(&["fork", &id, "--at", "#6", "--json"]));
        let path = part["path"].as_str().unwrap();
        let said = |path: &str| {
            let text = fs::read_to_string(path).unwrap();
            let lines = text.lines().map(json);
            let is_said = |r: &Value| r["type"] == "user" || r["type"] == "assistant";
            lines.filter(is_said).count()
        };
        let before = said(path);
        let told = resumed(&w, &desk, part["id"].as_str().unwrap(), "Or so?");
        assert_eq!(told[..told.len() - 1], all[..7]);
        assert_eq!(said(path), before + 2, "nothing was written anew");
        assert_eq!(context(&w, &id), all, "the source is as it was");
    }
}

#[test]
fn what_a_client_recorded_is_read() {
    for client in CLIENTS {
        let w = World::new();
        let Some(desk) = client.set_up(&w.home, &w.project) else {
            return;
        };
        fs::write(w.project.join("a.txt"), "one apple\n").unwrap();
        let file = w.project.join("a.txt");
        let prompt = format!(
            r#"Count the apples [[tool:Read {{"file_path":{file:?}}}]] [[tool:Bash {{"command":"cat a.txt; exit 3","description":"Look"}}]]"#
        );
        let began = desk.begin_session(&prompt);
        let id = recorded(&w).pop().unwrap();
        let read = context(&w, &id);
        assert_eq!(read[..began.len()], began, "{client:?}");
        let calls = read.iter().filter(|t| matches!(t, Turn::ToolCall(..)));
        let results = read.iter().filter(|t| matches!(t, Turn::ToolResult(..)));
        assert_eq!((calls.count(), results.count()), (2, 2), "{read:?}");
        resumed(&w, &desk, &id, "And pears?");
        desk.resume_session(&id, r#"Look again [[tool:Bash {"command":"cat a.txt"}]]"#);
        let told = resumed(&w, &desk, &id, "That is all.");
        let said = told
            .iter()
            .filter(|t| matches!(t, Turn::Text(role, _) if role == "user"));
        assert_eq!(said.count(), 4, "{told:?}");
        assert_eq!(recorded(&w), [id.as_str()], "one session");
        let found = w.run(&["check", w.home.join(".claude").to_str().unwrap()]);
        assert_eq!(found.code, 0, "{found:?}");
        let listed = w.ok(&["list", "--json", "--hidden"]);
        assert!(listed.lines().any(|l| json(l)["id"] == id.as_str()));
    }
}

/// What a client makes of sessions with forks, rewinds, compactions and copies is what we make of
/// them.
#[test]
fn other_sessions_are_resumed_where_we_say() {
    let cases = [
        (ClientKind::Claude, "2.1/everything"),
        (ClientKind::Claude, "2.1/compaction"),
        (ClientKind::Claude, "2.1/two-branches"),
        (ClientKind::Claude, "2.1/rewind"),
        (ClientKind::Claude2025, "2.1/two-branches-old"),
        (ClientKind::Claude2025, "2.0/written-anew"),
        (ClientKind::Claude2025, "1.0/sidechain"),
    ];
    for (client, case) in cases {
        let w = World::new();
        let Some(desk) = client.set_up(&w.home, &w.project) else {
            return;
        };
        let folder = encode_cwd(w.project.to_str().unwrap());
        copy(
            &fixtures().join(case),
            &w.home.join(".claude/projects").join(folder),
        );
        for id in recorded(&w) {
            let mut ours = context(&w, &id);
            ours.push(user("And now?"));
            ours.retain(|turn| *turn != Turn::Thinking(String::new()));
            let theirs = desk.resume_session(&id, "And now?");
            // It ends texts that it joins with a line break.
            let plain = |turn| match turn {
                Turn::Text(role, text) => Turn::Text(role, text.trim_end().to_owned()),
                turn => turn,
            };
            let theirs: Vec<Turn> = theirs.into_iter().flat_map(apart).map(plain).collect();
            assert_eq!(ours, theirs, "{client:?} {case}");
        }
    }
}
