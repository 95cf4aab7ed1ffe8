//! `restore`: sessions of an export back in their places.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::export::fixture;
use crate::world::{World, copy, json, tree};

/// A home with sessions of several agents, some with sub-agents and forks.
fn home() -> World {
    let w = World::new();
    let claude = w.home.join(".claude/projects/-home-me-shop");
    copy(&fixture("claude-code/2.1/everything"), &claude);
    copy(&fixture("claude-code/2.0/agents"), &claude);
    // Not every folder is named after the one that its sessions name.
    let elsewhere = w.home.join(".claude/projects/-home-me");
    copy(&fixture("claude-code/2.1/compaction"), &elsewhere);
    for case in ["0.166/sub-agents", "0.166/forks", "0.166/packed"] {
        copy(&fixture("codex").join(case), &w.home.join(".codex"));
    }
    let archived = fixture("codex/0.140/rolled-back");
    copy(&archived, &w.home.join(".codex"));
    copy(&fixture("gemini/0.61/everything"), &w.home.join(".gemini"));
    let made = json(&w.ok(&["new", "--format", "pi", "--json"]));
    w.ok(&[
        "append",
        made["path"].as_str().unwrap(),
        "The list is slow.",
    ]);
    let moved = w.home.join(".pi/agent/sessions/--home-me--");
    copy(&fixture("pi/3/everything"), &moved);
    let id = w.thread("A thread");
    w.ok(&["append", &id, "Hello"]);
    w
}

/// The files of sessions below a folder; not those that an agent keeps beside them.
fn session_files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let names = [
        "session_index.jsonl",
        "projects.json",
        ".project_root",
        "logs.json",
        "conversions.jsonl",
    ];
    let is_session = |path: &Path| {
        let name = path.file_name().unwrap().to_string_lossy();
        let is_note = path.to_string_lossy().contains(".local/share/rethread");
        !names.contains(&&*name) && !name.starts_with("checkpoint-") && !is_note
    };
    let files = tree(folder).into_iter();
    files.filter(|(path, _)| is_session(path)).collect()
}

fn export(w: &World) -> String {
    let file = w.root.join("backup.ndjson.zst");
    let file = file.to_str().unwrap().to_owned();
    let done = w.run(&["export", "--aw", "-o", &file]);
    assert!([0, 3].contains(&done.code), "{done:?}");
    file
}

fn lose_everything(w: &World) {
    for store in [".claude", ".codex", ".gemini", ".pi"] {
        fs::remove_dir_all(w.home.join(store)).unwrap();
    }
    fs::remove_dir_all(w.project.join(".agent/threads")).unwrap();
}

#[test]
fn sessions_of_all_agents_come_back_to_their_places_byte_for_byte() {
    let w = home();
    let before = session_files(&w.root);
    let file = export(&w);
    lose_everything(&w);
    let lost = tree(&w.root);
    let dry = w.run(&["restore", &file, "--dry-run"]);
    assert!([0, 3].contains(&dry.code), "{dry:?}");
    assert!(dry.out.contains("would come back"), "{dry:?}");
    assert!(tree(&w.root) == lost, "a dry run writes nothing");
    let done = w.run(&["restore", &file]);
    assert!([0, 3].contains(&done.code), "{done:?}");
    assert!(!done.err.contains("error"), "{done:?}");
    let mut after = session_files(&w.root);
    after.remove(Path::new(&file));
    for (path, bytes) in &before {
        let back = after.get(path);
        assert!(back.is_some(), "{} is missing: {done:?}", path.display());
        assert!(back == Some(bytes), "{} differs", path.display());
    }
    for path in after.keys() {
        assert!(before.contains_key(path), "{} is new", path.display());
    }
    // What is there is left alone, and said to be there.
    let there = tree(&w.root);
    for args in [&["restore", &file][..], &["restore", &file, "--dry-run"]] {
        let again = w.run(args);
        assert!([0, 3].contains(&again.code), "{again:?}");
        assert!(again.err.contains("already there"), "{again:?}");
        assert!(!again.err.contains("not restored"), "{again:?}");
        assert!(tree(&w.root) == there);
    }
}

#[test]
fn what_went_on_since_stays_as_it_is() {
    let w = World::new();
    let made = json(&w.ok(&["new", "--format", "pi", "--json"]));
    let path = made["path"].as_str().unwrap();
    w.ok(&["append", path, "The list is slow."]);
    let file = export(&w);
    w.ok(&["append", path, "It is fast now."]);
    let before = tree(&w.root);
    for args in [
        &["restore", &file][..],
        &["restore", &file, "--dry-run"],
        &["restore", &file, "--strict"],
    ] {
        let kept = w.run(args);
        assert_eq!(kept.code, 1, "{kept:?}");
        assert!(kept.err.contains("is there with other content"), "{kept:?}");
        assert!(kept.err.contains(path), "{kept:?}");
        assert!(tree(&w.root) == before, "{args:?}");
    }
}

#[test]
fn one_session_elsewhere_and_for_scripts() {
    let w = home();
    let file = export(&w);
    let one = format!("{file}#a1b2c3d4-0000-4000-8000-00000000aaaa");
    let before = tree(&w.home);
    let done = w.run(&["restore", &one, "-o", "../looked", "--json"]);
    assert!([0, 3].contains(&done.code), "{done:?}");
    let told = json(&done.out);
    assert_eq!(told["outcome"], "restored");
    assert_eq!(told["agent"], "claude-code");
    let path = PathBuf::from(told["path"].as_str().unwrap());
    let looked = w.root.join("looked/claude-code/projects");
    assert!(path.canonicalize().unwrap().starts_with(looked), "{path:?}");
    assert!(tree(&w.home) == before);
}

#[test]
fn what_is_not_whole_does_not_come_back() {
    let w = World::new();
    let made = json(&w.ok(&["new", "--format", "pi", "--json"]));
    let path = made["path"].as_str().unwrap();
    w.ok(&["append", path, "The list is slow."]);
    w.ok(&["export", path, "-o", "whole.ndjson"]);
    w.ok(&["export", path, "-o", "lean.ndjson", "--lean"]);
    fs::remove_dir_all(w.home.join(".pi")).unwrap();
    let text = fs::read_to_string(w.project.join("whole.ndjson")).unwrap();
    let key = r#""sha256":""#;
    let at = text.find(key).unwrap() + key.len();
    let other = if &text[at..=at] == "0" { "1" } else { "0" };
    let changed = format!("{}{other}{}", &text[..at], &text[at + 1..]);
    fs::write(w.project.join("changed.ndjson"), changed).unwrap();
    let before = tree(&w.root);
    let damaged = w.run(&["restore", "changed.ndjson"]);
    assert_eq!(
        damaged.code, 1,
        "our verification is no wrong usage: {damaged:?}"
    );
    assert!(
        damaged.err.contains("what travelled along is damaged"),
        "{damaged:?}"
    );
    let lean = w.run(&["restore", "lean.ndjson"]);
    assert_eq!(lean.code, 1, "{lean:?}");
    assert!(lean.err.contains("is not in the export"), "{lean:?}");
    assert!(lean.err.contains("rethread convert"), "{lean:?}");
    for name in ["missing.ndjson", "."] {
        let none = w.run(&["restore", name]);
        assert_eq!(none.code, 1, "{none:?}");
        assert!(none.err.contains("and no export"), "{none:?}");
    }
    assert!(tree(&w.root) == before);
    w.ok(&["restore", "whole.ndjson"]);
    let own = w.run(&["restore", path]);
    assert_eq!(own.code, 2, "{own:?}");
    assert!(own.err.contains("no export"), "{own:?}");
}
