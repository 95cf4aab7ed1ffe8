//! What the document asks for and no other test shows: see `docs/conformance/atsf.md`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rethread_formats::{Format, Source, Want, atsf::Atsf};
use rethread_model::Head;
use serde_json::{Value, json as value};

use crate::world::{NOW, World, copy, fixtures, json, tree};

const DOCUMENT_ID: &str = "a1b2c3d4-e5f6-7890-abcd-ef1234567890";

fn example(name: &str) -> String {
    fs::read_to_string(fixtures().join("1.1/document").join(name)).unwrap()
}

/// Puts the document's `thread.json` into the store, with a log.
fn document_thread(w: &World, log: &str) {
    fs::create_dir_all(w.folder(DOCUMENT_ID)).unwrap();
    for (name, text) in [
        ("thread.json", example("thread.json").as_str()),
        ("messages.jsonl", log),
    ] {
        fs::write(w.folder(DOCUMENT_ID).join(name), text).unwrap();
    }
}

fn source(folder: &Path) -> Source {
    let id = folder.file_name().unwrap().to_str().unwrap().to_owned();
    Source::new("atsf", id, folder.to_owned())
}

fn head(folder: &Path) -> Head {
    Atsf.read(&source(folder)).unwrap().session.head
}

fn assert_fields(object: &Value, fields: &[(&str, Value)]) {
    for (pointer, expected) in fields {
        assert_eq!(object.pointer(pointer), Some(expected), "{pointer}");
    }
}

fn new_id(w: &World, args: &[&str]) -> String {
    let mut all = vec!["new", "--format", "atsf", "--json"];
    all.extend(args);
    json(&w.ok(&all))["id"].as_str().unwrap().to_owned()
}

/// Runs every verb that changes a thread: another message, a message anew, a title, a copy.
fn every_verb(w: &World, id: &str) {
    let added = w.ok(&["append", id, "one more"]);
    w.ok(&["append", id, "--replace", added.trim(), "and changed"]);
    w.ok(&["rename", id, "another title"]);
    w.ok(&["fork", id]);
}

// Threads and their descriptions.

#[test]
fn every_field_of_a_description_is_written() {
    let w = World::with_git();
    w.git(&["worktree", "add", "-q", "-b", "feature", "../wt"]);
    let (worktree, cwd) = (w.root.join("wt"), w.root.join("wt/src"));
    fs::create_dir(&cwd).unwrap();
    let args = [
        "--title=T",
        "--agent-id=claude-code",
        "--agent-name=Claude Code",
        "--agent-version=1.0.0",
        "--protocol=acp",
        "--protocol-version=1",
        "--metadata={\"ticket\":17}",
        "--cwd",
        cwd.to_str().unwrap(),
    ];
    let id = new_id(&w, &args);
    for message in [
        r#"{"role":"user","content":[],"timestamp":"2026-01-01T00:00:00.000Z"}"#,
        r#"{"role":"agent","content":[],"timestamp":"2026-01-02T00:00:00.000Z","toolCalls":[{"toolCallId":"a","name":"n","status":"completed"},{"toolCallId":"b","name":"n","status":"completed"}]}"#,
        r#"{"role":"agent","content":[],"timestamp":"2026-01-03T00:00:00.000Z"}"#,
        r#"{"role":"system","content":[],"timestamp":"2026-01-04T00:00:00.000Z"}"#,
    ] {
        w.message(&id, message);
    }
    let path = worktree.join(".agent/threads").join(&id);
    let manifest = json(&fs::read_to_string(path.join("thread.json")).unwrap());
    assert_fields(
        &manifest,
        &[
            ("/specVersion", "1.1".into()),
            ("/threadId", id.as_str().into()),
            ("/title", "T".into()),
            ("/createdAt", NOW.into()),
            ("/updatedAt", "2026-01-04T00:00:00.000Z".into()),
            ("/agent/id", "claude-code".into()),
            ("/agent/name", "Claude Code".into()),
            ("/agent/version", "1.0.0".into()),
            ("/agent/protocol", "acp".into()),
            ("/agent/protocolVersion", 1.into()),
            ("/context/workingDir", cwd.to_str().unwrap().into()),
            ("/context/relativeDir", "src".into()),
            ("/context/gitBranch", "feature".into()),
            ("/context/gitCommit", w.git(&["rev-parse", "HEAD"]).into()),
            ("/context/worktree/path", worktree.to_str().unwrap().into()),
            ("/context/worktree/branch", "feature".into()),
            ("/stats/messageCount", 4.into()),
            ("/stats/userMessageCount", 1.into()),
            ("/stats/agentMessageCount", 2.into()),
            ("/stats/toolCallCount", 2.into()),
            ("/metadata/ticket", 17.into()),
        ],
    );
}

