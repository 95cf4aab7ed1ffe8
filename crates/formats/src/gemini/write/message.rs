//! From what a user gives to one message of the client: checked, completed, and otherwise as given.

use rethread_json::{Array, InsertAt, Object, Patch, Value, quote};
use rethread_model::{Blob, Block, Media, Message, Moment, Role, ToolCall, ToolResult, Usage};

use super::results::with_result;
use crate::fields::string_of;
use crate::kit::{GivenMessage, bad_message, data_url, given_time, object_input, read_message};
use crate::{Env, MessageDefaults, MessageInput, NewMessage, WriteError, picture};

/// A message that is ready to be written.
pub(in crate::gemini) struct PreparedMessage {
    pub(super) id: String,
    /// Whether the user chose the id, so that it may exist already.
    pub(super) has_own_id: bool,
    /// The message; none where it held nothing but results of tools.
    pub(super) json: Option<Vec<u8>>,
    /// Results for calls of other messages.
    pub(super) results: Vec<ToolResult>,
}

/// What completes a message that does not say it itself.
pub(in crate::gemini) struct NewMessageDefaults<'a> {
    pub(in crate::gemini) env: &'a Env,
    /// What makes ids of the same seed differ: where the message will stand.
    pub(in crate::gemini) salt: u64,
    /// The id of the message that this one replaces.
    pub(in crate::gemini) replaces: Option<&'a str>,
}

impl NewMessageDefaults<'_> {
    fn id(&self) -> String {
        match self.replaces {
            Some(id) => id.to_owned(),
            None => self.env.uuid(&self.salt.to_le_bytes()).to_string(),
        }
    }
}

/// Makes a message ready to be written.
pub(in crate::gemini) fn prepare_message(
    input: &MessageInput,
    d: &NewMessageDefaults<'_>,
) -> Result<PreparedMessage, WriteError> {
    let own = |root: Value<'_>, unsaid: &MessageDefaults| {
        let is_own = root.get("type").is_some();
        is_own.then(|| native(root, unsaid, d))
    };
    match read_message(input, own)? {
        GivenMessage::New(new) => from_new(&new, d).map_err(|e| e.in_message(input)),
        GivenMessage::Native(given) => Ok(given),
    }
}

/// Makes a message ready that is as the model has it.
pub(in crate::gemini) fn from_new(
    new: &NewMessage,
    d: &NewMessageDefaults<'_>,
) -> Result<PreparedMessage, WriteError> {
    let time = new.time.unwrap_or_else(|| d.env.now());
    let chosen = new.id.clone().filter(|_| d.replaces.is_none());
    let has_own_id = chosen.is_some();
    let id = chosen.unwrap_or_else(|| d.id());
    let given = from_message(&new.message, id, time, new.default_model.as_deref());
    let given = given.map_err(bad_message)?;
    Ok(PreparedMessage {
        has_own_id,
        ..given
    })
}

/// A message in the client's own words. What its readers cannot do without must be there.
fn native(
    root: Value<'_>,
    unsaid: &MessageDefaults,
    d: &NewMessageDefaults<'_>,
) -> Result<PreparedMessage, String> {
    let word = string_of(root, "type").ok_or("`type` is not a text")?;
    if !["user", "gemini", "info", "warning", "error"].contains(&word.as_str()) {
        return Err(format!(
            "`type` is `{word}`, not `user`, `gemini`, `info`, `warning` or `error`"
        ));
    }
    let mut patch = Patch::new(root);
    let given = string_of(root, "id").filter(|id| !id.is_empty());
    if given.is_none() && root.get("id").is_some() {
        return Err("`id` is not a text".to_owned());
    }
    if let (Some(id), Some(kept)) = (&given, d.replaces)
        && id != kept
    {
        return Err(format!(
            "`id` is `{id}`, but the message to be replaced is `{kept}`"
        ));
    }
    let id = given.clone().unwrap_or_else(|| d.id());
    if given.is_none() {
        patch.insert(root, "id", &quote(&id), InsertAt::First);
    }
    if given_time(root)?.is_none() {
        let now = quote(&d.env.now().to_string());
        patch.insert(root, "timestamp", &now, InsertAt::Before("type"));
    }
    let calls = root.get("toolCalls");
    if root.get("content").is_none_or(Value::is_null) {
        if calls.is_none() {
            return Err("`content` is missing".to_owned());
        }
        patch.set(root, "content", b"\"\"");
    }
    for call in calls.into_iter().flat_map(Value::items) {
        for key in ["id", "name"] {
            string_of(call, key).ok_or(format!("`{key}` is missing in a tool call"))?;
        }
    }
    if let Some(model) = unsaid.model.as_deref().filter(|_| word == "gemini")
        && root.get("model").is_none()
    {
        patch.set(root, "model", &quote(model));
    }
    Ok(PreparedMessage {
        id,
        has_own_id: given.is_some() && d.replaces.is_none(),
        json: Some(patch.finish()),
        results: Vec::new(),
    })
}

