//! One branch as a session of its own.

use super::world::{assistant, read, said, session, user, world};

#[test]
fn it_is_written_at_once_and_the_old_file_stays() {
    let w = world();
    let mut s = w.create();
    let a = user(&mut s, "a");
    let b = assistant(&mut s, "b");
    user(&mut s, "c");
    let old = s.session_file().unwrap().to_owned();
    let before = read(&old);
    let new = s.create_branched_session(&b).unwrap().unwrap().to_owned();
    assert_eq!(read(&new).lines().count(), 3);
    assert_eq!(s.header().parent_session(), old.to_str());
    assert!(read(&new).contains(&a));
    user(&mut s, "d");
    assert_eq!(read(&new).lines().count(), 4);
    assert_eq!(read(&old), before);
}

#[test]
fn without_a_message_it_is_written_later() {
    let w = world();
    let mut s = w.create();
    let level = s.append_thinking_level_change("low").unwrap();
    user(&mut s, "a");
    let new = s
        .create_branched_session(&level)
        .unwrap()
        .unwrap()
        .to_owned();
    assert!(!new.exists());
    user(&mut s, "b");
    assert_eq!(read(&new).lines().count(), 3);
}

#[test]
fn labels_leave_no_gap_and_keep_their_times() {
    let w = world();
    let lines = [
        r#"{"type":"message","id":"a","parentId":null,"timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"a"}}"#,
        r#"{"type":"label","id":"l","parentId":"a","timestamp":"2025-01-01T00:00:02.000Z","targetId":"a","label":"mark"}"#,
        r#"{"type":"label","id":"m","parentId":"l","timestamp":"2025-01-01T00:00:02.000Z","targetId":"x"}"#,
        r#"{"type":"message","id":"b","parentId":"m","timestamp":"2025-01-01T00:00:03.000Z","odd":1e0,"message":{"role":"user","content":"b"}}"#,
        r#"{"type":"compaction","id":"c","parentId":"b","timestamp":"2025-01-01T00:00:04.000Z","summary":"S","firstKeptEntryId":"l","tokensBefore":1}"#,
    ];
    let mut s = w.open(&w.put("s.jsonl", &session(&lines)));
    let new = s.create_branched_session("c").unwrap().unwrap().to_owned();
    let text = read(&new);
    let label = s.leaf_id().unwrap();
    let expected = [
        lines[0].to_owned(),
        lines[3].replace(r#""parentId":"m""#, r#""parentId":"a""#),
        lines[4].replace(r#""firstKeptEntryId":"l""#, r#""firstKeptEntryId":"b""#),
        format!(
            r#"{{"type":"label","id":"{label}","parentId":"c","timestamp":"2025-01-01T00:00:02.000Z","targetId":"a","label":"mark"}}"#
        ),
    ];
    assert_eq!(text.split_once('\n').unwrap().1, expected.join("\n") + "\n");
    assert_eq!(said(&s), ["compactionSummary: S", "user: b"]);
}
