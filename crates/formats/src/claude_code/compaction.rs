//! What a compaction says: its mark, its summary, or both.

use rethread_json::Value;
use rethread_model::{Compaction, Kept, Text};

use super::body::EntryRecord;
use crate::fields::{other_members, string_of, text_from, text_of};

/// The mark of a compaction, its summary, or both.
pub(super) fn read_compaction(values: &[EntryRecord<'_>]) -> Compaction {
    let mut compaction = Compaction::default();
    for EntryRecord { value, .. } in values {
        if let Some(said) = value.get("message") {
            compaction.summary = said.get("content").and_then(joined).or(compaction.summary);
        }
        let Some(meta) = value.get("compactMetadata") else {
            continue;
        };
        compaction.trigger = string_of(meta, "trigger");
        compaction.tokens_before = meta.get("preTokens").and_then(Value::u64);
        compaction.tokens_after = meta.get("postTokens").and_then(Value::u64);
        compaction.duration_ms = meta.get("durationMs").and_then(Value::f64);
        compaction.kept = kept(meta);
        let known = [
            "trigger",
            "preTokens",
            "postTokens",
            "durationMs",
            "preservedSegment",
            "preservedMessages",
        ];
        compaction.details = other_members(meta, &known);
    }
    compaction
}

fn joined(content: Value<'_>) -> Option<Text> {
    if let Some(text) = text_from(content) {
        return Some(text);
    }
    let texts: Vec<Text> = content.items().filter_map(|b| text_of(b, "text")).collect();
    (!texts.is_empty()).then(|| Text::joined(&texts, "\n"))
}

fn kept(meta: Value<'_>) -> Kept {
    let uuids = meta.at(&["preservedMessages", "uuids"]);
    let entries: Vec<String> = uuids
        .into_iter()
        .flat_map(Value::items)
        .filter_map(|id| Some(id.str()?.into_owned()))
        .collect();
    if !entries.is_empty() {
        return Kept::Entries(entries);
    }
    let segment = meta.get("preservedSegment");
    let end = |key| segment.and_then(|s| string_of(s, key));
    match (end("headUuid"), end("tailUuid")) {
        (Some(first), Some(last)) => Kept::Range { first, last },
        _ => Kept::Nothing,
    }
}
