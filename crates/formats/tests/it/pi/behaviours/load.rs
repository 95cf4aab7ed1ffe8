//! Reading files: 6 behaviours. A file that is no session is an error here, where upstream gives
//! no entries.

use rethread_formats::pi::{SessionEntry, SessionManager};

use crate::pi::world::{HEADER, messages, read, world};

#[test]
fn a_file_that_is_not_there_has_no_entries() {
    let w = world();
    let path = w.path("gone.jsonl");
    assert!(w.open(&path).entries().is_empty());
    assert!(!path.exists(), "looking makes no file");
}

#[test]
fn an_empty_file_has_no_entries() {
    let w = world();
    assert!(w.open(&w.put("s.jsonl", "")).entries().is_empty());
}

fn assert_refused(text: &str) {
    let w = world();
    let path = w.put("s.jsonl", text);
    let error = SessionManager::open(&w.host, &path, None).unwrap_err();
    assert_eq!(error.kind(), "not_a_session");
    assert_eq!(read(&path), text);
}

#[test]
fn a_file_without_a_header_is_refused() {
    assert_refused(&messages(&[("a", "")]).replace(HEADER, ""));
}

#[test]
fn a_file_that_is_not_json_is_refused() {
    assert_refused("not json\n");
}

#[test]
fn a_valid_file_gives_its_header_and_entries() {
    let w = world();
    let s = w.open(&w.put("s.jsonl", &messages(&[("a", "")])));
    assert_eq!(s.header().raw(), HEADER.as_bytes());
    let ids: Vec<_> = s.entries().iter().map(SessionEntry::id).collect();
    assert_eq!(ids, ["a"]);
}

#[test]
fn malformed_lines_are_passed_over_and_the_others_read() {
    let w = world();
    let text = messages(&[("a", ""), ("b", "a")]);
    let mut lines: Vec<_> = text.lines().collect();
    lines.insert(2, "not json");
    let s = w.open(&w.put("s.jsonl", &lines.join("\n")));
    let ids: Vec<_> = s.entries().iter().map(SessionEntry::id).collect();
    assert_eq!(ids, ["a", "b"]);
}
