//! Threads and their descriptions.

use std::collections::BTreeSet;
use std::fs;

use rethread_formats::Want;
use rethread_formats::atsf::FORMAT;
use serde_json::Value;

use super::{
    DOCUMENT_ID, assert_fields, document_thread, every_verb, example, head, new_folder, new_id,
    source,
};
use crate::world::{NOW, World, json, tree};

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
    let counts = FORMAT
        .reader()
        .summarize(&source(&folder), Want::default())
        .counts;
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
fn a_description_is_enough_for_a_summary_and_a_list_tells_what_the_log_holds() {
    let w = World::new();
    document_thread(&w, &example("messages.jsonl"));
    let source = source(&w.folder(DOCUMENT_ID));
    let stored = FORMAT.reader().summarize(&source, Want::default());
    assert_eq!(stored.counts.messages, 12, "though two are in the log");
    let listed = w.ok(&["list", "--tsv"]);
    let cells: Vec<&str> = listed.split('\t').collect();
    assert_eq!(cells[4], "2", "though twelve are in the description");
    assert_eq!(cells[3], "2025-02-14T10:30:15.000Z");
    // A log of the same length in which nothing can be read.
    let w = World::new();
    let id = w.thread("T");
    w.ok(&["append", &id, "x"]);
    let noise = "x".repeat(w.log(&id).len());
    fs::write(w.folder(&id).join("messages.jsonl"), noise).unwrap();
    let stored = FORMAT
        .reader()
        .summarize(&self::source(&w.folder(&id)), Want::default());
    assert_eq!(stored.counts.messages, 1);
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
