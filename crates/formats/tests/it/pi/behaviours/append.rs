//! Appending: 6 behaviours. Every entry is the child of the one before.

use rethread_formats::pi::{EntryData, SessionEntry, SessionManager};

use crate::pi::world::{assistant, user, world};

#[test]
fn messages_form_a_chain() {
    let mut s = world().memory();
    let (a, b, _) = (user(&mut s, "a"), assistant(&mut s, "b"), user(&mut s, "c"));
    let parents: Vec<_> = s.entries().iter().map(SessionEntry::parent_id).collect();
    assert_eq!(parents, [None, Some(a.as_str()), Some(b.as_str())]);
}

/// What an entry says that stands between two messages of a chain.
fn in_a_chain(append: impl FnOnce(&mut SessionManager, &str) -> String) -> EntryData {
    let mut s = world().memory();
    let a = user(&mut s, "a");
    let id = append(&mut s, &a);
    let b = assistant(&mut s, "b");
    assert_eq!(s.entry(&id).unwrap().parent_id(), Some(a.as_str()));
    assert_eq!(s.entry(&b).unwrap().parent_id(), Some(id.as_str()));
    s.entry(&id).unwrap().data()
}

#[test]
fn a_thinking_level_change_is_part_of_the_chain() {
    let data = in_a_chain(|s, _| s.append_thinking_level_change("high").unwrap());
    let thinking_level = "high".to_owned();
    assert_eq!(data, EntryData::ThinkingLevelChange { thinking_level });
}

#[test]
fn a_model_change_is_part_of_the_chain() {
    let data = in_a_chain(|s, _| s.append_model_change("openai", "gpt").unwrap());
    let expected = EntryData::ModelChange {
        provider: "openai".to_owned(),
        model_id: "gpt".to_owned(),
    };
    assert_eq!(data, expected);
}

#[test]
fn a_compaction_is_part_of_the_chain() {
    let mut kept = None;
    let data = in_a_chain(|s, a| {
        kept = Some(a.to_owned());
        let details = Some(&b"{\"readFiles\":[]}"[..]);
        s.append_compaction("S", Some(a), 9, details, Some(true))
            .unwrap()
    });
    let expected = EntryData::Compaction {
        summary: "S".to_owned(),
        first_kept_entry_id: kept,
        tokens_before: Some(9),
        details: Some(b"{\"readFiles\":[]}".to_vec()),
        from_hook: true,
    };
    assert_eq!(data, expected);
}

#[test]
fn state_of_an_extension_is_part_of_the_chain() {
    let data = in_a_chain(|s, _| s.append_custom_entry("x", None).unwrap());
    let expected = EntryData::Custom {
        custom_type: "x".to_owned(),
        data: None,
    };
    assert_eq!(data, expected);
}

#[test]
fn the_leaf_moves_with_every_entry() {
    let mut s = world().memory();
    assert_eq!(s.leaf_id(), None);
    let a = user(&mut s, "a");
    assert_eq!(s.leaf_id(), Some(a.as_str()));
    let b = assistant(&mut s, "b");
    assert_eq!(s.leaf_id(), Some(b.as_str()));
    let c = s.append_thinking_level_change("low").unwrap();
    assert_eq!(s.leaf_id(), Some(c.as_str()));
}
