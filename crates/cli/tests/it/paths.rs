//! A path that `show` takes is listed, exported and converted, whatever is there.

use std::fs;
use std::path::{Path, PathBuf};

use rethread_formats::FORMATS;
use serde_json::Value;

use crate::export::parsed;
use crate::world::{World, fixtures, json};

/// All paths below a folder at which there are sessions.
fn sessions_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(path) = left.pop() {
        if FORMATS.iter().any(|f| !f.store().at_path(&path).is_empty()) {
            found.push(path.clone());
        }
        if path.is_dir() {
            let entries = fs::read_dir(&path).unwrap();
            left.extend(entries.map(|e| e.unwrap().path()));
        }
    }
    found.sort();
    found
}

#[test]
fn what_show_shows_is_listed() {
    let w = World::new();
    let mut compared = 0;
    for format in FORMATS {
        let folder = fixtures().join("..").join(format.slug());
        for path in sessions_below(&fs::canonicalize(folder).unwrap()) {
            let name = path.to_str().unwrap();
            let shown = w.run(&["show", name, "--json"]);
            if shown.code == 1 {
                // Several, or refused.
                continue;
            }
            compared += 1;
            let id = parsed(&shown.out)["session"]["id"].clone();
            let listed = w.run(&["list", name, "--json"]);
            if listed.err.contains("nothing was said in it") {
                continue;
            }
            let listed: Vec<Value> = listed.out.lines().map(parsed).collect();
            assert!(
                listed.iter().any(|s| s["id"] == id),
                "{name}: {id} in {listed:?}"
            );
            let exported = w.run(&["export", name, "-o", "-"]);
            let mut exported = exported.out.lines().skip(1).map(parsed);
            assert!(exported.any(|s| s["session"]["id"] == id), "{name}: {id}");
        }
    }
    assert!(compared > 60, "{compared}");
}

#[test]
fn a_folder_that_is_a_session_is_listed_from_anywhere() {
    let w = World::new();
    let from = fixtures().join("1.1/project");
    crate::world::copy(&from, &w.root.join("elsewhere"));
    let threads = w.root.join("elsewhere/.agent/threads");
    let thread = fs::read_dir(&threads).unwrap().next().unwrap().unwrap();
    let path = thread.path();
    let listed = json(&w.ok(&["list", path.to_str().unwrap(), "--json"]));
    assert_eq!(listed["source"]["path"], path.to_str().unwrap());
    // By its name alone, too, from the folder that it is in.
    let mut command = w.command(&[
        "list",
        path.file_name().unwrap().to_str().unwrap(),
        "--json",
    ]);
    let output = command.current_dir(&threads).output().unwrap();
    let again = json(std::str::from_utf8(&output.stdout).unwrap());
    assert_eq!(again["id"], listed["id"]);
}

#[test]
fn what_is_no_session_is_said() {
    let w = World::new();
    fs::write(w.project.join("notes.txt"), "notes").unwrap();
    let answer = w.run(&["list", "notes.txt"]);
    assert_eq!(answer.code, 1, "{answer:?}");
    assert!(
        answer
            .err
            .contains("notes.txt` is no session that can be read"),
        "{answer:?}"
    );
}
