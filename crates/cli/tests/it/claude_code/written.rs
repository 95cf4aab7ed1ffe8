//! Sessions of Claude Code: started, continued, renamed, forked and checked.

use std::fs;
use std::path::PathBuf;

use rethread_formats::{Want, claude_code::FORMAT, claude_code::encode_cwd};
use rethread_model::{Block, LinkKind, TitleSource};

use super::{EVERYTHING, PROJECT, fixtures, id, lay_out, line, read_file, thread};
use crate::world::{World, copy, json};

const TURNS: [&str; 5] = [
    r#"{"role":"user","content":"Look at both files."}"#,
    r#"{"role":"assistant","model":"gpt-x","content":[{"type":"thinking","thinking":"Two files.","signature":"forged"},{"type":"text","text":"I look."},{"type":"tool_use","tool_id":"call|1","tool_name":"Read","input":{"file_path":"/a"}},{"type":"tool_use","id":"toolu_2","name":"Bash","input":{"command":"false"}}],"metadata":{"token_usage":{"input_tokens":7,"output_tokens":5}}}"#,
    r#"{"role":"user","content":[{"type":"tool_result","tool_id":"call|1","output":"one"},{"type":"tool_result","tool_use_id":"toolu_2","content":"failed","is_error":true}]}"#,
    r#"{"role":"assistant","content":"Both are there."}"#,
    r#"{"role":"user","content":[{"type":"text","text":"And this?"},{"type":"image","mimeType":"image/png","data":"iVBORw0KGgo="}]}"#,
];

/// A new session with five messages: its id and its file.
fn written(w: &World) -> (String, PathBuf) {
    let made = w.ok(&[
        "new",
        "--format",
        "claude",
        "--title",
        "Two files",
        "--json",
    ]);
    let made = json(&made);
    let id = made["id"].as_str().unwrap().to_owned();
    let answer = w.pipe(&["append", &id, "--message-json", "-"], TURNS.join("\n"));
    assert_eq!(answer.code, 0, "{answer:?}");
    assert_eq!(answer.out.lines().count(), 5, "{answer:?}");
    (id, made["path"].as_str().unwrap().into())
}

fn records(path: &std::path::Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(json).collect()
}

