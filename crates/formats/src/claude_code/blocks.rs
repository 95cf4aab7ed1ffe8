//! The content of messages.

use std::path::{Path, PathBuf};

use rethread_json::Value;
use rethread_model::{
    Blob, Block, Json, Link, Media, RawRef, Text, Thinking, ToolCall, ToolInput, ToolResult,
    ToolStatus,
};

use super::reader::child_of_call;
use super::record::TranscriptRecord;
use super::said::text_blocks;
use super::store::saved_output;
use crate::few::{Rest, few_items};
use crate::fields::{is_true, json_of, string_of, text_from, text_of};
use crate::kit::{inline_blob, unknown_block};

/// What blocks are decoded with.
pub(super) struct Around<'a> {
    /// The record that they are in.
    pub(super) raw: RawRef,
    /// The transcript.
    pub(super) path: &'a Path,
    /// The sessions that this one belongs with.
    pub(super) links: &'a [Link],
    /// Whether what the client put among the person's words is to stand apart.
    pub(super) asides: bool,
}

/// The blocks of a content, which is one text or an array.
pub(super) fn read_blocks(content: Option<Value<'_>>, around: &Around<'_>) -> Vec<Block> {
    let Some(content) = content else {
        return Vec::new();
    };
    if let Some(lone) = text_from(content) {
        return said(content, lone, around);
    }
    let (items, rest) = few_items(content);
    let items = items.flat_map(|item| block(item, around));
    items.chain(rest.map(Rest::block)).collect()
}

fn said(value: Value<'_>, text: Text, around: &Around<'_>) -> Vec<Block> {
    if around.asides {
        text_blocks(value, text)
    } else {
        vec![Block::Text(text)]
    }
}

fn block(value: Value<'_>, around: &Around<'_>) -> Vec<Block> {
    let type_name = string_of(value, "type").unwrap_or_default();
    let known = match type_name.as_str() {
        "text" => {
            let words = value.get("text");
            let words = words.and_then(|w| Some(said(w, text_from(w)?, around)));
            match words {
                Some(blocks) => return blocks,
                None => None,
            }
        }
        "thinking" => text_of(value, "thinking").map(|text| {
            Block::Thinking(Thinking {
                text,
                signature: string_of(value, "signature"),
                ..Thinking::default()
            })
        }),
        "redacted_thinking" => Some(Block::Thinking(Thinking {
            encrypted: string_of(value, "data"),
            redacted: true,
            ..Thinking::default()
        })),
        "tool_use" | "server_tool_use" | "mcp_tool_use" => Some(call(value, around)),
        "tool_result" => Some(Block::ToolResult(result(value, around))),
        "image" => media(value, around).map(Block::Image),
        "document" => media(value, around).map(Block::File),
        _ => text_from(value).map(Block::Text),
    };
    vec![known.unwrap_or_else(|| unknown_block(value))]
}

fn call(value: Value<'_>, around: &Around<'_>) -> Block {
    let id = string_of(value, "id").unwrap_or_default();
    let name = string_of(value, "name").unwrap_or_default();
    Block::ToolCall(ToolCall {
        namespace: string_of(value, "server_name"),
        input: json_of(value, "input").map(ToolInput::Json),
        // How it ended is in its result, which is an entry of its own.
        status: ToolStatus::Completed,
        hosted: value
            .get("type")
            .is_some_and(|t| t.is_str("server_tool_use")),
        child_session: child_of_call(around.links, &id),
        ..ToolCall::new(id, name)
    })
}

fn result(value: Value<'_>, around: &Around<'_>) -> ToolResult {
    let plain = Around {
        asides: false,
        ..*around
    };
    let inner = value.get("content");
    let nests = |b: &Value<'_>| {
        let is = |name| b.get("type").is_some_and(|t| t.is_str(name));
        is("tool_use") || is("tool_result")
    };
    let lone = inner.and_then(text_from).map(Block::Text);
    let (items, rest) = inner.map(few_items).unzip();
    let items = items.into_iter().flatten().flat_map(|item| {
        // Results never nest; what does is kept as it is.
        if nests(&item) {
            vec![unknown_block(item)]
        } else {
            block(item, &plain)
        }
    });
    let rest = rest.flatten().map(Rest::block);
    ToolResult {
        blocks: lone.into_iter().chain(items).chain(rest).collect(),
        is_error: is_true(value, "is_error"),
        ..ToolResult::new(string_of(value, "tool_use_id").unwrap_or_default())
    }
}

/// Gives the one result of a record what the record holds of it beside the message.
pub(super) fn add_structured(
    blocks: &mut [Block],
    record: &TranscriptRecord<'_>,
    around: &Around<'_>,
) {
    let mut results = blocks.iter_mut().filter_map(|b| match b {
        Block::ToolResult(result) => Some(result),
        _ => None,
    });
    let (Some(result), None) = (results.next(), results.next()) else {
        return;
    };
    let Some(structured) = record.result.filter(|r| !r.is_null()) else {
        return;
    };
    result.structured = Some(Json::new(structured.raw()));
    result.full_output = string_of(structured, "persistedOutputPath").map(|named| {
        saved_output(around.path, &named)
            .map_or_else(|| Blob::Outside(PathBuf::from(&named)), Blob::File)
    });
}

/// A picture or a document.
fn media(value: Value<'_>, around: &Around<'_>) -> Option<Media> {
    let source = value.get("source")?;
    let name = string_of(value, "title").or_else(|| string_of(value, "filename"));
    let blob = match string_of(source, "type")?.as_str() {
        "base64" => inline_blob(source.get("data")?, around.raw)?,
        "text" => Blob::Text(text_of(source, "data")?),
        "url" => Blob::Url(string_of(source, "url")?),
        "file" => Blob::Missing(string_of(source, "file_id")?),
        _ => return None,
    };
    Some(Media {
        mime: string_of(source, "media_type"),
        name,
        ..Media::new(blob)
    })
}
