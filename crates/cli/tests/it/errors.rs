//! Errors are one line, with a hint where there is something to do, and JSON for scripts.

use insta::assert_snapshot;

use crate::world::{World, json};

#[test]
fn errors_and_hints_for_people() {
    let w = World::new();
    let (a, _) = (w.thread("A"), w.thread("B"));
    let mut all = String::new();
    for args in [
        &["show", "nothing-here"][..],
        &["show", "abc"],
        &["show", "."],
        &["new", "--format", "word"],
        &["new", "--format", "atsf", "--metadata", "[1]"],
        &["new", "--format", "atsf", "--protocol-version", "one"],
        &["append", &a],
        &["append", &a, "--image", "missing.png"],
        &["append", &a, "--replace", "#9", "x"],
        &["frobnicate"],
        &["list", "--sort", "colour"],
    ] {
        let answer = w.run(args);
        let shown = args
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" ");
        all += &format!(
            "$ rethread {shown}\n{}{}[exit {}]\n\n",
            answer.out, answer.err, answer.code
        );
    }
    let all = w.plain(&all).replace(&a, "[ID-A]");
    assert_snapshot!("errors", all);
}

#[test]
fn errors_for_scripts() {
    let w = World::new();
    w.thread("A");
    w.thread("B");
    let missing = w.run(&["show", "nothing-here", "--json"]);
    assert_eq!(missing.code, 1);
    let error = &json(&missing.err)["error"];
    assert_eq!(error["kind"], "not_found");
    assert_eq!(error["message"], "no session is named `nothing-here`");
    assert!(error["hint"].is_string());
    let several = w.run(&["show", ".", "--json"]);
    let error = &json(&several.err)["error"];
    assert_eq!(error["kind"], "ambiguous");
    assert_eq!(error["candidates"].as_array().unwrap().len(), 2);
    let usage = w.run(&["list", "--sort", "colour", "--json"]);
    assert_eq!(usage.code, 2);
    assert_eq!(json(&usage.err)["error"]["kind"], "usage");
}

#[test]
fn the_same_id_twice() {
    let w = World::new();
    let id = w.thread("A");
    w.ok(&["append", &id, "x"]);
    let copy = w.root.join("copy");
    std::fs::create_dir(&copy).unwrap();
    w.ok(&["init", "--cwd", copy.to_str().unwrap()]);
    crate::world::copy(&w.folder(&id), &copy.join(".agent/threads").join(&id));
    // From outside both: the same bytes are one session.
    let show = |w: &World| {
        w.command(&["show", &id])
            .current_dir(&w.root)
            .output()
            .unwrap()
    };
    assert!(show(&w).status.success());
    w.ok(&["append", &id, "y"]);
    let output = show(&w);
    assert_eq!(output.status.code(), Some(1));
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.contains("could be 2 sessions"), "{err}");
    let hints: Vec<&str> = err
        .lines()
        .filter_map(|l| l.strip_prefix("hint: "))
        .collect();
    assert_eq!(hints.len(), 2, "the error lists them: {err}");
    // The folders that they are in tell them apart.
    for hint in hints {
        let (name, path) = hint.split_once("  ").unwrap();
        assert!(name.contains('@') && path.starts_with('/'), "{hint}");
        w.ok(&["show", name]);
    }
}

#[test]
fn a_lock_that_cannot_be_had_in_time_is_a_clear_error() {
    let w = World::new();
    let id = w.thread("T");
    w.ok(&["append", &id, "x"]);
    let path = w.folder(&id).join("messages.jsonl");
    let file = std::fs::File::options()
        .read(true)
        .append(true)
        .open(&path)
        .unwrap();
    file.lock().unwrap();
    let answer = w.run(&["append", &id, "y", "--lock-timeout", "0.2"]);
    assert_eq!(answer.code, 1, "{answer:?}");
    assert!(
        answer.err.contains("is locked by another program"),
        "{}",
        answer.err
    );
    assert_eq!(
        json(
            &w.run(&["append", &id, "y", "--lock-timeout", "0.1", "--json"])
                .err
        )["error"]["kind"],
        "busy"
    );
    // Readers never wait.
    assert_eq!(w.run(&["show", &id]).code, 0);
    assert_eq!(w.run(&["list"]).code, 0);
    drop(file);
    assert_eq!(w.run(&["append", &id, "y"]).code, 0);
    assert_eq!(w.lines(&id).len(), 2);
}

