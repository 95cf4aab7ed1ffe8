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

#[test]
fn a_long_line_of_entries() {
    const LEN: usize = if cfg!(debug_assertions) {
        200_000
    } else {
        1_000_000
    };
    let w = world();
    let mut text = format!("{HEADER}\n");
    for n in 0..LEN {
        let parent = n
            .checked_sub(1)
            .map_or("null".to_owned(), |p| format!("\"{p:x}\""));
        writeln!(
            text,
            r#"{{"type":"message","id":"{n:x}","parentId":{parent},"timestamp":"2025-01-01T00:00:01.000Z","message":{{"role":"user","content":"x"}}}}"#
        )
        .unwrap();
    }
    let path = w.put("s.jsonl", &text);
    let mut s = w.open(&path);
    assert_eq!(s.branch_path(None).len(), LEN);
    assert_eq!(s.tree().walk().count(), LEN);
    assert_eq!(s.build_session_context().messages.len(), LEN);
    user(&mut s, "more");
    s.create_branched_session(&format!("{:x}", LEN - 1))
        .unwrap();
    assert_eq!(s.entries().len(), LEN);
}
