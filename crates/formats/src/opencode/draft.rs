//! From what a user gives to a message and its parts, before ids and times are known.

use rethread_json::{Object, Value};
use rethread_model::{Blob, Block, Media, ModelRef, Moment, Role, Usage};

use super::facts::read_usage;
use super::members::Members;
use super::said::said_at;
use super::tool::CallOutput;
use crate::fields::string_of;
use crate::kit::{
    GivenMessage, InlineData, bad_message, is_data_url, object_input, output_text, read_message,
};
use crate::picture::mime_of_name;
use crate::{MessageDefaults, MessageInput, NewMessage, WriteError};

/// A message that is ready but for what the session says.
#[derive(Debug)]
pub(super) struct MessageDraft {
    /// The id that the user chose.
    pub(super) id: Option<String>,
    pub(super) is_answer: bool,
    pub(super) time: Option<Moment>,
    pub(super) model: Option<ModelRef>,
    pub(super) usage: Usage,
    pub(super) finish: Option<String>,
    /// What else a message in the format's own vocabulary says, as one JSON object.
    pub(super) info: Option<Vec<u8>>,
    pub(super) parts: Vec<Vec<u8>>,
    /// Results for calls, in this message or before it.
    pub(super) results: Vec<CallOutput>,
}

impl MessageDraft {
    /// Takes what the user gave.
    pub(super) fn of(input: &MessageInput, now: Moment) -> Result<Self, WriteError> {
        let draft = match read_message(input, Self::own)? {
            GivenMessage::New(new) => Self::of_new(&new, now),
            GivenMessage::Native(draft) => Ok(draft),
        };
        let draft = draft.and_then(Self::checked);
        draft.map_err(|why| bad_message(why).in_message(input))
    }

    fn new(is_answer: bool) -> Self {
        Self {
            id: None,
            is_answer,
            time: None,
            model: None,
            usage: Usage::default(),
            finish: None,
            info: None,
            parts: Vec::new(),
            results: Vec::new(),
        }
    }

    /// Takes a message in the format's own vocabulary: `{info, parts}`, as in an export.
    fn own(root: Value<'_>, unsaid: &MessageDefaults) -> Option<Result<Self, String>> {
        let info = root.get("info").filter(|info| info.is_object())?;
        Some(Self::of_own(root, info, unsaid))
    }

    fn of_own(root: Value<'_>, info: Value<'_>, unsaid: &MessageDefaults) -> Result<Self, String> {
        let default = unsaid.role.map(|role| role.unified().to_owned());
        let role = string_of(info, "role").or(default);
        let is_answer = match role.ok_or("`role` is missing")?.as_str() {
            "user" | "system" => false,
            "assistant" | "agent" => true,
            role => return Err(format!("`role` is `{role}`, not `user` or `assistant`")),
        };
        let members = Members::parse(info.raw());
        let named = info.get("model").unwrap_or(info);
        let own_model = string_of(named, "modelID").map(|id| ModelRef {
            provider: string_of(named, "providerID"),
            id,
        });
        let mut draft = Self {
            id: string_of(info, "id"),
            time: members.as_ref().and_then(said_at),
            finish: string_of(info, "finish"),
            usage: members.as_ref().and_then(read_usage).unwrap_or_default(),
            model: own_model.or_else(|| unsaid.model.as_deref().map(model)),
            info: Some(without(info, &["id", "sessionID", "role", "time"])),
            ..Self::new(is_answer)
        };
        let parts = root.get("parts").into_iter().flat_map(Value::items);
        for (i, part) in parts.enumerate() {
            if string_of(part, "type").is_none() {
                return Err(format!("part {}: `type` is missing", i + 1));
            }
            draft
                .parts
                .push(without(part, &["id", "sessionID", "messageID"]));
        }
        Ok(draft)
    }

    /// Takes a message as the model has it.
    fn of_new(new: &NewMessage, now: Moment) -> Result<Self, String> {
        let message = &new.message;
        let is_answer = message.role == Role::Assistant;
        let mut draft = Self {
            id: new.id.clone(),
            time: new.time,
            model: new.model_name().map(model),
            finish: message.stop_reason.clone(),
            usage: message.usage.unwrap_or_default(),
            ..Self::new(is_answer)
        };
        // There are no messages of the system: what it says is injected.
        let is_injected = message.role == Role::System || !is_answer && new.is_told;
        for block in &message.blocks {
            draft.block(block, is_injected, now)?;
        }
        Ok(draft)
    }

