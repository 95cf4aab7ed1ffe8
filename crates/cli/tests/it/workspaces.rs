//! Which folder a session belongs to, however its workspace is spelled.

use std::fs;
use std::path::Path;

use crate::screens::STORED;
use crate::world::{World, copy};

/// A session of Claude Code that says it was held in this folder.
fn session(w: &World, number: usize, cwd: &str) {
    let folder = w.home.join(format!(".claude/projects/-p{number}"));
    fs::create_dir_all(&folder).unwrap();
    let id = format!("{number:08x}-0000-4000-8000-000000000000");
    let cwd = serde_json::Value::from(cwd);
    let line = format!(
        r#"{{"type":"user","uuid":"u{number}","sessionId":"{id}","timestamp":"2026-11-01T10:00:00.000Z","cwd":{cwd},"message":{{"role":"user","content":"Question {number}"}}}}"#
    );
    fs::write(folder.join(format!("{id}.jsonl")), format!("{line}\n")).unwrap();
}

fn count(w: &World, args: &[&str], cwd: &Path) -> usize {
    let all = [&["list", "--json"], args].concat();
    let output = w.command(&all).current_dir(cwd).output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().count()
}

const FOREIGN: [&str; 16] = [
    r"D:\x",
    "D:/x",
    r"C:\Users\Ada\shop",
    r"\\host\share\shop",
    "//host/share/shop",
    r"\\wsl$\Ubuntu\home\ada\shop",
    r"\\wsl.localhost\Ubuntu\home\ada",
    "/mnt/c/Users/Ada/shop",
    "~ada/shop",
    "shop",
    "./shop",
    ".",
    "..",
    "",
    "file:///home/ada/shop",
    "ssh://ada@vm01/home/ada/shop",
];

#[test]
fn workspaces_of_other_systems_are_in_no_folder_of_this_one() {
    let w = World::new();
    for (number, cwd) in FOREIGN.iter().enumerate() {
        session(&w, number, cwd);
    }
    let empty = w.root.join("empty");
    fs::create_dir(&empty).unwrap();
    for folder in [&empty, &w.root, &w.home] {
        assert_eq!(count(&w, &[], folder), FOREIGN.len());
    }
    // The home folder is where the files are; what is in them is of other folders.
    for folder in [&empty, &w.project] {
        assert_eq!(count(&w, &["."], folder), 0, "{}", folder.display());
        let run = |args: &[&str]| w.command(args).current_dir(folder).output().unwrap();
        let exported = run(&["export", "-o", "-"]);
        let text = String::from_utf8(exported.stdout).unwrap();
        assert_eq!(text.lines().count(), 1, "a header alone: {text}");
        let converted = run(&["convert", ".", "--to", "pi", "-o", "out"]);
        assert_ne!(converted.status.code(), Some(0), "{converted:?}");
        assert!(!folder.join("out").exists());
    }
    // Who names such a path means it as it is spelled.
    assert_eq!(count(&w, &[r"d:\X\"], &empty), 2);
    assert_eq!(count(&w, &[r"\\HOST\share"], &empty), 2);
    assert_eq!(count(&w, &["/mnt/c/Users"], &empty), 1);
}

/// The home folder holds the stores of all agents, and sessions of all folders are in them.
#[test]
fn sessions_of_other_folders_are_not_in_the_home_that_holds_their_files() {
    let w = World::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    for (_, from, to) in STORED {
        copy(&fixtures.join(from), &w.home.join(to));
    }
    w.thread("In a project beside the home");
    let others = count(&w, &[], &w.home);
    assert!(others > STORED.len(), "{others}");
    assert_eq!(count(&w, &["."], &w.home), 0);
    let exported = w
        .command(&["export", "-o", "-"])
        .current_dir(&w.home)
        .output();
    let exported = String::from_utf8(exported.unwrap().stdout).unwrap();
    assert_eq!(exported.lines().count(), 1, "a header alone: {exported}");
    let home = w.home.to_str().unwrap();
    session(&w, 1, home);
    session(&w, 2, &format!("{home}/notes"));
    session(&w, 3, &format!("{home}-of-others"));
    fs::create_dir(w.home.join("notes")).unwrap();
    let new = [
        "new",
        "--format",
        "atsf",
        "--title",
        "In a project of the home",
    ];
    let made = w.command(&new).current_dir(w.home.join("notes")).output();
    assert!(made.unwrap().status.success());
    assert_eq!(count(&w, &["."], &w.home), 3);
    assert_eq!(count(&w, &[home], &w.project), 3);
    assert_eq!(count(&w, &["."], &w.home.join("notes")), 2);
    // Who names a store, or a folder in it, means what lies there.
    let store = w.home.join(".claude/projects/-p1");
    assert_eq!(count(&w, &[store.to_str().unwrap()], &w.project), 1);
}

#[test]
fn spellings_of_one_local_folder_are_one_folder() {
    let w = World::new();
    let root = w.root.to_str().unwrap();
    let spelled = [
        format!("{root}/shop"),
        format!("{root}/shop/"),
        format!("{root}//shop/."),
        format!("{root}/home/../shop"),
        format!("{root}/shop/src/gone"),
    ];
    for (number, cwd) in spelled.iter().enumerate() {
        session(&w, number, cwd);
    }
    session(&w, 100, "~/notes");
    session(&w, 101, &format!("{root}/shopping"));
    assert_eq!(count(&w, &["."], &w.project), spelled.len());
    assert_eq!(count(&w, &["home/notes"], &w.root), 1);
    #[cfg(unix)]
    {
        let link = w.root.join("link");
        std::os::unix::fs::symlink(&w.project, &link).unwrap();
        session(&w, 102, &format!("{root}/link"));
        session(&w, 103, &format!("{root}/link/src/gone"));
        assert_eq!(count(&w, &["."], &w.project), spelled.len() + 2);
        assert_eq!(count(&w, &["./link"], &w.root), 2 + spelled.len());
    }
}