#[test]
fn what_is_required_is_written_unasked_and_what_is_optional_is_left_out() {
    let w = World::new();
    let manifest = w.manifest(&new_id(&w, &[]));
    for required in [
        "/specVersion",
        "/threadId",
        "/title",
        "/createdAt",
        "/updatedAt",
        "/agent/id",
        "/agent/name",
        "/context/workingDir",
    ] {
        let text = manifest.pointer(required).and_then(Value::as_str);
        assert!(text.is_some_and(|t| !t.is_empty()), "{required}");
    }
    for required in ["message", "userMessage", "agentMessage", "toolCall"] {
        let count = &manifest["stats"][format!("{required}Count")];
        assert_eq!(*count, 0, "{required}");
    }
    for optional in [
        "/agent/version",
        "/agent/protocol",
        "/agent/protocolVersion",
        "/context/gitBranch",
        "/context/gitCommit",
        "/context/worktree",
    ] {
        assert_eq!(manifest.pointer(optional), None, "{optional}");
    }
}

#[test]
fn every_field_of_the_document_s_description_is_read() {
    let w = World::new();
    document_thread(&w, "");
    let folder = w.folder(DOCUMENT_ID);
    let head = head(&folder);
    let (agent, place) = (&head.agent, &head.workspace);
    let worktree = place.worktree.as_ref().unwrap();
    for (field, read, expected) in [
        ("specVersion", head.dialect.as_deref(), "1.0"),
        ("threadId", Some(head.id.as_str()), DOCUMENT_ID),
        (
            "title",
            head.title.as_ref().map(|t| t.text.as_str()),
            "Fix authentication bug",
        ),
        ("agent.id", agent.id.as_deref(), "claude-code"),
        ("agent.name", agent.name.as_deref(), "Claude Code"),
        ("agent.version", agent.version.as_deref(), "1.0.0"),
        ("agent.protocol", agent.protocol.as_deref(), "acp"),
        ("protocolVersion", agent.protocol_version.as_deref(), "1"),
        (
            "workingDir",
            place.path.as_deref(),
            "/home/user/projects/myapp",
        ),
        ("relativeDir", place.relative.as_deref(), "."),
        ("gitBranch", place.branch.as_deref(), "main"),
        ("gitCommit", place.commit.as_deref(), "abc123def456"),
        (
            "worktree.path",
            Some(worktree.path.as_str()),
            "/home/user/.local/share/agentmanager/worktrees/myapp/thread-a1b2c3d4",
        ),
        ("worktree.branch", worktree.branch.as_deref(), "am-a1b2c3d4"),
    ] {
        assert_eq!(read, Some(expected), "{field}");
    }
    let created = head.created.unwrap().to_string();
    assert_eq!(created, "2025-02-14T10:30:00.000Z");
    let updated = head.updated.unwrap().to_string();
    assert_eq!(updated, "2025-02-14T11:45:00.000Z");
    let counts = Atsf.summarize(&source(&folder), Want::default()).counts;
    assert_eq!(
        (
            counts.messages,
            counts.user_messages,
            counts.assistant_messages,
            counts.tool_calls
        ),
        (12, 5, 7, 23)
    );
}

#[test]
fn the_document_s_description_comes_back_byte_for_byte() {
    let w = World::new();
    document_thread(&w, "");
    let path = w.folder(DOCUMENT_ID).join("thread.json");
    w.ok(&["rename", DOCUMENT_ID, "Another title"]);
    let renamed = fs::read_to_string(&path).unwrap();
    assert_eq!(
        renamed,
        example("thread.json").replace("Fix authentication bug", "Another title")
    );
    w.ok(&["rename", DOCUMENT_ID, "Fix authentication bug"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), example("thread.json"));
}

