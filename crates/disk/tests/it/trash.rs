//! The trash: a program, the platform's, or none.

use std::{os::unix::fs::PermissionsExt as _, path::Path};

use tempfile::TempDir;

use crate::child::{self, Said};

/// A home with a file to throw away, and a folder of programs.
fn home() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("bin")).unwrap();
    std::fs::write(home.path().join("-old"), b"old").unwrap();
    home
}

fn install(home: &Path, script: &str) {
    let program = home.join("bin/trash");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn throw_away(home: &Path, data: &Path) -> Said {
    let mut command = child::command("trash", &home.join("-old"), None);
    command
        .env("PATH", home.join("bin"))
        .env("HOME", home)
        .env("XDG_DATA_HOME", data);
    child::run(command)
}

fn by(home: &Path) -> String {
    std::fs::read_to_string(home.join("-old.by")).unwrap()
}

#[test]
fn the_program_is_asked_first() {
    let home = home();
    install(
        home.path(),
        "[ $# = 1 ] && exec /bin/mv -- \"$1\" \"$HOME/thrown\"",
    );
    let said = throw_away(home.path(), &home.path().join("data"));
    assert_eq!(said.done, [0], "{said:?}");
    assert_eq!(by(home.path()), "Program");
    assert_eq!(std::fs::read(home.path().join("thrown")).unwrap(), b"old");
}

#[test]
fn without_a_program_that_works_the_platform_takes_it() {
    for script in [None, Some("echo no >&2; exit 1"), Some("exit 0")] {
        let home = home();
        if let Some(script) = script {
            install(home.path(), script);
        }
        let said = throw_away(home.path(), &home.path().join("data"));
        assert_eq!(said.done, [0], "{script:?}: {said:?}");
        assert_eq!(by(home.path()), "Platform");
        assert!(!home.path().join("-old").exists());
        let thrown = home.path().join("data/Trash/files/-old");
        assert_eq!(std::fs::read(thrown).unwrap(), b"old");
    }
}

#[test]
fn without_any_trash_it_stays_and_the_error_says_why() {
    let home = home();
    install(home.path(), "printf 'full\\033[2J\\n' >&2; exit 1");
    let blocked = home.path().join("blocked");
    std::fs::write(&blocked, b"").unwrap();
    let said = throw_away(home.path(), &blocked);
    let [(0, words)] = said.failed.as_slice() else {
        panic!("{said:?}")
    };
    assert!(words.starts_with("cannot move `"), "{words}");
    assert!(words.contains("the program `trash` said: full [2J; the platform's trash said: "));
    assert!(words.ends_with("Not a directory"), "{words}");
    assert!(home.path().join("-old").exists());
}

#[test]
fn what_is_missing_is_not_thrown_away() {
    let home = home();
    std::fs::remove_file(home.path().join("-old")).unwrap();
    let said = throw_away(home.path(), &home.path().join("data"));
    assert!(said.failed[0].1.ends_with("does not exist"), "{said:?}");
}

#[test]
fn the_hint_names_the_way_out() {
    let e = rethread_disk::DiskError::NoTrash {
        path: "a".into(),
        reason: "full".into(),
        cause: None,
    };
    assert!(e.hint().unwrap().contains("`--force`"));
    assert_eq!(e.to_string(), "cannot move `a` to the trash: full");
}

fn throw_away_with(home: &Path, wrapper: &[&str]) -> Said {
    let plain = {
        let mut command = child::command("trash", &home.join("-old"), None);
        command
            .env("PATH", home.join("bin"))
            .env("HOME", home)
            .env("XDG_DATA_HOME", home.join("data"));
        command
    };
    let mut command = std::process::Command::new(wrapper[0]);
    command
        .args(&wrapper[1..])
        .arg(plain.get_program())
        .args(plain.get_args())
        .envs(plain.get_envs().filter_map(|(k, v)| Some((k, v?))));
    child::run(command)
}

/// Names in the trash: what was thrown away, and what describes it.
fn in_trash(home: &Path) -> (Vec<String>, Vec<String>) {
    let names = |below: &str| {
        let folder = home.join("data/Trash").join(below);
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        let names = entries.map(|e| e.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    };
    (names("files"), names("info"))
}

#[test]
fn it_is_described_as_desktops_know_it() {
    let home = home();
    let odd = home.path().join("-old");
    for n in ["", ".2", ".3"] {
        std::fs::write(&odd, n).unwrap();
        let said = throw_away(home.path(), &home.path().join("data"));
        assert_eq!(said.done, [0], "{said:?}");
    }
    let (files, info) = in_trash(home.path());
    assert_eq!(files, ["-old", "-old.2", "-old.3"]);
    let described = ["-old.2.trashinfo", "-old.3.trashinfo", "-old.trashinfo"];
    assert_eq!(info, described);
    let text = home.path().join("data/Trash/info/-old.trashinfo");
    let text = std::fs::read_to_string(text).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "[Trash Info]");
    assert_eq!(lines[1], format!("Path={}", odd.display()));
    let date = lines[2].strip_prefix("DeletionDate=").unwrap();
    assert_eq!(date.len(), "2026-11-17T12:00:00".len(), "{date}");
}

/// Killed at each call: it is where it was or in the trash, and the next one leaves no orphan.
#[test]
fn killed_at_every_call_it_is_in_one_place_and_nothing_else_is_left() {
    if !crate::strace::is_there() {
        return;
    }
    let first = home();
    let path = first.path().join("-old");
    let calls = crate::strace::calls_with("trash", &path, first.path());
    let mut between = 0;
    for call in calls {
        let home = home();
        let inject = format!("inject={}:signal=KILL:when={}", call.name, call.nth);
        let trace = format!("trace={}", call.name);
        let strace = crate::strace::program();
        let said = throw_away_with(
            home.path(),
            &[
                &strace,
                "-f",
                "-qq",
                "-o",
                "/dev/null",
                "-e",
                &trace,
                "-e",
                &inject,
            ],
        );
        let at = format!("killed at {call:?}: {said:?}");
        let (files, info) = in_trash(home.path());
        let is_there = home.path().join("-old").exists();
        assert_ne!(
            is_there,
            files.contains(&"-old".to_owned()),
            "{at}: {files:?}"
        );
        between += usize::from(is_there && !info.is_empty());
        assert!(
            is_there || info.contains(&"-old.trashinfo".to_owned()),
            "{at}"
        );
        // Something else is thrown away.
        if is_there {
            std::fs::rename(home.path().join("-old"), home.path().join("kept")).unwrap();
        }
        std::fs::write(home.path().join("-old"), "another").unwrap();
        let said = throw_away(home.path(), &home.path().join("data"));
        assert_eq!(said.done, [0], "{at}, and then: {said:?}");
        let (files, info) = in_trash(home.path());
        let described: Vec<String> = files.iter().map(|f| format!("{f}.trashinfo")).collect();
        let mut described = described;
        described.sort();
        assert_eq!(described, info, "{at}");
        assert_eq!(files.len(), if is_there { 1 } else { 2 }, "{at}");
    }
    assert!(between > 0, "it was never killed in between");
}

/// The description is on the disk before its thing is there, and all of it before it is said.
#[test]
fn it_is_synced_before_it_is_said() {
    if !crate::strace::is_there() {
        return;
    }
    let home = home();
    let path = home.path().join("-old");
    let calls = crate::strace::calls_with("trash", &path, home.path());
    let order: Vec<&str> = calls
        .iter()
        .filter_map(|call| match call.name.as_str() {
            "fsync" => Some("sync"),
            "renameat2" | "rename" | "renameat" => Some("rename"),
            _ if call.is_report => Some("said"),
            _ => None,
        })
        .collect();
    // The folders of the trash are new; then the description, its name, the thing, and both folders.
    let tail = ["sync", "rename", "sync", "rename", "sync", "sync", "said"];
    assert!(order.ends_with(&tail), "{order:?}");
}

/// Descriptions of other programs stay, whatever became of what they describe.
#[test]
fn only_our_own_orphans_go() {
    let home = home();
    let info = home.path().join("data/Trash/info");
    std::fs::create_dir_all(&info).unwrap();
    let theirs = info.join("theirs.trashinfo");
    std::fs::write(&theirs, "[Trash Info]\nPath=/a\n").unwrap();
    let ours = info.join("ours.trashinfo");
    std::fs::write(&ours, "[Trash Info]\nPath=/a\nX-Moved-By=rethread\n").unwrap();
    let said = throw_away(home.path(), &home.path().join("data"));
    assert_eq!(said.done, [0], "{said:?}");
    assert!(theirs.exists());
    assert!(!ours.exists());
}
