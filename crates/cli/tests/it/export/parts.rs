//! `show --to ndjson` of a part of a session: a session of its own, with all that the part says.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{assert_header_fits, fixture, parsed};
use crate::world::{World, tree};

/// Folders with sessions in which much happens.
const SESSIONS: [&str; 5] = [
    "claude-code/2.1/everything",
    "claude-code/2.1/two-branches",
    "codex/0.140/everything/sessions",
    "gemini/0.61/everything/tmp/shop/chats",
    "pi/3/everything",
];

#[test]
fn a_part_of_a_session_reads_as_the_part_does() {
    let w = World::new();
    let mut compared = 0;
    for (path, _) in SESSIONS.iter().flat_map(|name| tree(&fixture(name))) {
        if path.extension().is_some_and(|e| e == "jsonl") {
            for part in [["--last", "4"], ["--branch", "#2"]] {
                compared += u64::from(is_compared(&w, &path, &part));
            }
        }
    }
    assert!(compared > 10, "{compared}");
}

/// Whether there is such a part; then it reads the same from its export.
fn is_compared(w: &World, path: &Path, part: &[&str]) -> bool {
    let path = path.to_str().unwrap();
    let shown = w.run(&[&["show", path, "--to", "ndjson"], part].concat());
    if ![0, 3].contains(&shown.code) {
        return false;
    }
    let lines: Vec<Value> = shown.out.lines().map(parsed).collect();
    assert_header_fits(&lines);
    fs::write(w.project.join("part.ndjson"), &shown.out).unwrap();
    let checked = w.run(&["check", "part.ndjson"]);
    assert_eq!(checked.code, 0, "{path} {part:?}: {checked:?}");
    let messages = |args: &[&str]| {
        let shown = w.run(&[&["show", "--json"], args].concat());
        // What a compaction left is in the original files alone.
        let text = shown.out.replace(r#""replacement_messages":2,"#, "");
        parsed(&text)["messages"].clone()
    };
    let one = messages(&[&[path], part].concat());
    let other = messages(&["part.ndjson", "--all-branches"]);
    assert_eq!(one, other, "{path} {part:?}");
    true
}

#[test]
fn a_part_has_thoughts_and_pictures_and_not_the_files() {
    let w = World::new();
    let folder = fixture("claude-code/2.1/everything");
    let session = folder.join("a1b2c3d4-0000-4000-8000-00000000aaaa.jsonl");
    let session = session.to_str().unwrap();
    let shown = w.run(&["show", session, "--to", "ndjson", "--last", "40"]);
    assert!([0, 3].contains(&shown.code), "{shown:?}");
    for held in [r#""type":"thinking""#, r#""type":"image""#] {
        assert!(shown.out.contains(held), "{}", shown.out);
    }
    assert!(!shown.out.contains("zstd_base64"), "{}", shown.out);
}
