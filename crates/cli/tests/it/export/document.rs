//! What the document itself shows.

use std::fs;

use super::schema::Schema;
use super::{example, populated, read, then};
use crate::world::{World, json};

#[test]
fn the_example_passes_and_comes_back_byte_for_byte() {
    let w = World::new();
    let file = example();
    let checked = w.run(&["check", file.to_str().unwrap()]);
    assert_eq!(checked.code, 0, "{checked:?}");
    assert!(!checked.out.contains("warning["), "{checked:?}");
    let answer = then(
        &w,
        &["export", file.to_str().unwrap(), "--json", "-o", "./backup"],
    );
    assert_eq!(answer.code, 0, "{answer:?}");
    assert_eq!(answer.out, "./backup/export_20251227_103000.ndjson\n");
    let written = w.project.join("backup/export_20251227_103000.ndjson");
    assert_eq!(read(&written), read(&file));
}

#[test]
fn the_example_is_listed_with_its_homes() {
    let w = World::new();
    let file = example();
    let listed = w.ok(&["list", file.to_str().unwrap(), "--json"]);
    let homes: Vec<String> = listed
        .lines()
        .map(|l| json(l)["home"].to_string())
        .collect();
    assert_eq!(homes, [r#""wsl_ubuntu""#, r#""local""#]);
    // Every command takes the names: what is in no store is named with its file.
    let file = file.to_str().unwrap();
    let listed = w.ok(&["list", file]).replace(file, "[FILE]");
    insta::assert_snapshot!(listed, @r"
    [FILE]#d8f7ghij  claude-code  2025-12-27 10:30  1  wsl_ubuntu:myproject  Hello
    [FILE]#c7e6fbcb  claude-code  2025-12-27 09:15  2  myproject             List files
    ");
}

#[test]
fn a_session_of_the_example_is_shown() {
    let w = World::new();
    let name = format!("{}#c7e6", example().display());
    let shown = w.ok(&["show", &name, "--json"]);
    let shown = json(&shown);
    assert_eq!(shown["session"]["agent"], "claude-code");
    assert_eq!(shown["session"]["started_at"], "2025-12-27T09:00:00.000Z");
    assert_eq!(shown["messages"][1]["content"][1]["tool_name"], "Bash");
    assert_eq!(
        shown["messages"][1]["metadata"]["model"]["name"],
        "claude-sonnet-4-5-20250929"
    );
    assert!(w.ok(&["tree", &name, "--json"]).contains("msg-002"));
}

/// The objects that the document shows on their own.
const OBJECTS: &str = concat!(
    r#"{"type":"header","schema_version":"1.0","export_timestamp":"2025-12-27T10:30:00Z","agent_types":["claude-code"],"homes":["remote_vm01"],"workspaces":["myproject"],"session_count":1}"#,
    "\n",
    r#"{"type":"session","session":{"id":"abc123-def456","agent":"claude-code","workspace":"/home/user/myproject","workspace_encoded":"-home-user-myproject","started_at":"2025-12-27T09:00:00Z","ended_at":"2025-12-27T10:30:00Z","source":{"type":"remote","host":"vm01","path":"/home/user/.claude/projects/-home-user-myproject/abc123.jsonl"},"is_agent_session":false,"parent_session_id":null,"agent_id":null},"messages":[{"index":1,"uuid":"msg-uuid-122","parent_uuid":null,"role":"user","timestamp":"2025-12-27T09:00:00Z","content":[{"type":"text","text":"Hello, how can I help?"}]},{"index":2,"uuid":"msg-uuid-123","parent_uuid":"msg-uuid-122","role":"assistant","timestamp":"2025-12-27T09:00:00Z","content":[{"type":"tool_use","tool_id":"tool_abc123","tool_name":"Bash","input":{"command":"ls -la","description":"List files"}}],"metadata":{"cwd":"/home/user/myproject","git_branch":"main","agent_version":"1.0.29","user_type":"external","is_meta":false,"model":{"name":"claude-sonnet-4-5-20250929","stop_reason":"end_turn","stop_sequence":null},"token_usage":{"input_tokens":1500,"output_tokens":350,"cache_creation_tokens":0,"cache_read_tokens":1200},"request_id":"req_abc123"}},{"index":3,"uuid":"msg-uuid-6b","parent_uuid":"msg-uuid-123","role":"user","content":[{"type":"tool_result","tool_id":"tool_abc123","tool_name":"Bash","output":"total 128\ndrwxr-xr-x ...","is_error":false}]}],"graph":{"is_linear":false,"fork_points":[{"uuid":"msg-uuid-122","index":1,"branches":[{"uuid":"msg-uuid-123","index":2},{"uuid":"msg-uuid-6b","index":3}]}],"active_path":["msg-uuid-122","msg-uuid-123"]}}"#,
    "\n"
);

#[test]
fn the_document_s_objects_fit_and_others_do_not() {
    let w = World::new();
    let file = w.project.join("all.ndjson");
    fs::write(&file, OBJECTS).unwrap();
    let answer = w.run(&["check", "all.ndjson"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(!answer.out.contains("warning["), "{answer:?}");
    for (from, to, rule) in [
        (
            r#""session_count":1"#,
            r#""session_count":2"#,
            "session-count",
        ),
        (
            r#""homes":["remote_vm01"]"#,
            r#""homes":["local"]"#,
            "header-sets",
        ),
        (r#""index":2,"uuid""#, r#""index":7,"uuid""#, "index"),
        (r#""role":"assistant""#, r#""role":"tool""#, "field-type"),
        (
            r#""output":"total"#,
            r#""outputs":"total"#,
            "required-field",
        ),
        (r#""is_linear":false"#, r#""is_linear":true"#, "field-type"),
        (
            r#"["msg-uuid-122","msg-uuid-123"]"#,
            r#"["gone"]"#,
            "active-path",
        ),
        (r#""type":"text""#, r#""type":"image""#, "block-type"),
        (
            r#""type":"session","session""#,
            r#""type":"sessions","session""#,
            "line-type",
        ),
        (
            r#""started_at":"2025-12-27T09"#,
            r#""started_at":"yesterday"#,
            "field-type",
        ),
        (r#""type":"remote""#, r#""type":"cloud""#, "field-type"),
        (
            r#"[{"uuid":"msg-uuid-122","index":1"#,
            r#"[{"uuid":"gone","index":1"#,
            "fork-point",
        ),
        (
            r#"[{"uuid":"msg-uuid-122","index":1"#,
            r#"[{"uuid":"msg-uuid-122","index":3"#,
            "fork-point",
        ),
        (
            r#"[{"uuid":"msg-uuid-123","index":2}"#,
            r#"[{"uuid":"gone","index":2}"#,
            "fork-point",
        ),
        (
            r#""text":"Hello, how can I help?"}]"#,
            r#""text":"Hello"}],"metadata":{"model":{"name":"x"}}"#,
            "assistant-only",
        ),
        (
            r#""text":"Hello, how can I help?"}]"#,
            r#""text":"Hello"}],"metadata":{"token_usage":{"input_tokens":1}}"#,
            "assistant-only",
        ),
    ] {
        assert!(OBJECTS.contains(from), "{from}");
        fs::write(&file, OBJECTS.replacen(from, to, 1)).unwrap();
        let answer = w.run(&["check", "all.ndjson"]);
        assert_eq!(answer.code, 1, "{to}: {answer:?}");
        assert!(
            answer.out.contains(&format!("error[{rule}]")),
            "{rule}: {answer:?}"
        );
    }
}

#[test]
fn a_session_that_does_not_begin_and_end_with_its_messages_is_named() {
    let w = World::new();
    let file = w.project.join("all.ndjson");
    for (from, to, rule) in [
        (
            r#""started_at":"2025-12-27T09:00"#,
            r#""started_at":"2025-12-27T08:00"#,
            "started-at",
        ),
        (
            r#""ended_at":"2025-12-27T10:30"#,
            r#""ended_at":"2025-12-27T08:30"#,
            "ended-at",
        ),
    ] {
        assert!(OBJECTS.contains(from), "{from}");
        fs::write(&file, OBJECTS.replacen(from, to, 1)).unwrap();
        let answer = w.run(&["check", "all.ndjson"]);
        assert!(
            answer.out.contains(&format!("warning[{rule}]")),
            "{rule}: {answer:?}"
        );
        // It was written so before, and is read all the same.
        assert_eq!(answer.code, 0, "{answer:?}");
    }
}

#[test]
fn the_document_s_command_lines_work_as_they_stand() {
    let w = populated();
    let answer = then(&w, &["export", "--ah", "--aw", "--json", "-o", "./backup"]);
    assert_eq!(
        (answer.code, answer.out.as_str()),
        (0, "./backup/export_20251227_103000.ndjson\n")
    );
    let answer = then(&w, &["export", "shop", "--json"]);
    assert_eq!(
        (answer.code, answer.out.as_str()),
        (0, "export_20251227_103000.ndjson\n")
    );
    let one = read(&w.project.join("export_20251227_103000.ndjson"));
    assert_eq!(
        one,
        read(&w.project.join("backup/export_20251227_103000.ndjson"))
    );
    fs::remove_file(w.project.join("export_20251227_103000.ndjson")).unwrap();
    let answer = then(&w, &["export", "shop", "--source", "--json"]);
    assert_eq!(
        (answer.code, answer.out.as_str()),
        (0, "export_20251227_103000.ndjson\nsource_20251227_103000\n")
    );
}

#[test]
#[cfg(unix)]
fn a_link_named_agent_history_does_the_same() {
    let w = populated();
    let link = w.project.join("agent-history");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_rethread"), &link).unwrap();
    let mut command = std::process::Command::new(&link);
    command.args(["export", "--ah", "--aw", "--json", "-o", "./backup"]);
    command.current_dir(&w.project).env_clear();
    command
        .env("HOME", &w.home)
        .env("RETHREAD_NOW", super::THEN);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(output.stdout, b"./backup/export_20251227_103000.ndjson\n");
}

/// The document's own loop, letter by letter.
const LOOP: &str = r#"
import json

with open("export.ndjson") as f:
    header = json.loads(f.readline())
    print(f"Exporting {header['session_count']} sessions")

    for line in f:
        record = json.loads(line)
        session = record["session"]
        messages = record["messages"]
        # Process each session independently
        print(f"Session {session['id']}: {len(messages)} messages")
"#;

/// What Python says to `export.ndjson` in the project; nothing where there is no Python.
pub(super) fn looped(w: &World) -> Option<String> {
    let python = std::process::Command::new("python3")
        .args(["-c", LOOP])
        .current_dir(&w.project)
        .env("PYTHONUTF8", "1")
        .output();
    let Ok(output) = python else {
        rethread_judges::skip_without("python3");
        return None;
    };
    assert!(output.status.success(), "{output:?}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn the_document_s_own_loop_in_python_reads_every_line() {
    let w = populated();
    w.ok(&["export", "-o", "export.ndjson"]);
    let Some(said) = looped(&w) else { return };
    let text = fs::read_to_string(w.project.join("export.ndjson")).unwrap();
    let mut wanted = vec!["Exporting 3 sessions".to_owned()];
    for record in text.lines().skip(1).map(json) {
        let id = record["session"]["id"].as_str().unwrap().to_owned();
        let count = record["messages"].as_array().unwrap().len();
        wanted.push(format!("Session {id}: {count} messages"));
    }
    assert_eq!(said.lines().collect::<Vec<_>>(), wanted);
}

/// The blocks of the document that are complete, each with its name in our schema.
const BLOCKS: [(&str, &str); 8] = [
    (
        "header",
        r#"{"type": "header", "schema_version": "1.0", "export_timestamp": "2025-12-27T10:30:00Z", "agent_types": ["claude-code", "codex", "gemini"], "homes": ["local", "wsl_ubuntu", "remote_vm01"], "workspaces": ["myproject", "other-project"], "session_count": 42}"#,
    ),
    (
        "header",
        r#"{"type": "header", "schema_version": "1.0", "export_timestamp": "2025-12-27T10:30:00Z", "agent_types": ["claude-code"], "homes": ["local", "wsl_ubuntu"], "workspaces": ["myproject"], "session_count": 2}"#,
    ),
    (
        "session",
        r#"{"id": "abc123-def456", "agent": "claude-code", "workspace": "/home/user/myproject", "workspace_encoded": "-home-user-myproject", "started_at": "2025-12-27T09:00:00Z", "ended_at": "2025-12-27T10:30:00Z", "source": {"type": "local", "host": null, "path": "/home/user/.claude/projects/-home-user-myproject/abc123.jsonl"}, "is_agent_session": false, "parent_session_id": null, "agent_id": null}"#,
    ),
    (
        "text",
        r#"{"type": "text", "text": "Hello, how can I help?"}"#,
    ),
    (
        "tool_use",
        r#"{"type": "tool_use", "tool_id": "tool_abc123", "tool_name": "Bash", "input": {"command": "ls -la", "description": "List files"}}"#,
    ),
    (
        "tool_result",
        r#"{"type": "tool_result", "tool_id": "tool_abc123", "tool_name": "Bash", "output": "total 128\ndrwxr-xr-x ...", "is_error": false}"#,
    ),
    (
        "metadata",
        r#"{"cwd": "/home/user/myproject", "git_branch": "main", "agent_version": "1.0.29", "user_type": "external", "is_meta": false, "model": {"name": "claude-sonnet-4-5-20250929", "stop_reason": "end_turn", "stop_sequence": null}, "token_usage": {"input_tokens": 1500, "output_tokens": 350, "cache_creation_tokens": 0, "cache_read_tokens": 1200}, "request_id": "req_abc123"}"#,
    ),
    (
        "graph",
        r#"{"is_linear": false, "fork_points": [{"uuid": "msg-uuid-5", "index": 5, "branches": [{"uuid": "msg-uuid-6a", "index": 6}, {"uuid": "msg-uuid-6b", "index": 7}]}], "active_path": ["msg-uuid-1", "msg-uuid-2", "msg-uuid-10"]}"#,
    ),
];

#[test]
fn the_document_s_blocks_fit_the_schema_and_others_do_not() {
    let schema = Schema::stored();
    for (name, block) in BLOCKS {
        let block = json(block);
        assert_eq!(schema.wrong_object(name, &block), None);
        // Without any of its fields, it fits only if the document does not require that one.
        for key in block.as_object().unwrap().keys() {
            let mut less = block.clone();
            less.as_object_mut().unwrap().remove(key);
            let may = ["parent_session_id", "agent_id"].contains(&key.as_str());
            let fits = schema.wrong_object(name, &less).is_none();
            assert_eq!(fits, may || name == "metadata", "{name} without {key}");
            // No field may be a list of lists.
            let mut other = block.clone();
            other[key] = json("[[]]");
            let fits = schema.wrong_object(name, &other).is_none();
            assert_eq!(fits, (name, key.as_str()) == ("tool_use", "input"), "{key}");
        }
    }
    let source = |kind: &str| json(&format!(r#"{{"type":"{kind}","host":null,"path":"/a"}}"#));
    for kind in ["local", "wsl", "windows", "remote"] {
        assert_eq!(schema.wrong_object("source", &source(kind)), None);
    }
    assert!(schema.wrong_object("source", &source("cloud")).is_some());
    let text = fs::read_to_string(example()).unwrap();
    for line in text.lines() {
        assert_eq!(schema.wrong_line(&json(line)), None);
    }
}

#[test]
fn the_schema_is_written_down() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs/unified-ndjson.schema.json");
    let schema = rethread_formats::ndjson::schema();
    json(&schema);
    if std::env::var_os("RETHREAD_BLESS").is_some() {
        fs::write(&path, &schema).unwrap();
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == schema,
        "the schema in docs is old; run `cargo xtask docs`"
    );
}
