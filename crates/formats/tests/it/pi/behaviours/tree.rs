//! The tree: 5 behaviours.

use crate::pi::world::{assistant, said, user, world};

#[test]
fn an_empty_session_has_no_root() {
    assert!(world().memory().tree().roots().is_empty());
}

#[test]
fn a_line_of_entries_has_one_root() {
    let mut s = world().memory();
    for text in ["a", "b", "c"] {
        user(&mut s, text);
    }
    let tree = s.tree();
    assert_eq!(tree.roots(), [0]);
    let depths: Vec<_> = tree.nodes().iter().map(|n| n.depth).collect();
    assert_eq!(depths, [0, 1, 2]);
    assert_eq!(tree.node(1).unwrap().parent, Some(0));
}

#[test]
fn a_branch_is_another_child() {
    let mut s = world().memory();
    user(&mut s, "a");
    let b = assistant(&mut s, "b");
    user(&mut s, "c");
    s.branch(&b).unwrap();
    user(&mut s, "d");
    let tree = s.tree();
    assert_eq!(tree.node(1).unwrap().children, [2, 3]);
    let order: Vec<_> = tree.walk().map(|n| n.entry).collect();
    assert_eq!(order, [0, 1, 2, 3]);
}

#[test]
fn several_branches_begin_at_one_point() {
    let mut s = world().memory();
    let a = user(&mut s, "a");
    for text in ["b", "c", "d"] {
        s.branch(&a).unwrap();
        user(&mut s, text);
    }
    assert_eq!(s.tree().node(0).unwrap().children, [1, 2, 3]);
}

#[test]
fn branches_have_branches() {
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