    fn text(&mut self, text: &str, is_injected: bool) {
        let part = Object::new().str("type", "text").str("text", text);
        let part = if is_injected {
            part.bool("synthetic", true)
        } else {
            part
        };
        self.parts.push(part.finish());
    }

    fn block(&mut self, block: &Block, is_injected: bool, now: Moment) -> Result<(), String> {
        match block {
            Block::Text(text) | Block::Aside { text, .. } => self.text(&text.value, is_injected),
            // The client itself gives it to another model as text.
            Block::Thinking(thought) => {
                let at = self.time.unwrap_or(now).millis();
                let time = Object::new().i64("start", at).i64("end", at);
                let part = Object::new()
                    .str("type", "reasoning")
                    .str("text", &thought.text.value)
                    .raw("time", &time.finish());
                self.parts.push(part.finish());
            }
            Block::ToolCall(call) => {
                let state = Object::new()
                    .str("status", "pending")
                    .raw("input", &object_input(call.input.as_ref()))
                    .str("raw", "");
                let part = Object::new()
                    .str("type", "tool")
                    .str("callID", &call.id)
                    .str("tool", &call.name)
                    .raw("state", &state.finish());
                self.parts.push(part.finish());
            }
            Block::ToolResult(result) => {
                let files = result.blocks.iter().filter_map(|block| match block {
                    Block::Image(media) | Block::File(media) => Some(file(media)),
                    _ => None,
                });
                self.results.push(CallOutput {
                    call: result.call_id.clone(),
                    output: output_text(result),
                    files: files.collect::<Result<_, _>>()?,
                    is_error: result.is_error,
                });
            }
            Block::Image(media) | Block::File(media) => {
                // The client gives no text to a model as a file: it says what is in it.
                if let Some(text) = plain_text(media) {
                    self.text(&text, true);
                }
                self.parts.push(file(media)?);
            }
            Block::Unknown { type_name, .. } => {
                return Err(format!(
                    "there is no place for a block of type `{type_name}`"
                ));
            }
        }
        Ok(())
    }

    /// A message that says something.
    fn checked(self) -> Result<Self, String> {
        if self.parts.is_empty() && self.results.is_empty() {
            return Err("nothing is said in it".to_owned());
        }
        if let Some(id) = &self.id
            && !id.starts_with("msg")
        {
            // The client takes only its own kind of ids; another one is not kept.
            return Ok(Self { id: None, ..self });
        }
        Ok(self)
    }
}

/// A model as people name it: `provider/model`.
fn model(name: &str) -> ModelRef {
    match name.split_once('/') {
        Some((provider, id)) => ModelRef {
            provider: Some(provider.to_owned()),
            id: id.to_owned(),
        },
        None => ModelRef {
            provider: None,
            id: name.to_owned(),
        },
    }
}

/// The bytes of a file that is held by its address.
fn inline(media: &Media) -> Option<Result<InlineData, String>> {
    match &media.blob {
        Blob::Url(url) if is_data_url(url) => Some(InlineData::decode(url, None)),
        _ => None,
    }
}

/// A picture or a file, by its bytes or its address.
fn file(media: &Media) -> Result<Vec<u8>, String> {
    let (mime, url) = match (inline(media).transpose()?, &media.blob) {
        (Some(data), _) => (data.mime.clone(), data.to_url()),
        (None, Blob::Url(url)) => {
            let mime = media.mime.as_deref().unwrap_or(mime_of_name(url));
            (mime.to_owned(), url.clone())
        }
        _ => return Err("a picture or a file has no address".to_owned()),
    };
    Ok(Object::new()
        .str("type", "file")
        .str("mime", &mime)
        .opt_str("filename", media.name.as_deref())
        .str("url", &url)
        .finish())
}

/// What is in a file of plain text.
fn plain_text(media: &Media) -> Option<String> {
    let data = inline(media)?.ok()?;
    let is_text = data.mime == "text/plain";
    String::from_utf8(data.bytes).ok().filter(|_| is_text)
}

fn without(object: Value<'_>, keys: &[&str]) -> Vec<u8> {
    let mut rest = Object::new();
    for (key, value) in object.members() {
        let Some(name) = key.str() else { continue };
        if !keys.contains(&name.as_ref()) {
            rest = rest.raw(&name, value.raw());
        }
    }
    rest.finish()
}
