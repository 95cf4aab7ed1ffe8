//! Moving in the tree.

use super::world::{assistant, messages, user, world};
use rethread_formats::pi::SessionEntry;

#[test]
fn there_is_no_way_to_an_entry_that_is_not_there() {
    let mut s = world().memory();
    user(&mut s, "a");
    assert!(s.branch_path(Some("nobody")).is_empty());
}

#[test]
fn children_come_by_time_and_roots_by_place() {
    let w = world();
    let text = messages(&[
        ("a", ""),
        ("late", "a"),
        ("early", "a"),
        ("own", "own"),
        ("lost", "x"),
    ])
    .replace(
        r#""id":"late","parentId":"a","timestamp":"2025-01-01T00:00:01"#,
        r#""id":"late","parentId":"a","timestamp":"2025-01-01T00:00:09"#,
    );
    let s = w.open(&w.put("s.jsonl", &text));
    let tree = s.tree();
    assert_eq!(tree.node(0).unwrap().children, [2, 1]);
    assert_eq!(tree.roots(), [0, 3, 4]);
    let children = s.children("a").into_iter();
    let children: Vec<_> = children.map(SessionEntry::id).collect();
    assert_eq!(children, ["late", "early"], "in the order of the file");
}

#[test]
fn moving_the_leaf_writes_nothing() {
    let w = world();
    let mut s = w.create();
    let a = user(&mut s, "a");
    let b = user(&mut s, "b");
    s.branch(&a).unwrap();
    assert_eq!(s.leaf_id(), Some(a.as_str()));
    assert_eq!(s.entries().len(), 2);
    assert_eq!(
        w.open(s.session_file().unwrap()).leaf_id(),
        Some(b.as_str())
    );
    let c = user(&mut s, "c");
    assert_eq!(s.entry(&c).unwrap().parent_id(), Some(a.as_str()));
    assert_eq!(
        w.open(s.session_file().unwrap()).leaf_id(),
        Some(c.as_str())
    );
}

#[test]
fn after_a_reset_the_next_entry_is_a_root() {
    let mut s = world().memory();
    user(&mut s, "a");
    s.reset_leaf();
    assert_eq!(s.leaf_id(), None);
    assert!(s.leaf_entry().is_none());
    user(&mut s, "b");
    assert_eq!(s.tree().roots(), [0, 1]);
}

#[test]
fn a_summary_of_the_branch_left_names_the_leaf_it_comes_from() {
    let mut s = world().memory();
    let a = user(&mut s, "a");
    let b = assistant(&mut s, "b");
    let id = s
        .branch_with_summary(Some(&a), "S", Some(b"{\"d\":1}"), None)
        .unwrap();
    let entry = s.entry(&id).unwrap();
    assert_eq!(entry.parent_id(), Some(a.as_str()));
    assert_eq!(
        entry.field("fromId").unwrap(),
        format!("\"{b}\"").as_bytes()
    );
    assert_eq!(entry.field("details").unwrap(), b"{\"d\":1}");
    assert_eq!(s.leaf_id(), Some(id.as_str()));
    s.reset_leaf();
    let id = s.branch_with_summary(None, "T", None, None).unwrap();
    let entry = s.entry(&id).unwrap();
    assert_eq!(
        (entry.parent_id(), entry.field("fromId")),
        (None, Some(b"\"root\"".to_vec()))
    );
}
