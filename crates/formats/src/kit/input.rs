//! What a user gives, read by one set of rules whatever the format: text, the unified vocabulary, or
//! what is a format's own.

use rethread_json::{Document, Value, compact};
use rethread_model::{Blob, Block, Cost, Media, Message, ModelRef, Moment, Role, Thinking, Usage};

use super::content::{InlineData, add_blocks, read_blocks};
use crate::fields::{filled_of, json_of, other_members, string_of};
use crate::{MessageDefaults, MessageInput, NewMessage, TextMessage, WriteError, picture};

/// A message that was read.
pub(crate) enum GivenMessage<N> {
    /// As the model has it.
    New(Box<NewMessage>),
    /// In the format's own words.
    Native(N),
}

/// The members that have a place in a [`NewMessage`], or that follow from the order of messages.
const UNDERSTOOD: [&str; 11] = [
    "uuid",
    "id",
    "index",
    "parent_uuid",
    "role",
    "timestamp",
    "content",
    "metadata",
    "model",
    "stop_reason",
    "usage",
];

/// Reads a message. `native` is asked first for every JSON object: what is in the format's own words
/// is the format's, and none leaves it to the unified vocabulary.
pub(crate) fn read_message<N>(
    input: &MessageInput,
    native: impl FnOnce(Value<'_>, &MessageDefaults) -> Option<Result<N, String>>,
) -> Result<GivenMessage<N>, WriteError> {
    let read = match input {
        MessageInput::Text(text) => return text_message(text).map(GivenMessage::New),
        MessageInput::Message(new) => return Ok(GivenMessage::New(new.clone())),
        MessageInput::Json { bytes, unsaid, .. } => read_object(bytes).and_then(|document| {
            let root = document.root();
            match native(root, unsaid) {
                Some(own) => own.map(GivenMessage::Native),
                None => unified_message(root, unsaid).map(|new| {
                    let number = input.line().unwrap_or(0);
                    GivenMessage::New(Box::new(NewMessage { number, ..new }))
                }),
            }
        }),
    };
    read.map_err(|why| bad_message(why).in_message(input))
}

/// Reads a message for a format that has no words of its own for it.
pub(crate) fn read_unified(input: &MessageInput) -> Result<NewMessage, WriteError> {
    match read_message(input, |_, _| None::<Result<NewMessage, String>>)? {
        GivenMessage::New(new) => Ok(*new),
        GivenMessage::Native(new) => Ok(new),
    }
}

/// The error for a message that cannot be taken.
pub(crate) fn bad_message(why: impl Into<String>) -> WriteError {
    WriteError::BadMessage {
        line: None,
        why: why.into(),
    }
}

impl WriteError {
    /// Says which of several messages was refused.
    pub(crate) fn in_message(self, input: &MessageInput) -> Self {
        match (self, input.line()) {
            (Self::BadMessage { line: None, why }, line) => Self::BadMessage { line, why },
            (other, _) => other,
        }
    }
}

/// The JSON object that somebody gave, without its layout.
pub(crate) fn read_object(bytes: &[u8]) -> Result<Document, String> {
    if let Err(e) = std::str::from_utf8(bytes) {
        return Err(format!("not UTF-8 at byte {}", e.valid_up_to()));
    }
    let plain = compact(bytes).map_err(|e| format!("not JSON: {e}"))?;
    let document = Document::parse(plain).map_err(|e| format!("not JSON: {e}"))?;
    if document.root().is_object() {
        Ok(document)
    } else {
        Err("not a JSON object".to_owned())
    }
}

fn text_message(text: &TextMessage) -> Result<Box<NewMessage>, WriteError> {
    let mut blocks = Vec::new();
    if !text.text.is_empty() {
        blocks.push(Block::text(&text.text));
    }
    for path in &text.images {
        let (bytes, mime) = picture::read_picture(path)?;
        if !mime.starts_with("image/") {
            let why = format!(
                "`{}` is no PNG, JPEG, GIF, WebP or SVG picture",
                path.display()
            );
            return Err(bad_message(why));
        }
        let mime = mime.to_owned();
        blocks.push(Block::Image(Media {
            name: path.file_name().map(|n| n.to_string_lossy().into_owned()),
            uri: None,
            blob: Blob::Url(
                InlineData {
                    mime: mime.clone(),
                    bytes,
                }
                .to_url(),
            ),
            mime: Some(mime),
        }));
    }
    let new = NewMessage {
        default_model: text.model.clone(),
        ..NewMessage::new(Message::new(text.role, blocks))
    };
    checked(new).map(Box::new).map_err(bad_message)
}

/// Reads a message of the unified vocabulary.
pub(crate) fn unified_message(
    value: Value<'_>,
    unsaid: &MessageDefaults,
) -> Result<NewMessage, String> {
    let role = given_role(value, unsaid)?;
    let time = given_time(value)?;
    let mut blocks = read_blocks(value.get("content").ok_or("`content` is missing")?)?;
    let extensions = value.at(&["metadata", "extensions"]);
    if let Some(more) = extensions.and_then(|e| e.get("blocks")) {
        add_blocks(&mut blocks, more)?;
    }
    let at = |path: &[&str]| Some(value.get("metadata")?.at(path)?.str()?.into_owned());
    let mut message = Message::new(role, blocks);
    let model = at(&["model", "name"]).or_else(|| string_of(value, "model"));
    message.model = model.map(|id| ModelRef {
        provider: at(&["extensions", "provider"]),
        id,
    });
    message.stop_reason = at(&["model", "stop_reason"]).or_else(|| string_of(value, "stop_reason"));
    message.error = at(&["extensions", "error"]);
    let counts = value.at(&["metadata", "token_usage"]);
    message.usage = counts.or_else(|| value.get("usage")).map(usage);
    checked(NewMessage {
        time,
        id: filled_of(value, "uuid").or_else(|| filled_of(value, "id")),
        is_told: value.at(&["metadata", "is_meta"]).and_then(Value::bool) == Some(true),
        default_model: unsaid.model.clone(),
        metadata: json_of(value, "metadata"),
        others: other_members(value, &UNDERSTOOD),
        ..NewMessage::new(message)
    })
}

/// Who says a message.
fn given_role(value: Value<'_>, unsaid: &MessageDefaults) -> Result<Role, String> {
    match string_of(value, "role").as_deref() {
        Some("user") => Ok(Role::User),
        Some("assistant" | "agent") => Ok(Role::Assistant),
        Some("system") => Ok(Role::System),
        Some("tool") => Ok(Role::Tool),
        Some(other) => Err(format!(
            "`role` is `{other}`, not `user`, `assistant`, `system` or `tool`"
        )),
        None => unsaid.role.ok_or_else(|| "`role` is missing".to_owned()),
    }
}

/// When a message says that it was said.
pub(crate) fn given_time(value: Value<'_>) -> Result<Option<Moment>, String> {
    let Some(time) = value.get("timestamp").filter(|time| !time.is_null()) else {
        return Ok(None);
    };
    let text = time.str().ok_or("`timestamp` is not a text")?;
    let moment = text.parse::<Moment>();
    let moment = moment.map_err(|e| format!("`timestamp` is `{text}`: {e}"))?;
    Ok(Some(moment))
}

/// A message in which something is said, each thing by somebody who can say it. What a tool gives is
/// said to the model, as what the user says is.
fn checked(mut new: NewMessage) -> Result<NewMessage, String> {
    let message = &mut new.message;
    if message.role == Role::Tool {
        if !message
            .blocks
            .iter()
            .any(|b| matches!(b, Block::ToolResult(_)))
        {
            let why = "a result belongs to a call: give it as a `tool_result` block";
            return Err(why.to_owned());
        }
        message.role = Role::User;
    }
    for (i, block) in message.blocks.iter().enumerate() {
        let (word, fits) = match block {
            Block::ToolCall(_) => ("tool_use", message.role == Role::Assistant),
            Block::ToolResult(_) => ("tool_result", message.role != Role::System),
            _ => continue,
        };
        if !fits {
            let role = message.role.unified();
            return Err(format!(
                "content block {}: a `{word}` block has no place in a message of role `{role}`",
                i + 1
            ));
        }
    }
    if message.error.is_none() && !message.blocks.iter().any(is_said) {
        return Err("nothing is said in it".to_owned());
    }
    Ok(new)
}

fn is_said(block: &Block) -> bool {
    match block {
        Block::Text(text)
        | Block::Thinking(Thinking {
            text,
            signature: None,
            encrypted: None,
            ..
        }) => !text.value.trim().is_empty(),
        _ => true,
    }
}

/// What a response cost, in the words of the unified vocabulary or of the vendor that it has them
/// from.
fn usage(value: Value<'_>) -> Usage {
    let count = |keys: &[&str]| {
        let found = keys.iter().find_map(|key| value.get(key)?.u64());
        found.unwrap_or(0)
    };
    Usage {
        input: count(&["input_tokens", "input"]),
        output: count(&["output_tokens", "output"]),
        cache_read: count(&["cache_read_tokens", "cache_read_input_tokens"]),
        cache_write: count(&["cache_creation_tokens", "cache_creation_input_tokens"]),
        cost: value
            .get("cost_usd")
            .and_then(Value::f64)
            .map(|usd| Cost { usd }),
        ..Usage::default()
    }
}