#[test]
fn unknown_fields_of_a_description_survive_every_verb() {
    let w = World::new();
    w.fixture("1.1/project");
    let id = "f1d49ea9-d820-4b37-b87e-cf44dcff39d6";
    let before = w.manifest(id);
    every_verb(&w, id);
    let fork = new_folder(&w, &[id]);
    for manifest in [w.manifest(id), w.manifest(&fork)] {
        for pointer in [
            "/colorScheme",
            "/agent/vendor",
            "/context/host",
            "/stats/imageCount",
            "/metadata/interactionMode",
            "/metadata/notebench",
        ] {
            let kept = before.pointer(pointer);
            assert!(kept.is_some(), "{pointer} is in the fixture");
            assert_eq!(manifest.pointer(pointer), kept, "{pointer}");
        }
    }
}

/// The one thread beside these.
fn new_folder(w: &World, known: &[&str]) -> String {
    let folders = fs::read_dir(w.project.join(".agent/threads")).unwrap();
    let names = folders.map(|e| e.unwrap().file_name().into_string().unwrap());
    let new: Vec<String> = names.filter(|n| !known.contains(&n.as_str())).collect();
    assert_eq!(new.len(), 1, "{new:?}");
    new[0].clone()
}

#[test]
fn a_thread_s_folder_holds_one_description_and_one_log_after_every_verb() {
    let w = World::new();
    let id = w.thread("T");
    every_verb(&w, &id);
    for thread in [&id, &new_folder(&w, &[&id])] {
        let files: Vec<_> = tree(&w.folder(thread))
            .into_iter()
            .map(|(path, _)| path.file_name().unwrap().to_str().unwrap().to_owned())
            .collect();
        assert_eq!(files, ["messages.jsonl", "thread.json"]);
    }
    let outside = tree(&w.project)
        .into_iter()
        .find(|(path, _)| !path.starts_with(w.project.join(".agent")));
    assert_eq!(outside, None, "all of it is in `.agent`");
}

#[cfg(unix)]
#[test]
fn a_description_is_replaced_and_never_changed_in_place() {
    use std::io::Read;
    let w = World::new();
    let id = w.thread("T");
    let path = w.folder(&id).join("thread.json");
    for args in [&["append", &id, "x"][..], &["rename", &id, "U"]] {
        let before = fs::read_to_string(&path).unwrap();
        let mut open = fs::File::open(&path).unwrap();
        w.ok(args);
        assert_ne!(fs::read_to_string(&path).unwrap(), before, "{args:?}");
        let mut seen = String::new();
        open.read_to_string(&mut seen).unwrap();
        assert_eq!(seen, before, "who had it open still reads the old one");
    }
}

#[test]
fn a_list_believes_what_is_stored_and_does_not_read_the_log() {
    let w = World::new();
    document_thread(&w, &example("messages.jsonl"));
    let listed = json(&w.ok(&["list", "--json"]));
    assert_eq!(listed["message_count"], 12, "though two are in the log");
    assert_eq!(listed["updated_at"], "2025-02-14T11:45:00.000Z");
    // A log of the same length in which nothing can be read.
    let w = World::new();
    let id = w.thread("T");
    w.ok(&["append", &id, "x"]);
    let noise = "x".repeat(w.log(&id).len());
    fs::write(w.folder(&id).join("messages.jsonl"), noise).unwrap();
    assert_eq!(json(&w.ok(&["list", "--json"]))["message_count"], 1);
}

#[test]
fn any_unique_text_can_be_a_thread_s_id() {
    let w = World::new();
    for id in ["fix-login", "2025-02-14 Größe", "T.1_a+b"] {
        assert_eq!(new_id(&w, &["--id", id]), id);
        w.ok(&["append", id, "hello"]);
        assert!(w.folder(id).join("thread.json").is_file());
        assert_eq!(w.manifest(id)["threadId"], id);
        assert!(w.ok(&["show", id]).contains("hello"), "{id}");
    }
}

#[test]
fn a_version_that_is_not_major_and_minor_is_noted() {
    let w = World::new();
    let id = w.thread("T");
    let path = w.folder(&id).join("thread.json");
    let text = fs::read_to_string(&path).unwrap();
    for (version, noted) in [("1.1", false), ("1.23", false), ("1", true), ("1.x", true)] {
        fs::write(&path, text.replace("\"1.1\"", &format!("\"{version}\""))).unwrap();
        let answer = w.run(&["show", &id]);
        assert_eq!(answer.code, 0, "{version}: {answer:?}");
        let note = format!("`specVersion` is `{version}`, not `MAJOR.MINOR`");
        assert_eq!(answer.err.contains(&note), noted, "{version}: {answer:?}");
    }
}

