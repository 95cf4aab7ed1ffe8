//! Sessions without ids: 2 behaviours.

use rethread_formats::pi::SessionEntry;

use crate::pi::world::{messages, read, world};

const V1: &str = r#"{"type":"session","id":"s","timestamp":"2025-12-01T00:00:00.000Z","cwd":"/x"}
{"type":"message","timestamp":"2025-12-01T00:00:01.000Z","message":{"role":"user","content":"a"}}
{"type":"message","timestamp":"2025-12-01T00:00:02.000Z","message":{"role":"user","content":"b"}}
"#;

#[test]
fn entries_of_version_1_get_ids_and_parents() {
    let w = world();
    let s = w.open(&w.put("s.jsonl", V1));
    assert_eq!(s.header().version(), 3);
    let [a, b] = s.entries() else { panic!() };
    assert_ne!(a.id(), b.id());
    assert!(!a.id().is_empty() && !b.id().is_empty());
    assert_eq!((a.parent_id(), b.parent_id()), (None, Some(a.id())));
}

#[test]
fn what_is_of_today_is_not_migrated_again() {
    let w = world();
    let text = messages(&[("a", ""), ("b", "a")]);
    let path = w.put("s.jsonl", &text);
    let mut s = w.open(&path);
    let ids: Vec<_> = s.entries().iter().map(SessionEntry::id).collect();
    assert_eq!(ids, ["a", "b"]);
    assert_eq!(s.migrate().unwrap(), None);
    assert_eq!(read(&path), text);
}
