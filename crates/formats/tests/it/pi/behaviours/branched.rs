//! One branch as a session of its own: 5 behaviours.

use rethread_formats::pi::SessionEntry;

use crate::pi::world::{assistant, read, user, world};

#[test]
fn at_an_unknown_entry_it_is_an_error() {
    let mut s = world().memory();
    let id = user(&mut s, "a");
    let error = s.create_branched_session("nobody").unwrap_err();
    assert_eq!(error.to_string(), "Entry nobody not found");
    assert_eq!(s.leaf_id(), Some(id.as_str()));
}

#[test]
fn in_memory_the_session_becomes_the_way_and_has_no_file() {
    let mut s = world().memory();
    let a = user(&mut s, "a");
    let b = assistant(&mut s, "b");
    let c = user(&mut s, "c");
    assistant(&mut s, "d");
    s.branch(&c).unwrap();
    user(&mut s, "e");
    let old = s.session_id().to_owned();
    assert_eq!(s.create_branched_session(&b).unwrap(), None);
    let ids: Vec<_> = s.entries().iter().map(SessionEntry::id).collect();
    assert_eq!(ids, [&a, &b]);
    assert_ne!(s.session_id(), old);
    assert_eq!(s.header().parent_session(), None);
}

#[test]
fn of_a_tree_it_holds_the_way_and_nothing_else() {
    let mut s = world().memory();
    let a = user(&mut s, "a");
    let b = assistant(&mut s, "b");
    user(&mut s, "c");
    s.branch(&b).unwrap();
    let d = user(&mut s, "d");
    let e = assistant(&mut s, "e");
    s.create_branched_session(&e).unwrap();
    let ids: Vec<_> = s.entries().iter().map(SessionEntry::id).collect();
    assert_eq!(ids, [&a, &b, &d, &e]);
    assert_eq!(s.leaf_id(), Some(e.as_str()));
}

#[test]
fn from_the_first_message_on_it_is_written_at_once_and_nothing_twice() {
    let w = world();
    let mut s = w.create();
    let a = user(&mut s, "a");
    assistant(&mut s, "b");
    let new = s.create_branched_session(&a).unwrap().unwrap().to_owned();
    assert!(new.exists(), "the message of the user is enough");
    s.append_custom_entry("x", None).unwrap();
    assistant(&mut s, "c");
    let text = read(&new);
    assert_eq!(text.lines().count(), 4);
    assert_eq!(text.matches("\"type\":\"session\"").count(), 1);
    assert_eq!(text.matches(&format!("\"id\":\"{a}\"")).count(), 1);
}

#[test]
fn with_an_answer_on_the_way_it_is_written_at_once() {
    let w = world();
    let mut s = w.create();
    user(&mut s, "a");
    let b = assistant(&mut s, "b");
    user(&mut s, "c");
    let new = s.create_branched_session(&b).unwrap().unwrap().to_owned();
    let text = read(&new);
    assert_eq!(text.lines().count(), 3);
    assert_eq!(text.matches("\"type\":\"session\"").count(), 1);
}
