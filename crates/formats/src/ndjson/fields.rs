//! Fields of records, as the model wants them.

use rethread_json::Value;
use rethread_model::{Cost, Usage, UsageScope, Visibility};

use crate::fields::{count_of, string_of};

/// What `metadata.extensions` of a message says.
pub(super) fn message_extensions(message: Value<'_>) -> Option<Value<'_>> {
    message
        .at(&["metadata", "extensions"])
        .filter(|e| e.is_object())
}

/// Who is meant to see something.
pub(super) fn read_visibility(object: Value<'_>) -> Option<Visibility> {
    let word = object.get("visibility")?;
    Some(match word.str()?.as_ref() {
        "injected" => Visibility::Injected,
        "ui_only" => Visibility::UiOnly,
        "hidden" => Visibility::Hidden,
        _ => return None,
    })
}

/// Tokens and cost: `token_usage`, and `read_usage` with what that cannot say.
pub(super) fn read_usage(tokens: Option<Value<'_>>, more: Option<Value<'_>>) -> Option<Usage> {
    if tokens.is_none() && more.is_none() {
        return None;
    }
    let of = |key| tokens.and_then(|t| count_of(t, key)).unwrap_or(0);
    let more_of = |key| more.and_then(|m| count_of(m, key));
    let for_an_hour = more_of("cache_creation_1h_tokens").unwrap_or(0);
    let scope = more.and_then(|m| string_of(m, "scope"));
    Some(Usage {
        input: of("input_tokens"),
        output: of("output_tokens"),
        cache_read: of("cache_read_tokens"),
        cache_write: of("cache_creation_tokens").saturating_sub(for_an_hour),
        cache_write_1h: for_an_hour,
        reasoning: more_of("reasoning_tokens").unwrap_or(0),
        recorded_total: more_of("recorded_total"),
        cost: more
            .and_then(|m| m.get("cost_usd")?.f64())
            .map(|usd| Cost { usd }),
        scope: match scope.as_deref() {
            Some("turn") => UsageScope::Turn,
            Some("cumulative") => UsageScope::Cumulative,
            _ => UsageScope::Response,
        },
    })
}