/// A message of the model as the client writes it.
pub(super) fn from_message(
    message: &Message,
    id: String,
    time: Moment,
    model: Option<&str>,
) -> Result<PreparedMessage, String> {
    let word = match message.role {
        Role::User | Role::Tool => "user",
        Role::Assistant => "gemini",
        Role::System => {
            return Err(
                "Gemini CLI keeps no messages of the system; say it as the user".to_owned(),
            );
        }
    };
    let time = time.to_string();
    let thoughts = thoughts(message, &time).filter(|_| word == "gemini");
    let parts: Vec<Vec<u8>> = message.blocks.iter().filter_map(part).collect();
    let calls: Vec<&ToolCall> = message
        .blocks
        .iter()
        .filter_map(|b| match b {
            Block::ToolCall(call) => Some(call),
            _ => None,
        })
        .collect();
    let results = message.blocks.iter().filter_map(|b| match b {
        Block::ToolResult(result) => Some(result.clone()),
        _ => None,
    });
    let mut results: Vec<ToolResult> = results.collect();
    if parts.is_empty() && calls.is_empty() && thoughts.is_none() && !results.is_empty() {
        return Ok(PreparedMessage {
            id,
            has_own_id: false,
            json: None,
            results,
        });
    }
    let mut json = Object::new()
        .str("id", &id)
        .str("timestamp", &time)
        .str("type", word)
        .raw("content", &content(word, message, &parts));
    json = json.opt_raw("thoughts", thoughts.as_deref());
    if !calls.is_empty() {
        let list = calls
            .iter()
            .fold(Array::new(), |list, call| list.raw(&tool_call(call, &time)));
        json = json.raw("toolCalls", &list.finish());
    }
    if word == "gemini" {
        let said = message.model.as_ref().map(|m| m.id.as_str());
        json = json.opt_raw("tokens", message.usage.as_ref().map(tokens).as_deref());
        json = json.opt_str("model", said.or(model));
    }
    let mut json = json.finish();
    // Results of its own calls go with them.
    results.retain(|result| match with_result(&json, result) {
        Some((with_result, _)) => {
            json = with_result;
            false
        }
        None => true,
    });
    Ok(PreparedMessage {
        id,
        has_own_id: false,
        json: Some(json),
        results,
    })
}

/// The client writes what the person said as parts, and an answer as one text where it can.
fn content(word: &str, message: &Message, parts: &[Vec<u8>]) -> Vec<u8> {
    let texts: Vec<&str> = message
        .blocks
        .iter()
        .filter_map(|b| match b {
            Block::Text(text) => Some(text.value.as_str()),
            _ => None,
        })
        .collect();
    if word == "gemini" && texts.len() == parts.len() && parts.len() <= 1 {
        return quote(texts.first().copied().unwrap_or_default());
    }
    let all = parts.iter().fold(Array::new(), |all, part| all.raw(part));
    all.finish()
}

fn part(block: &Block) -> Option<Vec<u8>> {
    let text = |text: &str| Object::new().str("text", text).finish();
    match block {
        Block::Text(t) | Block::Aside { text: t, .. } => Some(text(&t.value)),
        Block::Image(media) | Block::File(media) => Some(inline_part(media)),
        Block::Unknown { raw, .. } => Some(text(&raw.to_text())),
        Block::Thinking(_) | Block::ToolCall(_) | Block::ToolResult(_) => None,
    }
}

/// Thoughts, as the client keeps them for the person: models are given none of them.
fn thoughts(message: &Message, time: &str) -> Option<Vec<u8>> {
    let thoughts = message.blocks.iter().filter_map(|block| match block {
        Block::Thinking(thought) => Some(&thought.text.value),
        _ => None,
    });
    let thoughts = thoughts.fold(Array::new(), |all, text| {
        let thought = Object::new().str("subject", "").str("description", text);
        all.raw(&thought.str("timestamp", time).finish())
    });
    (!thoughts.is_empty()).then(|| thoughts.finish())
}

/// Bytes that are at hand; of others, their address.
pub(super) fn inline_part(media: &Media) -> Vec<u8> {
    let Blob::Url(url) = &media.blob else {
        let name = media.name.as_deref().unwrap_or("a file");
        return Object::new().str("text", &format!("[{name}]")).finish();
    };
    // A name beside the bytes is refused by the vendor's API.
    let Some((mime, data)) = data_url(url) else {
        // The vendor's API wants a type. Of what has none, and no name that tells it, there is the
        // address.
        let told = Some(picture::mime_of_name(url)).filter(|mime| mime.starts_with("image/"));
        let Some(mime) = media.mime.as_deref().or(told) else {
            return Object::new().str("text", url).finish();
        };
        let file = Object::new().str("fileUri", url).str("mimeType", mime);
        return Object::new().raw("fileData", &file.finish()).finish();
    };
    let inline = Object::new().str("data", data).str("mimeType", mime);
    Object::new().raw("inlineData", &inline.finish()).finish()
}

/// A call that has no result yet.
fn tool_call(call: &ToolCall, time: &str) -> Vec<u8> {
    Object::new()
        .str("id", &call.id)
        .str("name", &call.name)
        .raw("args", &object_input(call.input.as_ref()))
        .str("status", "scheduled")
        .str("timestamp", time)
        .finish()
}

/// Tokens as the client counts them.
fn tokens(usage: &Usage) -> Vec<u8> {
    Object::new()
        .u64("input", usage.all_input())
        .u64("output", usage.output.saturating_sub(usage.reasoning))
        .u64("cached", usage.cache_read)
        .u64("thoughts", usage.reasoning)
        .u64("tool", 0)
        .u64("total", usage.total())
        .finish()
}