#[test]
fn threads_of_any_agent_and_protocol_are_kept_side_by_side() {
    let w = World::new();
    let agents = [
        ("claude-code", "acp"),
        ("copilot", "mcp"),
        ("my-own", "custom"),
    ];
    for (agent, protocol) in agents {
        let id = new_id(&w, &["--agent-id", agent, "--protocol", protocol]);
        w.ok(&["append", &id, "--role", "agent", agent]);
        assert_eq!(w.manifest(&id)["agent"]["protocol"], protocol);
    }
    assert_eq!(w.ok(&["list", "--json"]).lines().count(), 3);
    for (agent, protocol) in agents {
        let id = json(&w.ok(&["list", "--json", "--agent", agent]))["id"].clone();
        let id = id.as_str().unwrap();
        assert_eq!(
            head(&w.folder(id)).agent.protocol.as_deref(),
            Some(protocol)
        );
        let record = json(&w.ok(&["show", id, "--json"]));
        assert_eq!(record["messages"][0]["content"][0]["text"], agent);
    }
}

#[test]
fn threads_are_started_at_once_without_coordination() {
    let w = World::new();
    let running: Vec<_> = (0..12)
        .map(|_| {
            let mut command = w.command(&["new", "--format", "atsf", "--json"]);
            command.env_remove("RETHREAD_SEED");
            let piped = std::process::Stdio::piped;
            command.stdout(piped()).stderr(piped()).spawn().unwrap()
        })
        .collect();
    let mut ids = BTreeSet::new();
    for child in running {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let made = json(&String::from_utf8(output.stdout).unwrap());
        ids.insert(made["id"].as_str().unwrap().to_owned());
    }
    assert_eq!(ids.len(), 12);
    for id in &ids {
        assert_eq!(w.manifest(id)["threadId"], id.as_str());
        assert_eq!(w.log(id), "");
    }
    assert_eq!(w.ok(&["list", "--json"]).lines().count(), 12);
}

// Messages.

#[test]
fn every_field_of_a_message_is_written_and_read() {
    let w = World::new();
    let id = w.thread("T");
    w.message(&id, r#"{"id":"m1","role":"agent","timestamp":"2026-01-02T03:04:05.678Z","content":[{"type":"text","text":"said"}],"toolCalls":[{"toolCallId":"t1","name":"bash","status":"pending"}],"stopReason":"max_tokens","model":"claude-sonnet-4-5-20250929","tokens":{"input":11,"output":22}}"#);
    assert_fields(
        &w.lines(&id)[0],
        &[
            ("/id", "m1".into()),
            ("/role", "agent".into()),
            ("/timestamp", "2026-01-02T03:04:05.678Z".into()),
            ("/content", value!([{"type": "text", "text": "said"}])),
            ("/toolCalls/0/toolCallId", "t1".into()),
            ("/stopReason", "max_tokens".into()),
            ("/model", "claude-sonnet-4-5-20250929".into()),
            ("/tokens/input", 11.into()),
            ("/tokens/output", 22.into()),
        ],
    );
    assert_fields(
        &json(&w.ok(&["show", &id, "--json"]))["messages"][0],
        &[
            ("/uuid", "m1".into()),
            ("/role", "assistant".into()),
            ("/timestamp", "2026-01-02T03:04:05.678Z".into()),
            ("/content/0", value!({"type": "text", "text": "said"})),
            ("/content/1/tool_id", "t1".into()),
            ("/metadata/model/stop_reason", "max_tokens".into()),
            ("/metadata/model/name", "claude-sonnet-4-5-20250929".into()),
            ("/metadata/token_usage/input_tokens", 11.into()),
            ("/metadata/token_usage/output_tokens", 22.into()),
        ],
    );
}

#[test]
fn what_is_optional_in_a_message_is_neither_needed_nor_added() {
    let w = World::new();
    let id = w.thread("T");
    let message =
        r#"{"id":"m1","role":"agent","timestamp":"2026-01-02T03:04:05.678Z","content":[]}"#;
    w.message(&id, message);
    assert_eq!(w.log(&id), format!("{message}\n"));
    let tokens = r#"{"id":"m2","role":"agent","timestamp":"2026-01-02T03:04:05.678Z","content":[],"tokens":{}}"#;
    w.message(&id, tokens);
    assert_eq!(w.log(&id), format!("{message}\n{tokens}\n"));
    assert_eq!(w.run(&["show", &id]).code, 0);
}

#[test]
fn every_role_is_read() {
    let w = World::new();
    let id = w.thread("T");
    for role in ["user", "agent", "system"] {
        w.ok(&["append", &id, "--role", role, role]);
    }
    let record = json(&w.ok(&["show", &id, "--json"]));
    for (i, (role, said)) in [
        ("user", "user"),
        ("assistant", "agent"),
        ("system", "system"),
    ]
    .into_iter()
    .enumerate()
    {
        let message = &record["messages"][i];
        assert_eq!(message["role"], role);
        assert_eq!(message["content"][0]["text"], said);
    }
}

#[test]
fn a_new_message_s_id_is_a_uuid_of_version_4() {
    let w = World::new();
    let id = w.thread("T");
    let given = [
        w.ok(&["append", &id, "text"]).trim().to_owned(),
        w.message(&id, r#"{"role":"agent","content":[]}"#),
    ];
    assert_ne!(given[0], given[1]);
    for id in given {
        let groups: Vec<&str> = id.split('-').collect();
        let lengths: Vec<usize> = groups.iter().map(|g| g.len()).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12], "{id}");
        let is_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        assert!(id.chars().all(|c| c == '-' || is_hex(c)), "{id}");
        assert!(groups[2].starts_with('4'), "version: {id}");
        assert!(groups[3].starts_with(['8', '9', 'a', 'b']), "variant: {id}");
    }
}

