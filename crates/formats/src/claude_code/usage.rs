//! Tokens and cost, as the client notes them.

use std::collections::HashMap;

use rethread_json::Value;
use rethread_model::{Cost, ModelRef, Usage, UsageRecord, UsageScope};

use super::record::TranscriptRecord;
use super::responses::ResponseKey;
use crate::kit::{SavedState, TextHasher};

/// What a response used, as one of its records says. What is read from or written to a cache is no
/// part of the input, and thinking is a part of the output.
pub(super) fn read_usage(record: &TranscriptRecord<'_>) -> Option<Usage> {
    let usage = record.message?.get("usage").filter(|u| u.is_object())?;
    let count = |key| usage.get(key).and_then(Value::u64).unwrap_or(0);
    let written = count("cache_creation_input_tokens");
    let split = |key| {
        let count = usage.at(&["cache_creation", key]).and_then(Value::u64);
        count.unwrap_or(0)
    };
    let (short, hour) = (
        split("ephemeral_5m_input_tokens"),
        split("ephemeral_1h_input_tokens"),
    );
    Some(Usage {
        input: count("input_tokens"),
        cache_read: count("cache_read_input_tokens"),
        cache_write: written.saturating_sub(hour).max(short),
        cache_write_1h: hour,
        output: count("output_tokens"),
        reasoning: usage
            .at(&["output_tokens_details", "thinking_tokens"])
            .and_then(Value::u64)
            .unwrap_or(0),
        cost: record.cost.and_then(Value::f64).map(|usd| Cost { usd }),
        ..Usage::default()
    })
}

/// The fuller of two notes about the same response: early ones hold placeholders.
pub(super) fn fuller_usage(one: Usage, other: Usage) -> Usage {
    let cost = match (one.cost, other.cost) {
        (Some(a), Some(b)) => Some(Cost {
            usd: a.usd.max(b.usd),
        }),
        (a, b) => a.or(b),
    };
    let fuller = if other.output > one.output {
        other
    } else {
        one
    };
    Usage { cost, ..fuller }
}

/// What the client added up itself, for each model.
pub(super) fn cost_state(value: Value<'_>) -> Vec<UsageRecord> {
    let Some(models) = value.get("modelUsage") else {
        return Vec::new();
    };
    models
        .members()
        .filter_map(|(model, used)| {
            let count = |key| used.get(key).and_then(Value::u64).unwrap_or(0);
            let hour = count("cacheCreationEphemeral1hInputTokens");
            Some(UsageRecord {
                usage: Usage {
                    input: count("inputTokens"),
                    cache_read: count("cacheReadInputTokens"),
                    cache_write: count("cacheCreationInputTokens").saturating_sub(hour),
                    cache_write_1h: hour,
                    output: count("outputTokens"),
                    reasoning: count("thinkingTokens"),
                    cost: used
                        .get("costUSD")
                        .and_then(Value::f64)
                        .map(|usd| Cost { usd }),
                    scope: UsageScope::WithSubAgents,
                    ..Usage::default()
                },
                model: Some(ModelRef {
                    provider: None,
                    id: model.str()?.into_owned(),
                }),
                purpose: None,
            })
        })
        .collect()
}

/// Adds up responses, each once.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum {
    /// What each used, and whether it is the session's own, by the hash of what identifies it.
    responses: HashMap<[u64; 2], (Usage, bool)>,
    hasher: TextHasher,
    nameless: Usage,
    /// Whether the file says itself that its first records are copies.
    pub(super) is_fork: bool,
}

impl SavedState for Sum {
    fn save(&self, out: &mut Vec<u8>) {
        let responses = self.responses.iter().map(|(key, used)| (*key, *used));
        let mut responses: Vec<([u64; 2], (Usage, bool))> = responses.collect();
        responses.sort_unstable_by_key(|(key, _)| *key);
        responses.save(out);
        self.hasher.save(out);
        self.nameless.save(out);
        self.is_fork.save(out);
    }

    fn load(bytes: &mut &[u8]) -> Option<Self> {
        let responses: Vec<([u64; 2], (Usage, bool))> = SavedState::load(bytes)?;
        Some(Self {
            responses: responses.into_iter().collect(),
            hasher: SavedState::load(bytes)?,
            nameless: SavedState::load(bytes)?,
            is_fork: SavedState::load(bytes)?,
        })
    }
}

impl Sum {
    /// Takes a record of a response into account. `own`: it was not copied from another session.
    pub(super) fn add(&mut self, record: &TranscriptRecord<'_>, own: bool) {
        let Some(used) = read_usage(record) else {
            return;
        };
        match ResponseKey::of(record, false) {
            None => self.nameless += &used,
            Some(response) => {
                let key = self.hasher.wide_hash(&response.key());
                let slot = self.responses.entry(key);
                slot.and_modify(|(sum, _)| *sum = fuller_usage(*sum, used))
                    .or_insert((used, own));
            }
        }
    }

    /// The sum. Copies from another session count there, unless all are such: then the file was
    /// given another name.
    pub(super) fn total(&self) -> Usage {
        let any_own = self.is_fork || self.responses.values().any(|(_, own)| *own);
        let mut counted: Vec<&Usage> = self
            .responses
            .values()
            .filter(|(_, own)| *own || !any_own)
            .map(|(used, _)| used)
            .collect();
        // Prices are added in an order that is always the same.
        counted.sort_by(|a, b| {
            let price = |u: &Usage| u.cost.map_or(0.0, |c| c.usd);
            price(a).total_cmp(&price(b))
        });
        let mut total = self.nameless;
        for used in counted {
            total += used;
        }
        total
    }
}
