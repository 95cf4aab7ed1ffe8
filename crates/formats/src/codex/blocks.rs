//! The content of items.

use rethread_json::Value;
use rethread_model::{
    Blob, Block, Json, Media, RawRef, Text, Thinking, ToolCall, ToolResult, ToolStatus, Visibility,
};

use super::calls::{call_id, call_input, exit_code};
use super::said::{ContentPart, content_parts, is_injected, more_parts};
use crate::few::{Rest, few_blocks};
use crate::fields::{filled_of, json_of, string_of, text_from, text_of};
use crate::kit::{base64_start, inline_blob, unknown_block, url_blob};

/// The blocks of a message. In one of the user, texts that the client put among the person's are
/// marked.
pub(super) fn message_blocks(value: Value<'_>, raw: RawRef, of_user: bool) -> Vec<Block> {
    let is_own = |part: ContentPart<'_>| !part.text().as_deref().is_some_and(is_injected);
    let mixed = of_user && content_parts(value).any(is_own);
    let block = |ContentPart(value): ContentPart<'_>| match block(value, raw) {
        Block::Text(text) if mixed && is_injected(&text.value) => Block::Aside {
            text,
            visibility: Visibility::Injected,
        },
        block => block,
    };
    let more = more_parts(value).map(Rest::block);
    content_parts(value).map(block).chain(more).collect()
}

/// One part of a content.
fn block(value: Value<'_>, raw: RawRef) -> Block {
    let type_name = string_of(value, "type").unwrap_or_default();
    let known = match type_name.as_str() {
        "input_image" | "image" | "output_image" => image(value, raw).map(Block::Image),
        "local_image" => filled_of(value, "path")
            .map(|path| Block::Image(Media::new(Blob::Outside(path.into())))),
        "input_text" | "output_text" | "text" | "Text" | "reasoning_text" | "summary_text"
        | "refusal" => text_of(value, "text")
            .or_else(|| text_of(value, "refusal"))
            .map(Block::Text),
        // A text that is no block.
        _ => text_from(value).map(Block::Text),
    };
    known.unwrap_or_else(|| unknown_block(value))
}

/// A picture by its address, whose bytes may be in it.
fn image(value: Value<'_>, raw: RawRef) -> Option<Media> {
    let url = value
        .get("image_url")
        .map(|u| u.get("url").unwrap_or(u))
        .or_else(|| value.get("url"))?;
    let spelled = url.content()?;
    if !spelled.starts_with(b"data:") {
        return Some(Media::new(Blob::Url(url.str()?.into_owned())));
    }
    let kind = spelled.get(5..base64_start(spelled)?)?;
    let mime = kind.strip_suffix(b";base64,")?;
    let mime = std::str::from_utf8(mime).ok().filter(|m| !m.is_empty());
    Some(Media {
        mime: mime.map(str::to_owned),
        ..Media::new(url_blob(url, raw)?)
    })
}

/// Reasoning: in full where it is there, else its summary.
pub(super) fn read_reasoning(value: Value<'_>) -> Thinking {
    let joined = |key: &str| {
        let texts = value.get(key).into_iter().flat_map(Value::items);
        let texts: Vec<Text> = texts
            .filter_map(|t| text_of(t, "text").or_else(|| text_from(t)))
            .collect();
        (!texts.is_empty()).then(|| Text::joined(&texts, "\n\n"))
    };
    let full = joined("content").or_else(|| joined("raw_content"));
    let encrypted = filled_of(value, "encrypted_content");
    let summary = full.is_none();
    let text = full
        .or_else(|| joined("summary"))
        .or_else(|| joined("summary_text"))
        .or_else(|| text_of(value, "text"));
    Thinking {
        redacted: text.is_none() && encrypted.is_some(),
        summary: summary && text.is_some(),
        text: text.unwrap_or_default(),
        encrypted,
        ..Thinking::default()
    }
}

/// A call.
pub(super) fn tool_call(value: Value<'_>) -> ToolCall {
    ToolCall {
        namespace: filled_of(value, "namespace"),
        input: call_input(value),
        status: match string_of(value, "status").as_deref() {
            // How it ended is in its result, which is an entry of its own.
            None | Some("completed") => ToolStatus::Completed,
            Some("in_progress") => ToolStatus::Running,
            Some("incomplete" | "failed") => ToolStatus::Failed,
            Some(other) => ToolStatus::Other(other.to_owned()),
        },
        ..ToolCall::new(call_id(value).unwrap_or_default(), name_of_call(value))
    }
}

/// A call that the vendor carries out.
pub(super) fn hosted_call(value: Value<'_>) -> ToolCall {
    ToolCall {
        hosted: true,
        ..tool_call(value)
    }
}

/// The name of the tool that is called.
pub(super) fn name_of_call(value: Value<'_>) -> String {
    let name = filled_of(value, "name").or_else(|| {
        let name = value.at(&["function", "name"])?.str()?;
        Some(name.into_owned())
    });
    name.unwrap_or_else(|| {
        let kind = string_of(value, "type").unwrap_or_default();
        kind.trim_end_matches("_call").to_owned()
    })
}

/// A picture that the vendor made: the call has its own result.
pub(super) fn made_picture(value: Value<'_>, raw: RawRef) -> Option<Block> {
    let data = value.get("result")?;
    let spelled = data.content()?;
    let is_base64 = !spelled.is_empty() && memchr::memchr(b'\\', spelled).is_none();
    let picture = Media {
        mime: Some("image/png".to_owned()),
        ..Media::new(inline_blob(data, raw)?)
    };
    Some(Block::ToolResult(ToolResult {
        blocks: is_base64
            .then_some(Block::Image(picture))
            .into_iter()
            .collect(),
        ..ToolResult::new(call_id(value).unwrap_or_default())
    }))
}

/// What a tool answered to a call, where it is a text.
pub(super) fn text_result(call_id: String, said: Text) -> ToolResult {
    let mut found = ToolResult::new(call_id);
    say(&mut found, said);
    found
}

fn say(result: &mut ToolResult, said: Text) {
    result.exit_code = exit_code(&said.value);
    result.is_error = result.exit_code.is_some_and(|code| code != 0);
    result.blocks.push(Block::Text(said));
}

/// What a tool answered.
pub(super) fn tool_output(value: Value<'_>, raw: RawRef) -> ToolResult {
    let mut found = ToolResult {
        name: filled_of(value, "name"),
        ..ToolResult::new(call_id(value).unwrap_or_default())
    };
    if let Some(tools) = json_of(value, "tools") {
        found.structured = Some(tools);
    }
    let Some(output) = value.get("output") else {
        return found;
    };
    if let Some(said) = text_from(output) {
        say(&mut found, said);
    } else if output.is_array() {
        found.blocks = few_blocks(output, |item| block(item, raw));
    } else if let Some(said) = text_of(output, "content").or_else(|| text_of(output, "text")) {
        // An older shape: `{content, success}`.
        found.is_error = output.get("success").and_then(Value::bool) == Some(false);
        found.blocks.push(Block::Text(said));
    } else if !output.is_null() {
        found.blocks.push(Block::Unknown {
            type_name: String::new(),
            raw: Json::new(output.raw()),
        });
    }
    // What we wrote ourselves; the client has no place for it.
    found.is_error |= value.get("is_error").and_then(Value::bool) == Some(true);
    found
}
