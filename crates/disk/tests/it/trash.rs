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
    };
    assert!(e.hint().unwrap().contains("`--force`"));
    assert_eq!(e.to_string(), "cannot move `a` to the trash: full");
}