#[test]
fn the_document_s_log_keeps_its_bytes_under_every_verb() {
    let w = World::new();
    let log = example("messages.jsonl");
    document_thread(&w, &log);
    every_verb(&w, DOCUMENT_ID);
    assert!(w.log(DOCUMENT_ID).starts_with(&log));
    let lines = w.lines(DOCUMENT_ID);
    assert_eq!(lines.len(), 3, "what is new stands at the end");
    assert_eq!(lines[2]["content"][0]["text"], "and changed");
    let fork = new_folder(&w, &[DOCUMENT_ID]);
    assert_eq!(w.log(&fork), w.log(DOCUMENT_ID));
}

#[test]
fn the_document_s_blocks_are_read_and_keep_their_bytes() {
    let w = World::new();
    let blocks = ["text", "thinking", "image"].map(|kind| {
        let block = example(&format!("block-{kind}.json"));
        block.trim_end().to_owned()
    });
    let line = format!(
        "{{\"id\":\"m1\",\"role\":\"agent\",\"timestamp\":\"{NOW}\",\"content\":[{}]}}\n",
        blocks.join(",")
    );
    document_thread(&w, &line);
    let assets = w.folder(DOCUMENT_ID).join("assets");
    fs::create_dir(&assets).unwrap();
    let image = assets.join("sha256-a1b2c3d4e5f6g7h8.png");
    fs::write(&image, "a picture").unwrap();

    let record = json(&w.ok(&["show", DOCUMENT_ID, "--json"]));
    assert_fields(
        &record["messages"][0],
        &[
            ("/content/0/text", "Hello world".into()),
            ("/metadata/extensions/blocks/0/type", "thinking".into()),
            (
                "/metadata/extensions/blocks/0/text",
                "Let me analyze this...".into(),
            ),
            ("/metadata/extensions/blocks/1/mime", "image/png".into()),
            (
                "/metadata/extensions/blocks/1/path",
                image.to_str().unwrap().into(),
            ),
        ],
    );
    every_verb(&w, DOCUMENT_ID);
    assert!(w.log(DOCUMENT_ID).starts_with(&line));
}

#[test]
fn text_is_shown_as_it_is_and_thinking_when_asked_for() {
    let w = World::new();
    let id = w.thread("T");
    let text = "# not a heading\n\n    four spaces  *and* <b>two</b>\n\\n";
    let message = value!({"role": "agent", "content": [
        {"type": "thinking", "text": "a quiet thought"}, {"type": "text", "text": text}]});
    w.message(&id, &message.to_string());
    let shown = w.ok(&["show", &id]);
    assert!(shown.contains(text), "{shown}");
    assert!(!shown.contains("a quiet thought"), "{shown}");
    assert!(
        w.ok(&["show", &id, "--thinking"])
            .contains("a quiet thought")
    );
    let record = json(&w.ok(&["show", &id, "--json"]));
    assert_eq!(record["messages"][0]["content"][0]["text"], text);
}

