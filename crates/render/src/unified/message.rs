//! The message object.

use std::io::{self, Write};

use rethread_model::{
    Block, Head, Message, Moment, Place, Role, ToolCall, ToolInput, ToolResult, Visibility,
};

use super::entry::{joined_text, token_usage};
use super::extensions;
use super::form::{Form, Saying};
use super::tree::results_id;
use crate::json::Writer;

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
pub struct Written {
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
) -> io::Result<Written> {
    let mut w = Writer::new(out);
    let nobody = Saying::default();
    let written = write_message(&mut w, envelope, message, NOTHING_AROUND, &nobody)?;
    w.end()?;
    Ok(written)
}

/// Writes more members into a message's `extensions`: those in front, or those behind.
pub(super) type More<'a> = &'a dyn Fn(&mut Writer<'_>) -> io::Result<()>;

/// What stands before and behind a message.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    pub(super) before: More<'a>,
    pub(super) after: More<'a>,
}

const NOTHING: More<'static> = &|_| Ok(());

pub(super) const NOTHING_AROUND: Around<'static> = Around {
    before: NOTHING,
    after: NOTHING,
};

/// Which of a message's blocks an object holds.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Part {
    Whole,
    WithoutResults,
    Results,
}

impl Part {
    pub(super) fn holds(self, block: &Block) -> bool {
        let is_result = matches!(block, Block::ToolResult(_));
        match self {
            Part::Whole => true,
            Part::WithoutResults => !is_result,
            Part::Results => is_result,
        }
    }
}

pub(super) fn write_message(
    w: &mut Writer<'_>,
    envelope: &Envelope<'_>,
    message: &Message,
    around: Around<'_>,
    saying: &Saying<'_>,
) -> io::Result<Written> {
    let has = |wanted: fn(&Block) -> bool| message.blocks.iter().any(wanted);
    let calls = has(|b| matches!(b, Block::ToolCall(_)));
    let results = has(|b| matches!(b, Block::ToolResult(_)));
    if !calls || !results {
        object(w, envelope, message, Part::Whole, around, saying)?;
        return Ok(Written {
            count: 1,
            last_uuid: envelope.uuid.to_owned(),
        });
    }
    let first = Around {
        after: NOTHING,
        ..around
    };
    object(w, envelope, message, Part::WithoutResults, first, saying)?;
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
    let behind = Around {
        before: NOTHING,
        ..around
    };
    object(w, &second, message, Part::Results, behind, saying)?;
    Ok(Written {
        count: 2,
        last_uuid,
    })
}

fn object(
    w: &mut Writer<'_>,
    envelope: &Envelope<'_>,
    message: &Message,
    part: Part,
    around: Around<'_>,
    saying: &Saying<'_>,
) -> io::Result<()> {
    let role = match part {
        Part::Results => "user",
        Part::Whole | Part::WithoutResults => message.role.unified(),
    };
    w.element()?;
    w.open("{")?;
    w.number_if("index", Some(envelope.index))?;
    w.member_if("uuid", Some(envelope.uuid).filter(|id| !id.is_empty()))?;
    let parent = envelope.parent_uuid.filter(|id| !id.is_empty());
    if envelope.parent_uuid != Some("") {
        w.member_or_null("parent_uuid", parent)?;
    }
    if saying.form == Form::Shown {
        // The names that everything has that commands print.
        w.member_or_null("id", Some(envelope.uuid).filter(|id| !id.is_empty()))?;
        w.member_or_null("parent_id", parent)?;
    }
    w.member("role", role)?;
    w.moment_if("timestamp", envelope.time)?;
    w.key("content")?;
    w.open("[")?;
    for block in message.blocks.iter().filter(|b| part.holds(b)) {
        content(w, block, &message.blocks, saying)?;
    }
    w.close("]")?;
    w.open_if_used("metadata", "{");
    metadata(w, envelope, message, part)?;
    if saying.form != Form::Lean {
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
fn content(
    w: &mut Writer<'_>,
    block: &Block,
    all: &[Block],
    saying: &Saying<'_>,
) -> io::Result<()> {
    match block {
        Block::Text(text) => {
            w.element()?;
            w.open("{")?;
            w.member("type", "text")?;
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

/// Whether a block is in `content`.
pub(super) fn is_content(block: &Block) -> bool {
    matches!(
        block,
        Block::Text(_) | Block::ToolCall(_) | Block::ToolResult(_)
    )
}

fn tool_use(w: &mut Writer<'_>, call: &ToolCall) -> io::Result<()> {
    w.element()?;
    w.open("{")?;
    w.member("type", "tool_use")?;
    w.member("tool_id", &call.id)?;
    w.member("tool_name", &call.name)?;
    w.key("input")?;
    match &call.input {
        Some(ToolInput::Json(json)) => w.raw(json)?,
        Some(ToolInput::Text(text)) => w.text(text)?,
        None => w.literal("{}")?,
    }
    w.close("}")
}

fn tool_result(
    w: &mut Writer<'_>,
    result: &ToolResult,
    all: &[Block],
    saying: &Saying<'_>,
) -> io::Result<()> {
    let known = || called(all, &result.call_id).or_else(|| saying.tool(&result.call_id));
    let name = match &result.name {
        Some(name) => name,
        None => known().unwrap_or_default(),
    };
    w.element()?;
    w.open("{")?;
    w.member("type", "tool_result")?;
    w.member("tool_id", &result.call_id)?;
    w.member("tool_name", name)?;
    w.member_text("output", &joined_text(&result.blocks))?;
    w.key("is_error")?;
    w.literal(if result.is_error { "true" } else { "false" })?;
    w.close("}")
}

/// The name of a tool, by the id of its call in the same message.
fn called<'a>(blocks: &'a [Block], id: &str) -> Option<&'a str> {
    blocks.iter().find_map(|b| match b {
        Block::ToolCall(call) if call.id == id => Some(call.name.as_str()),
        _ => None,
    })
}

/// Writes the document's own fields of `metadata`. Where the message does not say where it was said,
/// the session does.
fn metadata(
    w: &mut Writer<'_>,
    envelope: &Envelope<'_>,
    message: &Message,
    part: Part,
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
    if part == Part::Results {
        return Ok(());
    }
    // The document has these with the assistant alone; else they are in `extensions`.
    if message.role == Role::Assistant {
        of_model(w, message)?;
    }
    w.member_if("request_id", message.request_id.as_deref())
}

/// Writes which model answered, and what that took.
pub(super) fn of_model(w: &mut Writer<'_>, message: &Message) -> io::Result<()> {
    let model = message.model.as_ref();
    let stop = (
        message.stop_reason.as_deref(),
        message.stop_sequence.as_deref(),
    );
    if model.is_some() || stop != (None, None) {
        w.key("model")?;
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
