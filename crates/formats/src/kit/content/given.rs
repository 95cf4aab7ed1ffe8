//! The content of messages that users give, as blocks: in the unified vocabulary, with the words that
//! the vendors' own APIs have for the same.
//!
//! Pictures and reasoning have no place in the unified document's own blocks: they are taken from
//! `metadata.extensions.blocks`, where `show --json` puts them, and from blocks of the types that
//! people give them.

use rethread_json::Value;
use rethread_model::{Blob, Block, Media, Thinking, ToolCall, ToolResult, ToolStatus};

use super::{InlineData, is_data_url, plain_input};
use crate::fields::{is_true, json_of, string_of, text_from, text_of};

/// The blocks of `content`, which may be one text.
pub(crate) fn read_blocks(content: Value<'_>) -> Result<Vec<Block>, String> {
    if let Some(text) = text_from(content) {
        return Ok(vec![Block::Text(text)]);
    }
    if !content.is_array() {
        return Err("`content` is not an array".to_owned());
    }
    let blocks = content.items().enumerate();
    blocks
        .map(|(i, block)| {
            read_block(block).map_err(|why| format!("content block {}: {why}", i + 1))
        })
        .collect()
}

/// Puts blocks that the unified document has no words for where they stood.
pub(crate) fn add_blocks(blocks: &mut Vec<Block>, more: Value<'_>) -> Result<(), String> {
    for (added, other) in more.items().enumerate() {
        let at = other.get("at").and_then(Value::u64).unwrap_or(u64::MAX);
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        let place = at.saturating_add(added).min(blocks.len());
        let block = read_block(other);
        let block = block.map_err(|why| format!("extension block {}: {why}", added + 1))?;
        blocks.insert(place, block);
    }
    Ok(())
}

fn read_block(value: Value<'_>) -> Result<Block, String> {
    let kind = string_of(value, "type").ok_or("`type` is missing")?;
    Ok(match kind.as_str() {
        "text" => Block::Text(text_of(value, "text").ok_or("`text` is missing")?),
        "thinking" => Block::Thinking(thinking(value)?),
        "tool_use" => Block::ToolCall(ToolCall {
            input: value.get("input").map(plain_input),
            status: ToolStatus::Completed,
            ..ToolCall::new(
                needed(value, ["tool_id", "id"])?,
                needed(value, ["tool_name", "name"])?,
            )
        }),
        "tool_result" => Block::ToolResult(tool_result(value)?),
        "image" => Block::Image(media(value)?),
        "file" | "document" => Block::File(media(value)?),
        other => return Err(format!("there is no place for a block of type `{other}`")),
    })
}

/// A member that has one of two names.
fn needed(value: Value<'_>, keys: [&str; 2]) -> Result<String, String> {
    let found = keys.iter().find_map(|key| string_of(value, key));
    found.ok_or_else(|| format!("`{}` is missing", keys[0]))
}

fn thinking(value: Value<'_>) -> Result<Thinking, String> {
    let said = text_of(value, "text").or_else(|| text_of(value, "thinking"));
    let (signature, encrypted) = (string_of(value, "signature"), string_of(value, "encrypted"));
    if said.is_none() && signature.is_none() && encrypted.is_none() {
        return Err("`text` is missing".to_owned());
    }
    Ok(Thinking {
        text: said.unwrap_or_default(),
        signature,
        encrypted,
        ..Thinking::default()
    })
}

/// What a tool gave: block by block in `content` where that is more than text, else in `output`.
fn tool_result(value: Value<'_>) -> Result<ToolResult, String> {
    let content = value.get("content").filter(|content| content.is_array());
    let said = value.get("output").or_else(|| value.get("content"));
    let blocks =
        match (content, said) {
            (Some(content), _) => content.items().map(inner_block).collect::<Result<_, _>>()?,
            (None, Some(said)) => vec![Block::Text(text_from(said).unwrap_or_else(|| {
                rethread_model::Text::new(String::from_utf8_lossy(said.raw()))
            }))],
            (None, None) => Vec::new(),
        };
    Ok(ToolResult {
        name: string_of(value, "tool_name").filter(|name| !name.is_empty()),
        blocks,
        is_error: is_true(value, "is_error"),
        structured: json_of(value, "output").filter(|_| said.is_some_and(|v| v.text().is_none())),
        ..ToolResult::new(needed(value, ["tool_id", "tool_use_id"])?)
    })
}

fn inner_block(value: Value<'_>) -> Result<Block, String> {
    let kind = string_of(value, "type").unwrap_or_default();
    if kind.starts_with("tool_") {
        return Err(format!("a `tool_result` block holds a `{kind}` block"));
    }
    read_block(value)
}

/// What people call the type of a file.
const MIME: [&str; 4] = ["mimeType", "mime", "media_type", "mime_type"];

/// A picture or a file: base64 in `data` with its MIME type, or an address.
fn media(value: Value<'_>) -> Result<Media, String> {
    let source = value.get("source").filter(|source| source.is_object());
    let from = source.unwrap_or(value);
    let of = |keys: &[&str]| {
        keys.iter()
            .find_map(|key| string_of(from, key).or_else(|| string_of(value, key)))
    };
    let image_url = value.get("image_url").filter(|url| url.is_object());
    let url = of(&["url", "image_url"]).or_else(|| string_of(image_url?, "url"));
    let mime = of(&MIME);
    let name = ["name", "filename", "title"];
    let name = name.iter().find_map(|key| string_of(value, key));
    let inline = |data: &str| InlineData::decode(data, mime.as_deref());
    let data = match (of(&["data", "blob"]), url) {
        (Some(text), _)
            if source.is_some_and(|s| s.get("type").is_some_and(|t| t.is_str("text"))) =>
        {
            InlineData {
                mime: mime.unwrap_or_else(|| "text/plain".to_owned()),
                bytes: text.into_bytes(),
            }
        }
        (Some(data), _) => inline(&data)?,
        (None, Some(url)) if is_data_url(&url) => inline(&url)?,
        (None, Some(url)) => {
            return Ok(Media {
                mime,
                name,
                ..Media::new(Blob::Url(url))
            });
        }
        (None, None) => {
            let why = "neither `data` nor `url`: give base64 in `data`, or an address in `url`";
            return Err(why.to_owned());
        }
    };
    let blob = Blob::Url(data.to_url());
    Ok(Media {
        mime: Some(data.mime),
        name,
        ..Media::new(blob)
    })
}
