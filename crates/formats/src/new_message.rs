//! Messages on their way into a session: as the model has them, with what a writer must know beside.

use rethread_json::{Array, Object, quote};
use rethread_model::{Blob, Block, Media, Message, Moment, Role, ToolCall, ToolInput, ToolResult};

use crate::Unsaid;

/// A message that is to be written.
///
/// Its blocks are texts, thoughts, calls, results, pictures and files; in results are texts, pictures
/// and files. A picture or a file has an address: one of the web, or `data:MIME;base64,…` with its bytes.
#[derive(Clone, Debug)]
pub struct NewMessage {
    /// What it says, and who says it.
    pub message: Message,
    /// When it was said.
    pub time: Option<Moment>,
    /// Whether the client told it to the model, and no person typed it.
    pub is_told: bool,
    /// The model that answered where the message names none, as `provider/model`: some formats want
    /// one for each.
    pub default_model: Option<String>,
    /// Its place among those that are written with it, counted from 1.
    pub number: u64,
}

impl NewMessage {
    /// What holds where the message does not say it.
    pub(crate) fn defaults(&self) -> Unsaid {
        Unsaid {
            role: None,
            model: self.default_model.clone(),
        }
    }

    /// The calls that it makes, by their ids.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &str> {
        self.message.blocks.iter().filter_map(|block| match block {
            Block::ToolCall(call) => Some(call.id.as_str()),
            _ => None,
        })
    }

    /// The calls that it has results of, by their ids.
    pub(crate) fn results(&self) -> impl Iterator<Item = &str> {
        self.message.blocks.iter().filter_map(|block| match block {
            Block::ToolResult(result) => Some(result.call_id.as_str()),
            _ => None,
        })
    }

    /// The message in the unified vocabulary, as JSON, for formats that take it from there.
    pub(crate) fn to_unified(&self) -> Vec<u8> {
        let message = &self.message;
        let blocks = message.blocks.iter().filter_map(block);
        let content = blocks.fold(Array::new(), |all, block| all.raw(&block));
        let role = match message.role {
            Role::User | Role::Tool => "user",
            Role::Assistant => "assistant",
            Role::System => "system",
        };
        let metadata = match message.role {
            Role::Assistant => Some(metadata(message)),
            _ if self.is_told => Some(Object::new().bool("is_meta", true).finish()),
            _ => None,
        };
        Object::new()
            .u64("index", self.number)
            .str("role", role)
            .opt_str("timestamp", self.time.map(|t| t.to_string()).as_deref())
            .raw("content", &content.finish())
            .opt_raw("metadata", metadata.as_deref())
            .finish()
    }
}

/// Who answered, and what it cost.
fn metadata(message: &Message) -> Vec<u8> {
    let model = message.model.as_ref().map(|model| {
        Object::new()
            .str("name", &model.id)
            .opt_str("stop_reason", message.stop_reason.as_deref())
            .finish()
    });
    let usage = message.usage.as_ref().map(|usage| {
        Object::new()
            .u64("input_tokens", usage.input)
            .u64("output_tokens", usage.output)
            .u64("cache_creation_tokens", usage.cache_write)
            .u64("cache_read_tokens", usage.cache_read)
            .finish()
    });
    let provider = message.model.as_ref().and_then(|m| m.provider.as_deref());
    let extensions = provider.map(|p| Object::new().str("provider", p).finish());
    Object::new()
        .opt_raw("model", model.as_deref())
        .opt_raw("token_usage", usage.as_deref())
        .opt_raw("extensions", extensions.as_deref())
        .finish()
}

fn block(block: &Block) -> Option<Vec<u8>> {
    Some(match block {
        Block::Text(text) => text_block("text", &text.value),
        Block::Thinking(thought) => text_block("thinking", &thought.text.value),
        Block::ToolCall(call) => tool_use(call),
        Block::ToolResult(result) => tool_result(result),
        Block::Image(media) => attachment("image", media)?,
        Block::File(media) => attachment("file", media)?,
        Block::Aside { .. } | Block::Unknown { .. } => return None,
    })
}

fn text_block(kind: &str, text: &str) -> Vec<u8> {
    Object::new().str("type", kind).str("text", text).finish()
}

fn tool_use(call: &ToolCall) -> Vec<u8> {
    let input = match &call.input {
        Some(ToolInput::Json(json)) => json.bytes().to_vec(),
        Some(ToolInput::Text(text)) => quote(&text.value),
        None => b"{}".to_vec(),
    };
    Object::new()
        .str("type", "tool_use")
        .str("tool_id", &call.id)
        .str("tool_name", &call.name)
        .raw("input", &input)
        .finish()
}

fn tool_result(result: &ToolResult) -> Vec<u8> {
    let is_text = |block: &Block| matches!(block, Block::Text(_));
    let content = (!result.blocks.iter().all(is_text)).then(|| {
        let blocks = result.blocks.iter().filter_map(block);
        blocks.fold(Array::new(), |all, block| all.raw(&block))
    });
    Object::new()
        .str("type", "tool_result")
        .str("tool_id", &result.call_id)
        .opt_str("tool_name", result.name.as_deref())
        .str("output", &output(result))
        .opt_raw("content", content.map(Array::finish).as_deref())
        .bool("is_error", result.is_error)
        .finish()
}

/// What a tool gave, as one text.
fn output(result: &ToolResult) -> String {
    let texts = result.blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.value.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn attachment(kind: &str, media: &Media) -> Option<Vec<u8>> {
    let Blob::Url(url) = &media.blob else {
        return None;
    };
    let mime = media.mime.as_deref();
    let data = mime.and_then(|mime| {
        let rest = url.strip_prefix("data:")?.strip_prefix(mime)?;
        rest.strip_prefix(";base64,")
    });
    let object = Object::new()
        .str("type", kind)
        .opt_str("mimeType", mime)
        .str(
            if data.is_some() { "data" } else { "url" },
            data.unwrap_or(url),
        );
    Some(object.opt_str("name", media.name.as_deref()).finish())
}
