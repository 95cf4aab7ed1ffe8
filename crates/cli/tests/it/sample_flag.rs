//! `--sample`, and what the program shows where there are no conversations.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use insta::assert_snapshot;

use crate::world::{Answer, World, answer, json, tree};

/// Everything outside of the copy of the sample.
fn outside(w: &World) -> Vec<(PathBuf, Vec<u8>)> {
    let copy = w.home.join(".cache/rethread/sample");
    let mut all = tree(&w.root);
    all.retain(|(path, _)| !path.starts_with(&copy));
    all
}

fn scratch_is_empty(w: &World) -> bool {
    fs::read_dir(w.scratch.path()).unwrap().count() == 0
}

#[test]
fn every_command_works_on_the_copy_and_changes_nothing_else() {
    let w = World::with_git();
    let own = w.thread("Mine");
    let before = outside(&w);
    for args in [
        &["list", "."][..],
        &["show", "latest"],
        &["tree", "pi:latest"],
        &["context", "codex:latest", "--json"],
        &["agents"],
        &["check", "."],
        &["append", "latest", "One more thing."],
        &["fork", "pi:latest"],
        &["rename", "gemini:latest", "Commas"],
        &["label", "pi:latest", "a1b2c3d4", "begin"],
        &["branch", "pi:latest", "a1b2c3d4", "--summary", "Anew"],
        &["new", "--format", "atsf", "--title", "Another"],
        &["init"],
        &["convert", "opencode:latest", "--to", "codex"],
        &["resume", "codex:latest", "--in", "claude", "--print"],
        &["trust", "--yes"],
        &["worktree", "add", "login"],
        &["msg", "send", "bob", "The build is red"],
        &["rm", "--yes", "7f3a90c1"],
    ] {
        let mut all = vec!["--sample"];
        all.extend(args);
        let answer = w.run(&all);
        assert_eq!(answer.code, 0, "{args:?}: {answer:?}");
        assert!(!answer.out.contains("Mine"), "{args:?}: {answer:?}");
    }
    assert_eq!(outside(&w), before);
    assert!(scratch_is_empty(&w));
    let mine = w.ok(&["list", "--json"]);
    assert_eq!(json(&mine)["id"], own.as_str());
}

#[test]
fn the_copy_stays_as_commands_leave_it_until_it_is_cleared() {
    let w = World::new();
    let untouched = w.ok(&["--sample", "list", "--json"]);
    let appended = w.run(&["--sample", "append", "pi:latest", "And a test, please."]);
    assert_eq!(appended.code, 0, "{appended:?}");
    let said = "this was done in a copy of the sample, and nowhere else";
    assert!(appended.err.contains(said), "{}", appended.err);
    assert!(!w.run(&["--sample", "list"]).err.contains(said));
    let shown = w.ok(&["--sample", "show", "pi:latest"]);
    assert!(shown.contains("And a test, please."), "{shown}");
    let id = appended.out.trim();
    let forked = w.ok(&["--sample", "fork", "pi:latest", "--at", id, "--json"]);
    let forked = json(&forked)["id"].as_str().unwrap().to_owned();
    w.ok(&["--sample", "show", &forked]);
    let noted = w
        .run(&["--sample", "append", "pi:latest", "x", "--json"])
        .err;
    assert!(
        noted
            .lines()
            .map(json)
            .any(|n| n["note"]["path"].is_string()),
        "{noted}"
    );
    let cleared = w.ok(&["sample", "--clear"]);
    assert!(cleared.starts_with("removed "), "{cleared}");
    assert!(!w.home.join(".cache/rethread/sample").exists());
    assert_eq!(w.ok(&["--sample", "list", "--json"]), untouched);
    w.ok(&["sample", "--clear", "--json"]);
    let nothing = w.run(&["sample", "--clear"]);
    assert_eq!((nothing.code, nothing.out.as_str()), (0, ""), "{nothing:?}");
}

#[test]
fn copies_of_other_versions_go() {
    let w = World::new();
    let old = w.home.join(".cache/rethread/sample/00c0ffee");
    fs::create_dir_all(old.join("home")).unwrap();
    w.ok(&["--sample", "list"]);
    assert!(!old.exists());
    let copies = fs::read_dir(w.home.join(".cache/rethread/sample")).unwrap();
    assert_eq!(copies.count(), 1);
}

#[test]
fn what_is_written_on_request_goes_where_the_program_was_started() {
    let w = World::new();
    w.ok(&["--sample", "export", "latest", "-o", "page.html"]);
    w.ok(&["--sample", "convert", "latest", "--to", "pi", "-o", "out"]);
    assert!(w.project.join("page.html").is_file());
    assert!(w.project.join("out").is_dir());
}