#[test]
fn wrong_surroundings_are_wrong_usage() {
    let w = World::new();
    let output = w
        .command(&["list"])
        .env("RETHREAD_NOW", "soon")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("`RETHREAD_NOW` is `soon`")
    );
}

#[test]
fn help_and_version() {
    let w = World::new();
    let version = w.ok(&["--version"]);
    assert_eq!(
        version.trim(),
        format!("rethread {}", env!("CARGO_PKG_VERSION"))
    );
    for command in [
        "list", "show", "tree", "context", "new", "append", "branch", "label", "rename", "fork",
        "rm", "migrate", "sample",
    ] {
        let help = w.ok(&[command, "--help"]);
        assert!(help.contains("Example"), "{command}: {help}");
        assert!(help.contains("--json"), "{command}");
    }
}

#[test]
fn a_session_in_which_nothing_is_said_is_not_converted() {
    let w = World::new();
    let made = json(&w.ok(&["new", "--format", "pi", "--id", "quiet", "--json"]));
    let path = made["path"].as_str().unwrap();
    let answer = w.run(&["convert", path, "--to", "codex"]);
    assert_eq!(answer.code, 1, "{answer:?}");
    assert_snapshot!(answer.err, @"
    error: nothing is said in `quiet`
    hint: `rethread append` says something in it
    ");
}

#[cfg(unix)]
#[test]
fn what_may_not_be_read_is_named_with_the_cause() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let w = World::new();
    let sessions = w.home.join(".pi/agent/sessions/--shop--");
    let shut = w.project.join("shut");
    std::fs::create_dir_all(&sessions).unwrap();
    std::fs::create_dir(&shut).unwrap();
    let files = [
        w.project.join("notes.jsonl"),
        shut.join("inner.jsonl"),
        sessions.join("2026-11-15T12-00-00-000Z_closed.jsonl"),
        sessions.join("other.jsonl"),
    ];
    for file in &files {
        std::fs::write(file, "{\"type\":\"session\",\"id\":\"closed\"}\n").unwrap();
    }
    let mode = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    // Whoever may read everything asks as somebody who may not, with a program that both can reach.
    mode(&w.root, 0o755);
    let program = w.root.join("rethread");
    // Another process copies it: a program that is open here for writing cannot be started.
    let mut copy = std::process::Command::new("cp");
    let copied = copy.arg(env!("CARGO_BIN_EXE_rethread")).arg(&program);
    assert!(copied.status().unwrap().success());
    for file in &files {
        mode(file, 0o000);
    }
    mode(&shut, 0o000);
    let may_all = std::fs::read(&files[0]).is_ok();
    let run = |args: &[&str]| {
        let mut command = std::process::Command::new(&program);
        command.args(args).current_dir(&w.project).env_clear();
        command
            .env("HOME", &w.home)
            .env("RETHREAD_NOW", crate::world::NOW);
        if may_all {
            command.uid(65_534);
        }
        let output = command.output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), w.plain(&err))
    };
    for (name, path) in [
        ("notes.jsonl", "shop/notes.jsonl"),
        ("./shut", "shop/./shut"),
        ("shut/inner.jsonl", "shop/shut/inner.jsonl"),
        (
            "closed",
            "home/.pi/agent/sessions/--shop--/2026-11-15T12-00-00-000Z_closed.jsonl",
        ),
    ] {
        let (code, err) = run(&["show", name]);
        let expected = format!("error: cannot read `[ROOT]/{path}`: Permission denied");
        assert_eq!(code, Some(1), "{name}: {err}");
        assert_eq!(err.lines().next(), Some(expected.as_str()), "{name}");
    }
    let (code, err) = run(&["show", "./notes.jsonl", "--json"]);
    assert_eq!(code, Some(1));
    assert_eq!(json(&err)["error"]["kind"], "io", "{err}");
    let (code, err) = run(&["list"]);
    assert_eq!(code, Some(3), "{err}");
    for name in ["closed.jsonl", "other.jsonl"] {
        let line = err.lines().find(|l| l.contains(name)).unwrap_or_default();
        assert!(line.contains("Permission denied"), "{name}: {err}");
    }
    // What is named and cannot be looked at is said, and not passed over.
    for name in ["./notes.jsonl", "./shut", "shut/inner.jsonl"] {
        for command in ["list", "export"] {
            let (code, err) = run(&[command, name]);
            assert_eq!(code, Some(1), "{command} {name}: {err}");
            let first = err.lines().next().unwrap_or_default();
            assert!(
                first.contains("Permission denied"),
                "{command} {name}: {err}"
            );
        }
    }
    mode(&shut, 0o755);
}

