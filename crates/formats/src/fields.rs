//! Fields of records, as the model wants them; what every format reads alike.

use rethread_json::{Object, Value};
use rethread_model::{Json, ModelRef, Moment, Text};

/// A member that is a string.
pub(crate) fn string_of(object: Value<'_>, key: &str) -> Option<String> {
    Some(object.get(key)?.str()?.into_owned())
}

/// A member that is a string with something in it.
pub(crate) fn filled_of(object: Value<'_>, key: &str) -> Option<String> {
    string_of(object, key).filter(|s| !s.is_empty())
}

/// A string as text.
pub(crate) fn text_from(value: Value<'_>) -> Option<Text> {
    let text = value.text()?;
    Some(Text {
        value: text.text.into_owned(),
        lossy: text.lossy,
        lone: text.lone.into(),
    })
}

/// A member that is text.
pub(crate) fn text_of(object: Value<'_>, key: &str) -> Option<Text> {
    text_from(object.get(key)?)
}

/// A member that is a moment, as text.
pub(crate) fn moment_of(object: Value<'_>, key: &str) -> Option<Moment> {
    object.get(key)?.str()?.parse().ok()
}

/// A number of milliseconds as a moment.
pub(crate) fn millis_moment(value: Value<'_>) -> Option<Moment> {
    moment_at(value.i64(), value.f64())
}

/// A moment in milliseconds, as a whole number or another.
pub(crate) fn moment_at(whole: Option<i64>, real: Option<f64>) -> Option<Moment> {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a moment out of range is none, and a calendar has no more digits"
    )]
    let cut = || real.map(|t| t as i64);
    Moment::from_millis(whole.or_else(cut)?)
}

/// The model that `provider` and another member name.
pub(crate) fn model_of(object: Value<'_>, key: &str) -> Option<ModelRef> {
    Some(ModelRef {
        provider: string_of(object, "provider"),
        id: string_of(object, key)?,
    })
}

/// A member that is a number of things.
pub(crate) fn count_of(object: Value<'_>, key: &str) -> Option<u64> {
    object.get(key)?.u64()
}

/// Whether a member is `true`.
pub(crate) fn is_true(object: Value<'_>, key: &str) -> bool {
    object.get(key).and_then(Value::bool) == Some(true)
}

/// A member as JSON; `null` is none.
pub(crate) fn json_of(object: Value<'_>, key: &str) -> Option<Json> {
    let value = object.get(key).filter(|v| !v.is_null())?;
    Some(Json::new(value.raw()))
}

/// The members that are not among these, as one JSON object.
pub(crate) fn other_members(object: Value<'_>, known: &[&str]) -> Option<Json> {
    chosen(object, |name, _| !known.contains(&name))
}

/// The same without those that are `null`.
pub(crate) fn filled_others(object: Value<'_>, known: &[&str]) -> Option<Json> {
    chosen(object, |name, value| {
        !known.contains(&name) && !value.is_null()
    })
}

fn chosen(object: Value<'_>, takes: impl Fn(&str, Value<'_>) -> bool) -> Option<Json> {
    let mut chosen = Object::new();
    for (key, value) in object.members() {
        let Some(name) = key.str() else { continue };
        if takes(&name, value) {
            chosen = chosen.raw(&name, value.raw());
        }
    }
    (!chosen.is_empty()).then(|| Json::new(&chosen.finish()))
}
