//! `resume`: what is looked at before anything is written, and where the client is started.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;

use crate::world::{Answer, World, answer, json, tree};

/// A session of pi in which something is said, by its path.
fn said(w: &World, cwd: &str) -> String {
    let folder = w.home.join(".pi/agent/sessions/--shop--");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("2026-11-15T12-00-00-000Z_slow.jsonl");
    let cwd = serde_json::to_string(cwd).unwrap();
    let lines = format!(
        r#"{{"type":"session","version":3,"id":"slow","timestamp":"2026-11-15T12:00:00.000Z","cwd":{cwd}}}
{{"type":"message","id":"aaaa0001","parentId":null,"timestamp":"2026-11-15T12:00:01.000Z","message":{{"role":"user","content":"The list is slow."}}}}
"#
    );
    fs::write(&path, lines).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A program that notes where it is started, and how.
fn client(w: &World, name: &str, script: &str) -> PathBuf {
    let bin = w.root.join("bin");
    fs::create_dir_all(&bin).unwrap();
    fs::write(bin.join(name), script).unwrap();
    fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    bin
}

const NOTES: &str = "#!/bin/sh\npwd > \"$HOME/started\"\necho \"$@\" >> \"$HOME/started\"\n";

/// Runs with no programs on the path but those of the system and those in a folder.
fn run(w: &World, bin: Option<&Path>, args: &[&str]) -> Answer {
    let bin = bin.map_or_else(String::new, |bin| format!("{}:", bin.display()));
    let mut command = w.command(args);
    answer(
        command
            .env("PATH", format!("{bin}/usr/bin:/bin"))
            .output()
            .unwrap(),
    )
}

#[test]
fn nothing_is_written_for_a_client_that_is_not_there() {
    let w = World::new();
    let session = said(&w, w.project.to_str().unwrap());
    let before = tree(&w.root);
    let refused = run(&w, None, &["resume", &session, "--in", "codex"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert_snapshot!(refused.err, @r"
    error: `codex`, the program of Codex CLI, is not in a folder of `PATH`
    hint: install it, or see the command with `--print`
    ");
    // A file that nobody may run is no program.
    let bin = client(&w, "codex", NOTES);
    fs::set_permissions(bin.join("codex"), fs::Permissions::from_mode(0o644)).unwrap();
    let refused = run(&w, Some(&bin), &["resume", &session, "--in", "codex"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    fs::remove_dir_all(bin).unwrap();
    assert!(tree(&w.root) == before, "nothing is left behind");
}

#[test]
fn nothing_is_written_for_a_folder_that_is_not_there() {
    let w = World::new();
    let gone = w.root.join("gone");
    let session = said(&w, gone.to_str().unwrap());
    let bin = client(&w, "codex", NOTES);
    client(&w, "pi", NOTES);
    let before = tree(&w.root);
    for args in [
        &["resume", &session, "--in", "codex"][..],
        &["resume", &session],
    ] {
        let refused = run(&w, Some(&bin), args);
        assert_eq!(refused.code, 1, "{refused:?}");
        assert!(refused.err.contains("gone` is not there"), "{refused:?}");
        assert!(refused.err.contains("`--cwd DIR`"), "{refused:?}");
    }
    let nowhere = run(&w, Some(&bin), &["resume", &session, "--cwd", "nowhere"]);
    assert_eq!(nowhere.code, 2, "{nowhere:?}");
    assert!(tree(&w.root) == before, "nothing is left behind");
}

#[test]
fn nothing_is_left_of_a_client_that_cannot_be_started() {
    let w = World::new();
    let session = said(&w, w.project.to_str().unwrap());
    let bin = client(&w, "codex", "#!/no/such/shell\n");
    let before = tree(&w.home.join(".pi"));
    let failed = run(&w, Some(&bin), &["resume", &session, "--in", "codex"]);
    assert_eq!(failed.code, 1, "{failed:?}");
    assert!(
        failed.err.contains("`codex` cannot be started"),
        "{failed:?}"
    );
    assert!(tree(&w.home.join(".pi")) == before);
    let logs = tree(&w.home);
    let logs = logs
        .iter()
        .filter(|(path, _)| path.starts_with(w.home.join(".codex/sessions")));
    assert_eq!(logs.count(), 0, "the session that was written is gone");
}

#[test]
fn the_client_is_started_in_the_folder_of_the_session_or_in_another() {
    let w = World::new();
    let session = said(&w, w.project.to_str().unwrap());
    let bin = client(&w, "codex", NOTES);
    client(&w, "pi", NOTES);
    let other = w.root.join("other");
    fs::create_dir(&other).unwrap();
    let other = other.to_str().unwrap();
    for (args, folder) in [
        (&["resume", &session][..], w.project.to_str().unwrap()),
        (&["resume", &session, "--cwd", other], other),
        (
            &["resume", &session, "--in", "codex"],
            w.project.to_str().unwrap(),
        ),
        (
            &["resume", &session, "--in", "codex", "--cwd", other],
            other,
        ),
    ] {
        let done = run(&w, Some(&bin), args);
        assert_eq!(done.code, 0, "{args:?}: {done:?}");
        let started = fs::read_to_string(w.home.join("started")).unwrap();
        let mut lines = started.lines();
        assert_eq!(lines.next(), Some(folder), "{args:?}");
        let codex = args.contains(&"codex");
        assert!(
            lines
                .next()
                .unwrap()
                .starts_with(if codex { "resume " } else { "--session " })
        );
    }
    // Codex has one session for each folder, and each says where it is.
    let listed = w.ok(&["list", "--agent", "codex", "--json"]);
    let mut folders: Vec<String> = listed
        .lines()
        .map(|line| json(line)["workspace"].as_str().unwrap().to_owned())
        .collect();
    folders.sort();
    assert_eq!(folders, [other, w.project.to_str().unwrap()]);
}

#[test]
fn printing_writes_only_what_the_command_names_and_says_so() {
    let w = World::new();
    let session = said(&w, w.project.to_str().unwrap());
    let before = tree(&w.root);
    let own = run(&w, None, &["resume", &session, "--print"]);
    assert_eq!(own.code, 0, "{own:?}");
    assert!(tree(&w.root) == before, "its own agent needs nothing");
    let args = ["resume", &session, "--in", "codex", "--print"];
    let first = run(&w, None, &args);
    assert_eq!(first.code, 0, "{first:?}");
    assert!(
        first.err.contains("written, because the command names"),
        "{first:?}"
    );
    let written = tree(&w.root);
    assert!(written != before);
    let second = run(&w, None, &args);
    assert_eq!(second.out, first.out);
    assert!(!second.err.contains("written"), "{second:?}");
    assert!(tree(&w.root) == written, "it is there already");
}

#[test]
fn a_folder_of_another_system_is_asked_for() {
    let w = World::new();
    let session = said(&w, r"D:\shop");
    let bin = client(&w, "codex", NOTES);
    client(&w, "pi", NOTES);
    let before = tree(&w.root);
    for args in [
        &["resume", &session][..],
        &["resume", &session, "--in", "codex"],
        &["resume", &session, "--in", "codex", "--print"],
    ] {
        let refused = run(&w, Some(&bin), args);
        assert_eq!(refused.code, 1, "{args:?}: {refused:?}");
        assert!(
            refused
                .err
                .contains(r"`D:\shop` is one of another machine or system"),
            "{refused:?}"
        );
        assert!(refused.err.contains("`--cwd DIR`"), "{refused:?}");
    }
    assert!(tree(&w.root) == before, "nothing is left behind");
    let done = run(
        &w,
        Some(&bin),
        &["resume", &session, "--in", "codex", "--cwd", "."],
    );
    assert_eq!(done.code, 0, "{done:?}");
    let started = fs::read_to_string(w.home.join("started")).unwrap();
    assert_eq!(started.lines().next(), w.project.to_str());
}

#[test]
fn a_client_that_looks_in_its_folder_alone_is_not_sent_elsewhere() {
    let w = World::new();
    let made = json(&w.ok(&["new", "--format", "claude-code", "--json"]));
    let id = made["id"].as_str().unwrap();
    w.ok(&["append", id, "Hello"]);
    let bin = client(&w, "claude", NOTES);
    let other = w.root.join("other");
    fs::create_dir(&other).unwrap();
    let other = other.to_str().unwrap();
    let refused = run(&w, Some(&bin), &["resume", id, "--cwd", other]);
    assert_eq!(refused.code, 1, "{refused:?}");
    let hint = format!("`rethread fork {id} --cwd {other}`");
    assert!(refused.err.contains(&hint), "{refused:?}");
    // As the hint says.
    let mut fork = w.command(&["fork", id, "--cwd", other, "--json"]);
    let copy = json(&answer(fork.env("RETHREAD_SEED", "2").output().unwrap()).out);
    let done = run(&w, Some(&bin), &["resume", copy["id"].as_str().unwrap()]);
    assert_eq!(done.code, 0, "{done:?}");
    let started = fs::read_to_string(w.home.join("started")).unwrap();
    assert_eq!(started.lines().next(), Some(other));
    assert_eq!(run(&w, Some(&bin), &["resume", id, "--cwd", "."]).code, 0);
}
