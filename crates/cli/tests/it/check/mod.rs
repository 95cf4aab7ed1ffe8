//! `check`: what is conformant passes, and every violation is told with its place.

mod fields;
mod good;
mod hostile;
mod rules;
mod secrets;

use std::fs;

use insta::assert_snapshot;

use self::good::{Good, check};
use crate::world::World;

/// What the command prints about a whole project, for people.
fn report(w: &World) -> String {
    let answer = w.run(&["check"]);
    let (out, err) = (w.plain(&answer.out), w.plain(&answer.err));
    format!("{out}{err}exit {}\n", answer.code)
}

#[test]
fn what_our_own_commands_write_passes() {
    let w = World::with_git();
    w.ok(&["init"]);
    let id = w.thread("first");
    w.ok(&["append", &id, "hello"]);
    w.ok(&["append", &id, "--role", "system", "be brief"]);
    let picture = w.root.join("p.png");
    fs::write(&picture, b"\x89PNG\r\n\x1a\n").unwrap();
    w.ok(&["append", &id, "look", "--image", picture.to_str().unwrap()]);
    w.message(&id, r#"{"role":"agent","content":[{"type":"text","text":"a"},{"type":"image","data":"aGVsbG8=","mimeType":"image/png"}],"toolCalls":[{"toolCallId":"c","name":"n","status":"running","input":{"a":1}}]}"#);
    w.message(
        &id,
        r#"{"role":"tool","content":[{"type":"tool_result","tool_id":"c","content":"done"}]}"#,
    );
    w.message(
        &id,
        r#"{"role":"user","timestamp":"2026-11-15T14:00:00+01:00","content":"later"}"#,
    );
    w.ok(&["append", &id, "--replace", "#1", "hello again"]);
    w.ok(&["append", &id, "--replace", "#2", "be very brief"]);
    w.ok(&["rename", &id, "second"]);
    w.ok(&["fork", &id]);
    w.ok(&["fork", &id, "--at", "#2"]);
    w.thread("empty");
    let found = check(&w, &["check"]);
    assert_eq!((found.code, found.found.len()), (0, 0), "{found:?}");
}

#[test]
fn the_sample_passes() {
    let w = World::new();
    w.ok(&["sample", "try-me"]);
    let answer = w.run(&["check", "try-me/shop", "--strict"]);
    assert_eq!((answer.code, answer.out.as_str()), (0, ""), "{answer:?}");
    assert!(
        answer.err.starts_with("0 errors, 0 warnings in "),
        "{answer:?}"
    );
}

#[test]
fn each_fixture_has_the_violations_it_is_there_for() {
    for case in [
        "1.0/minimal",
        "1.1/project",
        "1.1/worktree",
        "1.1/no-version",
        "1.1/damaged",
        "1.1/crlf-bom",
        "1.7/future-fields",
        "2.0/refused",
        "2.0/config-refused",
    ] {
        let w = World::new();
        w.fixture(case);
        let name = format!("fixture_{}", case.replace(['/', '.', '-'], "_"));
        assert_snapshot!(name, report(&w));
    }
}

#[test]
fn the_examples_of_the_document_have_only_the_faults_that_they_have() {
    let w = World::new();
    let from = crate::world::fixtures().join("1.1/document");
    let config = w.project.join(".agent/config.json");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::copy(from.join("config.json"), &config).unwrap();
    fs::copy(from.join("gitignore"), w.project.join(".agent/.gitignore")).unwrap();
    let thread = w.folder("a1b2c3d4-e5f6-7890-abcd-ef1234567890");
    fs::create_dir_all(&thread).unwrap();
    for name in ["thread.json", "messages.jsonl"] {
        fs::copy(from.join(name), thread.join(name)).unwrap();
    }
    assert_snapshot!("document_examples", report(&w));
}

#[test]
fn a_path_is_a_project_a_store_a_thread_or_a_file() {
    let good = Good::new();
    good.edit("config.json", "\"name\": \"N\",", "");
    good.edit("thread.json", "\"title\": \"T\",", "");
    good.edit("messages.jsonl", "\"id\":\"m1\",", "");
    let config = "error[required-field] config.json:3";
    let thread = "error[required-field] thread.json:1";
    let log = "error[required-field] messages.jsonl:1";
    for (path, expected) in [
        (".", &[config, log, thread][..]),
        ("", &[config, log, thread]),
        (".agent", &[config, log, thread]),
        (".agent/threads", &[log, thread]),
        (".agent/threads/t-1", &[log, thread]),
        (".agent/threads/t-1/", &[log, thread]),
        (".agent/../.agent/threads/./t-1", &[log, thread]),
        (".agent/config.json", &[config]),
        (".agent/threads/t-1/thread.json", &[thread]),
        (".agent/threads/t-1/messages.jsonl", &[log]),
    ] {
        let args = if path.is_empty() {
            vec!["check"]
        } else {
            vec!["check", path]
        };
        let found = check(&good.w, &args);
        assert_eq!(found.found, expected, "{path}");
        assert_eq!(found.code, 1, "{path}");
    }
    let both = [
        "check",
        ".agent/threads/t-1/thread.json",
        ".agent/config.json",
        "./.agent/config.json",
    ];
    assert_eq!(check(&good.w, &both).found, [config, thread]);
}

#[test]
fn a_description_alone_is_still_measured_by_its_log() {
    let good = Good::new();
    good.edit("thread.json", "\"messageCount\": 3", "\"messageCount\": 8");
    good.edit("messages.jsonl", "\"role\":\"system\"", "\"role\":\"x\"");
    let found = check(&good.w, &["check", ".agent/threads/t-1/thread.json"]);
    assert_eq!(found.found, ["error[stats] thread.json:25"]);
}

#[test]
fn what_is_not_ours_is_an_error() {
    let w = World::new();
    fs::write(w.project.join("notes.txt"), "x").unwrap();
    for path in [".", "notes.txt", "nothing/here"] {
        let answer = w.run(&["check", path]);
        assert_eq!((answer.code, answer.out.as_str()), (1, ""), "{answer:?}");
        let said = "is no store, session or file that can be checked";
        assert!(answer.err.contains(said), "{answer:?}");
        assert!(answer.err.contains("hint: "), "{answer:?}");
        let answer = w.run(&["check", path, "--json"]);
        assert!(answer.err.contains(r#""kind":"not_found""#), "{answer:?}");
    }
    // The other paths are checked all the same.
    w.ok(&["init"]);
    let answer = w.run(&["check", ".agent/config.json", "notes.txt"]);
    assert_eq!(answer.code, 1);
    assert!(answer.err.contains("in 1 file (atsf)\n"), "{answer:?}");
}

#[test]
fn text_and_json_say_the_same() {
    let good = Good::new();
    good.edit("thread.json", "\"t-1\"", "\"\\u001b[31m\\n2\"");
    good.edit("messages.jsonl", "\"role\":\"system\"", "\"role\":\"x\"");
    let answer = good.w.run(&["check"]);
    assert_snapshot!("text", report(&good.w));
    assert!(!answer.out.contains('\u{1b}') && answer.out.lines().count() == 2);
    let answer = good.w.run(&["check", "--json"]);
    assert_snapshot!("json", good.w.plain(&answer.out));
    assert_eq!((answer.code, answer.err.as_str()), (1, ""));
    let coloured = good.w.run(&["check", "--color", "always"]);
    assert!(
        coloured.out.contains("error[thread-id]\u{1b}[0m"),
        "{coloured:?}"
    );
}

#[test]
fn warnings_fail_only_when_strict() {
    let good = Good::new();
    fs::remove_file(good.path(".gitignore")).unwrap();
    assert_eq!(good.w.run(&["check"]).code, 0);
    assert_eq!(good.w.run(&["check", "--strict"]).code, 1);
}

#[test]
fn checking_writes_nothing() {
    let good = Good::new();
    good.edit("messages.jsonl", "}}\n", "}}\n{\"torn");
    let before = crate::world::tree(&good.w.root);
    good.w.run(&["check"]);
    assert_eq!(crate::world::tree(&good.w.root), before);
}

#[test]
fn the_corpus_is_checked_and_missing_logs_are_only_warnings() {
    let Some(corpus) = rethread_judges::corpus() else {
        return;
    };
    let w = World::new();
    let mut stores = 0;
    let mut folders = vec![corpus.join("atsf")];
    while let Some(folder) = folders.pop() {
        if folder.join(".agent").is_dir() {
            stores += 1;
            let found = check(&w, &["check", folder.to_str().unwrap()]);
            let logs = found.found.iter().filter(|f| f.contains("messages.jsonl"));
            for line in logs.filter(|f| f.contains("log-missing")) {
                assert!(line.starts_with("warning"), "{line}");
            }
            let derived = found.found.iter().find(|f| f.contains("[stats]"));
            assert_eq!(derived, None);
            continue;
        }
        let inner = fs::read_dir(&folder).unwrap().map(Result::unwrap);
        folders.extend(inner.map(|e| e.path()).filter(|p| p.is_dir()));
    }
    assert!(stores > 0, "no stores under {}", corpus.display());
}

#[test]
fn a_session_is_checked_by_its_name_and_what_was_checked_is_said() {
    let w = World::new();
    let id = w.thread("T");
    w.ok(&["append", &id, "x"]);
    for name in [&id[..8], "latest", "atsf:latest"] {
        let checked = w.run(&["check", name]);
        assert_eq!(checked.code, 0, "{checked:?}");
        assert_eq!(
            checked.err, "0 errors, 0 warnings in 2 files (atsf)\n",
            "{name}"
        );
    }
    let missing = w.run(&["check", "nowhere"]);
    assert_eq!(missing.code, 1, "{missing:?}");
    assert!(
        missing.err.contains("is no store, session or file"),
        "{missing:?}"
    );
}
