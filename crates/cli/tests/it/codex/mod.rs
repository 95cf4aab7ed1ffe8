//! Sessions of the Codex CLI as a user meets them.

mod checked;
mod forks;
mod found;
mod lossless;
mod meaning;
mod written;

use std::fs;
use std::path::{Path, PathBuf};

use rethread_formats::codex::FORMAT;
use rethread_formats::{Conversation, Source, Want};
use rethread_model::{Bodies, Body, State, Usage};

use crate::world::{World, copy, json, tree};

const EVERYTHING: &str = "019ed50c-2fb3-7002-a384-000000000001";
const ROLLED_BACK: &str = "019ed917-1cf7-72a3-92f5-000000000002";
const COPY: &str = "019ed9ff-0000-7000-8000-000000000004";
const DAMAGED: &str = "019ed917-1cf7-72a3-92f5-000000000005";
const BASE: &str = "01a1e075-346b-7c10-a10e-000000000006";
const FORK: &str = "01a1e075-3644-7a81-8767-000000000007";
const CHILD: &str = "01a1e075-71a2-7901-a444-000000000008";
const LOST: &str = "01a1e075-9000-7901-a444-000000000009";
const PACKED: &str = "01a1e075-346b-7c10-a10e-00000000000a";

const CASES: [&str; 9] = [
    "2025/document",
    "0.20/items",
    "0.140/everything",
    "0.140/rolled-back",
    "0.140/copied-fork",
    "0.140/damaged",
    "0.166/forks",
    "0.166/lost-base",
    "0.166/packed",
];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/codex")
}

/// A home with these cases, laid out as the client does it.
fn home(cases: &[&str]) -> World {
    let w = World::new();
    for case in cases {
        copy(&fixtures().join(case), &w.home.join(".codex"));
    }
    w
}

fn sessions_of(case: &str) -> Vec<PathBuf> {
    let files = tree(&fixtures().join(case)).into_iter().map(|(p, _)| p);
    files
        .filter(|p| p.file_name().unwrap() != "session_index.jsonl")
        .collect()
}

fn read(path: &Path) -> Conversation {
    let source = Source::new(
        rethread_formats::codex::FORMAT,
        String::new(),
        path.to_owned(),
    );
    FORMAT.reader().read(&source).unwrap()
}

/// The session with this id of a case.
fn session(case: &str, id: &str) -> Conversation {
    let named = |p: &&PathBuf| p.to_str().unwrap().contains(id);
    read(sessions_of(case).iter().find(named).unwrap())
}

/// What the entries count, each response once, without what was inherited.
fn usage(c: &Conversation) -> Usage {
    let mut sum = Usage::default();
    let mut seen = std::collections::HashSet::new();
    for (ix, _) in c.session.indexed().filter(|(_, e)| !e.inherited) {
        let is_new = c.session.usage_key(ix).is_none_or(|key| seen.insert(key));
        let usage = match c.body(ix) {
            Body::Message(message) => message.usage,
            Body::Usage(record) => Some(record.usage),
            _ => None,
        };
        if let (Some(usage), true) = (usage, is_new) {
            sum += &usage;
        }
    }
    sum
}

/// Starts a session and gives its id and file.
fn start(w: &World, args: &[&str]) -> (String, PathBuf) {
    let mut all = vec!["new", "--format", "codex", "--json"];
    all.extend(args);
    let made = json(&w.ok(&all));
    let text = |key: &str| made[key].as_str().unwrap().to_owned();
    (text("id"), PathBuf::from(text("path")))
}

fn listed_usage(c: &Conversation) -> Usage {
    let summary = FORMAT.reader().summarize(
        &c.source,
        Want {
            usage: true,
            ..Want::default()
        },
    );
    assert_eq!(summary.state, State::Ready);
    summary.counts.usage.unwrap()
}

/// The bytes of every part, once from its records and once as it is saved, are those of the file.
fn assert_lossless(conversation: &Conversation) {
    let mut records = Vec::new();
    for (number, part) in (0_u32..).zip(&conversation.native.parts) {
        let original = fs::read(&part.path).unwrap();
        let count = u32::try_from(part.record_count()).unwrap();
        let tiled: Vec<u8> = (0..count).flat_map(|r| part.read(r).unwrap()).collect();
        assert_eq!(tiled.len() as u64, part.len(), "{}", part.path.display());
        let is_packed = part.path.extension().is_some_and(|e| e == "zst");
        if !is_packed {
            assert!(original.starts_with(&tiled), "{}", part.path.display());
        }
        if !part.borrowed {
            let mut saved = Vec::new();
            conversation.native.save(number, &mut saved).unwrap();
            assert_eq!(saved, original, "{}", part.path.display());
            assert!(is_packed || tiled == original, "{}", part.path.display());
        }
        records.push(count);
    }
    assert_eq!(conversation.session.unaccounted(&records), None);
    for (ix, _) in conversation.session.indexed() {
        conversation.body(ix);
    }
}
