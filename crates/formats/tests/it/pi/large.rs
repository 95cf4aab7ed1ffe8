//! Sessions that are long: nothing recurses, and nothing takes the square of their length.

use std::fmt::Write as _;

use super::world::{HEADER, user, world};

#[test]
fn ten_thousand_entries_deep() {
    let mut s = world().memory();
    for n in 0..10_000 {
        user(&mut s, &n.to_string());
    }
    assert_eq!(s.branch_path(None).len(), 10_000);
    assert_eq!(s.tree().nodes()[9_999].depth, 9_999);
    assert_eq!(s.build_session_context().messages.len(), 10_000);
}

/// A session of so many messages; `parent` says which entry each hangs from.
fn shaped(len: usize, parent: impl Fn(usize) -> Option<usize>) -> String {
    let mut text = format!("{HEADER}\n");
    for n in 0..len {
        let parent = parent(n).map_or("null".to_owned(), |p| format!("\"{p:x}\""));
        writeln!(
            text,
            r#"{{"type":"message","id":"{n:x}","parentId":{parent},"timestamp":"2025-01-01T00:00:01.000Z","message":{{"role":"user","content":"x"}}}}"#
        )
        .unwrap();
    }
    text
}

#[test]
fn a_million_entries_in_a_line() {
    const LEN: usize = 1_000_000;
    let w = world();
    let path = w.put("s.jsonl", &shaped(LEN, |n| n.checked_sub(1)));
    let s = w.open(&path);
    assert_eq!(s.tree().walk().count(), LEN);
    assert_eq!(s.build_session_context().messages.len(), LEN);
}

#[test]
fn a_long_branch_as_a_session_of_its_own() {
    const LEN: usize = 50_000;
    let w = world();
    let path = w.put("s.jsonl", &shaped(LEN, |n| n.checked_sub(1)));
    let mut s = w.open(&path);
    user(&mut s, "more");
    s.create_branched_session(&format!("{:x}", LEN - 1))
        .unwrap();
    assert_eq!(s.entries().len(), LEN);
}

#[test]
fn a_comb_of_entries() {
    const LEN: usize = 100_000;
    let w = world();
    // Every other entry is a branch of its own beside the long one.
    let comb = shaped(LEN, |n| n.checked_sub(2 - n % 2));
    let s = w.open(&w.put("s.jsonl", &comb));
    let tree = s.tree();
    assert_eq!(tree.walk().count(), LEN);
    let deepest = tree.nodes().iter().map(|node| node.depth).max();
    assert_eq!(deepest, Some(LEN / 2));
    assert_eq!(s.build_session_context().messages.len(), LEN / 2 + 1);
}

#[test]
fn a_fan_of_entries() {
    const LEN: usize = 100_000;
    let w = world();
    let fan = shaped(LEN, |n| (n > 0).then_some(0));
    let s = w.open(&w.put("s.jsonl", &fan));
    assert_eq!(s.tree().node(0).unwrap().children.len(), LEN - 1);
    assert_eq!(s.children("0").len(), LEN - 1);
    assert_eq!(s.build_session_context().messages.len(), 2);
}
