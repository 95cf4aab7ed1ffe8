//! What earlier versions converted still comes back, byte for byte.

use std::fs;
use std::path::{Path, PathBuf};

use super::files_below;
use super::matrix::fixtures;
use crate::world::{World, json};

/// The one file below a folder.
fn only(folder: &Path) -> PathBuf {
    let mut files = files_below(folder);
    assert_eq!(files.len(), 1, "{files:?}");
    files.remove(0)
}

/// The session that an earlier version made, in a world of its own.
fn made(w: &World, case: &str, format: &str) -> PathBuf {
    let made = only(&fixtures().join("converted/0.1").join(case).join(format));
    let path = w.root.join(made.file_name().unwrap());
    fs::copy(made, &path).unwrap();
    path
}

/// Converts a session back; gives its file, and what was said about it.
fn back(w: &World, session: &Path, to: &str) -> (PathBuf, String) {
    let folder = w.root.join("back");
    let _ = fs::remove_dir_all(&folder);
    let answer = w.run(&[
        "convert",
        session.to_str().unwrap(),
        "--to",
        to,
        "-o",
        folder.to_str().unwrap(),
        "--json",
    ]);
    assert_eq!(answer.code, 0, "{answer:?}");
    let path = json(&answer.out)["path"].as_str().unwrap().into();
    (path, answer.err)
}

fn original(case: &str) -> Vec<u8> {
    let folder = match case {
        "everything" => "codex/0.140/everything/sessions".to_owned(),
        _ => format!("claude-code/2.1/{case}"),
    };
    fs::read(only(&fixtures().join(folder))).unwrap()
}

const CASES: [(&str, &str, &str); 7] = [
    ("told", "pi", "claude-code"),
    ("told", "codex", "claude-code"),
    ("told", "gemini", "claude-code"),
    ("told", "ndjson", "claude-code"),
    ("kept", "pi", "claude-code"),
    ("kept", "ndjson", "claude-code"),
    ("everything", "claude-code", "codex"),
];

#[test]
fn it_comes_back_byte_for_byte() {
    for (case, format, home) in CASES {
        let w = World::new();
        let (path, _) = back(&w, &made(&w, case, format), home);
        assert!(fs::read(path).unwrap() == original(case), "{case} {format}");
    }
}

#[test]
fn a_change_comes_back_alone() {
    for format in ["pi", "codex", "gemini", "ndjson"] {
        let w = World::new();
        let there = made(&w, "told", format);
        let (was, now) = ("Two warnings in the cart.", "No warnings in the cart.");
        let text = fs::read_to_string(&there).unwrap();
        fs::write(&there, text.replace(was, now)).unwrap();
        let (path, _) = back(&w, &there, "claude-code");
        let expected = String::from_utf8(original("told")).unwrap();
        assert_eq!(
            fs::read_to_string(path).unwrap(),
            expected.replace(was, now),
            "{format}"
        );
    }
}

#[test]
fn what_was_said_since_comes_behind_it() {
    for format in ["pi", "codex"] {
        let w = World::new();
        let there = made(&w, "told", format);
        w.ok(&["append", there.to_str().unwrap(), "And the cart?"]);
        let (path, _) = back(&w, &there, "claude-code");
        let now = fs::read(path).unwrap();
        let before = original("told");
        assert!(now.starts_with(&before), "{format}");
        let added = String::from_utf8_lossy(&now[before.len()..]).into_owned();
        assert!(added.contains("And the cart?"), "{format}: {added}");
    }
}
