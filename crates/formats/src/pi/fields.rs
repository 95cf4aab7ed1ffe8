//! Fields of entries that are pi's own.

use rethread_json::Value;
use rethread_model::{Cost, Moment, Usage};

use crate::fields::millis_moment;

/// The moment of an entry: its own, else that of the message in it.
pub(super) fn time(entry: Value<'_>) -> Option<Moment> {
    let own = entry.get("timestamp").and_then(Value::str);
    own.and_then(|t| t.parse().ok())
        .or_else(|| millis_moment_of(entry.get("message")?))
}

/// The moment of a message, which is a number.
pub(super) fn millis_moment_of(message: Value<'_>) -> Option<Moment> {
    millis_moment(message.get("timestamp")?)
}

/// Tokens and cost. What is written to a cache for an hour is a part of all that is written to it,
/// and reasoning is a part of the output.
pub(super) fn read_usage(object: Value<'_>) -> Option<Usage> {
    let usage = object.get("usage").filter(|u| u.is_object())?;
    let count = |key| usage.get(key).and_then(Value::u64).unwrap_or(0);
    let for_an_hour = count("cacheWrite1h");
    Some(Usage {
        input: count("input"),
        cache_read: count("cacheRead"),
        cache_write: count("cacheWrite").saturating_sub(for_an_hour),
        cache_write_1h: for_an_hour,
        output: count("output"),
        reasoning: count("reasoning"),
        recorded_total: usage.get("totalTokens").and_then(Value::u64),
        cost: usage
            .at(&["cost", "total"])
            .and_then(Value::f64)
            .map(|usd| Cost { usd }),
        ..Usage::default()
    })
}
