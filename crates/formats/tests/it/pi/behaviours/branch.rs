//! Moving the leaf, alone and with a summary: 5 behaviours.

use rethread_formats::pi::EntryData;

use crate::pi::world::{assistant, user, world};

#[test]
fn the_leaf_moves_to_the_entry_that_is_named() {
    let mut s = world().memory();
    let a = user(&mut s, "a");
    user(&mut s, "b");
    s.branch(&a).unwrap();
    assert_eq!(s.leaf_id(), Some(a.as_str()));
    assert_eq!(s.entries().len(), 2, "a move is no entry");
}

#[test]
fn moving_to_an_unknown_entry_is_an_error() {
    let mut s = world().memory();
    let a = user(&mut s, "a");
    let error = s.branch("nobody").unwrap_err();
    assert_eq!(error.to_string(), "Entry nobody not found");
    assert_eq!(s.leaf_id(), Some(a.as_str()));
}

#[test]
fn what_is_appended_after_a_move_is_a_child_of_that_entry() {
    let mut s = world().memory();
    let a = user(&mut s, "a");
    user(&mut s, "b");
    s.branch(&a).unwrap();
    let c = user(&mut s, "c");
    assert_eq!(s.entry(&c).unwrap().parent_id(), Some(a.as_str()));
}

#[test]
fn a_summary_of_the_branch_left_is_the_new_leaf() {
    let mut s = world().memory();
    let a = user(&mut s, "a");
    assistant(&mut s, "b");
    let left = user(&mut s, "c");
    let id = s.branch_with_summary(Some(&a), "S", None, None).unwrap();
    assert_eq!(s.leaf_id(), Some(id.as_str()));
    let entry = s.entry(&id).unwrap();
    assert_eq!(entry.parent_id(), Some(a.as_str()));
    let expected = EntryData::BranchSummary {
        from_id: left,
        summary: "S".to_owned(),
        details: None,
        from_hook: false,
    };
    assert_eq!(entry.data(), expected, "it names the leaf that was left");
}

#[test]
fn a_summary_at_an_unknown_entry_is_an_error() {
    let mut s = world().memory();
    let a = user(&mut s, "a");
    let error = s
        .branch_with_summary(Some("nobody"), "S", None, None)
        .unwrap_err();
    assert_eq!(error.to_string(), "Entry nobody not found");
    assert_eq!(s.leaf_id(), Some(a.as_str()));
    assert_eq!(s.entries().len(), 1);
}
