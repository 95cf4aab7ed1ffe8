//! Labels on entries: 8 behaviours.

use rethread_formats::pi::SessionEntry;

use crate::pi::world::{said, user, world};

#[test]
fn a_label_is_set_and_read() {
    let mut s = world().memory();
    let id = user(&mut s, "a");
    assert_eq!(s.label(&id), None);
    let label = s.append_label_change(&id, Some("mark")).unwrap();
    assert_eq!(s.label(&id), Some("mark"));
    assert_eq!(s.leaf_id(), Some(label.as_str()), "it is an entry");
}

#[test]
fn a_label_is_taken_away() {
    let mut s = world().memory();
    let id = user(&mut s, "a");
    for clear in [None, Some("")] {
        s.append_label_change(&id, Some("mark")).unwrap();
        let entry = s.append_label_change(&id, clear).unwrap();
        assert_eq!(s.label(&id), None);
        assert_eq!(
            s.entry(&entry).unwrap().field("label").is_some(),
            clear.is_some()
        );
    }
}

#[test]
fn the_last_label_wins() {
    let mut s = world().memory();
    let id = user(&mut s, "a");
    for label in ["one", "two", "three"] {
        s.append_label_change(&id, Some(label)).unwrap();
    }
    assert_eq!(s.label(&id), Some("three"));
}

#[test]
fn labels_are_in_the_tree() {
    let mut s = world().memory();
    let (a, b) = (user(&mut s, "a"), user(&mut s, "b"));
    s.append_label_change(&a, Some("start")).unwrap();
    s.append_label_change(&b, Some("end")).unwrap();
    let tree = s.tree();
    let labels: Vec<_> = tree.nodes().iter().map(|n| n.label.as_deref()).collect();
    assert_eq!(labels, [Some("start"), Some("end"), None, None]);
    let time = tree.nodes()[0].label_timestamp.as_deref();
    assert_eq!(time, Some("2026-11-15T17:50:28.602Z"));
}

#[test]
fn labels_on_the_way_go_with_a_branched_session() {
    let mut s = world().memory();
    let a = user(&mut s, "a");
    s.append_label_change(&a, Some("one")).unwrap();
    let b = user(&mut s, "b");
    s.append_label_change(&b, Some("two")).unwrap();
    s.create_branched_session(&b).unwrap();
    assert_eq!((s.label(&a), s.label(&b)), (Some("one"), Some("two")));
    let parents: Vec<_> = s.entries().iter().map(SessionEntry::parent_id).collect();
    let ids: Vec<_> = s.entries().iter().map(SessionEntry::id).collect();
    assert_eq!(parents, [None, Some(ids[0]), Some(ids[1]), Some(ids[2])]);
    assert_eq!(s.leaf_id(), Some(ids[3]));
}

#[test]
fn labels_beside_the_way_stay_behind() {
    let mut s = world().memory();
    let a = user(&mut s, "a");
    let b = user(&mut s, "b");
    s.append_label_change(&a, Some("one")).unwrap();
    s.append_label_change(&b, Some("two")).unwrap();
    s.create_branched_session(&a).unwrap();
    assert_eq!((s.label(&a), s.label(&b)), (Some("one"), None));
    assert_eq!(s.entries().len(), 2);
}

#[test]
fn labels_are_not_in_the_context() {
    let mut s = world().memory();
    let id = user(&mut s, "a");
    s.append_label_change(&id, Some("mark")).unwrap();
    assert_eq!(said(&s), ["user: a"]);
}

#[test]
fn an_unknown_entry_gets_no_label() {
    let mut s = world().memory();
    let error = s.append_label_change("nobody", Some("x")).unwrap_err();
    assert_eq!(error.to_string(), "Entry nobody not found");
    assert!(s.entries().is_empty());
}

#[test]
fn a_branched_session_has_labels_in_the_order_they_were_set() {
    let mut s = world().memory();
    let (a, b) = (user(&mut s, "a"), user(&mut s, "b"));
    for (id, label) in [(&b, "one"), (&a, "two"), (&b, "one again")] {
        s.append_label_change(id, Some(label)).unwrap();
    }
    s.create_branched_session(&b).unwrap();
    let labels = s.entries().iter().filter_map(|e| e.field("label"));
    let labels: Vec<_> = labels.map(|l| String::from_utf8(l).unwrap()).collect();
    assert_eq!(labels, ["\"one again\"", "\"two\""]);
}
