//! Which session a converted one was made of, from what travels along in it.

use rethread_json::Value;
use rethread_model::ConvertedFrom;

use crate::fields::string_of;

/// What the first of the values that travel along says of the session that they came from.
pub(crate) fn converted_from(first: Value<'_>) -> Option<ConvertedFrom> {
    first.get("files").or_else(|| first.get("marks"))?;
    named(first)
}

/// The session that an object names by its format and its id.
pub(crate) fn named(value: Value<'_>) -> Option<ConvertedFrom> {
    Some(ConvertedFrom {
        format: string_of(value, "from")?,
        id: string_of(value, "id")?,
        path: None,
    })
}
