//! The content of messages as blocks, and blocks as the values that clients write: what is alike in the
//! vocabularies of Anthropic, `OpenAI`, Gemini and the unified document. What is a client's own is a
//! function of it.

mod given;
mod inline;

pub(crate) use given::{add_blocks, read_blocks};
pub(crate) use inline::{InlineData, base64_start, data_url, inline_blob, is_data_url, url_blob};

use rethread_json::{Kind, Object, Tree, Value};
use rethread_model::{Block, Json, Media, ToolInput, ToolResult};

use crate::few::few_blocks;
use crate::fields::{string_of, text_from};

/// The blocks of a content, which is one text or a list with a block for each item.
pub(crate) fn content_blocks<'a>(
    content: Option<Value<'a>>,
    block: impl FnMut(Value<'a>) -> Block,
) -> Vec<Block> {
    let Some(content) = content else {
        return Vec::new();
    };
    match text_from(content) {
        Some(lone) => vec![Block::Text(lone)],
        None => few_blocks(content, block),
    }
}

/// A block that nobody knows, by its type.
pub(crate) fn unknown_block(value: Value<'_>) -> Block {
    Block::Unknown {
        type_name: string_of(value, "type").unwrap_or_default(),
        raw: Json::new(value.raw()),
    }
}

/// What a tool was given, where that is JSON in a string, plain text, or any other value.
pub(crate) fn parsed_input(value: Value<'_>) -> ToolInput {
    let Some(said) = text_from(value) else {
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

/// What a tool was given: text, or any other value.
pub(crate) fn plain_input(value: Value<'_>) -> ToolInput {
    match text_from(value) {
        Some(text) => ToolInput::Text(text),
        None => ToolInput::Json(Json::new(value.raw())),
    }
}
