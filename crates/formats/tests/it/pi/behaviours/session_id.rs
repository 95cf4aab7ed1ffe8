//! Ids of new sessions: 4 behaviours.

use rethread_formats::pi::NewSessionOptions;

use crate::pi::world::world;

fn with_id(id: &str) -> NewSessionOptions {
    NewSessionOptions {
        id: Some(id.to_owned()),
        parent_session: None,
    }
}

#[test]
fn a_new_session_has_the_id_that_was_chosen() {
    let mut s = world().memory();
    s.new_session(with_id("mine")).unwrap();
    assert_eq!(s.session_id(), "mine");
}

#[test]
fn without_a_choice_the_id_is_a_fresh_uuid() {
    let mut s = world().memory();
    let first = s.session_id().to_owned();
    let id: uuid::Uuid = first.parse().unwrap();
    assert_eq!(id.get_version_num(), 7);
    s.new_session(NewSessionOptions::default()).unwrap();
    assert_ne!(s.session_id(), first);
}

#[test]
fn other_options_leave_the_id_a_fresh_uuid() {
    let mut s = world().memory();
    let options = NewSessionOptions {
        id: None,
        parent_session: Some("/old.jsonl".into()),
    };
    s.new_session(options).unwrap();
    s.session_id().parse::<uuid::Uuid>().unwrap();
    assert_eq!(s.header().parent_session(), Some("/old.jsonl"));
}

#[test]
fn the_header_has_the_id_that_was_chosen() {
    let mut s = world().memory();
    s.new_session(with_id("mine")).unwrap();
    assert_eq!(s.header().id(), "mine");
    assert_eq!(s.header().field("id").as_deref(), Some(&b"\"mine\""[..]));
}
