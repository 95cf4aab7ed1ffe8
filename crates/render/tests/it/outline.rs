//! Trees: branches, labels, the leaf, and what links may do.

use insta::assert_snapshot;
use rethread_model::{Block, Body, Compaction, EntryIx, LabelChange, Message, Role, Text};

use crate::sample::{Sample, call, head, result};

fn message(role: Role, text: &str) -> Body {
    Body::Message(Message::new(role, vec![Block::text(text)]))
}

fn branched() -> Sample {
    let mut s = Sample::new(head());
    let first = s.add_below(
        None,
        "aaaa0001",
        message(Role::User, "Fix the sign-in\nplease"),
    );
    let blocks = vec![
        Block::text("I'll look."),
        Block::ToolCall(call("t1", "bash", "{}")),
        Block::ToolResult(result("t1", vec![Block::text("ok")])),
    ];
    let answer = s.add_below(
        Some(first),
        "aaaa0002",
        Body::Message(Message::new(Role::Assistant, blocks)),
    );
    let cookie = s.add_below(
        Some(answer),
        "bbbb0001",
        message(Role::User, "With a cookie"),
    );
    s.add_below(
        Some(cookie),
        "bbbb0002",
        message(Role::Assistant, "Done \u{1b}[31mred"),
    );
    let query = s.add_below(
        Some(answer),
        "cccc0001",
        message(Role::User, "With the query string"),
    );
    let summary = Compaction {
        summary: Some(Text::new("We chose the query string.")),
        tokens_before: Some(1200),
        ..Compaction::default()
    };
    let compacted = s.add_below(Some(query), "cccc0002", Body::Compaction(summary));
    let label = LabelChange {
        target: "aaaa0002".to_owned(),
        label: Some("start here".to_owned()),
    };
    let labelled = s.add_below(Some(compacted), "cccc0003", Body::Label(label));
    s.add_below(Some(labelled), "cccc0004", message(Role::User, "Go on"));
    s
}

#[test]
fn branches_labels_and_the_leaf() {
    assert_snapshot!("tree", branched().tree());
}

#[test]
fn a_tree_for_scripts() {
    let text = branched().tree_json();
    let rows: Vec<serde_json::Value> = text
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(rows.len(), 8);
    assert_eq!(rows[0]["parent_id"], serde_json::Value::Null);
    assert_eq!(
        (rows[1]["depth"].as_u64(), rows[2]["depth"].as_u64()),
        (Some(0), Some(1))
    );
    assert_eq!(rows[1]["bookmark"], "start here");
    let compaction = rows.iter().find(|r| r["type"] == "compaction").unwrap();
    assert_eq!(compaction["summary"], "We chose the query string.");
    let leaf: Vec<_> = rows.iter().filter(|r| r["leaf"] == true).collect();
    assert_eq!(leaf.len(), 1);
    assert_eq!(leaf[0]["id"], "cccc0004");
    assert_eq!(rows.iter().filter(|r| r["active"] == true).count(), 6);
}

/// The lines of a tree, without the title and the facts above it.
fn rows(s: Sample) -> String {
    let drawn = s.tree();
    let (_, rows) = drawn.split_once("\n\n").unwrap();
    rows.to_owned()
}

#[test]
fn circles_and_orphans_are_drawn_once() {
    let mut s = Sample::new(head());
    let a = s.add_below(None, "a", message(Role::User, "a"));
    let b = s.add_below(Some(a), "b", message(Role::User, "b"));
    s.add_below(None, "c", message(Role::User, "another root"));
    s.builder().entry(a).parent = Some(b);
    let drawn = rows(s);
    assert_eq!(drawn.lines().count(), 3, "{drawn}");
}

/// A line of entries with a branch of one entry beside each.
fn comb(s: &mut Sample) -> EntryIx {
    let first = s.add_below(None, "first", message(Role::User, "first"));
    let mut at = first;
    for i in 0..10_000 {
        let next = s.add_below(Some(at), &format!("{i:08}"), message(Role::User, "on"));
        s.add_below(Some(at), &format!("x{i:07}"), message(Role::User, "off"));
        at = next;
    }
    first
}

#[test]
fn the_way_to_the_leaf_is_not_indented() {
    let mut s = Sample::new(head());
    comb(&mut s);
    let drawn = rows(s);
    assert_eq!(drawn.lines().count(), 20_001);
    let begins = |start: &str| drawn.lines().filter(|l| l.starts_with(start)).count();
    assert_eq!((begins("● "), begins("├─ ○ ")), (10_001, 10_000));
}

#[test]
fn ten_thousand_branches_inside_each_other() {
    let mut s = Sample::new(head());
    let first = comb(&mut s);
    s.add_below(Some(first), "leaf", message(Role::User, "leaf"));
    let drawn = rows(s);
    assert_eq!(drawn.lines().count(), 20_002);
    assert!(
        drawn.lines().all(|l| l.chars().count() < 160),
        "deep branches are told by number"
    );
    assert!(drawn.contains("(10000) ○"), "{}", drawn.len());
}
