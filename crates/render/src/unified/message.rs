//! The message object.

use std::io::{self, Write};

use rethread_model::{
    Block, Head, Message, Moment, Place, Role, ToolCall, ToolInput, ToolResult, Visibility,
};

use super::entry::{joined_text, token_usage};
use super::extensions;
use super::form::{MessageContext, RecordForm};
use super::tree::results_id;
use crate::json::JsonWriter;

/// What is said about a message beside what it says.
#[derive(Clone, Copy, Debug)]
pub struct Envelope<'a> {
    /// Its place among the messages that are written, counted from 1.
    pub index: u64,
    /// Its id; empty where it has none.
    pub uuid: &'a str,
    /// The id of the message before it: none for a root, empty where that one has no id.
    pub parent_uuid: Option<&'a str>,
    /// When it was written.
    pub time: Option<Moment>,
    /// Who is meant to see it.
    pub visibility: Visibility,
    /// Whether it was copied from another session.
    pub inherited: bool,
    /// Whether a sub-agent said it, in a session that holds those too.
    pub side: bool,
    /// What identifies the response that its usage belongs to.
    pub usage_key: Option<&'a str>,
    /// The id of the message that it really continues, where a compaction cut the chain.
    pub logical_parent: Option<&'a str>,
    /// The session, for what is the same in all of its messages.
    pub head: &'a Head,
    /// Whether it is one message together with the one before it.
    pub joined: bool,
    /// The number of the entry that it hangs on, counted from 1, where that is not the one before;
    /// 0 for none.
    pub parent_entry: Option<u64>,
}

impl<'a> Envelope<'a> {
    /// A visible message of a session, without a parent.
    pub fn new(index: u64, uuid: &'a str, head: &'a Head) -> Self {
        Self {
            index,
            uuid,
            parent_uuid: None,
            time: None,
            visibility: Visibility::Visible,
            inherited: false,
            side: false,
            usage_key: None,
            logical_parent: None,
            head,
            joined: false,
            parent_entry: None,
        }
    }
}

/// What became of one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenMessage {
    /// How many objects were written: two for a message that holds calls with their results.
    pub count: u64,
    /// The id of the last of them, which the next message hangs on; empty where it has none.
    pub last_uuid: String,
}

/// Writes one message in the unified vocabulary.
///
/// Calls and results that stand in one message become two objects with a comma between them: the
/// calls, and then a message of the user with the results. Its id is `ID-results`.
pub fn message_object(
    out: &mut dyn Write,
    envelope: &Envelope<'_>,
    message: &Message,
) -> io::Result<WrittenMessage> {
    let mut w = JsonWriter::new(out);
    let nobody = MessageContext::default();
    let written = write_message(&mut w, envelope, message, NOTHING_AROUND, &nobody)?;
    w.finish()?;
    Ok(written)
}

/// Writes more members into a message's `extensions`: those in front, or those behind.
pub(super) type ExtensionWriter<'a> = &'a dyn Fn(&mut JsonWriter<'_>) -> io::Result<()>;

/// What stands before and behind a message.
#[derive(Clone, Copy)]
pub(super) struct MessageExtensions<'a> {
    pub(super) before: ExtensionWriter<'a>,
    pub(super) after: ExtensionWriter<'a>,
}

const NOTHING: ExtensionWriter<'static> = &|_| Ok(());

pub(super) const NOTHING_AROUND: MessageExtensions<'static> = MessageExtensions {
    before: NOTHING,
    after: NOTHING,
};

/// Which of a message's blocks an object holds.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum BlockPart {
    Whole,
    WithoutResults,
    Results,
}

impl BlockPart {
    pub(super) fn holds(self, block: &Block) -> bool {
        let is_result = matches!(block, Block::ToolResult(_));
        match self {
            BlockPart::Whole => true,
            BlockPart::WithoutResults => !is_result,
            BlockPart::Results => is_result,
        }
    }
}

