//! What the vocabulary cannot say about a message, in `metadata.extensions`.

use std::io;

use rethread_model::{
    Blob, Block, Diff, Media, Message, Role, Text, Thinking, ToolCall, ToolResult, ToolStatus,
    Visibility,
};

use super::entry::more_usage;
use super::message::{Envelope, Part, is_content};
use crate::json::Writer;
use crate::tool::{leaves, status_word};

/// Writes the members of `extensions` that come from a message:
///
/// - facts about the message: `visibility`, `inherited`, `side`, `logical_parent_uuid`, `role`
///   (`tool`), `provider`, `usage`, `usage_key` (the usage of messages with the same key counts
///   once), `duration_ms`, `error`, `response_id`, `extension`, `details`
/// - `blocks`: asides with their `visibility`, thinking, images, files and unknown blocks; `at`
///   counts the blocks of `content` that come before
/// - `tools`: more about the calls in `content`
/// - `results`: more about the results in `content`
pub(super) fn of_message(
    w: &mut Writer<'_>,
    envelope: &Envelope<'_>,
    message: &Message,
    part: Part,
) -> io::Result<()> {
    w.member_if("visibility", visibility_word(envelope.visibility))?;
    w.flag_if("inherited", envelope.inherited)?;
    w.flag_if("side", envelope.side)?;
    let logical = envelope.logical_parent.filter(|id| !id.is_empty());
    w.member_if("logical_parent_uuid", logical)?;
    if part != Part::Results {
        facts(w, envelope, message)?;
    }
    blocks(w, message, part)?;
    w.open_if_used("tools", "[");
    for block in message.blocks.iter().filter(|b| part.holds(b)) {
        if let Block::ToolCall(call) = block {
            tool(w, call)?;
        }
    }
    w.close_if_used("]")?;
    w.open_if_used("results", "[");
    for block in message.blocks.iter().filter(|b| part.holds(b)) {
        if let Block::ToolResult(found) = block {
            result(w, found)?;
        }
    }
    w.close_if_used("]")
}

fn visibility_word(visibility: Visibility) -> Option<&'static str> {
    match visibility {
        Visibility::Visible => None,
        Visibility::Injected => Some("injected"),
        Visibility::UiOnly => Some("ui_only"),
        Visibility::Hidden => Some("hidden"),
    }
}

