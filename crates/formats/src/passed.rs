//! Fields of values that were passed over, as the model wants them; what several formats read alike.

use rethread_json::Passed;
use rethread_model::{Json, Text};

/// A value that is a string.
pub(crate) fn passed_string(value: Option<Passed<'_>>) -> Option<String> {
    Some(value?.str()?.into_owned())
}

/// A string as text.
pub(crate) fn passed_text(value: Passed<'_>) -> Option<Text> {
    let text = value.text()?;
    Some(Text {
        value: text.text.into_owned(),
        lossy: text.lossy,
        lone: text.lone.into(),
    })
}

/// A value as JSON; `null` is none.
pub(crate) fn passed_json(value: Option<Passed<'_>>) -> Option<Json> {
    let value = value.filter(|v| !v.is_null())?;
    Some(Json::new(value.raw()))
}
