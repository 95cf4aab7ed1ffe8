//! Fields of the format's objects, as the model wants them.

use rethread_json::{Object, Value, pretty};
use rethread_model::{Cost, Json, ModelRef, Moment, Text, Usage, UsageScope};

/// A member that is a string.
pub(super) fn string(object: Value<'_>, key: &str) -> Option<String> {
    Some(object.get(key)?.str()?.into_owned())
}

/// A member that is text.
pub(super) fn text(object: Value<'_>, key: &str) -> Option<Text> {
    crate::fields::text_of(object, key)
}

/// A value as text: a string as it is, anything else as JSON that does not know where it stood.
pub(super) fn as_text(value: Value<'_>) -> Text {
    match crate::fields::text(value) {
        Some(text) => text,
        None => Text::new(String::from_utf8_lossy(&pretty(value.raw(), 2, 0))),
    }
}

/// A moment in milliseconds.
pub(super) fn millis(value: Value<'_>) -> Option<Moment> {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a moment out of range is none, and a calendar has no more digits"
    )]
    let whole = || value.f64().map(|t| t as i64);
    Moment::from_millis(value.i64().or_else(whole)?)
}

/// The moment at a path.
pub(super) fn moment(object: Value<'_>, path: &[&str]) -> Option<Moment> {
    millis(object.at(path)?)
}

/// The milliseconds between two moments; none where one is missing or they are the wrong way round.
pub(super) fn between(start: Option<Moment>, end: Option<Moment>) -> Option<u64> {
    u64::try_from(end?.millis().checked_sub(start?.millis())?).ok()
}

/// A model, cut at the first `:` from who serves it.
pub(super) fn model(spelled: &str) -> ModelRef {
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
pub(super) fn usage(object: Value<'_>) -> Usage {
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

/// The members that are not among these, as one JSON object.
pub(super) fn others(object: Value<'_>, known: &[&str]) -> Option<Json> {
    let mut others = Object::new();
    for (key, value) in object.members() {
        let Some(name) = key.str() else { continue };
        if !known.contains(&name.as_ref()) {
            others = others.raw(&name, value.raw());
        }
    }
    (!others.is_empty()).then(|| Json::new(&others.finish()))
}
