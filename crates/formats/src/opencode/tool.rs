//! Calls of tools and their results, which are one part.

use rethread_json::{Array, Document, Object, Patch, Value};
use rethread_model::Moment;

use crate::fields::string_of;

/// What a tool answered.
#[derive(Clone, Debug)]
pub(super) struct CallOutput {
    pub(super) call: String,
    pub(super) output: String,
    /// The pictures and files among it.
    pub(super) files: Vec<Vec<u8>>,
    pub(super) is_error: bool,
}

/// What a tool was given: the client wants an object.
pub(super) fn object_input(given: Option<Value<'_>>) -> Vec<u8> {
    match given {
        None => b"{}".to_vec(),
        Some(value) if value.is_object() => value.raw().to_vec(),
        Some(value) => Object::new().raw("input", value.raw()).finish(),
    }
}

impl CallOutput {
    fn attachments(&self) -> Vec<u8> {
        let files = self.files.iter();
        files.fold(Array::new(), |all, file| all.raw(file)).finish()
    }

    /// The part with this result in it, if it is that of the call and waits for it.
    pub(super) fn written_into(&self, part: &[u8], now: Moment) -> Option<Vec<u8>> {
        let document = Document::parse(part.to_vec()).ok()?;
        let root = document.root();
        let state = root.get("state")?;
        let waits =
            ["pending", "running"].map(|w| state.get("status").is_some_and(|s| s.is_str(w)));
        if !root.get("callID")?.is_str(&self.call) || !waits.contains(&true) {
            return None;
        }
        let start = state.at(&["time", "start"]).and_then(Value::i64);
        let time = Object::new()
            .i64("start", start.unwrap_or(now.millis()))
            .i64("end", now.millis())
            .finish();
        let new = Object::new();
        let new = if self.is_error {
            new.str("status", "error")
                .raw("input", &object_input(state.get("input")))
                .str("error", &self.output)
        } else {
            new.str("status", "completed")
                .raw("input", &object_input(state.get("input")))
                .str("output", &self.output)
                .str("title", &string_of(state, "title").unwrap_or_default())
                .raw("metadata", state.get("metadata").map_or(b"{}", Value::raw))
        };
        let new = new.raw("time", &time);
        let new = if self.files.is_empty() || self.is_error {
            new
        } else {
            new.raw("attachments", &self.attachments())
        };
        let mut patch = Patch::new(root);
        patch.replace(state, &new.finish());
        Some(patch.finish())
    }
}
