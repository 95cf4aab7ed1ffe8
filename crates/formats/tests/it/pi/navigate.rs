//! Moving in the tree.

use super::world::{assistant, messages, said, user, world};
use rethread_formats::pi::SessionEntry;

#[test]
fn the_way_is_empty_then_short_then_long() {
    let mut s = world().memory();
    assert!(s.branch_path(None).is_empty());
    let a = user(&mut s, "a");
    assert_eq!(s.branch_path(None).len(), 1);
    let b = assistant(&mut s, "b");
    s.append_thinking_level_change("low").unwrap();
    let ids: Vec<_> = s
        .branch_path(None)
        .iter()
        .map(|e| e.id().to_owned())
        .collect();
    assert_eq!(ids[..2], [a.clone(), b.clone()]);
    assert_eq!(ids.len(), 3);
    let ids: Vec<_> = s
        .branch_path(Some(&b))
        .iter()
        .map(|e| e.id().to_owned())
        .collect();
    assert_eq!(ids, [a, b]);
    assert!(s.branch_path(Some("nobody")).is_empty());
}

#[test]
fn the_tree_of_nothing_and_of_a_line() {
    let mut s = world().memory();
    assert!(s.tree().roots().is_empty());
    for text in ["a", "b", "c"] {
        user(&mut s, text);
    }
    let tree = s.tree();
    assert_eq!(tree.roots(), [0]);
    assert_eq!(
        tree.nodes().iter().map(|n| n.depth).collect::<Vec<_>>(),
        [0, 1, 2]
    );
    assert_eq!(tree.node(1).unwrap().parent, Some(0));
}

#[test]
fn the_tree_with_a_branch() {
    let mut s = world().memory();
    user(&mut s, "a");
    let b = assistant(&mut s, "b");
    user(&mut s, "c");
    s.branch(&b).unwrap();
    user(&mut s, "d");
    let tree = s.tree();
    assert_eq!(tree.node(1).unwrap().children, [2, 3]);
    assert_eq!(
        tree.walk().map(|n| n.entry).collect::<Vec<_>>(),
        [0, 1, 2, 3]
    );
}

#[test]
fn several_branches_at_one_point() {
    let mut s = world().memory();
    let a = user(&mut s, "a");
    for text in ["b", "c", "d"] {
        s.branch(&a).unwrap();
        user(&mut s, text);
    }
    assert_eq!(s.tree().node(0).unwrap().children, [1, 2, 3]);
    assert_eq!(s.children(&a).len(), 3);
}

#[test]
fn branches_of_branches() {
    let mut s = world().memory();
    let a = user(&mut s, "a");
    let b = user(&mut s, "b");
    user(&mut s, "c");
    s.branch(&b).unwrap();
    let d = user(&mut s, "d");
    user(&mut s, "e");
    s.branch(&d).unwrap();
    user(&mut s, "f");
    s.branch(&a).unwrap();
    user(&mut s, "g");
    let depths: Vec<_> = s.tree().walk().map(|n| (n.entry, n.depth)).collect();
    assert_eq!(
        depths,
        [(0, 0), (1, 1), (2, 2), (3, 2), (4, 3), (5, 3), (6, 1)]
    );
    assert_eq!(said(&s), ["user: a", "user: g"]);
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
fn moving_to_an_unknown_entry_is_an_error() {
    let mut s = world().memory();
    let a = user(&mut s, "a");
    assert_eq!(
        s.branch("nobody").unwrap_err().to_string(),
        "Entry nobody not found"
    );
    assert_eq!(s.leaf_id(), Some(a.as_str()));
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

#[test]
fn a_summary_at_an_unknown_entry_is_an_error_and_moves_nothing() {
    let mut s = world().memory();
    let a = user(&mut s, "a");
    let error = s
        .branch_with_summary(Some("nobody"), "S", None, None)
        .unwrap_err();
    assert_eq!(error.to_string(), "Entry nobody not found");
    assert_eq!(s.leaf_id(), Some(a.as_str()));
    assert_eq!(s.entries().len(), 1);
}

#[test]
fn leaf_and_entries_are_found() {
    let mut s = world().memory();
    assert!(s.leaf_entry().is_none());
    assert!(s.entry("nobody").is_none());
    let a = user(&mut s, "a");
    let b = user(&mut s, "b");
    assert_eq!(s.leaf_entry().unwrap().id(), b);
    assert_eq!(s.entry(&a).unwrap().role().as_deref(), Some("user"));
}