pub(super) fn write_message(
    w: &mut JsonWriter<'_>,
    envelope: &Envelope<'_>,
    message: &Message,
    around: MessageExtensions<'_>,
    saying: &MessageContext<'_>,
) -> io::Result<WrittenMessage> {
    let has = |wanted: fn(&Block) -> bool| message.blocks.iter().any(wanted);
    let calls = has(|b| matches!(b, Block::ToolCall(_)));
    let results = has(|b| matches!(b, Block::ToolResult(_)));
    if !calls || !results {
        write_object(w, envelope, message, BlockPart::Whole, around, saying)?;
        return Ok(WrittenMessage {
            count: 1,
            last_uuid: envelope.uuid.to_owned(),
        });
    }
    let first = MessageExtensions {
        after: NOTHING,
        ..around
    };
    write_object(
        w,
        envelope,
        message,
        BlockPart::WithoutResults,
        first,
        saying,
    )?;
    let last_uuid = results_id(envelope.uuid);
    let second = Envelope {
        index: envelope.index + 1,
        uuid: &last_uuid,
        parent_uuid: Some(envelope.uuid),
        logical_parent: None,
        joined: true,
        parent_entry: None,
        ..*envelope
    };
    let behind = MessageExtensions {
        before: NOTHING,
        ..around
    };
    write_object(w, &second, message, BlockPart::Results, behind, saying)?;
    Ok(WrittenMessage {
        count: 2,
        last_uuid,
    })
}

fn write_object(
    w: &mut JsonWriter<'_>,
    envelope: &Envelope<'_>,
    message: &Message,
    part: BlockPart,
    around: MessageExtensions<'_>,
    saying: &MessageContext<'_>,
) -> io::Result<()> {
    let role = match part {
        BlockPart::Results => "user",
        BlockPart::Whole | BlockPart::WithoutResults => message.role.unified(),
    };
    w.begin_element()?;
    w.open("{")?;
    w.number_if("index", Some(envelope.index))?;
    w.member_if("uuid", Some(envelope.uuid).filter(|id| !id.is_empty()))?;
    let parent = envelope.parent_uuid.filter(|id| !id.is_empty());
    if envelope.parent_uuid != Some("") {
        w.member_or_null("parent_uuid", parent)?;
    }
    if saying.form == RecordForm::Shown {
        // The names that everything has that commands print.
        w.member_or_null("id", Some(envelope.uuid).filter(|id| !id.is_empty()))?;
        w.member_or_null("parent_id", parent)?;
    }
    w.write_member("role", role)?;
    w.moment_if("timestamp", envelope.time)?;
    w.begin_member("content")?;
    w.open("[")?;
    for block in message.blocks.iter().filter(|b| part.holds(b)) {
        write_content(w, block, &message.blocks, saying)?;
    }
    w.close("]")?;
    w.open_if_used("metadata", "{");
    write_metadata(w, envelope, message, part)?;
    if saying.form != RecordForm::Lean {
        w.open_if_used("extensions", "{");
        (around.before)(w)?;
        extensions::of_message(w, envelope, message, part, saying)?;
        (around.after)(w)?;
        w.close_if_used("}")?;
    }
    w.close_if_used("}")?;
    w.close("}")
}

/// Writes a block that the vocabulary knows; the others are in `extensions`.
fn write_content(
    w: &mut JsonWriter<'_>,
    block: &Block,
    all: &[Block],
    saying: &MessageContext<'_>,
) -> io::Result<()> {
    match block {
        Block::Text(text) => {
            w.begin_element()?;
            w.open("{")?;
            w.write_member("type", "text")?;
            w.member_text("text", text)?;
            w.close("}")
        }
        Block::ToolCall(call) => tool_use(w, call),
        Block::ToolResult(result) => tool_result(w, result, all, saying),
        Block::Aside { .. }
        | Block::Thinking(_)
        | Block::Image(_)
        | Block::File(_)
        | Block::Unknown { .. } => Ok(()),
    }
}