#[test]
fn unknown_fields_and_blocks_survive_a_change_to_their_own_message() {
    let w = World::new();
    let id = w.thread("T");
    w.message(&id, r#"{"id":"m1","role":"agent","timestamp":"2026-01-02T03:04:05Z","content":[{"type":"text","text":"x","mood":1e2},{"type":"chart","n":[1, 2]}],"toolCalls":[{"toolCallId":"t1","name":"edit","status":"running","diff":{"path":"a","oldText":"x","newText":"y","lines":3},"extra":-0}],"tokens":{"input":1,"output":2,"cached":3},"shade":"\u00e9"}"#);
    let before = w.log(&id);
    w.message(
        &id,
        r#"{"role":"user","content":[{"type":"tool_result","tool_id":"t1","output":"done"}]}"#,
    );
    let expected = before
        .replace("\"running\"", "\"completed\"")
        .replace("\"extra\":-0}", "\"extra\":-0,\"output\":\"done\"}");
    assert_eq!(w.log(&id), expected);
}

// Tool calls.

#[test]
fn every_field_of_a_tool_call_is_written_and_read() {
    let w = World::new();
    let id = w.thread("T");
    w.message(&id, r#"{"role":"agent","content":[],"toolCalls":[{"toolCallId":"t1","name":"file_edit","title":"Edit a.rs","status":"completed","input":"{\"path\":\"a.rs\"}","output":"1 replacement","duration":1234,"diff":{"path":"a.rs","oldText":"x","newText":"y"}}]}"#);
    assert_fields(
        &w.lines(&id)[0]["toolCalls"][0],
        &[
            ("/toolCallId", "t1".into()),
            ("/name", "file_edit".into()),
            ("/title", "Edit a.rs".into()),
            ("/status", "completed".into()),
            ("/input", "{\"path\":\"a.rs\"}".into()),
            ("/output", "1 replacement".into()),
            ("/duration", 1234.into()),
            ("/diff/path", "a.rs".into()),
            ("/diff/oldText", "x".into()),
            ("/diff/newText", "y".into()),
        ],
    );
    assert_fields(
        &json(&w.ok(&["show", &id, "--json"]))["messages"],
        &[
            ("/0/content/0/tool_id", "t1".into()),
            ("/0/content/0/tool_name", "file_edit".into()),
            ("/0/content/0/input/path", "a.rs".into()),
            ("/0/metadata/extensions/tools/0/title", "Edit a.rs".into()),
            ("/0/metadata/extensions/tools/0/status", "completed".into()),
            ("/0/metadata/extensions/tools/0/duration_ms", 1234.into()),
            (
                "/0/metadata/extensions/tools/0/diffs/0",
                value!({"path": "a.rs", "old": "x", "new": "y"}),
            ),
            ("/1/content/0/tool_id", "t1".into()),
            ("/1/content/0/output", "1 replacement".into()),
        ],
    );
    let shown = w.ok(&["show", &id]);
    assert!(shown.contains("file_edit  Edit a.rs"), "{shown}");
    assert!(shown.contains("1.2 s"), "milliseconds: {shown}");
}

#[test]
fn what_is_required_in_a_tool_call_is_demanded() {
    let w = World::new();
    let id = w.thread("T");
    let whole = value!({"toolCallId": "t", "name": "n", "status": "pending",
        "diff": {"path": "a", "oldText": "x", "newText": "y"}});
    let append = |call: &Value| {
        let message = value!({"role": "agent", "content": [], "toolCalls": [call]});
        w.pipe(&["append", &id, "--message-json", "-"], message.to_string())
    };
    for (parent, key, named) in [
        ("", "toolCallId", "`toolCallId`"),
        ("", "name", "`name`"),
        ("", "status", "`status`"),
        ("/diff", "path", "`diff.path`"),
        ("/diff", "oldText", "`diff.oldText`"),
        ("/diff", "newText", "`diff.newText`"),
    ] {
        let mut call = whole.clone();
        let object = call.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        assert!(object.remove(key).is_some());
        let answer = append(&call);
        assert_eq!(answer.code, 1, "{named}: {answer:?}");
        let why = format!("{named} is missing");
        assert!(answer.err.contains(&why), "{named}: {answer:?}");
    }
    assert_eq!(append(&whole).code, 0);
    assert_eq!(w.lines(&id).len(), 1);
}

#[test]
fn every_status_of_a_tool_call_is_kept_and_shown() {
    for (status, sign, has_result) in [
        ("pending", "… pending", false),
        ("running", "… running", false),
        ("completed", "✓", true),
        ("failed", "✗", true),
    ] {
        let w = World::new();
        let id = w.thread("T");
        w.message(&id, &format!(r#"{{"role":"agent","content":[],"toolCalls":[{{"toolCallId":"t","name":"bash","status":"{status}"}}]}}"#));
        assert_eq!(w.lines(&id)[0]["toolCalls"][0]["status"], status);
        let shown = w.ok(&["show", &id]);
        assert!(shown.contains(&format!("▸ bash  {sign}")), "{shown}");
        let result = &json(&w.ok(&["show", &id, "--json"]))["messages"][1]["content"][0];
        assert_eq!(result["type"] == "tool_result", has_result, "{status}");
        assert_eq!(result["is_error"] == true, status == "failed", "{status}");
    }
}

#[test]
fn tool_input_is_json_text_or_plain_text() {
    let w = World::new();
    let id = w.thread("T");
    for (input, read) in [
        ("{\"command\":\"ls\"}", value!({"command": "ls"})),
        ("ls -l", value!("ls -l")),
        ("{not json", value!("{not json")),
    ] {
        let call =
            value!({"toolCallId": input, "name": "bash", "status": "running", "input": input});
        w.message(
            &id,
            &value!({"role": "agent", "content": [], "toolCalls": [call]}).to_string(),
        );
        assert_eq!(w.lines(&id).last().unwrap()["toolCalls"][0]["input"], input);
        let record = json(&w.ok(&["show", &id, "--json"]));
        let last = record["messages"].as_array().unwrap().last().unwrap();
        assert_eq!(last["content"][0]["input"], read, "{input}");
    }
}

// The store and its surroundings.

#[test]
fn no_verb_changes_the_configuration() {
    let w = World::new();
    fs::create_dir(w.project.join(".agent")).unwrap();
    let path = w.project.join(".agent/config.json");
    let with_more = example("config.json").replace(
        "\"defaults\": {",
        "\"unknown\" : [1e2],\n  \"defaults\": {\n    \"more\":-0,",
    );
    assert!(with_more.contains("1e2"));
    for config in [example("config.json"), with_more] {
        fs::write(&path, &config).unwrap();
        w.ok(&["init"]);
        let id = w.thread("T");
        assert_eq!(w.manifest(&id)["agent"]["id"], "claude-code");
        w.ok(&["append", &id, "--role", "agent", "hello"]);
        assert_eq!(w.lines(&id)[0]["model"], "sonnet");
        every_verb(&w, &id);
        assert_eq!(fs::read_to_string(&path).unwrap(), config);
    }
}

#[test]
fn nothing_of_the_environment_is_written() {
    let w = World::new();
    let secret = "sk-0123456789-abcdef";
    let run = |args: &[&str]| {
        let mut command = w.command(args);
        for name in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GITHUB_TOKEN"] {
            command.env(name, secret);
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
    };
    run(&["init"]);
    run(&["new", "--format", "atsf", "--id", "my-thread"]);
    run(&["append", "my-thread", "--role", "agent", "hello"]);
    let files = tree(&w.root);
    assert!(files.len() >= 4);
    for (path, bytes) in files {
        let text = String::from_utf8(bytes).unwrap();
        assert!(!text.contains(secret), "{}", path.display());
    }
}

#[test]
fn both_drawn_trees_are_listed_and_read() {
    let w = World::with_git();
    w.git(&["worktree", "add", "-q", "-b", "feature", "../wt"]);
    w.fixture("1.1/project");
    copy(&fixtures().join("1.1/worktree"), &w.root.join("wt"));
    let listed = w.ok(&["list", "--tsv"]);
    for (id, title, image) in [
        (
            "f1d49ea9-d820-4b37-b87e-cf44dcff39d6",
            "Gross total is one cent short",
            "sha256-e20d17aa4c802580.png",
        ),
        (
            "4a85d9d9-09ce-483e-b373-1519aeea7e3c",
            "Icon for paid invoices",
            "sha256-7e00f31e1f9534a0.png",
        ),
    ] {
        assert!(listed.contains(&format!("\t{title}\n")), "{listed}");
        let answer = w.run(&["show", id]);
        assert_eq!((answer.code, answer.err.as_str()), (0, ""), "{id}");
        let shown = format!("[image {image} image/png]");
        assert!(answer.out.contains(&shown), "{}", answer.out);
    }
}

#[test]
fn a_worktree_s_store_is_complete_in_itself() {
    let w = World::with_git();
    w.git(&["worktree", "add", "-q", "-b", "feature", "../wt"]);
    let worktree = w.root.join("wt");
    let id = new_id(&w, &["--cwd", worktree.to_str().unwrap()]);
    w.message(
        &id,
        r#"{"role":"user","content":[{"type":"image","data":"QUJD","mimeType":"image/png"}]}"#,
    );
    let agent = worktree.join(".agent");
    let files: Vec<_> = tree(&agent)
        .into_iter()
        .map(|(path, _)| {
            path.strip_prefix(&agent)
                .unwrap()
                .to_str()
                .unwrap()
                .replace(&id, "ID")
        })
        .collect();
    assert_eq!(
        files,
        [
            ".gitignore",
            "config.json",
            "threads/ID/assets/sha256-b5d4045c3f466fa9.png",
            "threads/ID/messages.jsonl",
            "threads/ID/thread.json",
        ]
    );
    assert!(!w.project.join(".agent").exists());
}

#[test]
fn a_removed_worktree_takes_its_threads_along_and_the_rest_is_listed() {
    let w = World::with_git();
    w.git(&["worktree", "add", "-q", "-b", "feature", "../wt"]);
    w.thread("main");
    let worktree = w.root.join("wt");
    new_id(
        &w,
        &["--title=feature", "--cwd", worktree.to_str().unwrap()],
    );
    assert_eq!(w.ok(&["list", "--json"]).lines().count(), 2);
    fs::remove_dir_all(&worktree).unwrap();
    for forgotten in [false, true] {
        if forgotten {
            w.git(&["worktree", "prune"]);
        }
        let answer = w.run(&["list", "--json"]);
        assert_eq!((answer.code, answer.err.as_str()), (0, ""), "{answer:?}");
        let states: Vec<_> = answer
            .out
            .lines()
            .map(|l| json(l)["state"].clone())
            .collect();
        assert_eq!(states.len(), 2, "{answer:?}");
        assert!(
            states.contains(&"gone".into()),
            "its threads are known, and known to be gone"
        );
    }
}

#[test]
fn git_ignores_logs_and_assets_and_tracks_descriptions() {
    let w = World::with_git();
    let id = w.thread("T");
    w.message(
        &id,
        r#"{"role":"user","content":[{"type":"image","data":"QUJD","mimeType":"image/png"}]}"#,
    );
    assert_eq!(tree(&w.folder(&id)).len(), 3);
    let seen = w.git(&["status", "--porcelain", "--untracked-files=all"]);
    let expected =
        format!("?? .agent/.gitignore\n?? .agent/config.json\n?? .agent/threads/{id}/thread.json");
    assert_eq!(seen, expected);
}

#[test]
fn the_relative_folder_is_found_where_the_project_was_moved_to() {
    let w = World::new();
    w.ok(&["init"]);
    fs::create_dir_all(w.project.join("a/b")).unwrap();
    let id = new_id(&w, &["--cwd", "a/b"]);
    let moved = w.root.join("moved");
    fs::rename(&w.project, &moved).unwrap();
    let place = head(&moved.join(".agent/threads").join(id)).workspace;
    assert!(!Path::new(&place.path.unwrap()).exists());
    let relative = place.relative.unwrap();
    assert_eq!(relative, "a/b");
    assert!(moved.join(relative).is_dir());
}

#[test]
fn a_thread_s_folder_is_all_that_a_conversation_needs() {
    let w = World::new();
    w.fixture("1.1/project");
    let id = "f1d49ea9-d820-4b37-b87e-cf44dcff39d6";
    let other = World::new();
    copy(&w.folder(id), &other.folder(id));
    let shown = |w: &World| w.plain(&w.ok(&["show", id, "--json"]));
    assert_eq!(shown(&other), shown(&w));
    assert_eq!(json(&shown(&other))["session"]["message_count"], 6);
    other.ok(&["append", id, "on we go"]);
    assert_eq!(other.lines(id).len(), 7);
}
