//! Messages in the unified vocabulary, as the model has them.
//!
//! Pictures and reasoning have no place in the document's own blocks: they are taken from
//! `metadata.extensions.blocks`, where `show --json` puts them, and from blocks of the types that
//! people give them.

use rethread_json::Value;
use rethread_model::{
    Blob, Block, Cost, Json, Media, Message, ModelRef, Moment, Role, Thinking, ToolCall, ToolInput,
    ToolResult, ToolStatus, Usage,
};

use crate::fields::{text, text_of};

/// A message that was given in the unified vocabulary.
#[derive(Clone, Debug)]
pub(crate) struct UnifiedMessage {
    /// When it was said.
    pub(crate) time: Option<Moment>,
    /// What it says.
    pub(crate) message: Message,
    /// Whether the client told it to the model, and no person typed it.
    pub(crate) is_told: bool,
}

/// Whether a message of the unified vocabulary says that no person typed it.
pub(crate) fn is_told(message: Value<'_>) -> bool {
    let meta = message.at(&["metadata", "is_meta"]);
    meta.and_then(Value::bool) == Some(true)
}

/// Whether blocks of this message are of the unified vocabulary alone.
pub(crate) fn has_unified_blocks(message: Value<'_>) -> bool {
    let is_tool = |b: Value<'_>| {
        let kind = b.get("type");
        kind.is_some_and(|t| t.is_str("tool_use") || t.is_str("tool_result"))
    };
    let content = message.get("content");
    message.get("uuid").is_some()
        || message.get("index").is_some()
        || content.is_some_and(|c| c.items().any(is_tool))
}

/// Reads a message of the unified vocabulary.
pub(crate) fn read(value: Value<'_>) -> Result<UnifiedMessage, String> {
    let word = string(value, "role").ok_or("`role` is missing")?;
    let role = match word.as_str() {
        "user" => Role::User,
        "assistant" | "agent" => Role::Assistant,
        "system" => Role::System,
        "tool" => Role::Tool,
        other => {
            return Err(format!(
                "`role` is `{other}`, not `user`, `assistant` or `system`"
            ));
        }
    };
    let time = match string(value, "timestamp") {
        None => None,
        Some(text) => {
            let time = text.parse::<Moment>();
            Some(time.map_err(|e| format!("`timestamp` is `{text}`: {e}"))?)
        }
    };
    let content = value.get("content").ok_or("`content` is missing")?;
    let mut blocks = match text(content) {
        Some(text) => vec![Block::Text(text)],
        None => content.items().map(block).collect::<Result<_, _>>()?,
    };
    let extensions = value.at(&["metadata", "extensions"]);
    if let Some(more) = extensions.and_then(|e| e.get("blocks")) {
        add_others(&mut blocks, more)?;
    }
    let mut message = Message::new(role, blocks);
    let at = |path: &[&str]| value.at(&["metadata"])?.at(path)?.str();
    message.model = at(&["model", "name"]).map(|name| ModelRef {
        provider: at(&["extensions", "provider"]).map(Into::into),
        id: name.into_owned(),
    });
    message.stop_reason = at(&["model", "stop_reason"]).map(Into::into);
    message.error = at(&["extensions", "error"]).map(Into::into);
    message.usage = value.at(&["metadata", "token_usage"]).map(usage);
    let is_told = is_told(value);
    Ok(UnifiedMessage {
        time,
        message,
        is_told,
    })
}

fn usage(value: Value<'_>) -> Usage {
    let count = |key| value.get(key).and_then(Value::u64).unwrap_or(0);
    Usage {
        input: count("input_tokens"),
        output: count("output_tokens"),
        cache_read: count("cache_read_tokens"),
        cache_write: count("cache_creation_tokens"),
        cost: value
            .get("cost_usd")
            .and_then(Value::f64)
            .map(|usd| Cost { usd }),
        ..Usage::default()
    }
}

/// Puts blocks that the document has no words for where they stood.
fn add_others(blocks: &mut Vec<Block>, more: Value<'_>) -> Result<(), String> {
    for (added, other) in more.items().enumerate() {
        let at = other.get("at").and_then(Value::u64).unwrap_or(u64::MAX);
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        let place = at.saturating_add(added).min(blocks.len());
        blocks.insert(place, block(other)?);
    }
    Ok(())
}

fn block(value: Value<'_>) -> Result<Block, String> {
    let kind = string(value, "type").ok_or("a content block has no `type`")?;
    let said = |key: &str| text_of(value, key);
    let need = |key: &str| string(value, key).ok_or(format!("a `{kind}` block has no `{key}`"));
    Ok(match kind.as_str() {
        "text" => Block::Text(said("text").ok_or("a `text` block has no `text`")?),
        "thinking" => Block::Thinking(Thinking {
            text: said("text")
                .or_else(|| said("thinking"))
                .unwrap_or_default(),
            signature: string(value, "signature"),
            encrypted: string(value, "encrypted"),
            ..Thinking::default()
        }),
        "tool_use" => Block::ToolCall(ToolCall {
            input: value.get("input").map(|input| match text(input) {
                Some(text) => ToolInput::Text(text),
                None => ToolInput::Json(Json::new(input.raw())),
            }),
            status: ToolStatus::Completed,
            ..ToolCall::new(need("tool_id")?, need("tool_name")?)
        }),
        "tool_result" => Block::ToolResult(ToolResult {
            call_id: need("tool_id")?,
            name: string(value, "tool_name").filter(|name| !name.is_empty()),
            blocks: output(value)?,
            is_error: value.get("is_error").and_then(Value::bool) == Some(true),
            structured: None,
            exit_code: None,
            full_output: None,
        }),
        "image" => Block::Image(media(value, "image/png")?),
        "file" => Block::File(media(value, "application/octet-stream")?),
        _ => Block::Unknown {
            type_name: kind,
            raw: Json::new(value.raw()),
        },
    })
}

/// What a tool gave: block by block in `content` where that is more than text, else in `output`.
fn output(result: Value<'_>) -> Result<Vec<Block>, String> {
    if let Some(content) = result.get("content").filter(|c| c.is_array()) {
        let blocks = content.items().map(|item| {
            let kind = string(item, "type").unwrap_or_default();
            if kind.starts_with("tool_") {
                return Err(format!("a `tool_result` block holds a `{kind}` block"));
            }
            block(item)
        });
        return blocks.collect();
    }
    Ok(match result.get("output") {
        Some(output) if output.text().is_none() => {
            vec![Block::text(String::from_utf8_lossy(output.raw()))]
        }
        _ => text_of(result, "output")
            .map(Block::Text)
            .into_iter()
            .collect(),
    })
}

/// A picture or a file: base64 in `data` with its MIME type, or an address.
fn media(value: Value<'_>, unnamed: &str) -> Result<Media, String> {
    let mime = ["mimeType", "mime", "media_type"]
        .iter()
        .find_map(|key| string(value, key));
    let blob = match (string(value, "data"), string(value, "url")) {
        (Some(data), _) if data.starts_with("data:") => Blob::Url(data),
        (Some(data), _) => {
            let mime = mime.as_deref().unwrap_or(unnamed);
            Blob::Url(format!("data:{mime};base64,{data}"))
        }
        (None, Some(url)) => Blob::Url(url),
        (None, None) => {
            return Err("a picture or a file has neither `data` nor `url`".to_owned());
        }
    };
    Ok(Media {
        mime,
        name: string(value, "name"),
        uri: None,
        blob,
    })
}

fn string(value: Value<'_>, key: &str) -> Option<String> {
    Some(value.get(key)?.str()?.into_owned())
}