#[test]
fn a_new_session_is_where_and_what_the_client_expects() {
    let w = World::with_git();
    let (id, path) = written(&w);
    let folder = encode_cwd(w.project.to_str().unwrap());
    let expected = w.home.join(".claude/projects").join(folder);
    assert_eq!(path, expected.join(format!("{id}.jsonl")));
    let all = records(&path);
    let said: Vec<_> = all.iter().filter(|r| r["uuid"].is_string()).collect();
    assert_eq!(said.len(), 9, "a record for each block and each result");
    let mut before = serde_json::Value::Null;
    for record in &said {
        assert_eq!(record["parentUuid"], before, "a chain");
        before = record["uuid"].clone();
        assert_eq!(record["sessionId"], id.as_str());
        assert_eq!(record["cwd"], w.project.to_str().unwrap());
        assert_eq!(record["gitBranch"], "main");
        assert_eq!(record["isSidechain"], false);
        assert!(record["timestamp"].is_string());
        assert!(record.get("entrypoint").is_none(), "that would hide it");
    }
    // Titles and the leaf stand at the end, where the client's lists look.
    let [.., title, last] = all.as_slice() else {
        panic!()
    };
    assert_eq!(title["customTitle"], "Two files");
    assert_eq!(last["leafUuid"], before);
    assert_eq!(last["lastPrompt"], "And this?");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn calls_keep_their_results_and_foreign_thinking_is_text() {
    let w = World::new();
    let (_, path) = written(&w);
    let all = records(&path);
    let answer: Vec<_> = all.iter().filter(|r| r["type"] == "assistant").collect();
    let answer = &answer[..4];
    let blocks: Vec<_> = answer.iter().map(|r| &r["message"]["content"][0]).collect();
    let types: Vec<&str> = blocks.iter().map(|b| b["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["text", "text", "tool_use", "tool_use"]);
    let written = fs::read_to_string(&path).unwrap();
    assert!(!written.contains("forged"), "no signature");
    let response = &answer[0]["message"]["id"];
    assert!(response.as_str().unwrap().starts_with("msg_"));
    assert!(answer.iter().all(|r| r["message"]["id"] == *response));
    let answer = answer[0];
    let fits = |id: &str| {
        id.bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
    };
    let call = blocks[2]["id"].as_str().unwrap();
    assert!(fits(call), "{call}");
    assert_eq!(answer["rethreadToolIds"][call], "call|1");
    assert_eq!(answer["message"]["model"], "gpt-x");
    assert_eq!(answer["message"]["usage"]["output_tokens"], 5);
    let conversation = read_file(&path);
    let read = thread(&conversation);
    assert_eq!(
        read[1],
        format!("Assistant: Two files. I look. ▸{call} ▸toolu_2")
    );
    assert_eq!(
        read[2..4],
        [format!("Tool: ◂{call}"), "Tool: ◂toolu_2".to_owned()]
    );
    assert_eq!(read[5], "User: And this? (image)");
    let path_read = conversation.session.active_path();
    let failed =
        path_read[2..4].iter().map(
            |ix| match rethread_model::Bodies::body(&conversation, *ix) {
                rethread_model::Body::Message(m) => {
                    matches!(&m.blocks[..], [Block::ToolResult(r)] if r.is_error)
                }
                other => panic!("{other:?}"),
            },
        );
    assert_eq!(failed.collect::<Vec<_>>(), [false, true]);
    assert_eq!(w.run(&["check", path.to_str().unwrap()]).code, 0);
}

/// Clients of 2025 go on from the record with the latest time, and of several from the first.
#[test]
fn times_go_forward() {
    let w = World::new();
    let made = json(&w.ok(&["new", "--format", "claude", "--json"]));
    let id = made["id"].as_str().unwrap();
    let lines = [
        r#"{"role":"user","content":"a","timestamp":"2026-11-15T13:00:00Z"}"#,
        r#"{"role":"assistant","content":[{"type":"text","text":"b"},{"type":"text","text":"c"}]}"#,
        r#"{"role":"user","content":"d","timestamp":"2026-11-15T12:30:00Z"}"#,
    ];
    let answer = w.pipe(&["append", id, "--message-json", "-"], lines.join("\n"));
    assert_eq!(answer.code, 0);
    assert!(answer.err.contains("its record follows that"), "{answer:?}");
    w.ok(&["append", id, "e"]);
    let all = records(made["path"].as_str().unwrap().as_ref());
    let times = all.iter().filter_map(|r| r["timestamp"].as_str());
    let millis: Vec<&str> = times
        .map(|t| t.strip_prefix("2026-11-15T13:00:00.").unwrap())
        .collect();
    assert_eq!(millis, ["000Z", "001Z", "002Z", "003Z", "004Z"]);
}

/// Who does not name a model means the one that answered last, also in the same breath.
#[test]
fn the_model_that_answered_last_answers() {
    let w = World::new();
    let (_, path) = written(&w);
    let all = records(&path);
    let models = all.iter().filter_map(|r| r["message"]["model"].as_str());
    assert!(models.clone().all(|m| m == "gpt-x"));
    assert_eq!(models.count(), 5);
}

#[test]
fn text_and_pictures_are_appended() {
    let w = World::new();
    let made = json(&w.ok(&["new", "--format", "claude-code", "--json"]));
    let id = made["id"].as_str().unwrap();
    let picture = w.root.join("dot.png");
    fs::write(&picture, b"\x89PNG\r\n\x1a\n").unwrap();
    w.ok(&["append", id, "Hello", "--image", picture.to_str().unwrap()]);
    w.ok(&[
        "append",
        id,
        "--role",
        "assistant",
        "--model",
        "claude-x",
        "Hi",
    ]);
    w.ok(&["append", id, "--role", "system", "Be brief."]);
    let conversation = read_file(made["path"].as_str().unwrap().as_ref());
    assert_eq!(
        thread(&conversation),
        ["User: Hello (image)", "Assistant: Hi", "User: Be brief."]
    );
    let last = conversation.session.entries().last().unwrap();
    assert_eq!(last.visibility, rethread_model::Visibility::Injected);
    let bad = w.pipe(
        &["append", id, "--message-json", "-"],
        r#"{"role":"user","content":[]}"#,
    );
    assert_ne!(bad.code, 0);
    assert!(bad.err.contains("nothing is said"), "{bad:?}");
}

/// What is there keeps its bytes; what is added follows what the client would go on from.
#[test]
fn an_append_goes_on_where_the_client_would() {
    let w = World::new();
    lay_out(&w, &["2.1/two-branches", "2.1/rewind", "2.1/everything"]);
    for (session, follows) in [
        ("c1b2c3d4-0000-4000-8000-00000000dddd", id("c1b2c3d4", 4)),
        ("c1b2c3d4-0000-4000-8000-00000000eeee", id("c1b2c3d4", 2)),
        (EVERYTHING, id(EVERYTHING, 25)),
    ] {
        let path = w.home.join(PROJECT).join(format!("{session}.jsonl"));
        let before = fs::read(&path).unwrap();
        let new = w.ok(&["append", session, "Go on."]);
        let after = fs::read(&path).unwrap();
        assert!(after.starts_with(&before), "{session}");
        let conversation = read_file(&path);
        let leaf = conversation.session.leaf().unwrap();
        assert_eq!(conversation.session.id(leaf), new.trim());
        assert_eq!(line(&conversation, leaf), "User: Go on.");
        let record = records(&path).into_iter().find(|r| r["uuid"] == new.trim());
        assert_eq!(record.unwrap()["parentUuid"], follows.as_str(), "{session}");
    }
    // A torn last line is ended, and stays.
    copy(&fixtures().join("2.1/damaged"), &w.home.join(PROJECT));
    let path = w
        .home
        .join(PROJECT)
        .join("02b2c3d4-0000-4000-8000-000000000001.jsonl");
    let before = fs::read(&path).unwrap();
    w.run(&["append", path.to_str().unwrap(), "Go on."]);
    assert!(fs::read(&path).unwrap().starts_with(&before));
    assert_eq!(thread(&read_file(&path)).pop().unwrap(), "User: Go on.");
}

#[test]
fn a_title_is_one_more_record() {
    let w = World::new();
    lay_out(&w, &["2.1/compaction"]);
    let path = w
        .home
        .join(PROJECT)
        .join("b1b2c3d4-0000-4000-8000-00000000cccc.jsonl");
    let before = fs::read(&path).unwrap();
    w.ok(&["rename", "b1b2c3d4", "The checkout"]);
    assert!(fs::read(&path).unwrap().starts_with(&before));
    let title = read_file(&path).session.head.title.unwrap();
    assert_eq!(
        (title.text.as_str(), title.source),
        ("The checkout", TitleSource::User)
    );
    copy(&fixtures().join("2.0/agents"), &w.home.join(PROJECT));
    let agent = w.home.join(PROJECT).join("agent-c9.jsonl");
    let answer = w.run(&["rename", agent.to_str().unwrap(), "x"]);
    assert!(answer.err.contains("is a sub-agent"), "{answer:?}");
}

#[test]
fn a_fork_is_the_way_to_an_entry_in_a_new_session() {
    let w = World::new();
    lay_out(&w, &["2.1/everything", "2.1/compaction"]);
    let original = w.home.join(PROJECT).join(format!("{EVERYTHING}.jsonl"));
    let before = fs::read(&original).unwrap();
    let made = json(&w.ok(&["fork", EVERYTHING, "--json"]));
    assert_eq!(
        fs::read(&original).unwrap(),
        before,
        "the source is as it was"
    );
    let path: PathBuf = made["path"].as_str().unwrap().into();
    assert_eq!(path.parent(), original.parent());
    let (fork, source) = (read_file(&path), read_file(&original));
    assert_eq!(thread(&fork), thread(&source));
    assert!(fork.notes.is_empty(), "{:?}", fork.notes);
    let links = &fork.session.head.links;
    assert!(
        links
            .iter()
            .any(|l| l.kind == LinkKind::ForkOf && l.session == EVERYTHING)
    );
    let mut said = fork.session.entries().iter().filter(|e| !e.beside);
    assert!(said.all(|e| e.inherited), "its usage counts there");
    let counted = FORMAT.reader().summarize(
        &fork.source,
        Want {
            usage: true,
            ..Want::default()
        },
    );
    assert_eq!(counted.counts.usage.unwrap().output, 0);
    w.ok(&["append", made["id"].as_str().unwrap(), "Another way."]);
    let fork = read_file(&path);
    assert_eq!(thread(&fork).pop().unwrap(), "User: Another way.");
    let own = fork
        .session
        .entries()
        .iter()
        .filter(|e| !e.inherited && !e.beside);
    assert_eq!(own.count(), 1);
    let at = id("b1b2c3d4", 2);
    let made = json(&w.ok(&[
        "fork", "b1b2c3d4", "--at", &at, "--title", "Again", "--json",
    ]));
    let fork = read_file(made["path"].as_str().unwrap().as_ref());
    assert_eq!(
        thread(&fork),
        ["User: Start the shop.", "Assistant: Started."]
    );
    assert_eq!(fork.session.head.title.unwrap().text, "Again");
}

#[test]
fn ids_must_be_uuids_and_free() {
    let w = World::new();
    let answer = w.run(&["new", "--format", "claude", "--id", "../x"]);
    assert!(answer.err.contains("is no UUID"), "{answer:?}");
    let id = "a1b2c3d4-0000-4000-8000-00000000aaaa";
    w.ok(&["new", "--format", "claude", "--id", id]);
    let answer = w.run(&["new", "--format", "claude", "--id", id]);
    assert!(answer.err.contains("exists already"), "{answer:?}");
    let message = format!(r#"{{"uuid":"{id}","role":"user","content":"x"}}"#);
    let first = w.pipe(&["append", id, "--message-json", "-"], &message);
    assert_eq!((first.code, first.out.trim()), (0, id));
    let again = w.pipe(&["append", id, "--message-json", "-"], &message);
    assert!(again.err.contains("exists already"), "{again:?}");
}

#[test]
fn check_names_what_the_client_would_lose() {
    let w = World::new();
    let found = |case: &str| {
        let folder = fixtures().join(case);
        let answer = w.run(&["check", folder.to_str().unwrap(), "--json"]);
        let lines = answer.out.lines().map(json);
        let rules = lines.filter_map(|v| Some(v.get("rule")?.as_str()?.to_owned()));
        (answer.code, rules.collect::<Vec<_>>())
    };
    assert_eq!(found("2.1/compaction"), (0, vec![]));
    let (code, rules) = found("2.1/damaged");
    assert_ne!(code, 0);
    assert_eq!(rules.iter().filter(|r| *r == "damaged-line").count(), 7);
    let (_, rules) = found("2.1/links");
    for rule in ["circle", "missing-parent", "duplicate-id", "required-field"] {
        assert!(rules.iter().any(|r| r == rule), "{rule}: {rules:?}");
    }
}
