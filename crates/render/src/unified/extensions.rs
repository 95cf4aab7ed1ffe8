//! What the vocabulary cannot say about a message, in `metadata.extensions`.

use std::io;

use rethread_model::{
    Blob, Block, Diff, Media, Message, Role, Thinking, ToolCall, ToolInput, ToolResult, ToolStatus,
    Visibility,
};

use super::entry::more_usage;
use super::form::{MessageContext, RecordForm};
use super::message::{BlockPart, Envelope, is_content, of_model};
use crate::json::JsonWriter;
use crate::tool::{flat_blocks, status_word};

/// Writes the members of `extensions` that come from a message:
///
/// - facts about the message: `visibility`, `inherited`, `side`, `logical_parent_uuid`, `role`
///   (`write_tool`), `model` and `token_usage` of messages that are not the assistant's, `provider`, `usage`, `usage_key` (the usage of messages with the same key counts
///   once), `duration_ms`, `error`, `response_id`, `extension`, `details`
/// - `write_blocks`: asides with their `visibility`, thinking, images, files and unknown blocks; `at`
///   counts the blocks of `content` that come before
/// - `tools`: more about the calls in `content`
/// - `results`: more about the results in `content`
///
/// In an export also `joined` (one message together with the one before), `parent_entry`, and `write_result_places`
/// (where results stood among the blocks of the message before).
pub(super) fn of_message(
    w: &mut JsonWriter<'_>,
    envelope: &Envelope<'_>,
    message: &Message,
    part: BlockPart,
    saying: &MessageContext<'_>,
) -> io::Result<()> {
    w.flag_if(
        "joined",
        envelope.joined && saying.form == RecordForm::Export,
    )?;
    w.number_if("parent_entry", envelope.parent_entry)?;
    w.member_if("visibility", visibility_word(envelope.visibility))?;
    w.flag_if("inherited", envelope.inherited)?;
    w.flag_if("side", envelope.side)?;
    let logical = envelope.logical_parent.filter(|id| !id.is_empty());
    w.member_if("logical_parent_uuid", logical)?;
    if part != BlockPart::Results {
        write_message_facts(w, envelope, message)?;
    }
    if part == BlockPart::Results && saying.form == RecordForm::Export {
        write_result_places(w, &message.blocks)?;
    }
    write_blocks(w, message, part, saying)?;
    w.open_if_used("tools", "[");
    for block in message.blocks.iter().filter(|b| part.holds(b)) {
        if let Block::ToolCall(call) = block {
            write_tool(w, call, saying.form)?;
        }
    }
    w.close_if_used("]")?;
    w.open_if_used("results", "[");
    for block in message.blocks.iter().filter(|b| part.holds(b)) {
        if let Block::ToolResult(found) = block {
            write_result(w, found, saying)?;
        }
    }
    w.close_if_used("]")
}

pub(super) fn visibility_word(visibility: Visibility) -> Option<&'static str> {
    match visibility {
        Visibility::Visible => None,
        Visibility::Injected => Some("injected"),
        Visibility::UiOnly => Some("ui_only"),
        Visibility::Hidden => Some("hidden"),
    }
}

fn write_message_facts(
    w: &mut JsonWriter<'_>,
    envelope: &Envelope<'_>,
    message: &Message,
) -> io::Result<()> {
    w.member_if("role", (message.role == Role::Tool).then_some("tool"))?;
    if message.role != Role::Assistant {
        of_model(w, message)?;
    }
    let provider = message.model.as_ref().and_then(|m| m.provider.as_deref());
    w.member_if("provider", provider)?;
    if let Some(usage) = &message.usage {
        more_usage(w, usage)?;
    }
    w.member_if("usage_key", envelope.usage_key)?;
    w.float_if("duration_ms", message.duration_ms)?;
    w.member_if("error", message.error.as_deref())?;
    w.member_if("response_id", message.response_id.as_deref())?;
    w.member_if("extension", message.extension.as_deref())?;
    w.raw_if("details", message.details.as_ref())
}

