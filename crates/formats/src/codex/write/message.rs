//! From what a user gives to the records of a session.

use rethread_json::{Array, Object};
use rethread_model::{Blob, Block, Message, Moment, Role, ToolCall, ToolInput, ToolResult, Usage};
use sha2::{Digest, Sha256};

use super::fresh_id;
use super::records::Records;
use crate::codex::said::{TOLD_ELSEWHERE, is_injected};
use crate::{Env, NewMessage};

/// The longest id of a call that the vendor takes.
const LONGEST_ID: usize = 64;

/// What is known while messages are written.
pub(in crate::codex) struct MessageWriter<'a> {
    pub(in crate::codex) env: &'a Env,
    pub(in crate::codex) records: Records,
    /// The folder that the work is done in.
    pub(in crate::codex) cwd: Option<String>,
    /// The model of the turn.
    pub(in crate::codex) model: Option<String>,
    /// The tokens so far.
    pub(in crate::codex) total: Usage,
    /// What makes ids of the same seed differ.
    pub(in crate::codex) salt: u64,
}

/// A message that can be written.
pub(in crate::codex) struct MessageToWrite {
    time: Option<Moment>,
    message: Message,
    /// Whether no person typed it.
    is_told: bool,
}

impl MessageToWrite {
    /// A message as the model has it.
    pub(in crate::codex) fn of(new: NewMessage) -> Self {
        let mut message = new.message;
        if message.model.is_none() {
            let model = new.default_model;
            message.model = model.map(|id| rethread_model::ModelRef { provider: None, id });
        }
        Self {
            time: new.time,
            message,
            is_told: new.is_told,
        }
    }
}

/// Whether a turn of the person begins with a message, as the client counts them: it holds words of
/// the person, none that the client takes for its own, and nothing that a tool gave.
pub(in crate::codex) fn is_turn(message: &Message) -> bool {
    let fits = |block: &Block| match block {
        Block::Text(text) => !is_injected(&text.value),
        Block::ToolCall(_) | Block::ToolResult(_) => false,
        _ => true,
    };
    let is_said = |block: &Block| match block {
        Block::Text(text) => !text.value.trim().is_empty(),
        block => matches!(block, Block::Image(_)),
    };
    let blocks = &message.blocks;
    message.role == Role::User && blocks.iter().all(fits) && blocks.iter().any(is_said)
}

impl MessageWriter<'_> {
    /// Writes a message; gives the id of its entry.
    pub(in crate::codex) fn write(&mut self, given: &MessageToWrite) -> String {
        let time = given.time.unwrap_or_else(|| self.env.now());
        let message = &given.message;
        let mut first = None;
        match message.role {
            Role::Assistant => self.assistant(message, time, &mut first),
            Role::System => self.said("developer", given, time, &mut first),
            Role::User | Role::Tool => {
                // What a tool gave comes before what the user says to it.
                self.results(message, time, &mut first);
                self.said("user", given, time, &mut first);
            }
        }
        first.unwrap_or_default()
    }

    fn id(&mut self, prefix: &str, first: &mut Option<String>) -> String {
        self.salt = self.salt.wrapping_add(1);
        let id = format!("{prefix}_{}", fresh_id(self.env, &self.salt.to_le_bytes()));
        first.get_or_insert_with(|| id.clone());
        id
    }

    /// Words of somebody else than the model.
    fn said(
        &mut self,
        role: &str,
        given: &MessageToWrite,
        time: Moment,
        first: &mut Option<String>,
    ) {
        let message = &given.message;
        let (mut content, mut texts, mut images) = (Array::new(), Vec::new(), Vec::new());
        for block in &message.blocks {
            match block {
                Block::Text(text) | Block::Aside { text, .. } => {
                    content = content.raw(&text_part("input_text", &text.value));
                    texts.push(text.value.as_str());
                }
                Block::Image(media) => {
                    if let Some(url) = url(&media.blob) {
                        content = content.raw(&image_part(&url));
                        images.push(url);
                    }
                }
                _ => {}
            }
        }
        let has_results = message
            .blocks
            .iter()
            .any(|b| matches!(b, Block::ToolResult(_)));
        if content.is_empty() && has_results {
            return;
        }
        if content.is_empty() {
            content = content.raw(&text_part("input_text", ""));
        }
        let id = self.id("msg", first);
        let mut item = message_item(&id, role, &content.finish());
        if given.is_told {
            item = item.bool(TOLD_ELSEWHERE, true);
        }
        self.records.add_item(time, item);
        // What the person sees are events.
        if role == "user" && !given.is_told {
            self.records
                .user_event(time, &id, &texts.join("\n"), &images);
        }
    }

    fn assistant(&mut self, message: &Message, time: Moment, first: &mut Option<String>) {
        let model = message.model.as_ref().map(|m| m.id.clone());
        if model.is_some() && model != self.model {
            self.turn_context(time, model.as_deref().unwrap_or_default());
            self.model = model;
        }
        for block in &message.blocks {
            match block {
                Block::Text(text) | Block::Aside { text, .. } => {
                    let id = self.id("msg", first);
                    self.records.agent_event(time, &id, &text.value);
                    let content = Array::new().raw(&text_part("output_text", &text.value));
                    let item = message_item(&id, "assistant", &content.finish());
                    self.records.add_item(time, item);
                }
                Block::Thinking(thought) if !thought.text.value.is_empty() => {
                    let id = self.id("rs", &mut Some(String::new()));
                    self.records.add_thought(time, &id, &thought.text.value);
                }
                Block::ToolCall(call) => {
                    let id = self.id("fc", first);
                    self.records.add_item(time, call_item(&id, call));
                }
                _ => {}
            }
        }
        self.results(message, time, first);
        if let Some(usage) = message.usage.filter(|u| !u.is_zero()) {
            self.total += &usage;
            self.records.add_tokens(time, &self.total, &usage);
        }
    }

    fn results(&mut self, message: &Message, time: Moment, first: &mut Option<String>) {
        for block in &message.blocks {
            if let Block::ToolResult(result) = block {
                let id = self.id("fco", first);
                self.records.add_item(time, output_item(&id, result));
            }
        }
    }

    /// Writes that a summary, and these items, take the place of the past.
    pub(in crate::codex) fn compacted(&mut self, time: Moment, summary: &str, kept: &[Vec<u8>]) {
        let id = self.id("msg", &mut Some(String::new()));
        let content = Array::new().raw(&text_part("input_text", summary));
        let item = message_item(&id, "user", &content.finish()).finish();
        let history = kept
            .iter()
            .fold(Array::new().raw(&item), |all, item| all.raw(item));
        self.records
            .add_compaction(time, summary, &history.finish());
    }

    fn turn_context(&mut self, time: Moment, model: &str) {
        let context = Object::new()
            .str("cwd", self.cwd.as_deref().unwrap_or_default())
            .str("approval_policy", "on-request")
            .raw("sandbox_policy", b"{\"type\":\"read-only\"}")
            .str("model", model)
            .str("summary", "auto");
        self.records.add(time, "turn_context", &context.finish());
    }
}

