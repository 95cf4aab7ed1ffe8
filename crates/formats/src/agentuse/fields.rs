//! Fields of the format's objects, as the model wants them.

use rethread_json::{Value, pretty};
use rethread_model::{Cost, ModelRef, Moment, Text, Usage, UsageScope};

use crate::fields::millis_moment;

/// A value as text: a string as it is, anything else as JSON that does not know where it stood.
pub(super) fn as_text(value: Value<'_>) -> Text {
    match crate::fields::text_from(value) {
        Some(text) => text,
        None => Text::new(String::from_utf8_lossy(&pretty(value.raw(), 2, 0))),
    }
}

/// The moment at a path.
pub(super) fn moment_at_path(object: Value<'_>, path: &[&str]) -> Option<Moment> {
    millis_moment(object.at(path)?)
}

/// The milliseconds between two moments; none where one is missing or they are the wrong way round.
pub(super) fn millis_between(start: Option<Moment>, end: Option<Moment>) -> Option<u64> {
    u64::try_from(end?.millis().checked_sub(start?.millis())?).ok()
}

/// A model, cut at the first `:` from who serves it.
pub(super) fn model_ref(spelled: &str) -> ModelRef {
    match spelled.split_once(':') {
        Some((provider, id)) if !provider.is_empty() && !id.is_empty() => ModelRef {
            provider: Some(provider.to_owned()),
            id: id.to_owned(),
        },
        _ => ModelRef {
            provider: None,
            id: spelled.to_owned(),
        },
    }
}

/// Tokens and cost of an object that has `tokens` and `cost`. The program counts what a cache
/// answered as input, too.
pub(super) fn read_usage(object: Value<'_>) -> Usage {
    let tokens = |path: &[&str]| {
        let value = object.get("tokens").and_then(|t| t.at(path));
        value.and_then(Value::u64).unwrap_or(0)
    };
    let cache_read = tokens(&["cache", "read"]);
    Usage {
        input: tokens(&["input"]).saturating_sub(cache_read),
        cache_read,
        cache_write: tokens(&["cache", "write"]),
        output: tokens(&["output"]),
        reasoning: tokens(&["reasoning"]),
        cost: object
            .get("cost")
            .and_then(Value::f64)
            .map(|usd| Cost { usd }),
        scope: UsageScope::Turn,
        ..Usage::default()
    }
}

/// Whether no token was counted.
pub(super) fn counts_nothing(usage: &Usage) -> bool {
    usage.total() == 0 && usage.reasoning == 0
}
