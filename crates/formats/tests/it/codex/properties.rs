//! Whatever is in a file, nothing of it is lost and nothing stops.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rethread_formats::codex::FORMAT;
use rethread_formats::{Source, Want};
use rethread_model::Bodies;

/// A folder of fixtures.
fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/codex")
}

/// Reads, lists and saves what is in a file.
fn assert_harmless(path: &Path) {
    let source = Source::new(
        rethread_formats::codex::FORMAT,
        String::new(),
        path.to_owned(),
    );
    FORMAT.store().at_path(path);
    FORMAT.reader().summarize(&source, Want::default());
    FORMAT.reader().summarize(
        &source,
        Want {
            usage: true,
            ..Want::default()
        },
    );
    let Ok(conversation) = FORMAT.reader().read(&source) else {
        return;
    };
    let original = std::fs::read(path).unwrap();
    let mut saved = Vec::new();
    conversation.native.save(0, &mut saved).unwrap();
    assert_eq!(saved, original);
    let counts = conversation.native.parts.iter();
    let counts: Vec<u32> = counts
        .map(|p| u32::try_from(p.record_count()).unwrap())
        .collect();
    assert_eq!(conversation.session.unaccounted(&counts), None);
    for (ix, _) in conversation.session.indexed() {
        conversation.body(ix);
    }
    conversation.session.active_path();
}

/// A change of one place in a file.
#[derive(Clone, Debug)]
enum Change {
    Cut(usize),
    Put(usize, u8),
    Drop(usize),
    Swap(usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let place = 0_usize..12_000;
    prop_oneof![
        place.clone().prop_map(Change::Cut),
        (place.clone(), any::<u8>()).prop_map(|(at, byte)| Change::Put(at, byte)),
        place.clone().prop_map(Change::Drop),
        (place.clone(), place).prop_map(|(a, b)| Change::Swap(a, b)),
    ]
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    let len = bytes.len();
    if len == 0 {
        return;
    }
    match change {
        Change::Cut(at) => bytes.truncate(at % len),
        Change::Put(at, byte) => bytes.insert(at % len, *byte),
        Change::Drop(at) => drop(bytes.remove(at % len)),
        Change::Swap(a, b) => {
            // Whole lines: order must not matter to whether a file can be read.
            let mut lines: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b'\n').collect();
            let (a, b) = (a % lines.len(), b % lines.len());
            lines.swap(a, b);
            *bytes = lines.concat();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_are_harmless(
        which in 0_usize..3,
        changes in proptest::collection::vec(change(), 1..8),
    ) {
        let cases = [
            "0.140/everything/sessions/2026/06/17/rollout-2026-06-17T09-00-00-019ed50c-2fb3-7002-a384-000000000001.jsonl",
            "0.166/packed/sessions/2026/11/15/rollout-2026-11-15T09-00-00-01a1e075-346b-7c10-a10e-00000000000a.jsonl.zst",
            "2025/document/sessions/rollout-2025-05-02-5d0c1b6e-7f3a-4c52-9a41-0e6b2f8d9c11.json",
        ];
        let original = fixtures().join(cases[which]);
        let mut bytes = std::fs::read(&original).unwrap();
        for change in &changes {
            apply(&mut bytes, change);
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(original.file_name().unwrap());
        std::fs::write(&path, &bytes).unwrap();
        assert_harmless(&path);
    }

    #[test]
    fn records_of_any_shape_are_harmless(
        lines in proptest::collection::vec(
            (
                prop::sample::select(vec!["session_meta", "response_item", "event_msg", "turn_context", "compacted", "token_usage_record", "x"]),
                prop::sample::select(vec!["message", "reasoning", "function_call", "function_call_output", "web_search_call", "compaction", "user_message", "agent_message", "token_count", "item_completed", "thread_rolled_back", "patch_apply_end", ""]),
                prop::sample::select(vec!["null", "1", "\"x\"", "[]", "{}", "[{\"type\":\"input_image\",\"image_url\":\"data:\"}]", "[[\"a\"],{\"text\":1}]", "{\"x\":{\"type\":\"add\"}}"]),
            ),
            0..24,
        )
    ) {
        let mut text = String::new();
        for (outer, inner, value) in lines {
            let keys = ["role", "content", "call_id", "id", "arguments", "output", "message", "info", "item", "num_turns", "changes", "summary", "action", "replacement_history", "usage", "history_base", "source", "model"];
            let members: Vec<String> = keys.iter().map(|k| format!("\"{k}\":{value}")).collect();
            let line = format!(
                "{{\"timestamp\":\"2026-01-01T00:00:00Z\",\"type\":\"{outer}\",\"payload\":{{\"type\":\"{inner}\",{}}}}}\n",
                members.join(",")
            );
            text.push_str(&line);
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("any.jsonl");
        std::fs::write(&path, text).unwrap();
        assert_harmless(&path);
    }
}
