//! Messages in the unified vocabulary, turned into the format's own.

use rethread_json::{Object, Value, quote};
use rethread_model::{Moment, Role};

use super::fields::{as_text, string};

/// What a message in the unified vocabulary says.
#[derive(Debug, Default)]
pub(super) struct Unified {
    /// Its texts, for a prompt.
    pub(super) text: String,
    /// Parts of an answer, not yet with ids.
    pub(super) parts: Vec<Vec<u8>>,
    /// Results of earlier calls.
    pub(super) results: Vec<ToolOutput>,
    /// Members of `assistant` that the message tells.
    pub(super) assistant: Option<Vec<u8>>,
}

/// What a tool answered.
#[derive(Debug)]
pub(super) struct ToolOutput {
    pub(super) call_id: String,
    name: Option<String>,
    output: Vec<u8>,
    is_error: bool,
}

impl ToolOutput {
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

/// Whether a message is in the unified vocabulary: our own has neither role nor content.
pub(super) fn is_unified(message: Value<'_>) -> bool {
    ["role", "content", "uuid"]
        .into_iter()
        .any(|key| message.get(key).is_some())
}

/// Who says a message.
pub(super) fn role(message: Value<'_>, unsaid: Option<Role>) -> Result<Role, String> {
    match string(message, "role").as_deref() {
        Some("user") => Ok(Role::User),
        Some("assistant" | "agent") => Ok(Role::Assistant),
        Some("system") => Ok(Role::System),
        Some(other) => Err(format!(
            "`role` is `{other}`, not `user`, `assistant` or `system`"
        )),
        None => unsaid.ok_or_else(|| "`role` is missing".to_owned()),
    }
}

/// What a message says.
pub(super) fn read(message: Value<'_>, now: i64) -> Result<Unified, String> {
    let content = message.get("content").ok_or("`content` is missing")?;
    let said_at = string(message, "timestamp").and_then(|t| t.parse::<Moment>().ok());
    let at = said_at.map_or(now, Moment::millis);
    let time = Object::new().i64("start", at).i64("end", at).finish();
    let mut unified = Unified {
        assistant: assistant(message),
        ..Unified::default()
    };
    if content.str().is_some() {
        unified.say(content, &time);
    }
    for block in content.items() {
        match string(block, "type").as_deref() {
            Some("text") => {
                let text = block.get("text").ok_or("a `text` block has no `text`")?;
                unified.say(text, &time);
            }
            Some("thinking") => {
                let text = block.get("text").or_else(|| block.get("thinking"));
                let text = text.ok_or("a `thinking` block has no `text`")?;
                let part = Object::new()
                    .str("type", "reasoning")
                    .raw("text", text.raw());
                unified.parts.push(part.raw("time", &time).finish());
            }
            Some("tool_use") => unified.parts.push(tool_use(block, at)?),
            Some("tool_result") => unified.results.push(tool_result(block)?),
            Some("image" | "file") => unified.parts.push(file(block)?),
            _ => unified.parts.push(block.raw().to_vec()),
        }
    }
    Ok(unified)
}

impl Unified {
    fn say(&mut self, text: Value<'_>, time: &[u8]) {
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(&text.str().unwrap_or_default());
        let part = Object::new().str("type", "text").raw("text", text.raw());
        self.parts.push(part.raw("time", time).finish());
    }
}

/// A picture or a file, with its bytes in its address.
fn file(block: Value<'_>) -> Result<Vec<u8>, String> {
    let mime = string(block, "mimeType").or_else(|| string(block, "mime"));
    let mime = mime.unwrap_or_else(|| "application/octet-stream".to_owned());
    let url = match (string(block, "data"), string(block, "url")) {
        (Some(data), _) if data.starts_with("data:") => data,
        (Some(data), _) => format!("data:{mime};base64,{data}"),
        (None, Some(url)) => url,
        (None, None) => return Err("a picture or a file has neither `data` nor `url`".to_owned()),
    };
    let name = string(block, "name").or_else(|| string(block, "filename"));
    Ok(Object::new()
        .str("type", "file")
        .str("mime", &mime)
        .opt_str("filename", name.as_deref())
        .str("url", &url)
        .finish())
}

fn tool_use(block: Value<'_>, at: i64) -> Result<Vec<u8>, String> {
    let id = string(block, "tool_id").ok_or("a `tool_use` block has no `tool_id`")?;
    let name = string(block, "tool_name").ok_or("a `tool_use` block has no `tool_name`")?;
    let state = Object::new()
        .str("status", "running")
        .raw("input", block.get("input").map_or(b"{}", Value::raw))
        .raw("time", &Object::new().i64("start", at).finish())
        .finish();
    Ok(Object::new()
        .str("type", "tool")
        .str("callID", &id)
        .str("tool", &name)
        .raw("state", &state)
        .finish())
}

fn tool_result(block: Value<'_>) -> Result<ToolOutput, String> {
    let call_id = string(block, "tool_id").ok_or("a `tool_result` block has no `tool_id`")?;
    let is_error = block.get("is_error").and_then(Value::bool).unwrap_or(false);
    let output = block.get("output");
    let output = match (output, is_error) {
        (Some(value), false) => value.raw().to_vec(),
        // What went wrong is text.
        (Some(value), true) => quote(&as_text(value).value),
        (None, _) => quote(""),
    };
    Ok(ToolOutput {
        call_id,
        name: string(block, "tool_name"),
        output,
        is_error,
    })
}

/// The model, and what the response cost. The program counts what a cache answered as input.
fn assistant(message: Value<'_>) -> Option<Vec<u8>> {
    let metadata = message.get("metadata")?;
    let model = metadata.at(&["model", "name"]).and_then(Value::str);
    let provider = metadata
        .at(&["extensions", "provider"])
        .and_then(Value::str);
    let tokens = metadata.get("token_usage").map(|usage| {
        let count = |key| usage.get(key).and_then(Value::u64).unwrap_or(0);
        let (read, write) = (count("cache_read_tokens"), count("cache_creation_tokens"));
        Object::new()
            .u64("input", count("input_tokens").saturating_add(read))
            .u64("output", count("output_tokens"))
            .raw(
                "cache",
                &Object::new().u64("read", read).u64("write", write).finish(),
            )
            .finish()
    });
    let object = Object::new()
        .opt_str("modelID", model.as_deref())
        .opt_str("providerID", provider.as_deref())
        .opt_raw("tokens", tokens.as_deref());
    (!object.is_empty()).then(|| object.finish())
}