/// Writes where results stood among the blocks of their message, unless each stood right behind the
/// only call with its id.
fn write_result_places(w: &mut JsonWriter<'_>, blocks: &[Block]) -> io::Result<()> {
    let is_call = |b: &&Block, id: &str| matches!(b, Block::ToolCall(call) if call.id == id);
    let is_plain = |at: usize, id: &str| {
        let before = at.checked_sub(1).and_then(|at| blocks.get(at));
        before.is_some_and(|b| is_call(&b, id))
            && blocks.iter().filter(|b| is_call(b, id)).count() == 1
    };
    let results = || {
        blocks.iter().enumerate().filter_map(|(at, b)| match b {
            Block::ToolResult(result) => Some((at, result.call_id.as_str())),
            _ => None,
        })
    };
    if results().all(|(at, id)| is_plain(at, id)) {
        return Ok(());
    }
    w.begin_member("places")?;
    w.open("[")?;
    for (at, _) in results() {
        w.begin_element()?;
        w.write_number(at as u64)?;
    }
    w.close("]")
}

fn write_blocks(
    w: &mut JsonWriter<'_>,
    message: &Message,
    part: BlockPart,
    saying: &MessageContext<'_>,
) -> io::Result<()> {
    let mut at = 0;
    w.open_if_used("blocks", "[");
    for block in message.blocks.iter().filter(|b| part.holds(b)) {
        if is_content(block) {
            at += 1;
        } else {
            other_block(w, block, Some(at), saying)?;
        }
    }
    w.close_if_used("]")
}

/// Writes a block that the vocabulary does not know.
fn other_block(
    w: &mut JsonWriter<'_>,
    block: &Block,
    at: Option<u64>,
    saying: &MessageContext<'_>,
) -> io::Result<()> {
    w.begin_element()?;
    w.open("{")?;
    w.number_if("at", at)?;
    match block {
        Block::Aside { text, visibility } => {
            w.write_member("type", "aside")?;
            w.member_text("text", text)?;
            w.member_if("visibility", visibility_word(*visibility))?;
        }
        Block::Thinking(thought) => write_thinking(w, thought)?,
        Block::Image(image) => write_media(w, "image", image, saying)?,
        Block::File(file) => write_media(w, "file", file, saying)?,
        Block::Unknown { type_name, raw } => {
            w.write_member("type", "unknown")?;
            w.write_member("name", type_name)?;
            w.begin_member("raw")?;
            w.write_raw(raw)?;
        }
        Block::ToolCall(call) => {
            w.write_member("type", "tool_use")?;
            w.write_member("tool_id", &call.id)?;
            w.write_member("tool_name", &call.name)?;
        }
        Block::Text(text) => {
            w.write_member("type", "text")?;
            w.member_text("text", text)?;
        }
        Block::ToolResult(inner) => {
            w.write_member("type", "tool_result")?;
            w.write_member("tool_id", &inner.call_id)?;
        }
    }
    w.close("}")
}

fn write_thinking(w: &mut JsonWriter<'_>, thought: &Thinking) -> io::Result<()> {
    w.write_member("type", "thinking")?;
    w.member_text("text", &thought.text)?;
    w.member_if("signature", thought.signature.as_deref())?;
    w.member_if("encrypted", thought.encrypted.as_deref())?;
    w.flag_if("redacted", thought.redacted)?;
    w.flag_if("summary", thought.summary)
}

fn write_media(
    w: &mut JsonWriter<'_>,
    kind: &str,
    media: &Media,
    saying: &MessageContext<'_>,
) -> io::Result<()> {
    w.write_member("type", kind)?;
    w.member_if("mime", media.mime.as_deref())?;
    w.member_if("name", media.name.as_deref())?;
    w.member_if("uri", media.uri.as_deref())?;
    write_blob(w, &media.blob, saying)
}

/// Where the bytes are: `path`, `outside_path`, `text`, `url`, `missing`, or how many are
/// in the source's own record; in an export those come along as `data`.
fn write_blob(w: &mut JsonWriter<'_>, blob: &Blob, saying: &MessageContext<'_>) -> io::Result<()> {
    match blob {
        Blob::File(path) => w.write_member("path", &path.to_string_lossy()),
        Blob::Outside(path) => w.write_member("outside_path", &path.to_string_lossy()),
        Blob::Text(text) => w.member_text("text", text),
        Blob::Url(url) => w.write_member("url", url),
        Blob::Missing(name) => w.write_member("missing", name),
        Blob::Inline { len, .. } => match saying.inline_base64(blob) {
            Some(data) => w.write_member("data", &data),
            None => w.number_if("inline_base64_bytes", Some(*len)),
        },
    }
}

