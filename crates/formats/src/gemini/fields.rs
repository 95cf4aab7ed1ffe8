//! Fields of records, as the model wants them.

use rethread_json::{Object, Value};
use rethread_model::{Json, Moment, Text, Usage};

/// A member that is a string.
pub(super) fn string(object: Value<'_>, key: &str) -> Option<String> {
    Some(object.get(key)?.str()?.into_owned())
}

/// A string as text.
pub(super) fn text(value: Value<'_>) -> Option<Text> {
    crate::fields::text(value)
}

/// A member that is text.
pub(super) fn text_of(object: Value<'_>, key: &str) -> Option<Text> {
    text(object.get(key)?)
}

/// A member as JSON; `null` is none.
pub(super) fn json(object: Value<'_>, key: &str) -> Option<Json> {
    let value = object.get(key).filter(|v| !v.is_null())?;
    Some(Json::new(value.raw()))
}

/// The members that are not among these, as one JSON object.
pub(super) fn others(object: Value<'_>, known: &[&str]) -> Option<Json> {
    let mut others = Object::new();
    for (key, value) in object.members() {
        if known.iter().any(|name| key.is_str(name)) {
            continue;
        }
        let Some(name) = key.str() else { continue };
        others = others.raw(&name, value.raw());
    }
    (!others.is_empty()).then(|| Json::new(&others.finish()))
}

/// The moment that a member spells.
pub(super) fn time(object: Value<'_>, key: &str) -> Option<Moment> {
    object.get(key)?.str()?.parse().ok()
}

/// Tokens of a response. The client counts cached input inside of `input`, and thoughts and what
/// the vendor's own tools read beside input and output.
pub(super) fn usage(message: Value<'_>) -> Option<Usage> {
    let tokens = message.get("tokens").filter(|t| t.is_object())?;
    let count = |key| tokens.get(key).and_then(Value::u64).unwrap_or(0);
    let (cached, thoughts) = (count("cached"), count("thoughts"));
    Some(Usage {
        input: count("input")
            .saturating_sub(cached)
            .saturating_add(count("tool")),
        cache_read: cached,
        output: count("output").saturating_add(thoughts),
        reasoning: thoughts,
        recorded_total: tokens.get("total").and_then(Value::u64),
        ..Usage::default()
    })
}