/// Whether a block is in `write_content`.
pub(super) fn is_content(block: &Block) -> bool {
    matches!(
        block,
        Block::Text(_) | Block::ToolCall(_) | Block::ToolResult(_)
    )
}

fn tool_use(w: &mut JsonWriter<'_>, call: &ToolCall) -> io::Result<()> {
    w.begin_element()?;
    w.open("{")?;
    w.write_member("type", "tool_use")?;
    w.write_member("tool_id", &call.id)?;
    w.write_member("tool_name", &call.name)?;
    w.begin_member("input")?;
    match &call.input {
        Some(ToolInput::Json(json)) => w.write_raw(json)?,
        Some(ToolInput::Text(text)) => w.write_text(text)?,
        None => w.write_literal("{}")?,
    }
    w.close("}")
}

fn tool_result(
    w: &mut JsonWriter<'_>,
    result: &ToolResult,
    all: &[Block],
    saying: &MessageContext<'_>,
) -> io::Result<()> {
    let known = || tool_name(all, &result.call_id).or_else(|| saying.tool_name(&result.call_id));
    let name = match &result.name {
        Some(name) => name,
        None => known().unwrap_or_default(),
    };
    w.begin_element()?;
    w.open("{")?;
    w.write_member("type", "tool_result")?;
    w.write_member("tool_id", &result.call_id)?;
    w.write_member("tool_name", name)?;
    w.member_text("output", &joined_text(&result.blocks))?;
    w.begin_member("is_error")?;
    w.write_literal(if result.is_error { "true" } else { "false" })?;
    w.close("}")
}

/// The name of a tool, by the id of its call in the same message.
fn tool_name<'a>(blocks: &'a [Block], id: &str) -> Option<&'a str> {
    blocks.iter().find_map(|b| match b {
        Block::ToolCall(call) if call.id == id => Some(call.name.as_str()),
        _ => None,
    })
}

/// Writes the document's own fields of `write_metadata`. Where the message does not say where it was said,
/// the session does.
fn write_metadata(
    w: &mut JsonWriter<'_>,
    envelope: &Envelope<'_>,
    message: &Message,
    part: BlockPart,
) -> io::Result<()> {
    let head = envelope.head;
    let nowhere = Place::default();
    let place = message.place.as_deref().unwrap_or(&nowhere);
    let cwd = place.cwd.as_ref().or(head.workspace.path.as_ref());
    let branch = place.branch.as_ref().or(head.workspace.branch.as_ref());
    let version = place.agent_version.as_ref().or(head.agent.version.as_ref());
    for (key, value) in [
        ("cwd", cwd),
        ("git_branch", branch),
        ("agent_version", version),
        ("user_type", place.user_type.as_ref()),
    ] {
        w.member_if(key, value.map(String::as_str))?;
    }
    w.flag_if("is_meta", envelope.visibility == Visibility::Injected)?;
    if part == BlockPart::Results {
        return Ok(());
    }
    // The document has these with the assistant alone; else they are in `extensions`.
    if message.role == Role::Assistant {
        of_model(w, message)?;
    }
    w.member_if("request_id", message.request_id.as_deref())
}

/// Writes which model answered, and what that took.
pub(super) fn of_model(w: &mut JsonWriter<'_>, message: &Message) -> io::Result<()> {
    let model = message.model.as_ref();
    let stop = (
        message.stop_reason.as_deref(),
        message.stop_sequence.as_deref(),
    );
    if model.is_some() || stop != (None, None) {
        w.begin_member("model")?;
        w.open("{")?;
        w.member_or_null("name", model.map(|m| m.id.as_str()))?;
        w.member_or_null("stop_reason", stop.0)?;
        w.member_or_null("stop_sequence", stop.1)?;
        w.close("}")?;
    }
    match &message.usage {
        Some(usage) => token_usage(w, usage),
        None => Ok(()),
    }
}
