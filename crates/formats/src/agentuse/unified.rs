//! Messages as the model has them, turned into the format's own parts.

use rethread_json::{Object, Value, quote};
use rethread_model::{Blob, Block, Media, Moment, ToolCall, ToolInput, ToolResult};

use crate::NewMessage;
use crate::kit::output_text;

/// What a message says.
#[derive(Debug, Default)]
pub(super) struct Unified {
    /// Its texts, for a prompt.
    pub(super) text: String,
    /// Parts of an answer, not yet with ids.
    pub(super) parts: Vec<Vec<u8>>,
    /// Results of earlier calls.
    pub(super) results: Vec<PartOutput>,
    /// Members of `assistant` that the message tells.
    pub(super) assistant: Option<Vec<u8>>,
}

/// What a tool answered.
#[derive(Debug)]
pub(super) struct PartOutput {
    pub(super) call_id: String,
    name: Option<String>,
    output: Vec<u8>,
    is_error: bool,
}

impl PartOutput {
    /// The state of the call, now that it ended: its input and its beginning stay.
    pub(super) fn state(&self, before: Option<Value<'_>>, now: i64) -> Vec<u8> {
        let of = |key: &str| before.and_then(|s| s.get(key)).map(Value::raw);
        let start = before
            .and_then(|s| s.at(&["time", "start"]))
            .map(Value::raw);
        let start = start.map_or_else(|| now.to_string().into_bytes(), <[u8]>::to_vec);
        let time = Object::new().raw("start", &start).i64("end", now).finish();
        let status = if self.is_error { "error" } else { "completed" };
        let key = if self.is_error { "error" } else { "output" };
        let state = Object::new()
            .str("status", status)
            .raw("input", of("input").unwrap_or(b"null"))
            .raw(key, &self.output);
        let title = of("title").filter(|_| !self.is_error);
        let state = state
            .opt_raw("title", title)
            .opt_raw("metadata", of("metadata"));
        state.raw("time", &time).finish()
    }

    /// A part of its own for a result whose call is nowhere.
    pub(super) fn orphan(&self, now: i64) -> Vec<u8> {
        Object::new()
            .str("type", "tool")
            .str("callID", &self.call_id)
            .str("tool", self.name.as_deref().unwrap_or("unknown"))
            .raw("state", &self.state(None, now))
            .finish()
    }
}

impl Unified {
    /// What a message says.
    pub(super) fn of(new: &NewMessage, now: i64) -> Self {
        let at = new.time.map_or(now, Moment::millis);
        let time = Object::new().i64("start", at).i64("end", at).finish();
        let mut unified = Self {
            assistant: assistant(new),
            ..Self::default()
        };
        for block in &new.message.blocks {
            match block {
                Block::Text(text) | Block::Aside { text, .. } => unified.say(&text.value, &time),
                Block::Thinking(thought) => {
                    let part = Object::new()
                        .str("type", "reasoning")
                        .str("text", &thought.text.value);
                    unified.parts.push(part.raw("time", &time).finish());
                }
                Block::ToolCall(call) => unified.parts.push(tool_use(call, at)),
                Block::ToolResult(result) => unified.results.push(tool_result(result)),
                Block::Image(media) | Block::File(media) => unified.parts.extend(file(media)),
                Block::Unknown { raw, .. } => unified.parts.push(raw.bytes().to_vec()),
            }
        }
        unified
    }

    fn say(&mut self, text: &str, time: &[u8]) {
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(text);
        let part = Object::new().str("type", "text").str("text", text);
        self.parts.push(part.raw("time", time).finish());
    }
}

/// A picture or a file, with its bytes in its address.
fn file(media: &Media) -> Option<Vec<u8>> {
    let Blob::Url(url) = &media.blob else {
        return None;
    };
    let mime = media.mime.as_deref().unwrap_or("application/octet-stream");
    Some(
        Object::new()
            .str("type", "file")
            .str("mime", mime)
            .opt_str("filename", media.name.as_deref())
            .str("url", url)
            .finish(),
    )
}

fn tool_use(call: &ToolCall, at: i64) -> Vec<u8> {
    let input = match &call.input {
        Some(ToolInput::Json(json)) => json.bytes().to_vec(),
        Some(ToolInput::Text(text)) => quote(&text.value),
        None => b"{}".to_vec(),
    };
    let state = Object::new()
        .str("status", "running")
        .raw("input", &input)
        .raw("time", &Object::new().i64("start", at).finish())
        .finish();
    Object::new()
        .str("type", "tool")
        .str("callID", &call.id)
        .str("tool", &call.name)
        .raw("state", &state)
        .finish()
}

fn tool_result(result: &ToolResult) -> PartOutput {
    // What went wrong is text.
    let output = match &result.structured {
        Some(json) if !result.is_error => json.bytes().to_vec(),
        _ => quote(&output_text(result)),
    };
    PartOutput {
        call_id: result.call_id.clone(),
        name: result.name.clone(),
        output,
        is_error: result.is_error,
    }
}

/// The model, and what the response cost. The program counts what a cache answered as input.
fn assistant(new: &NewMessage) -> Option<Vec<u8>> {
    let named = new.message.model.as_ref();
    let provider = match (named, &new.default_model) {
        (Some(model), _) => model.provider.as_deref(),
        (None, Some(name)) => Some(name.split_once(':').map_or("", |(provider, _)| provider)),
        (None, None) => None,
    };
    let tokens = new.message.usage.map(|usage| {
        let (read, write) = (usage.cache_read, usage.cache_write);
        Object::new()
            .u64("input", usage.input.saturating_add(read))
            .u64("output", usage.output)
            .raw(
                "cache",
                &Object::new().u64("read", read).u64("write", write).finish(),
            )
            .finish()
    });
    let object = Object::new()
        .opt_str("modelID", new.model_name())
        .opt_str("providerID", provider)
        .opt_raw("tokens", tokens.as_deref());
    (!object.is_empty()).then(|| object.finish())
}
