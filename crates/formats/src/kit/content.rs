//! The content of messages that users give, as blocks: in the unified vocabulary, with the words that
//! the vendors' own APIs have for the same.
//!
//! Pictures and reasoning have no place in the unified document's own blocks: they are taken from
//! `metadata.extensions.blocks`, where `show --json` puts them, and from blocks of the types that
//! people give them.

use std::path::Path;

use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use rethread_json::{Kind, Object, Tree, Value};
use rethread_model::{
    Blob, Block, Json, Media, RawRef, Thinking, ToolCall, ToolInput, ToolResult, ToolStatus,
};

use crate::fields::{is_true, json, string, text, text_of};
use crate::picture;

/// The blocks of `content`, which may be one text.
pub(crate) fn read_blocks(content: Value<'_>) -> Result<Vec<Block>, String> {
    if let Some(text) = text(content) {
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
    let kind = string(value, "type").ok_or("`type` is missing")?;
    Ok(match kind.as_str() {
        "text" => Block::Text(text_of(value, "text").ok_or("`text` is missing")?),
        "thinking" => Block::Thinking(thinking(value)?),
        "tool_use" => Block::ToolCall(ToolCall {
            input: value.get("input").map(tool_input),
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
    let found = keys.iter().find_map(|key| string(value, key));
    found.ok_or_else(|| format!("`{}` is missing", keys[0]))
}

fn thinking(value: Value<'_>) -> Result<Thinking, String> {
    let said = text_of(value, "text").or_else(|| text_of(value, "thinking"));
    let (signature, encrypted) = (string(value, "signature"), string(value, "encrypted"));
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
            (None, Some(said)) => vec![Block::Text(text(said).unwrap_or_else(|| {
                rethread_model::Text::new(String::from_utf8_lossy(said.raw()))
            }))],
            (None, None) => Vec::new(),
        };
    Ok(ToolResult {
        call_id: needed(value, ["tool_id", "tool_use_id"])?,
        name: string(value, "tool_name").filter(|name| !name.is_empty()),
        blocks,
        is_error: is_true(value, "is_error"),
        structured: json(value, "output").filter(|_| said.is_some_and(|v| v.text().is_none())),
        exit_code: None,
        full_output: None,
    })
}

fn inner_block(value: Value<'_>) -> Result<Block, String> {
    let kind = string(value, "type").unwrap_or_default();
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
            .find_map(|key| string(from, key).or_else(|| string(value, key)))
    };
    let image_url = value.get("image_url").filter(|url| url.is_object());
    let url = of(&["url", "image_url"]).or_else(|| string(image_url?, "url"));
    let mime = of(&MIME);
    let name = ["name", "filename", "title"];
    let name = name.iter().find_map(|key| string(value, key));
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
                uri: None,
                blob: Blob::Url(url),
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
        uri: None,
        blob,
    })
}

/// Bytes that a message holds itself.
pub(crate) struct InlineData {
    /// What they are.
    pub(crate) mime: String,
    pub(crate) bytes: Vec<u8>,
}

/// Base64 as programs write it: padded or not.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
const LENIENT_URL: GeneralPurpose = GeneralPurpose::new(
    &alphabet::URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

impl InlineData {
    /// Decodes base64, by itself or in a `data:` URL, which says better what it is.
    pub(crate) fn decode(data: &str, mime: Option<&str>) -> Result<Self, String> {
        let (base64, from_url) = match data.get(5..).filter(|_| is_data_url(data)) {
            None => (data, None),
            Some(rest) => {
                let (head, body) = rest.split_once(',').ok_or("a data URL without a comma")?;
                let mut fields = head.split(';');
                let mime = fields.next().filter(|m| !m.is_empty());
                if !fields.any(|f| f.eq_ignore_ascii_case("base64")) {
                    return Err("a data URL that is not base64".to_owned());
                }
                (body, mime)
            }
        };
        let packed: Vec<u8> = base64
            .bytes()
            .filter(|b| !b.is_ascii_whitespace())
            .collect();
        let bytes = LENIENT
            .decode(&packed)
            .or_else(|_| LENIENT_URL.decode(&packed))
            .map_err(|e| format!("image data that is not base64: {e}"))?;
        let mime = from_url.or(mime).map_or_else(
            || picture::mime(&bytes, Path::new("")).to_owned(),
            str::to_ascii_lowercase,
        );
        Ok(Self { mime, bytes })
    }

    /// A `data:` URL.
    pub(crate) fn to_url(&self) -> String {
        format!("data:{};base64,{}", self.mime, STANDARD.encode(&self.bytes))
    }
}

/// Whether an address holds the bytes itself.
pub(crate) fn is_data_url(text: &str) -> bool {
    text.get(..5)
        .is_some_and(|start| start.eq_ignore_ascii_case("data:"))
}

/// What a tool was given: text, or any other value.
fn tool_input(value: Value<'_>) -> ToolInput {
    match text(value) {
        Some(text) => ToolInput::Text(text),
        None => ToolInput::Json(Json::new(value.raw())),
    }
}

/// What a tool was given, where that is JSON in a string, plain text, or any other value.
pub(crate) fn parsed_input(value: Value<'_>) -> ToolInput {
    let Some(said) = text(value) else {
        return ToolInput::Json(Json::new(value.raw()));
    };
    let bytes = said.value.as_bytes();
    let structured = Tree::parse(bytes)
        .is_ok_and(|tree| matches!(tree.root(bytes).kind(), Kind::Object | Kind::Array));
    if structured && !said.lossy {
        ToolInput::Json(Json::new(bytes.trim_ascii()))
    } else {
        ToolInput::Text(said)
    }
}

/// A picture, or any other file, by its type.
pub(crate) fn media_block(media: Media) -> Block {
    match media.mime.as_deref() {
        Some(mime) if mime.starts_with("image/") => Block::Image(media),
        _ => Block::File(media),
    }
}

/// Bytes that a record holds as base64 in a string.
pub(crate) fn inline_blob(data: Value<'_>, record: RawRef) -> Option<Blob> {
    Some(Blob::Inline {
        record,
        // Behind the quote.
        start: data.span().start as u64 + 1,
        len: data.content()?.len() as u64,
    })
}

/// The MIME type and the base64 of an address that holds the bytes itself.
pub(crate) fn data_url(url: &str) -> Option<(&str, &str)> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    Some((head.strip_suffix(";base64")?, data))
}

/// What a tool is given, for clients that take objects alone: all else becomes the one member of one.
pub(crate) fn object_input(input: Option<&ToolInput>) -> Vec<u8> {
    match input {
        None => b"{}".to_vec(),
        Some(ToolInput::Json(json)) if json.bytes().trim_ascii_start().starts_with(b"{") => {
            json.bytes().to_vec()
        }
        Some(ToolInput::Json(json)) => Object::new().raw("input", json.bytes()).finish(),
        Some(ToolInput::Text(text)) => Object::new().str("input", &text.value).finish(),
    }
}

/// What a tool gave, as one text.
pub(crate) fn output_text(result: &ToolResult) -> String {
    let texts = result.blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.value.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
