//! State of extensions: 1 behaviour.

use rethread_formats::pi::{EntryData, SessionEntry};

use crate::pi::world::{assistant, said, user, world};

#[test]
fn state_of_an_extension_is_kept_has_its_place_and_is_not_shown() {
    let mut s = world().memory();
    let a = user(&mut s, "a");
    let state = s.append_custom_entry("x", Some(b"{\"k\":[1]}")).unwrap();
    let b = assistant(&mut s, "b");
    let path = s.branch_path(None).into_iter();
    let ids: Vec<_> = path.map(SessionEntry::id).collect();
    assert_eq!(ids, [a.as_str(), &state, &b]);
    assert_eq!(said(&s), ["user: a", "assistant: b"]);
    let EntryData::Custom { custom_type, data } = s.entry(&state).unwrap().data() else {
        panic!()
    };
    assert_eq!(custom_type, "x");
    assert_eq!(data.as_deref(), Some(&b"{\"k\":[1]}"[..]));
}
