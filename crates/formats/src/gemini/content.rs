//! The parts of a message's content.

use rethread_json::Value;
use rethread_model::{
    Blob, Block, Json, Media, RawRef, Text, Thinking, ToolCall, ToolInput, ToolResult, ToolStatus,
};

use super::fields::{json, string, text, text_of};

/// One part as a block.
pub(super) fn block(part: Value<'_>, raw: RawRef) -> Block {
    // Most say a text and nothing else.
    let mut members = part.members();
    if let (Some((key, text)), None) = (members.next(), members.next())
        && key.is_str("text")
        && let Some(text) = self::text(text)
    {
        return Block::Text(text);
    }
    let has = |key| part.get(key).filter(|v| !v.is_null());
    let is_thought = part.get("thought").and_then(Value::bool) == Some(true);
    let known = if let Some(call) = has("functionCall") {
        Some(Block::ToolCall(function_call(part, call)))
    } else if let Some(response) = has("functionResponse") {
        Some(Block::ToolResult(response_result(response, raw)))
    } else if let Some(data) = has("inlineData") {
        inline(data, raw)
    } else if let Some(data) = has("fileData") {
        Some(file(data))
    } else if is_thought {
        text_of(part, "text").map(|text| {
            Block::Thinking(Thinking {
                text,
                signature: string(part, "thoughtSignature"),
                summary: true,
                ..Thinking::default()
            })
        })
    } else {
        text_of(part, "text").map(Block::Text)
    };
    known
        .or_else(|| text(part).map(Block::Text))
        .unwrap_or_else(|| unknown(part))
}

/// A part that nobody knows, by the name of its first member.
fn unknown(part: Value<'_>) -> Block {
    let first = part.members().next().and_then(|(key, _)| key.str());
    Block::Unknown {
        type_name: first.map_or_else(|| "part".to_owned(), std::borrow::Cow::into_owned),
        raw: Json::new(part.raw()),
    }
}

fn function_call(part: Value<'_>, call: Value<'_>) -> ToolCall {
    let named = |key| string(call, key).unwrap_or_default();
    ToolCall {
        input: json(call, "args").map(ToolInput::Json),
        // How it ended is in its result.
        status: ToolStatus::Completed,
        signature: string(part, "thoughtSignature"),
        ..ToolCall::new(named("id"), named("name"))
    }
}

/// Pictures are shown as such; everything else is a file.
fn inline(data: Value<'_>, record: RawRef) -> Option<Block> {
    let bytes = data.get("data")?;
    let len = bytes.content()?.len() as u64;
    let mime = string(data, "mimeType");
    let is_image = mime.as_deref().is_some_and(|m| m.starts_with("image/"));
    let media = Media {
        mime,
        name: string(data, "displayName"),
        uri: None,
        blob: Blob::Inline {
            record,
            // Behind the quote.
            start: bytes.span().start as u64 + 1,
            len,
        },
    };
    Some(if is_image {
        Block::Image(media)
    } else {
        Block::File(media)
    })
}

fn file(data: Value<'_>) -> Block {
    let uri = string(data, "fileUri").unwrap_or_default();
    Block::File(Media {
        mime: string(data, "mimeType"),
        name: string(data, "displayName"),
        uri: None,
        blob: Blob::Url(uri),
    })
}

/// What a `functionResponse` says.
pub(super) fn response_result(response: Value<'_>, raw: RawRef) -> ToolResult {
    let mut result = ToolResult {
        call_id: string(response, "id").unwrap_or_default(),
        name: string(response, "name"),
        blocks: Vec::new(),
        is_error: false,
        structured: None,
        exit_code: None,
        full_output: None,
    };
    add_response(response, raw, &mut result);
    result
}

/// Adds what a `functionResponse` says to a result: a text under `output` or `error`, else its JSON
/// as it stands.
pub(super) fn add_response(response: Value<'_>, raw: RawRef, result: &mut ToolResult) {
    if let Some(said) = response.get("response").filter(|r| !r.is_null()) {
        let error = text_of(said, "error");
        result.is_error |= error.is_some() && said.get("output").is_none();
        let texts = [text_of(said, "output"), error];
        let before = result.blocks.len();
        for text in texts.into_iter().flatten() {
            result.exit_code = result.exit_code.or_else(|| exit_code(&text.value));
            result.blocks.push(Block::Text(text));
        }
        if result.blocks.len() == before && said.members().next().is_some() {
            let json = String::from_utf8_lossy(said.raw()).into_owned();
            result.blocks.push(Block::Text(Text::new(json)));
        }
    }
    // Newer models take pictures inside of a result.
    for part in response.get("parts").into_iter().flat_map(Value::items) {
        result.blocks.push(plain(block(part, raw)));
    }
}

/// A result holds neither calls nor results; one that stands there is kept as a block that nobody
/// knows.
pub(super) fn plain(block: Block) -> Block {
    match block {
        Block::ToolCall(ToolCall {
            input: Some(ToolInput::Json(raw)),
            name,
            ..
        }) => Block::Unknown {
            type_name: name,
            raw,
        },
        Block::ToolCall(_) | Block::ToolResult(_) => Block::Unknown {
            type_name: "functionResponse".to_owned(),
            raw: Json::new(b"null"),
        },
        other => other,
    }
}

/// The exit code that the client's shell tool writes into its answer.
fn exit_code(output: &str) -> Option<i64> {
    // At the end, behind what the command printed.
    let mut lines = output.lines().rev().take(8);
    lines.find_map(|line| line.strip_prefix("Exit Code: ")?.trim().parse().ok())
}
