//! Finding entries, and what is shown on a branch: 5 behaviours.

use crate::pi::world::{assistant, said, user, world};

#[test]
fn an_empty_session_has_no_leaf() {
    assert!(world().memory().leaf_entry().is_none());
}

#[test]
fn the_leaf_is_the_last_entry_that_was_appended() {
    let mut s = world().memory();
    user(&mut s, "a");
    let b = assistant(&mut s, "b");
    assert_eq!(s.leaf_entry().unwrap().id(), b);
}

#[test]
fn an_unknown_id_finds_nothing() {
    let mut s = world().memory();
    user(&mut s, "a");
    assert!(s.entry("nobody").is_none());
}

#[test]
fn an_id_finds_its_entry() {
    let mut s = world().memory();
    let a = user(&mut s, "a");
    let b = assistant(&mut s, "b");
    assert_eq!(s.entry(&a).unwrap().role().as_deref(), Some("user"));
    assert_eq!(s.entry(&b).unwrap().role().as_deref(), Some("assistant"));
}

#[test]
fn only_messages_of_the_branch_at_hand_are_shown() {
    let mut s = world().memory();
    let first = user(&mut s, "a");
    assistant(&mut s, "b");
    user(&mut s, "one");
    s.branch(&first).unwrap();
    assistant(&mut s, "c");
    user(&mut s, "two");
    assert_eq!(said(&s), ["user: a", "assistant: c", "user: two"]);
}
