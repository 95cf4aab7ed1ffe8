//! What a user asks to be written, as messages of the vendor's API.

use rethread_json::{Object, Value};
use rethread_model::{Block, Moment, Role, Usage};

use super::content::RecordContent;
use super::record_writer::Saying;
use crate::fields::filled_of;
use crate::kit::{GivenMessage, bad_message, given_time, read_message, unified_message};
use crate::{MessageDefaults, MessageInput, NewMessage, WriteError};

/// A message that can be written.
pub(super) struct PreparedRecords {
    /// What is said, record by record.
    pub(super) sayings: Vec<Saying>,
    /// The id and the time that the user chose.
    pub(super) id: Option<String>,
    pub(super) time: Option<Moment>,
    /// The model that answers in it, if it is named.
    pub(super) model: Option<String>,
    /// What the person says in it.
    pub(super) prompt: Option<String>,
}

/// What is known where a message does not say it.
pub(super) struct ResponseDefaults {
    /// The model that answers.
    pub(super) model: String,
    /// An id for a response.
    pub(super) response: String,
}

/// Checks a message and brings it into the vendor's form.
pub(super) fn prepare_records(
    input: &MessageInput,
    d: &ResponseDefaults,
) -> Result<PreparedRecords, WriteError> {
    let new = match read_message(input, record)? {
        GivenMessage::New(new) => *new,
        GivenMessage::Native(new) => new,
    };
    let is_picture = |block: &Block| match block {
        Block::Image(media) => media.mime.as_deref() != Some("image/svg+xml"),
        _ => true,
    };
    if matches!(input, MessageInput::Text(_)) && !new.message.blocks.iter().all(is_picture) {
        return Err(bad_message("a picture is no PNG, JPEG, GIF or WebP"));
    }
    prepare_new(&new, d).map_err(|e| e.in_message(input))
}

/// A record of the client holds its message.
fn record(root: Value<'_>, unsaid: &MessageDefaults) -> Option<Result<NewMessage, String>> {
    let message = root.get("message").filter(|m| m.is_object())?;
    let read = unified_message(message, unsaid).and_then(|new| {
        Ok(NewMessage {
            id: filled_of(root, "uuid"),
            time: given_time(root)?,
            ..new
        })
    });
    Some(read)
}

/// Brings a message that is as the model has it into the vendor's form.
pub(super) fn prepare_new(
    new: &NewMessage,
    d: &ResponseDefaults,
) -> Result<PreparedRecords, WriteError> {
    let (role, mut content) = (new.message.role, RecordContent::of(new.message.role));
    for block in &new.message.blocks {
        // What a tool gave follows the call.
        if role != Role::Assistant || !matches!(block, Block::ToolResult(_)) {
            content.block(block).map_err(bad_message)?;
        }
    }
    let mut results = RecordContent::of(Role::User);
    for block in new
        .message
        .blocks
        .iter()
        .filter(|_| role == Role::Assistant)
    {
        if let Block::ToolResult(result) = block {
            results.result(result).map_err(bad_message)?;
        }
    }
    let mut prepared = finish(role, content, new, d);
    if !results.records.is_empty() {
        prepared
            .sayings
            .extend(finish(Role::User, results, new, d).sayings);
    }
    if prepared.sayings.is_empty() {
        return Err(bad_message("nothing is said in it"));
    }
    Ok(prepared)
}

/// Token counts, in the client's words.
fn usage(usage: Option<&Usage>) -> Vec<u8> {
    let Some(usage) = usage else {
        let none = Object::new().u64("input_tokens", 0).u64("output_tokens", 0);
        return none.finish();
    };
    Object::new()
        .u64("input_tokens", usage.input)
        .u64("cache_creation_input_tokens", usage.cache_write)
        .u64("cache_read_input_tokens", usage.cache_read)
        .u64("output_tokens", usage.output)
        .finish()
}

fn finish(
    role: Role,
    content: RecordContent,
    new: &NewMessage,
    d: &ResponseDefaults,
) -> PreparedRecords {
    let is_prompt = role == Role::User && !new.is_told && !content.words.is_empty();
    let prompt = is_prompt.then(|| content.words.clone());
    let mut ids = (!content.ids.is_empty()).then(|| content.ids.finish());
    let is_answer = role == Role::Assistant;
    let stop = if content.calls > 0 {
        "tool_use"
    } else {
        "end_turn"
    };
    let stop = new.message.stop_reason.as_deref().unwrap_or(stop);
    let only_text = content.only_text && !is_answer;
    let words = rethread_json::quote(&content.words);
    let usage = usage(new.message.usage.as_ref());
    let message = |blocks: &[u8]| {
        if !is_answer {
            let content = if only_text { &words } else { blocks };
            return Object::new().str("role", "user").raw("content", content);
        }
        Object::new()
            .str("id", &d.response)
            .str("type", "message")
            .str("role", "assistant")
            .str("model", new.model_name().unwrap_or(&d.model))
            .raw("content", blocks)
            .str("stop_reason", stop)
            .null("stop_sequence")
            .raw("usage", &usage)
    };
    let records = content.records.into_iter();
    let sayings = records.map(|blocks| Saying {
        type_name: if is_answer { "assistant" } else { "user" },
        message: message(&blocks.finish()).finish(),
        meta: !is_answer && (role == Role::System || new.is_told),
        ids: ids.take(),
    });
    PreparedRecords {
        sayings: sayings.collect(),
        id: new
            .id
            .clone()
            .filter(|id| uuid::Uuid::try_parse(id).is_ok()),
        time: new.time,
        model: new.model_name().filter(|_| is_answer).map(str::to_owned),
        prompt,
    }
}
