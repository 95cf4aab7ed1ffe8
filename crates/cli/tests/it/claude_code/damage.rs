//! Damage, broken links, and what is no session.

use std::fs;

use insta::assert_snapshot;
use rethread_formats::claude_code::FORMAT;
use rethread_formats::{Source, Want};
use rethread_model::{Severity, State};

use super::{fixtures, id, lay_out, read, thread, transcripts};
use crate::world::{World, json};

#[test]
fn damage_is_named_and_the_rest_is_read() {
    let conversation = read("2.1/damaged", ".jsonl");
    let notes: Vec<String> = conversation
        .notes
        .iter()
        .map(|n| format!("{}: {}", n.line.unwrap_or(0), n.message))
        .collect();
    assert_snapshot!(notes.join("\n"));
    assert_snapshot!(thread(&conversation).join("\n"));
    let w = World::new();
    lay_out(&w, &["2.1/damaged"]);
    let answer = w.run(&["show", "02b2c3d4-0000-4000-8000-000000000001"]);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert!(
        answer.out.contains("Fourth, on the same line."),
        "{answer:?}"
    );
}

#[test]
fn broken_links_are_named_and_followed_in_the_order_of_the_file() {
    let conversation = read("2.1/links", ".jsonl");
    let notes: Vec<String> = conversation
        .notes
        .iter()
        .map(|n| {
            let word = match n.severity {
                Severity::Damage => "damage",
                Severity::Remark => "remark",
                Severity::Quiet | Severity::Detail => "quiet",
            };
            format!("{word} {}: {}", n.line.unwrap_or(0), n.message)
        })
        .collect();
    assert_snapshot!(notes.join("\n"));
    let session = &conversation.session;
    let parent = |number: u32| {
        let ix = session.find(&id("01b2c3d4", number)).unwrap();
        session.entry(ix).parent.map(|p| session.id(p).to_owned())
    };
    assert_eq!(
        parent(21),
        Some(id("01b2c3d4", 22)),
        "a parent that comes later"
    );
    assert_eq!(parent(31), None, "its own parent");
    assert_eq!(parent(24), Some(id("01b2c3d4", 23)), "the circle is open");
    assert_eq!(parent(23), None);
    assert_eq!(parent(40), Some(id("01b2c3d4", 31)), "the one before it");
}

#[test]
fn what_is_no_session_is_not_taken_for_one() {
    let w = World::new();
    lay_out(&w, &["2.1/no-session"]);
    let listed = w.run(&["list", "--json"]);
    assert_eq!((listed.code, listed.out.as_str()), (1, ""), "{listed:?}");
    let note = "an empty file; the session was never written";
    assert_eq!(json(&listed.err)["note"]["message"], note);
    for file in ["history.jsonl", "qwen.jsonl", "pointer.jsonl"] {
        let path = fixtures().join("2.1/no-session").join(file);
        assert!(FORMAT.store().at_path(&path).is_empty(), "{file}");
    }
    let empty = transcripts("2.1/no-session").remove(0);
    let source = Source::new(FORMAT, "x".to_owned(), empty);
    let summary = FORMAT.reader().summarize(&source, Want::default());
    assert_eq!(summary.state, State::Empty);
}

/// Credentials and settings lie beside the sessions. Nobody opens them: they may not even be there
/// to be opened.
#[cfg(unix)]
#[test]
fn other_files_of_the_client_are_never_opened() {
    use std::os::unix::fs::PermissionsExt as _;
    let w = World::new();
    lay_out(&w, &["2.1/compaction"]);
    for name in [
        ".claude.json",
        ".claude/.credentials.json",
        ".claude/history.jsonl",
    ] {
        let path = w.home.join(name);
        fs::write(&path, "secret").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    }
    let Some(strace) = crate::world::strace() else {
        return;
    };
    let log = w.root.join("calls");
    let output = std::process::Command::new(strace)
        .args(["-f", "-e", "trace=open,openat,openat2", "-o"])
        .arg(&log)
        .arg(env!("CARGO_BIN_EXE_rethread"))
        .args(["list"])
        .current_dir(&w.project)
        .env("HOME", &w.home)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let calls = fs::read_to_string(log).unwrap();
    assert!(calls.contains("cccc.jsonl"), "{calls}");
    for name in [".claude.json", ".credentials.json", "history.jsonl"] {
        assert!(!calls.contains(name), "{name} was opened");
    }
}