fn message_item(id: &str, role: &str, content: &[u8]) -> Object {
    Object::new()
        .str("type", "message")
        .str("id", id)
        .str("role", role)
        .raw("content", content)
}

fn text_part(kind: &str, text: &str) -> Vec<u8> {
    Object::new().str("type", kind).str("text", text).finish()
}

fn image_part(url: &str) -> Vec<u8> {
    Object::new()
        .str("type", "input_image")
        .str("image_url", url)
        .finish()
}

/// The address of a picture: what users give has one, with the bytes in it or without.
fn url(blob: &Blob) -> Option<String> {
    match blob {
        Blob::Url(url) => Some(url.clone()),
        _ => None,
    }
}

/// A call. The arguments are JSON as text; plain text becomes the one member of an object.
fn call_item(id: &str, call: &ToolCall) -> Object {
    let arguments = match &call.input {
        None => "{}".to_owned(),
        Some(ToolInput::Json(json)) => json.to_text(),
        Some(ToolInput::Text(text)) => {
            let object = Object::new().str("input", &text.value).finish();
            String::from_utf8_lossy(&object).into_owned()
        }
    };
    Object::new()
        .str("type", "function_call")
        .str("id", id)
        .str("name", &call.name)
        .opt_str("namespace", call.namespace.as_deref())
        .str("arguments", &arguments)
        .str("call_id", &call_id(&call.id))
}

fn output_item(id: &str, result: &ToolResult) -> Object {
    let item = Object::new()
        .str("type", "function_call_output")
        .str("id", id)
        .str("call_id", &call_id(&result.call_id));
    let item = match result.blocks.as_slice() {
        [] => item.str("output", ""),
        [Block::Text(text)] => item.str("output", &text.value),
        several => item.raw("output", &parts(several)),
    };
    // The client has no place for this and passes over it.
    if result.is_error {
        item.bool("is_error", true)
    } else {
        item
    }
}

fn parts(blocks: &[Block]) -> Vec<u8> {
    let mut parts = Array::new();
    for block in blocks {
        match block {
            Block::Text(text) => parts = parts.raw(&text_part("input_text", &text.value)),
            Block::Image(media) => {
                if let Some(url) = url(&media.blob) {
                    parts = parts.raw(&image_part(&url));
                }
            }
            Block::Unknown { raw, .. } => {
                parts = parts.raw(&text_part("input_text", &raw.to_text()));
            }
            _ => {}
        }
    }
    parts.finish()
}

/// An id of a call as the vendor takes it: the same for the call and its result.
fn call_id(id: &str) -> String {
    if !id.is_empty() && id.len() <= LONGEST_ID {
        return id.to_owned();
    }
    let digest = Sha256::digest(id.as_bytes());
    let mut half = [0; 16];
    half.copy_from_slice(&digest[..16]);
    format!("call_{:032x}", u128::from_be_bytes(half))
}
