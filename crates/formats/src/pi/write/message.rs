//! From what a user gives to the entries of a session.

use rethread_json::{Object, Value};
use rethread_model::{Blob, Block, Media, Message, Moment, Role, ToolInput, ToolResult};

use super::addition::answer_in;
use crate::fields::string_of;
use crate::kit::{GivenMessage, data_url, read_message};
use crate::pi::manager::{
    Content, ContentBlock, Cost, NewPiMessage, SessionError, SessionManager, StopReason, Usage,
};
use crate::{MessageDefaults, MessageInput, WriteError};

/// The type of what a client told its model elsewhere.
const TOLD: &str = "told";

/// One entry to be added.
#[derive(Clone, Debug)]
pub(in crate::pi) enum EntryToAdd {
    /// A message that we made.
    Message(NewPiMessage),
    /// A message that the user gave, in the format's own words.
    Stored(Vec<u8>),
    /// A message for the model that neither the user nor the model said.
    Note(Content),
    /// As such, and the person is not shown it.
    Told(Content),
    /// An entry that is no message, in the format's own words.
    Entry(Vec<u8>),
}

impl EntryToAdd {
    /// Adds it where the session is.
    pub(in crate::pi) fn append_to(
        self,
        session: &mut SessionManager,
    ) -> Result<String, SessionError> {
        match self {
            Self::Message(message) => session.append_message(message),
            Self::Stored(json) => session.append_message_json(&json),
            Self::Note(content) => session.append_custom_message("system", content, true, None),
            Self::Told(content) => session.append_custom_message(TOLD, content, false, None),
            Self::Entry(json) => session.append_entry_json(&json),
        }
    }
}

/// What is asked of a session before something is added to it.
pub(in crate::pi) trait Before {
    /// The interface and the provider of the last answer.
    fn last_answer(&self) -> Option<(String, String)>;

    /// The provider and the model that the session is set to.
    fn model(&self) -> Option<(String, String)>;

    /// The tool that a call is of.
    fn tool_of(&self, call_id: &str) -> Option<String>;

    /// The type of an entry that is given as JSON, or why it cannot be added.
    fn check_entry(&self, entry: Value<'_>) -> Result<String, SessionError>;

    /// The instructions that hold where the session is, as one message; none if there are none.
    fn instructions(&self) -> Option<Vec<u8>>;
}

/// The instructions that a compaction brings along.
const INSTRUCTIONS: &str = "systemMessage";

/// An entry with the instructions that it must bring along, if there are some.
fn with_instructions(entry: Value<'_>, instructions: Option<Vec<u8>>) -> Vec<u8> {
    let Some(instructions) = instructions else {
        return entry.raw().to_vec();
    };
    let mut whole = Object::new();
    for (key, value) in entry.members() {
        let key = key.str().unwrap_or_default();
        if key != INSTRUCTIONS {
            whole = whole.raw(&key, value.raw());
        }
    }
    whole.raw(INSTRUCTIONS, &instructions).finish()
}

impl Before for SessionManager {
    fn check_entry(&self, entry: Value<'_>) -> Result<String, SessionError> {
        Self::check_entry(self, entry)
    }

    fn instructions(&self) -> Option<Vec<u8>> {
        Self::instructions(self)
    }

    fn last_answer(&self) -> Option<(String, String)> {
        let mut entries = self.entries().iter().rev();
        entries.find_map(|entry| entry.look(answer_in))
    }

    fn model(&self) -> Option<(String, String)> {
        let model = self.build_session_context().model?;
        Some((model.provider, model.model_id))
    }

    fn tool_of(&self, call_id: &str) -> Option<String> {
        self.tool_of(call_id)
    }
}

/// The entries that a message becomes: results of tools are entries of their own.
pub(super) fn entries_to_add(
    input: &MessageInput,
    session: &impl Before,
) -> Result<Vec<EntryToAdd>, WriteError> {
    let own = |value: Value<'_>, _: &MessageDefaults| match value.get("type").and_then(Value::str) {
        Some(word) if word == "message" => Some(match value.get("message") {
            Some(message) if message.is_object() => native(message),
            _ => Err("`message` is missing".to_owned()),
        }),
        Some(_) => Some(entry(value, session)),
        None => is_native(value).then(|| native(value)),
    };
    Ok(match read_message(input, own)? {
        GivenMessage::New(new) => from_new(&new, session),
        GivenMessage::Native(given) => vec![given],
    })
}

