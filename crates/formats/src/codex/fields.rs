//! Fields of records, as the model wants them.

use rethread_json::{Object, Value};
use rethread_model::{Json, Text};

/// A member that is a string.
pub(super) fn string(object: Value<'_>, key: &str) -> Option<String> {
    Some(object.get(key)?.str()?.into_owned())
}

/// A member that is a string with something in it.
pub(super) fn filled(object: Value<'_>, key: &str) -> Option<String> {
    string(object, key).filter(|s| !s.is_empty())
}

/// A string as text.
pub(super) fn text(value: Value<'_>) -> Option<Text> {
    let text = value.text()?;
    Some(Text {
        value: text.text.into_owned(),
        lossy: text.lossy,
    })
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
        let Some(name) = key.str() else { continue };
        if !known.contains(&name.as_ref()) && !value.is_null() {
            others = others.raw(&name, value.raw());
        }
    }
    (!others.is_empty()).then(|| Json::new(&others.finish()))
}
