//! Sessions of older versions.

use rethread_formats::pi::SessionEntry;
use rethread_formats::pi::SessionManager;

use super::world::{read, said, user, world};

const V1: &str = concat!(
    r#"{"type":"session","id":"s","timestamp":"2025-12-01T00:00:00.000Z","cwd":"/x","provider":"p","modelId":"m","thinkingLevel":"low"}"#,
    "\n",
    r#"{"type":"message","timestamp":"2025-12-01T00:00:01.000Z","message":{"role":"user","content":"a"}}"#,
    "\n",
    r#"{"type":"message","timestamp":"2025-12-01T00:00:02.000Z","message":{"role":"hookMessage","content":"b"}}"#,
    "\n",
    "torn and lost\n\n",
    r#"{"type":"compaction","timestamp":"2025-12-01T00:00:03.000Z","summary":"S","firstKeptEntryIndex":2,"tokensBefore":5}"#,
    "\n",
);

/// The lines that the first version becomes, with these ids.
fn migrated(ids: &[&str]) -> String {
    let [a, b, c] = ids else { panic!("three ids") };
    format!(
        concat!(
            r#"{{"type":"session","id":"s","timestamp":"2025-12-01T00:00:00.000Z","cwd":"/x","provider":"p","modelId":"m","thinkingLevel":"low","version":3}}"#,
            "\n",
            r#"{{"type":"message","timestamp":"2025-12-01T00:00:01.000Z","message":{{"role":"user","content":"a"}},"id":"{a}","parentId":null}}"#,
            "\n",
            r#"{{"type":"message","timestamp":"2025-12-01T00:00:02.000Z","message":{{"role":"custom","content":"b"}},"id":"{b}","parentId":"{a}"}}"#,
            "\n",
            "torn and lost\n\n",
            r#"{{"type":"compaction","timestamp":"2025-12-01T00:00:03.000Z","summary":"S","tokensBefore":5,"id":"{c}","parentId":"{b}","firstKeptEntryId":"{b}"}}"#,
            "\n",
        ),
        a = a,
        b = b,
        c = c
    )
}

fn ids(s: &SessionManager) -> Vec<&str> {
    s.entries().iter().map(SessionEntry::id).collect()
}

#[test]
fn version_1_gets_ids_and_parents_in_memory_alone() {
    let w = world();
    let path = w.put("s.jsonl", V1);
    let s = w.open(&path);
    assert_eq!(said(&s), ["compactionSummary: S", "custom: b"]);
    assert_eq!(s.header().version(), 3);
    let ids = ids(&s);
    assert_eq!(s.entries()[1].parent_id(), Some(ids[0]));
    assert!(
        ids.iter()
            .all(|id| id.len() == 8 && id.bytes().all(|b| b.is_ascii_hexdigit()))
    );
    assert_eq!(read(&path), V1, "opening writes nothing");
    assert!(!w.path("s.jsonl.bak").exists());
}

#[test]
fn the_first_append_writes_an_old_file_anew_and_keeps_it() {
    let w = world();
    let path = w.put("s.jsonl", V1);
    let mut s = w.open(&path);
    let old: Vec<String> = ids(&s).into_iter().map(str::to_owned).collect();
    let old: Vec<&str> = old.iter().map(String::as_str).collect();
    user(&mut s, "c");
    let text = read(&path);
    assert!(text.starts_with(&migrated(&old)), "{text}");
    assert_eq!(text.lines().count(), 7);
    assert_eq!(read(&w.path("s.jsonl.bak")), V1);
    user(&mut s, "d");
    assert!(!w.path("s.jsonl.bak.1").exists(), "it is written anew once");
    assert_eq!(w.open(&path).entries(), s.entries());
}

#[test]
fn migrating_is_done_once() {
    let w = world();
    let path = w.put("s.jsonl", V1);
    let mut s = w.open(&path);
    assert_eq!(s.migrate().unwrap(), Some(w.path("s.jsonl.bak")));
    let text = read(&path);
    assert_eq!(s.migrate().unwrap(), None);
    let mut again = w.open(&path);
    assert_eq!(ids(&again), ids(&s), "ids stay");
    assert_eq!(again.migrate().unwrap(), None);
    assert_eq!(read(&path), text);
}

#[test]
fn an_older_copy_is_not_overwritten() {
    let w = world();
    w.put("s.jsonl.bak", "older");
    let path = w.put("s.jsonl", V1);
    assert_eq!(
        w.open(&path).migrate().unwrap(),
        Some(w.path("s.jsonl.bak.1"))
    );
    assert_eq!(read(&w.path("s.jsonl.bak")), "older");
    assert_eq!(read(&w.path("s.jsonl.bak.1")), V1);
}

#[test]
fn a_file_that_grew_meanwhile_is_not_written_anew() {
    let w = world();
    let path = w.put("s.jsonl", V1);
    let mut s = w.open(&path);
    let more = format!("{V1}{{\"type\":\"custom\"}}\n");
    w.put("s.jsonl", &more);
    assert!(s.migrate().is_err());
    assert_eq!(read(&path), more);
    assert!(!w.path("s.jsonl.bak").exists());
}

#[test]
fn version_2_keeps_its_ids() {
    let w = world();
    let v2 = concat!(
        r#"{"type":"session","version":2,"id":"s","timestamp":"2026-01-03T00:00:00.000Z","cwd":"/x"}"#,
        "\r\n",
        r#"{"type":"message","id":"aaaa1111","parentId":null,"timestamp":"2026-01-03T00:00:01.000Z","message":{"role":"hookMessage","content":"b","x":1.0}}"#,
        "\r\n",
    );
    let path = w.put("s.jsonl", v2);
    let mut s = w.open(&path);
    assert_eq!(ids(&s), ["aaaa1111"]);
    s.migrate().unwrap();
    let expected = v2
        .replace("\"version\":2", "\"version\":3")
        .replace("hookMessage", "custom");
    assert_eq!(read(&path), expected);
}

#[test]
fn a_fork_of_version_1_is_of_todays() {
    let w = world();
    let path = w.put("s.jsonl", V1);
    let fork = SessionManager::fork_from(&w.host, &path, "/q", None).unwrap();
    assert_eq!(said(&fork), ["compactionSummary: S", "custom: b"]);
    let text = read(fork.session_file().unwrap());
    let body = migrated(&ids(&fork)).replace("torn and lost\n\n", "");
    assert_eq!(
        text.split_once('\n').unwrap().1,
        body.split_once('\n').unwrap().1
    );
    assert_eq!(read(&path), V1);
}

#[test]
fn places_count_the_header_and_forward_places_keep_nothing() {
    let w = world();
    for (place, is_there) in [
        ("0", false),
        ("1", true),
        ("2", true),
        ("3", false),
        ("\"1\"", false),
    ] {
        let text = format!(
            "{{\"type\":\"session\",\"id\":\"s\"}}\n{{\"type\":\"message\",\"message\":{{}}}}\n{{\"type\":\"compaction\",\"firstKeptEntryIndex\":{place}}}\n"
        );
        let s = w.open(&w.put("s.jsonl", &text));
        let entry = &s.entries()[1];
        assert_eq!(
            entry.field("firstKeptEntryId").is_some(),
            is_there,
            "{place}"
        );
    }
}