/// An entry that is no message, in the format's own words.
fn entry(value: Value<'_>, session: &impl Before) -> Result<EntryToAdd, String> {
    let type_name = session.check_entry(value).map_err(|e| e.to_string())?;
    let is_said = value.get(INSTRUCTIONS).is_some_and(|v| !v.is_null());
    let instructions = (type_name == "compaction" && !is_said)
        .then(|| session.instructions())
        .flatten();
    Ok(EntryToAdd::Entry(with_instructions(value, instructions)))
}

/// Who answers.
struct Answerer {
    api: String,
    provider: String,
    model: String,
}

/// Who answers: the model that the user names as `provider/model` or `model`, else the one that
/// the session is set to. The interface is that of its last answer.
fn who_answers(session: &impl Before, named: Option<&str>, provider: Option<&str>) -> Answerer {
    let unknown = || "unknown".to_owned();
    let last = session.last_answer();
    let (provider, model) = match named {
        Some(named) => {
            let parts = named.split_once('/').filter(|_| provider.is_none());
            let (given, model) = parts.map_or((provider, named), |(p, m)| (Some(p), m));
            let known = || last.as_ref().map(|(_, provider)| provider.clone());
            let provider = given.map(str::to_owned).or_else(known);
            (provider.unwrap_or_else(unknown), model.to_owned())
        }
        None => session.model().unwrap_or_else(|| (unknown(), unknown())),
    };
    let same = last.filter(|(_, last)| *last == provider);
    Answerer {
        api: same.map_or_else(unknown, |(api, _)| api),
        provider,
        model,
    }
}

/// Whether a message is in the format's own words: it names its role by one of those that only this
/// format has, or it has what its messages of the other roles cannot lack.
fn is_native(message: Value<'_>) -> bool {
    if has_unified_blocks(message) {
        return false;
    }
    let role = message.get("role").and_then(Value::str).unwrap_or_default();
    let is_number = |key| {
        message
            .get(key)
            .is_some_and(|v: Value<'_>| v.f64().is_some())
    };
    match role.as_ref() {
        "toolResult" | "bashExecution" | "custom" | "hookMessage" => true,
        "assistant" => message.get("usage").is_some() || message.get("api").is_some(),
        "user" | "system" => is_number("timestamp"),
        _ => false,
    }
}

/// A message in the format's own words. What its readers cannot do without must be there.
fn native(message: Value<'_>) -> Result<EntryToAdd, String> {
    let role = string_of(message, "role").ok_or("`role` is missing")?;
    let needed: &[&str] = match role.as_str() {
        "user" => &["content"],
        "assistant" => &["content", "api", "provider", "model", "usage", "stopReason"],
        "toolResult" => &["toolCallId", "toolName", "content"],
        "bashExecution" => &["command", "output"],
        "custom" => &["customType", "content"],
        _ => &[],
    };
    for key in needed {
        if message.get(key).is_none_or(Value::is_null) {
            return Err(format!("`{key}` is missing in a message of role `{role}`"));
        }
    }
    Ok(EntryToAdd::Stored(message.raw().to_vec()))
}

/// Whether blocks of this message are of the unified vocabulary alone.
fn has_unified_blocks(message: Value<'_>) -> bool {
    let is_tool = |b: Value<'_>| {
        let kind = b.get("type");
        kind.is_some_and(|t| t.is_str("tool_use") || t.is_str("tool_result"))
    };
    let content = message.get("content");
    message.get("uuid").is_some()
        || message.get("index").is_some()
        || content.is_some_and(|c| c.items().any(is_tool))
}

/// The entries that a message becomes that is as the model has it.
pub(in crate::pi) fn from_new(new: &crate::NewMessage, session: &impl Before) -> Vec<EntryToAdd> {
    let message = &new.message;
    let millis = new.time.map(Moment::millis);
    let mut entries = Vec::new();
    let said = said(message);
    let is_silent = said.is_empty() && message.error.is_none();
    let has_results = message
        .blocks
        .iter()
        .any(|b| matches!(b, Block::ToolResult(_)));
    if !(is_silent && has_results) {
        entries.push(match message.role {
            Role::User if new.is_told => EntryToAdd::Told(content(said)),
            Role::User | Role::Tool => {
                let user = NewPiMessage::user(content(said));
                EntryToAdd::Message(millis.map_or(user.clone(), |at| user.at(at)).into())
            }
            Role::System => EntryToAdd::Note(content(said)),
            Role::Assistant => EntryToAdd::Message(answer(new, said, millis, session)),
        });
    }
    let results = message.blocks.iter().filter_map(|block| match block {
        Block::ToolResult(result) => Some(tool_result(result, millis, session)),
        _ => None,
    });
    // What a tool gave comes before what the user says to it, and behind the call itself.
    let results: Vec<EntryToAdd> = results.collect();
    if message.role == Role::Assistant {
        entries.extend(results);
    } else {
        entries.splice(0..0, results);
    }
    entries
}

