//! What a session used in all, in a few words.

use rethread_model::{Head, Usage};

use crate::{dollars, short_count};

/// The sum of what the source recorded for the whole session.
pub(crate) fn recorded_usage(head: &Head) -> Option<Usage> {
    let mut sum: Option<Usage> = None;
    for record in &head.recorded_usage {
        match &mut sum {
            Some(sum) => *sum += &record.usage,
            None => sum = Some(record.usage),
        }
    }
    sum
}

/// `in 120, out 30, +900 cached`: what a cache answered is told apart.
pub(crate) fn format_tokens(sum: &Usage) -> String {
    let cached = match sum.cache_read {
        0 => String::new(),
        n => format!(", +{n} cached"),
    };
    format!("in {}, out {}{cached}", sum.input, sum.output)
}

/// What something cost, where it cost anything.
pub(crate) fn format_cost(sum: &Usage) -> Option<String> {
    let cost = sum.cost.filter(|cost| cost.usd > 0.0)?;
    Some(dollars(cost.usd))
}

/// `950 tokens`, `41 K tokens`, `1.2 M tokens`.
pub(crate) fn token_count(count: u64) -> String {
    format!("{} tokens", short_count(count))
}

/// `12.3s`
pub(crate) fn format_seconds(ms: u64) -> String {
    // Half a tenth is rounded up, as people expect it.
    let tenths = ms.saturating_add(50) / 100;
    format!("{}.{}s", tenths / 10, tenths % 10)
}