#[test]
fn the_clock_of_the_sample_runs_on_from_its_last_day() {
    let w = World::new();
    let append = |text: &str| {
        let mut command = w.command(&["--sample", "append", "pi:latest", text]);
        command.env_remove("RETHREAD_NOW");
        assert!(command.output().unwrap().status.success());
    };
    append("one");
    append("two");
    let shown = json(&w.ok(&["--sample", "show", "pi:latest", "--json"]));
    let messages = shown["messages"].as_array().unwrap().iter().rev();
    let times: Vec<&str> = messages.map(|m| m["timestamp"].as_str().unwrap()).collect();
    assert!(times[0] > times[1], "{times:?}");
    assert!(times[1].starts_with("2026-11-13T17:3"), "{times:?}");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let w = World::new();
    let both = w.run(&["--sample", "--home", "x", "list"]);
    assert_eq!(both.code, 2, "{both:?}");
    let resumed = w.run(&["--sample", "resume", "latest"]);
    assert_eq!(resumed.code, 2, "{resumed:?}");
    assert!(resumed.err.contains("`--print`"), "{}", resumed.err);
    let mut nowhere = w.command(&["--sample", "list"]);
    fs::write(w.root.join("file"), "").unwrap();
    nowhere.env("HOME", w.root.join("file/home"));
    let nowhere = answer(nowhere.output().unwrap());
    assert_eq!(nowhere.code, 1, "{nowhere:?}");
    assert!(nowhere.err.contains("file/home"), "{}", nowhere.err);
}

/// Runs a line as a shell does.
fn shell(w: &World, line: &str) -> Answer {
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(&w.project);
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", &w.home)
        .env("TMPDIR", w.scratch.path())
        .env("TZ", "UTC")
        .stdin(Stdio::null());
    answer(command.output().unwrap())
}

#[test]
fn a_machine_without_conversations_is_shown_the_sample() {
    let w = World::new();
    let bin = w.project.join("my tools");
    fs::create_dir(&bin).unwrap();
    fs::hard_link(env!("CARGO_BIN_EXE_rethread"), bin.join("rethread"))
        .or_else(|_| fs::copy(env!("CARGO_BIN_EXE_rethread"), bin.join("rethread")).map(drop))
        .unwrap();
    let first = shell(&w, "'./my tools/rethread'");
    assert_eq!(first.code, 0, "{first:?}");
    assert_snapshot!("first_minute", w.plain(&first.out));
    assert_eq!(tree(&w.home), [], "nothing is written into the home");
    assert!(scratch_is_empty(&w));
    let commands = first.out.split("Try next:\n").nth(1).unwrap();
    let commands: Vec<&str> = commands.lines().map(str::trim).collect();
    assert!(commands.len() > 3, "{commands:?}");
    for line in commands {
        assert!(line.starts_with("'./my tools/rethread' --sample"), "{line}");
        let answer = shell(&w, line);
        assert_eq!(answer.code, 0, "{line}: {answer:?}");
        assert!(!answer.out.is_empty(), "{line}: {answer:?}");
    }
    // The ids that were shown are those of the commands.
    let rows = first.out.lines().filter(|line| line.contains("  shop  "));
    let ids: Vec<&str> = rows
        .filter_map(|row| row.split_whitespace().next())
        .collect();
    assert_eq!(ids.len(), 6, "{ids:?}");
    for id in ids {
        let answer = shell(&w, &format!("'./my tools/rethread' --sample show {id}"));
        assert_eq!(answer.code, 0, "{id}: {answer:?}");
    }
}

#[test]
fn the_first_minute_needs_no_home_to_write_to() {
    let w = World::new();
    fs::write(w.root.join("file"), "").unwrap();
    let mut command = w.command::<&str>(&[]);
    command.env("HOME", w.root.join("file/home"));
    let answer = answer(command.output().unwrap());
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(answer.out.contains("built-in sample"), "{answer:?}");
}

#[test]
fn a_home_that_was_named_is_not_answered_with_the_sample() {
    let w = World::new();
    let answer = w.run(&["--home", "nobody"]);
    let said = format!(
        "No conversations were found in `{}`.\n",
        w.project.join("nobody").display()
    );
    assert_eq!((answer.code, answer.out), (0, said));
}

#[test]
fn where_it_looked_is_told_when_it_is_asked_for() {
    let w = World::new();
    let home = w.home.to_str().unwrap().to_owned();
    let told = w.ok(&["--verbose"]);
    for place in ["~/.claude/projects", "~/.codex", "~/.pi/agent", &home] {
        assert!(told.contains(place), "{place}: {told}");
    }
    assert!(told.contains("This is the built-in sample"), "{told}");
    assert!(!w.ok(&[]).contains("looked in"));
    let named = w.ok(&["--home", "nobody", "--verbose"]);
    assert!(named.contains("~/.codex"), "{named}");
}