fn facts(w: &mut Writer<'_>, envelope: &Envelope<'_>, message: &Message) -> io::Result<()> {
    w.member_if("role", (message.role == Role::Tool).then_some("tool"))?;
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

fn blocks(w: &mut Writer<'_>, message: &Message, part: Part) -> io::Result<()> {
    let mut at = 0;
    w.open_if_used("blocks", "[");
    for block in message.blocks.iter().filter(|b| part.holds(b)) {
        if is_content(block) {
            at += 1;
        } else {
            other_block(w, block, Some(at))?;
        }
    }
    w.close_if_used("]")
}

/// Writes a block that the vocabulary does not know.
fn other_block(w: &mut Writer<'_>, block: &Block, at: Option<u64>) -> io::Result<()> {
    w.element()?;
    w.open("{")?;
    w.number_if("at", at)?;
    match block {
        Block::Aside { text, visibility } => {
            w.member("type", "aside")?;
            w.member("text", &text.value)?;
            w.member_if("visibility", visibility_word(*visibility))?;
        }
        Block::Thinking(thought) => thinking(w, thought)?,
        Block::Image(image) => media(w, "image", image)?,
        Block::File(file) => media(w, "file", file)?,
        Block::Unknown { type_name, raw } => {
            w.member("type", "unknown")?;
            w.member("name", type_name)?;
            w.key("raw")?;
            w.raw(raw)?;
        }
        Block::ToolCall(call) => {
            w.member("type", "tool_use")?;
            w.member("tool_id", &call.id)?;
            w.member("tool_name", &call.name)?;
        }
        Block::Text(text) => {
            w.member("type", "text")?;
            w.member("text", &text.value)?;
        }
        Block::ToolResult(inner) => {
            w.member("type", "tool_result")?;
            w.member("tool_id", &inner.call_id)?;
        }
    }
    w.close("}")
}

fn thinking(w: &mut Writer<'_>, thought: &Thinking) -> io::Result<()> {
    w.member("type", "thinking")?;
    w.member("text", &thought.text.value)?;
    w.member_if("signature", thought.signature.as_deref())?;
    w.member_if("encrypted", thought.encrypted.as_deref())?;
    w.flag_if("redacted", thought.redacted)?;
    w.flag_if("summary", thought.summary)
}

fn media(w: &mut Writer<'_>, kind: &str, media: &Media) -> io::Result<()> {
    w.member("type", kind)?;
    w.member_if("mime", media.mime.as_deref())?;
    w.member_if("name", media.name.as_deref())?;
    w.member_if("uri", media.uri.as_deref())?;
    blob(w, &media.blob)
}

/// Where the bytes are: `path`, `outside_path`, `record`, `text`, `url`, `missing`, or how many are
/// in the source's own record.
fn blob(w: &mut Writer<'_>, blob: &Blob) -> io::Result<()> {
    match blob {
        Blob::File(path) => w.member("path", &path.to_string_lossy()),
        Blob::Outside(path) => w.member("outside_path", &path.to_string_lossy()),
        Blob::Record(raw) => {
            w.key("record")?;
            w.open("{")?;
            w.number_if("part", Some(raw.part.into()))?;
            w.number_if("record", Some(raw.record.into()))?;
            w.close("}")
        }
        Blob::Text(text) => w.member("text", &text.value),
        Blob::Url(url) => w.member("url", url),
        Blob::Missing(name) => w.member("missing", name),
        Blob::Inline { len, .. } => w.number_if("inline_base64_bytes", Some(*len)),
    }
}

fn tool(w: &mut Writer<'_>, call: &ToolCall) -> io::Result<()> {
    let plain = call.namespace.is_none()
        && call.title.is_none()
        && call.kind.is_none()
        && call.status == ToolStatus::Completed
        && call.duration_ms.is_none()
        && call.diffs.is_empty()
        && call.locations.is_empty()
        && call.child_session.is_none()
        && call.signature.is_none()
        && !call.by_user;
    if plain {
        return Ok(());
    }
    w.element()?;
    w.open("{")?;
    w.member("tool_id", &call.id)?;
    w.member_if("namespace", call.namespace.as_deref())?;
    w.member_if("title", call.title.as_deref())?;
    w.member_if("kind", call.kind.as_deref())?;
    w.member("status", status_word(&call.status))?;
    w.float_if("duration_ms", call.duration_ms)?;
    w.open_if_used("diffs", "[");
    for change in &call.diffs {
        diff(w, change)?;
    }
    w.close_if_used("]")?;
    w.open_if_used("locations", "[");
    for location in &call.locations {
        w.element()?;
        w.open("{")?;
        w.member("path", &location.path)?;
        w.number_if("line", location.line)?;
        w.close("}")?;
    }
    w.close_if_used("]")?;
    w.member_if("child_session_id", call.child_session.as_deref())?;
    w.member_if("signature", call.signature.as_deref())?;
    w.flag_if("by_user", call.by_user)?;
    w.close("}")
}

fn diff(w: &mut Writer<'_>, diff: &Diff) -> io::Result<()> {
    let value = |text: &Option<Text>| text.as_ref().map(|t| t.value.clone());
    w.element()?;
    w.open("{")?;
    w.member("path", &diff.path)?;
    w.member_or_null("old", value(&diff.old).as_deref())?;
    w.member_or_null("new", value(&diff.new).as_deref())?;
    w.close("}")
}

fn result(w: &mut Writer<'_>, result: &ToolResult) -> io::Result<()> {
    let others = || leaves(&result.blocks).filter(|b| !matches!(b, Block::Text(_)));
    let plain = result.structured.is_none()
        && result.exit_code.is_none()
        && result.full_output.is_none()
        && others().next().is_none();
    if plain {
        return Ok(());
    }
    w.element()?;
    w.open("{")?;
    w.member("tool_id", &result.call_id)?;
    if let Some(code) = result.exit_code {
        w.key("exit_code")?;
        w.literal(&code.to_string())?;
    }
    w.open_if_used("blocks", "[");
    for block in others() {
        other_block(w, block, None)?;
    }
    w.close_if_used("]")?;
    if let Some(whole) = &result.full_output {
        w.key("full_output")?;
        w.open("{")?;
        blob(w, whole)?;
        w.close("}")?;
    }
    w.raw_if("structured", result.structured.as_ref())?;
    w.close("}")
}
