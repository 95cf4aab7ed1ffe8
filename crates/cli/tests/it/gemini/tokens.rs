//! Tokens are those that the client recorded.

use std::fs;
use std::path::Path;

use rethread_formats::{Want, gemini::FORMAT};
use rethread_model::{Bodies as _, Body, Usage};

use super::{CHILD, MAIN, fixtures, lay_out, read, session};
use crate::sums::assert_counted_once;
use crate::world::World;

/// What the client recorded, added up in the plainest way: of each id the last record.
fn recorded(path: &Path) -> (u64, u64) {
    let text = fs::read_to_string(path).unwrap();
    let mut last = std::collections::BTreeMap::new();
    let mut take = |m: &serde_json::Value| {
        if let (Some(id), Some(total)) = (m["id"].as_str(), m["tokens"]["total"].as_u64()) {
            let cached = m["tokens"]["cached"].as_u64().unwrap_or(0);
            last.insert(id.to_owned(), (total, cached));
        }
    };
    if path.extension().is_some_and(|e| e == "jsonl") {
        for line in text.lines() {
            let Ok(value) = serde_json::from_str::<serde_json::Value>(line) else {
                continue;
            };
            take(&value);
            let inner = value["$set"]["messages"].as_array().cloned();
            inner.unwrap_or_default().iter().for_each(&mut take);
        }
    } else {
        let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        let inner = value["messages"].as_array().cloned();
        inner.unwrap_or_default().iter().for_each(&mut take);
    }
    let sum = |f: fn(&(u64, u64)) -> u64| last.values().map(f).sum();
    (sum(|t| t.0), sum(|t| t.1))
}

pub(super) fn assert_tokens(path: &Path) -> u64 {
    let source = FORMAT.store().at_path(path).remove(0);
    let usage: Usage = FORMAT
        .reader()
        .summarize(
            &source,
            Want {
                usage: true,
                ..Want::default()
            },
        )
        .counts
        .usage
        .unwrap();
    let (total, cached) = recorded(path);
    assert_eq!(
        usage.recorded_total.unwrap_or(0),
        total,
        "{}",
        path.display()
    );
    assert_eq!(usage.cache_read, cached, "{}", path.display());
    // What entries say is no less; more, where two of them have one id.
    let c = read(path);
    let mut said = Usage::default();
    for (ix, entry) in c.session.indexed().filter(|(_, e)| !e.inherited) {
        if let (true, Body::Message(message)) = (entry.kind.is_message(), c.body(ix))
            && let Some(used) = message.usage
        {
            said += &used;
        }
    }
    assert!(said.total() >= usage.total(), "{}", path.display());
    usage.total()
}

#[test]
fn tokens_are_those_that_the_client_recorded() {
    let chats = fixtures().join("0.61/everything/tmp/shop/chats");
    let main = chats.join("session-2026-11-14T09-00-5d0f6f1e.jsonl");
    assert_eq!(assert_tokens(&main), 1265 + 1575 + 915);
    // Each id once, its last version; what was rewound was paid for.
    assert_eq!(assert_tokens(&session("0.61/rewound")), 11 + 22 + 36);
    assert_eq!(assert_tokens(&session("0.61/compressed")), 16);
}

#[test]
fn what_sub_agents_used_counts_once_with_their_parent() {
    let w = World::new();
    lay_out(&w, "0.61/everything");
    assert_counted_once(&w, MAIN, CHILD);
}