fn content(mut blocks: Vec<ContentBlock>) -> Content {
    use crate::pi::BlockKind::Text;
    if let [one] = blocks.as_slice()
        && let Text { text } = one.kind()
    {
        return Content::Text(text.clone());
    }
    blocks.shrink_to_fit();
    Content::Blocks(blocks)
}

fn answer(
    new: &crate::NewMessage,
    said: Vec<ContentBlock>,
    millis: Option<i64>,
    session: &impl Before,
) -> NewPiMessage {
    let message = &new.message;
    let provider = message.model.as_ref().and_then(|m| m.provider.as_deref());
    let by = who_answers(session, new.model_name(), provider);
    let calls = message
        .blocks
        .iter()
        .any(|b| matches!(b, Block::ToolCall(_)));
    let reason = message.stop_reason.as_deref();
    let reason = reason.map_or(
        if calls {
            StopReason::ToolUse
        } else {
            StopReason::Stop
        },
        stop_reason,
    );
    let mut answer = NewPiMessage::assistant(said)
        .model(&by.api, &by.provider, &by.model)
        .stop_reason(reason);
    if let Some(usage) = &message.usage {
        answer = answer.usage(Usage {
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write.saturating_add(usage.cache_write_1h),
            total_tokens: usage.total(),
            cost: Cost {
                total: usage.cost.map_or(0.0, |c| c.usd),
                ..Cost::default()
            },
        });
    }
    if let Some(error) = &message.error {
        answer = answer.error_message(error);
    }
    match millis {
        Some(at) => answer.at(at).into(),
        None => answer.into(),
    }
}

/// The word for why a model stopped, from those of its vendors.
fn stop_reason(word: &str) -> StopReason {
    match word {
        "end_turn" | "stop_sequence" => StopReason::Stop,
        "max_tokens" => StopReason::Length,
        "tool_use" | "tool_calls" => StopReason::ToolUse,
        other => other.into(),
    }
}

fn tool_result(result: &ToolResult, millis: Option<i64>, session: &impl Before) -> EntryToAdd {
    let name = match &result.name {
        Some(name) => name.clone(),
        None => session.tool_of(&result.call_id).unwrap_or_default(),
    };
    let blocks: Vec<ContentBlock> = result.blocks.iter().filter_map(block).collect();
    let message =
        NewPiMessage::tool_result(&result.call_id, &name, blocks).is_error(result.is_error);
    EntryToAdd::Message(match millis {
        Some(at) => message.at(at).into(),
        None => message.into(),
    })
}

/// What a message says, without the results of tools.
fn said(message: &Message) -> Vec<ContentBlock> {
    message.blocks.iter().filter_map(block).collect()
}

fn block(block: &Block) -> Option<ContentBlock> {
    Some(match block {
        Block::Text(text) | Block::Aside { text, .. } => ContentBlock::text(&text.value),
        Block::Thinking(thought) => {
            ContentBlock::thinking(&thought.text.value, thought.signature.as_deref())
        }
        Block::ToolCall(call) => {
            let arguments = match &call.input {
                Some(ToolInput::Json(json)) => json.bytes().to_vec(),
                Some(ToolInput::Text(text)) => text.value.clone().into_bytes(),
                None => b"{}".to_vec(),
            };
            ContentBlock::tool_call(&call.id, &call.name, &arguments)
        }
        Block::Image(media) => image(media)?,
        Block::File(_) | Block::ToolResult(_) => return None,
        Block::Unknown { raw, .. } => ContentBlock::text(&raw.to_text()),
    })
}

/// A picture whose bytes are at hand; of others, their address.
fn image(media: &Media) -> Option<ContentBlock> {
    let Blob::Url(url) = &media.blob else {
        return None;
    };
    Some(match data_url(url) {
        Some((mime, data)) => ContentBlock::image(data, mime),
        None => ContentBlock::text(url),
    })
}
