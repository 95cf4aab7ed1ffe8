//! `init` and `new`.

use std::fs;

use insta::assert_snapshot;

use crate::world::{World, fixtures, json};

#[test]
fn init_writes_the_document_s_layout_and_only_what_is_missing() {
    let w = World::new();
    let made = json(&w.ok(&["init", "--json"]));
    assert_eq!(made["path"], w.project.join(".agent").to_str().unwrap());
    assert_eq!(made["created"].as_array().unwrap().len(), 2);
    assert!(w.project.join(".agent/threads").is_dir());
    let ignore = fs::read(w.project.join(".agent/.gitignore")).unwrap();
    assert_eq!(
        ignore,
        fs::read(fixtures().join("1.1/document/gitignore")).unwrap()
    );
    let config = fs::read_to_string(w.project.join(".agent/config.json")).unwrap();
    assert_snapshot!(config.replace(env!("CARGO_PKG_VERSION"), "[VERSION]"), @r#"
    {
      "specVersion": "1.1",
      "createdBy": {
        "name": "Rethread",
        "version": "[VERSION]"
      }
    }
    "#);

    fs::write(w.project.join(".agent/.gitignore"), "mine\n").unwrap();
    fs::write(
        w.project.join(".agent/config.json"),
        "{\"specVersion\":\"1.0\"}",
    )
    .unwrap();
    let again = json(&w.ok(&["init", "--json"]));
    assert_eq!(again["created"].as_array().unwrap().len(), 0);
    assert_eq!(
        fs::read_to_string(w.project.join(".agent/.gitignore")).unwrap(),
        "mine\n"
    );
    assert_eq!(
        fs::read_to_string(w.project.join(".agent/config.json")).unwrap(),
        "{\"specVersion\":\"1.0\"}"
    );
}

#[test]
fn a_new_thread_says_all_that_the_document_asks() {
    let w = World::with_git();
    let sub = w.project.join("src");
    fs::create_dir(&sub).unwrap();
    let made = json(&w.ok(&[
        "new",
        "--format",
        "atsf",
        "--title",
        "Fix the \"sign-in\"",
        "--cwd",
        "src",
        "--agent-id",
        "claude-code",
        "--agent-name",
        "Claude Code",
        "--agent-version",
        "1.0.0",
        "--protocol",
        "acp",
        "--protocol-version",
        "1",
        "--metadata",
        "{\"ticket\": 17}",
        "--json",
    ]));
    let id = made["id"].as_str().unwrap();
    assert_eq!(uuid_version(id), '4');
    assert_eq!(made["path"], w.folder(id).to_str().unwrap());
    assert_eq!(w.log(id), "", "the log is there and empty");
    let text = fs::read_to_string(w.folder(id).join("thread.json")).unwrap();
    let text = w
        .plain(&text)
        .replace(id, "[ID]")
        .replace(&w.git(&["rev-parse", "HEAD"]), "[COMMIT]");
    assert_snapshot!(text, @r#"
    {
      "specVersion": "1.1",
      "threadId": "[ID]",
      "title": "Fix the \"sign-in\"",
      "createdAt": "2026-11-15T12:00:00.000Z",
      "updatedAt": "2026-11-15T12:00:00.000Z",
      "agent": {
        "id": "claude-code",
        "name": "Claude Code",
        "version": "1.0.0",
        "protocol": "acp",
        "protocolVersion": 1
      },
      "context": {
        "workingDir": "[ROOT]/shop/src",
        "relativeDir": "src",
        "gitBranch": "main",
        "gitCommit": "[COMMIT]"
      },
      "stats": {
        "messageCount": 0,
        "userMessageCount": 0,
        "agentMessageCount": 0,
        "toolCallCount": 0
      },
      "metadata": {
        "ticket": 17,
        "rethread": {
          "logBytes": 0
        }
      }
    }
    "#);
}

fn uuid_version(id: &str) -> char {
    assert_eq!(id.len(), 36, "{id}");
    id.chars().nth(14).unwrap()
}

#[test]
fn the_project_s_defaults_hold_and_flags_win() {
    let w = World::new();
    fs::create_dir(w.project.join(".agent")).unwrap();
    let config = r#"{"specVersion":"1.1",
        "defaults":{"agentId":"claude-code","interactionMode":"plan"},
        "agentSettings":{"claude-code":{"model":"sonnet"}}}"#;
    fs::write(w.project.join(".agent/config.json"), config).unwrap();
    let id = w.thread("T");
    assert_eq!(w.manifest(&id)["agent"]["id"], "claude-code");
    assert_eq!(w.manifest(&id)["metadata"]["interactionMode"], "plan");
    w.ok(&["append", &id, "a question"]);
    w.ok(&["append", &id, "--role", "agent", "an answer"]);
    w.ok(&[
        "append", &id, "--role", "agent", "--model", "opus", "another",
    ]);
    w.message(&id, r#"{"role":"agent","content":[]}"#);
    w.message(&id, r#"{"role":"agent","content":[],"model":"haiku"}"#);
    let models: Vec<_> = w.lines(&id).iter().map(|m| m["model"].clone()).collect();
    assert_eq!(
        models,
        [
            serde_json::Value::Null,
            "sonnet".into(),
            "opus".into(),
            "sonnet".into(),
            "haiku".into()
        ]
    );
    let other = json(&w.ok(&["new", "--format", "atsf", "--agent-id", "codex", "--json"]));
    assert_eq!(
        w.manifest(other["id"].as_str().unwrap())["agent"]["id"],
        "codex"
    );
}

#[test]
fn inside_a_worktree_threads_go_to_its_root() {
    let w = World::with_git();
    w.git(&["worktree", "add", "-q", "-b", "feature", "../wt"]);
    let inside = w.root.join("wt/deep/er");
    fs::create_dir_all(&inside).unwrap();
    let made = json(&w.ok(&[
        "new",
        "--format",
        "atsf",
        "--cwd",
        inside.to_str().unwrap(),
        "--json",
    ]));
    let id = made["id"].as_str().unwrap();
    let folder = w.root.join("wt/.agent/threads").join(id);
    assert_eq!(made["path"], folder.to_str().unwrap());
    let manifest = json(&fs::read_to_string(folder.join("thread.json")).unwrap());
    assert_eq!(manifest["context"]["relativeDir"], "deep/er");
    assert_eq!(manifest["context"]["gitBranch"], "feature");
    assert_eq!(
        manifest["context"]["worktree"]["path"],
        w.root.join("wt").to_str().unwrap()
    );
    assert_eq!(manifest["context"]["worktree"]["branch"], "feature");
}

#[test]
fn outside_git_the_nearest_store_upward_is_used() {
    let w = World::new();
    w.ok(&["init"]);
    let deep = w.project.join("a/b");
    fs::create_dir_all(&deep).unwrap();
    let made = json(&w.ok(&["new", "--format", "atsf", "--cwd", "a/b", "--json"]));
    assert_eq!(
        made["path"],
        w.folder(made["id"].as_str().unwrap()).to_str().unwrap()
    );
    assert_eq!(
        w.manifest(made["id"].as_str().unwrap())["context"]["relativeDir"],
        "a/b"
    );
}

#[test]
fn an_id_that_is_taken_or_no_name_is_refused() {
    let w = World::new();
    w.ok(&["new", "--format", "atsf", "--id", "my-thread"]);
    let taken = w.run(&["new", "--format", "atsf", "--id", "my-thread"]);
    assert_eq!(taken.code, 1, "{taken:?}");
    assert!(
        taken
            .err
            .starts_with("error: the id `my-thread` exists already"),
        "{}",
        taken.err
    );
    for id in ["../x", "..", "a/b", "a\\b", "", "con", "x\u{202e}y", "a\nb"] {
        let answer = w.run(&["new", "--format", "atsf", "--id", id]);
        assert_eq!(answer.code, 2, "{id:?}: {answer:?}");
    }
    let names: Vec<_> = fs::read_dir(w.project.join(".agent/threads"))
        .unwrap()
        .collect();
    assert_eq!(names.len(), 1);
}

#[test]
fn the_same_seed_and_clock_give_the_same_store() {
    let run = || {
        let w = World::new();
        let id = w.thread("T");
        w.ok(&["append", &id, "one"]);
        w.ok(&["append", &id, "two"]);
        let second = w.thread("another");
        assert_ne!(id, second);
        let ids: Vec<_> = w.lines(&id).iter().map(|m| m["id"].clone()).collect();
        assert_ne!(ids[0], ids[1]);
        (id.clone(), second, w.log(&id))
    };
    assert_eq!(run(), run());
}

/// Lists leave out sessions in which nobody said anything yet; what `new` printed names them all the
/// same.
#[test]
fn a_new_session_is_found_by_the_id_that_was_printed() {
    for format in [
        "atsf",
        "agentuse",
        "claude-code",
        "codex",
        "gemini",
        "pi",
        "atomic",
    ] {
        for verb in ["show", "append", "rename"] {
            let w = World::new();
            let made = w.run(&["new", "--format", format]);
            assert_eq!(made.code, 0, "{format}: {made:?}");
            let id = made.out.split_whitespace().next().unwrap();
            if (format, verb) == ("agentuse", "rename") {
                continue; // They have no titles.
            }
            let behind = (verb != "show").then_some("Hello");
            let args: Vec<&str> = [verb, id].into_iter().chain(behind).collect();
            let answer = w.run(&args);
            assert_eq!(answer.code, 0, "{format} {verb}: {answer:?}");
            let short = &id[..8];
            let shown = w.run(&["show", short]);
            assert_eq!(shown.code, 0, "{format} {short}: {shown:?}");
        }
    }
}