#[test]
fn a_path_that_is_no_session_is_named_as_such() {
    let w = World::new();
    std::fs::write(w.project.join("notes.txt"), "x").unwrap();
    for name in ["notes.txt", "./notes.txt", "/"] {
        let answer = w.run(&["show", name]);
        assert_eq!(answer.code, 1, "{answer:?}");
        assert!(
            answer.err.contains("is no session that can be read"),
            "{name}: {}",
            answer.err
        );
    }
}

#[test]
fn an_empty_title_is_refused_wherever_one_is_taken() {
    let w = World::with_git();
    let id = w.thread("T");
    for args in [
        &["rename", &id, ""][..],
        &["rename", &id, " \t"],
        &["new", "--format", "atsf", "--title", ""],
        &["fork", &id, "--title", " "],
        &["worktree", "add", "login", "--title", ""],
    ] {
        let refused = w.run(args);
        assert_eq!(refused.code, 2, "{args:?}: {refused:?}");
        assert!(
            refused.err.contains("a title cannot be empty"),
            "{refused:?}"
        );
    }
    assert_eq!(w.ok(&["list", "--json"]).lines().count(), 1);
    assert_eq!(json(&w.ok(&["list", "--json"]))["title"], "T");
}

#[test]
fn an_export_is_no_kind_of_file_that_it_cannot_be() {
    let w = World::new();
    let id = w.thread("T");
    w.ok(&["append", &id, "x"]);
    for name in [
        "talk.pdf",
        "talk.json",
        "a/talk.txt",
        "talk.html.gz",
        "talk.md.zst",
    ] {
        let refused = w.run(&["export", &id, "-o", name]);
        assert_eq!(refused.code, 2, "{name}: {refused:?}");
        assert!(
            refused.err.contains("nothing is exported as"),
            "{refused:?}"
        );
        assert!(refused.err.contains("`.ndjson`"), "{refused:?}");
        assert!(!w.project.join(name).exists() && !w.project.join("a").exists());
    }
    // Folders may have dots in their names.
    std::fs::create_dir(w.project.join("my.project")).unwrap();
    for name in ["backup.2026", "my.project", "new.folder/", "v1.2"] {
        w.ok(&["export", &id, "-o", name]);
        assert!(w.project.join(name).is_dir(), "{name}");
    }
}

#[test]
fn show_and_export_make_the_folders_of_the_file_that_they_write() {
    let w = World::new();
    let id = w.thread("T");
    w.ok(&["append", &id, "x"]);
    w.ok(&["export", &id, "-o", "a/b/talk.html"]);
    w.ok(&["show", &id, "--to", "html", "-o", "c/d/talk.html"]);
    for path in ["a/b/talk.html", "c/d/talk.html"] {
        assert!(w.project.join(path).is_file(), "{path}");
    }
}
