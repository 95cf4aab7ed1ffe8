//! The way from the root to an entry: 4 behaviours.

use rethread_formats::pi::{SessionEntry, SessionManager};

use crate::pi::world::{assistant, user, world};

fn way<'s>(s: &'s SessionManager, to: Option<&str>) -> Vec<&'s str> {
    let path = s.branch_path(to).into_iter();
    path.map(SessionEntry::id).collect()
}

#[test]
fn in_an_empty_session_the_way_is_empty() {
    assert!(world().memory().branch_path(None).is_empty());
}

#[test]
fn the_way_to_a_single_entry_is_that_entry() {
    let mut s = world().memory();
    let a = user(&mut s, "a");
    assert_eq!(way(&s, None), [&a]);
}

#[test]
fn the_way_leads_from_the_root_to_the_leaf() {
    let mut s = world().memory();
    let a = user(&mut s, "a");
    let b = assistant(&mut s, "b");
    let c = s.append_thinking_level_change("low").unwrap();
    assert_eq!(way(&s, None), [&a, &b, &c]);
}

#[test]
fn the_way_to_an_entry_that_is_named_ends_there() {
    let mut s = world().memory();
    let a = user(&mut s, "a");
    let b = assistant(&mut s, "b");
    user(&mut s, "c");
    assert_eq!(way(&s, Some(&b)), [&a, &b]);
}
