//! What is told of changes in a folder.

#![allow(clippy::disallowed_methods, reason = "files are laid out for the test")]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use rethread_watch::{FolderWatch, WatchMethod, WatchedFolder, watch_folders};

/// Long enough for any machine; nothing waits so long where all is well.
const LONG: Duration = Duration::from_mins(1);

fn wait_for(watch: &mut FolderWatch, path: &Path) {
    loop {
        let changes = watch.next_changes(Some(LONG)).expect("nothing was told");
        if changes.paths.contains(path) {
            return;
        }
    }
}

#[test]
fn changes_are_told_by_the_system_and_by_looking() {
    for method in [
        WatchMethod::SystemEvents,
        WatchMethod::Polling(Duration::from_millis(20)),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let log = root.join("a.jsonl");
        fs::write(&log, "{}\n").unwrap();
        let watched = WatchedFolder {
            path: root.clone(),
            is_deep: true,
        };
        let mut watch = watch_folders(&[watched], method);
        let mut file = fs::OpenOptions::new().append(true).open(&log).unwrap();
        file.write_all(b"{\"a\":1}\n").unwrap();
        drop(file);
        wait_for(&mut watch, &log);
        // In a folder that is made later.
        fs::create_dir(root.join("later")).unwrap();
        let later = root.join("later/b.jsonl");
        wait_for(&mut watch, &root.join("later"));
        fs::write(&later, "{}\n").unwrap();
        wait_for(&mut watch, &later);
        fs::rename(&later, root.join("c.jsonl")).unwrap();
        wait_for(&mut watch, &root.join("c.jsonl"));
        fs::remove_file(root.join("c.jsonl")).unwrap();
        wait_for(&mut watch, &root.join("c.jsonl"));
    }
}

#[test]
fn reading_a_file_is_no_change() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let log = root.join("a.jsonl");
    fs::write(&log, "{}\n").unwrap();
    let watched = WatchedFolder {
        path: root.clone(),
        is_deep: false,
    };
    let mut watch = watch_folders(&[watched], WatchMethod::SystemEvents);
    fs::read(&log).unwrap();
    // What comes first is the next change.
    fs::write(root.join("b.jsonl"), "").unwrap();
    let changes = watch.next_changes(Some(LONG)).unwrap();
    assert!(!changes.paths.contains(&log), "{changes:?}");
}

#[test]
fn a_folder_that_is_not_there_yet_is_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let missing = WatchedFolder {
        path: root.join("missing"),
        is_deep: true,
    };
    let mut watch = watch_folders(&[missing], WatchMethod::SystemEvents);
    fs::create_dir(root.join("missing")).unwrap();
    fs::write(root.join("missing/a.jsonl"), "").unwrap();
    wait_for(&mut watch, &root.join("missing/a.jsonl"));
}
