//! Every byte is kept, and what is damaged is read as far as possible.

use std::fs;

use insta::assert_snapshot;
use rethread_formats::gemini::FORMAT;

use super::tokens::assert_tokens;
use super::{HASH, active, assert_lossless, files_below, fixtures, read, session, sessions_below};
use crate::world::World;

#[test]
fn fixtures_are_read_and_saved_byte_for_byte() {
    let found = sessions_below(&fixtures());
    assert_eq!(found.len(), 18, "{found:#?}");
    for path in found {
        assert_lossless(&path);
    }
}

#[test]
fn a_log_cut_at_any_byte_is_read_up_to_there() {
    let w = World::new();
    let path = w.root.join("session-2026-11-14T10-00-7e1c2b3a.jsonl");
    for case in [
        "0.61/rewound",
        "0.61/compressed",
        "0.61/damaged",
        "0.61/crlf-bom",
    ] {
        let whole = fs::read(session(case)).unwrap();
        let header = whole.iter().position(|b| *b == b'}').unwrap();
        for len in header..whole.len() {
            fs::write(&path, &whole[..len]).unwrap();
            if !FORMAT.store().at_path(&path).is_empty() {
                assert_lossless(&path);
            }
        }
    }
}

#[test]
fn a_document_cut_at_any_byte_is_read_up_to_there() {
    let w = World::new();
    let path = w.root.join("session-2025-12-01T09-00-8a8a8a8a.json");
    let folder = fixtures().join("0.20/document/tmp").join(HASH);
    let whole = fs::read(folder.join("chats/session-2025-12-01T08-00-8a8a8a8a.json")).unwrap();
    let mut most = 0;
    for len in 0..whole.len() {
        fs::write(&path, &whole[..len]).unwrap();
        if FORMAT.store().at_path(&path).is_empty() {
            continue;
        }
        let c = assert_lossless(&path);
        let count = c.session.entries().len();
        assert!(count >= most, "cut at {len}");
        assert!(!c.notes.is_empty(), "cut at {len}");
        most = count;
    }
    assert_eq!(most, 5);
}

#[test]
fn damage_is_named_and_the_rest_is_read() {
    let w = World::new();
    for case in [
        "0.61/damaged",
        "0.61/crlf-bom",
        "0.61/no-header",
        "0.20/torn",
    ] {
        let path = session(case);
        let answer = w.run(&["show", path.to_str().unwrap(), "--verbose"]);
        let expected = if case == "0.61/crlf-bom" { 0 } else { 3 };
        assert_eq!(answer.code, expected, "{case}: {answer:?}");
        let root = fixtures().to_str().unwrap().to_owned();
        let err = answer.err.replace(&root, "[FIXTURES]");
        assert_snapshot!(format!("gemini_{}", case.replace(['/', '.'], "_")), err);
    }
    let c = read(&session("0.61/damaged"));
    assert_eq!(active(&c), ["q1", "r1", "q2", "r2", "q3", "r3", "r4"]);
}

#[test]
fn all_sessions_of_the_corpus_are_read() {
    let Some(corpus) = rethread_judges::corpus() else {
        return;
    };
    let mut found = files_below(&corpus.join("gemini"));
    let recorded = fs::read_dir(corpus.join("recorded")).unwrap();
    for folder in recorded.map(|f| f.unwrap().path()) {
        if folder
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with("gemini")
        {
            found.extend(sessions_below(&folder));
        }
    }
    assert!(found.len() > 1, "no sessions under {}", corpus.display());
    let w = World::new();
    for path in found {
        let c = assert_lossless(&path);
        assert!(c.notes.is_empty(), "{}: {:?}", path.display(), c.notes);
        assert!(!c.session.entries().is_empty(), "{}", path.display());
        assert_tokens(&path);
        for to in ["text", "markdown", "unified"] {
            let answer = w.run(&["show", path.to_str().unwrap(), "--to", to]);
            assert_ne!(answer.code, 1, "{answer:?}");
        }
    }
    for stranger in [
        "claude-code",
        "codex",
        "copilot",
        "opencode",
        "pi",
        "agentuse",
        "atsf",
    ] {
        let found = sessions_below(&corpus.join(stranger));
        assert!(found.is_empty(), "{found:#?}");
    }
}