fn write_tool(w: &mut JsonWriter<'_>, call: &ToolCall, form: RecordForm) -> io::Result<()> {
    let input = match &call.input {
        _ if form != RecordForm::Export => None,
        None => Some("none"),
        Some(ToolInput::Json(json)) if json.bytes().starts_with(b"\"") => Some("json"),
        Some(_) => None,
    };
    let plain = call.namespace.is_none()
        && call.title.is_none()
        && call.kind.is_none()
        && call.status == ToolStatus::Completed
        && call.duration_ms.is_none()
        && call.diffs.is_empty()
        && call.locations.is_empty()
        && call.child_session.is_none()
        && call.signature.is_none()
        && input.is_none()
        && !call.by_user
        && !call.hosted;
    if plain {
        return Ok(());
    }
    w.begin_element()?;
    w.open("{")?;
    w.write_member("tool_id", &call.id)?;
    w.member_if("namespace", call.namespace.as_deref())?;
    w.member_if("title", call.title.as_deref())?;
    w.member_if("kind", call.kind.as_deref())?;
    w.write_member("status", status_word(&call.status))?;
    w.float_if("duration_ms", call.duration_ms)?;
    w.open_if_used("diffs", "[");
    for change in &call.diffs {
        write_diff(w, change)?;
    }
    w.close_if_used("]")?;
    w.open_if_used("locations", "[");
    for location in &call.locations {
        w.begin_element()?;
        w.open("{")?;
        w.write_member("path", &location.path)?;
        w.number_if("line", location.line)?;
        w.close("}")?;
    }
    w.close_if_used("]")?;
    w.member_if("child_session_id", call.child_session.as_deref())?;
    w.member_if("signature", call.signature.as_deref())?;
    w.flag_if("by_user", call.by_user)?;
    w.flag_if("hosted", call.hosted)?;
    w.member_if("input", input)?;
    w.close("}")
}

fn write_diff(w: &mut JsonWriter<'_>, diff: &Diff) -> io::Result<()> {
    w.begin_element()?;
    w.open("{")?;
    w.write_member("path", &diff.path)?;
    w.member_text_or_null("old", diff.old.as_ref())?;
    w.member_text_or_null("new", diff.new.as_ref())?;
    w.close("}")
}

fn write_result(
    w: &mut JsonWriter<'_>,
    result: &ToolResult,
    saying: &MessageContext<'_>,
) -> io::Result<()> {
    let is_text = |b: &&Block| matches!(b, Block::Text(_));
    let is_export = saying.form == RecordForm::Export;
    let texts = flat_blocks(&result.blocks).filter(is_text).count();
    let has_others = flat_blocks(&result.blocks).any(|b| !matches!(b, Block::Text(_)));
    let unnamed = is_export && result.name.is_none();
    let cut = is_export && texts != 1;
    let plain = result.structured.is_none()
        && result.exit_code.is_none()
        && result.full_output.is_none()
        && !has_others
        && !unnamed
        && !cut;
    if plain {
        return Ok(());
    }
    w.begin_element()?;
    w.open("{")?;
    w.write_member("tool_id", &result.call_id)?;
    w.flag_if("unnamed", unnamed)?;
    if let Some(code) = result.exit_code {
        w.begin_member("exit_code")?;
        w.write_literal(&code.to_string())?;
    }
    if cut {
        text_lengths(w, result)?;
    }
    w.open_if_used("blocks", "[");
    let mut before = 0;
    for block in flat_blocks(&result.blocks) {
        if matches!(block, Block::Text(_)) {
            before += 1;
        } else {
            other_block(w, block, is_export.then_some(before), saying)?;
        }
    }
    w.close_if_used("]")?;
    if let Some(whole) = &result.full_output {
        w.begin_member("full_output")?;
        w.open("{")?;
        write_blob(w, whole, saying)?;
        w.close("}")?;
    }
    w.raw_if("structured", result.structured.as_ref())?;
    w.close("}")
}

/// How long each text of an answer is, in bytes of UTF-8: `output` is all of them, with a line break
/// between each two.
fn text_lengths(w: &mut JsonWriter<'_>, result: &ToolResult) -> io::Result<()> {
    w.begin_member("text_lengths")?;
    w.open("[")?;
    for block in flat_blocks(&result.blocks) {
        if let Block::Text(text) = block {
            w.begin_element()?;
            w.write_number(text.value.len() as u64)?;
        }
    }
    w.close("]")
}
