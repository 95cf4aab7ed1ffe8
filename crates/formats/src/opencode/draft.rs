//! From what a user gives to a message and its parts, before ids and times are known.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rethread_json::{Document, Object, Value, compact};
use rethread_model::{ModelRef, Moment, Role, Usage};

use super::facts::usage;
use super::members::Members;
use super::said::said_at;
use super::tool::{ToolOutput, input};
use crate::atsf::assets::{Asset, inline};
use crate::fields::{string, text_of};
use crate::picture::mime_of_name;
use crate::unified::is_told;
use crate::{MessageInput, TextMessage, Unsaid, WriteError};

/// A message that is ready but for what the session says.
#[derive(Debug)]
pub(super) struct Draft {
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
    pub(super) results: Vec<ToolOutput>,
}

fn bad(why: impl Into<String>) -> WriteError {
    WriteError::BadMessage {
        line: None,
        why: why.into(),
    }
}

/// Says which of several messages was refused.
fn at_line(e: WriteError, line: u64) -> WriteError {
    match e {
        WriteError::BadMessage { why, .. } => WriteError::BadMessage {
            line: Some(line),
            why,
        },
        other => other,
    }
}

impl Draft {
    /// Takes what the user gave.
    pub(super) fn of(input: &MessageInput, now: Moment) -> Result<Self, WriteError> {
        match input {
            MessageInput::Text(text) => Self::of_text(text),
            MessageInput::Json {
                bytes,
                line,
                unsaid,
            } => Self::of_json(bytes, unsaid, now).map_err(|e| at_line(e, *line)),
            MessageInput::Message(new) => Self::of_json(&new.to_unified(), &new.defaults(), now)
                .map_err(|e| at_line(e, new.number)),
        }
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

    fn of_text(message: &TextMessage) -> Result<Self, WriteError> {
        if message.role == Role::Tool {
            return Err(bad(
                "a result belongs to a call: give it as JSON, with its `tool_id`",
            ));
        }
        let mut draft = Self::new(message.role == Role::Assistant);
        draft.model = message.model.as_deref().map(model);
        if !message.text.is_empty() {
            // There are no messages of the system: what it says is injected.
            let part = Object::new().str("type", "text").str("text", &message.text);
            let part = match message.role {
                Role::System => part.bool("synthetic", true),
                _ => part,
            };
            draft.parts.push(part.finish());
        }
        for path in &message.images {
            let name = path.file_name().map(|n| n.to_string_lossy().into_owned());
            draft
                .parts
                .push(picture(&Asset::from_file(path)?, name.as_deref()));
        }
        draft.checked()
    }

    fn of_json(bytes: &[u8], unsaid: &Unsaid, now: Moment) -> Result<Self, WriteError> {
        if std::str::from_utf8(bytes).is_err() {
            return Err(bad("not UTF-8"));
        }
        let given = compact(bytes).map_err(|e| bad(format!("not JSON: {e}")))?;
        let document = Document::parse(given).map_err(|e| bad(format!("not JSON: {e}")))?;
        let root = document.root();
        if !root.is_object() {
            return Err(bad("not a JSON object"));
        }
        let is_own = root.get("info").is_some_and(Value::is_object);
        let said = if is_own {
            root.get("info").unwrap_or(root)
        } else {
            root
        };
        let default = match unsaid.role {
            Some(Role::User) => Some("user"),
            Some(Role::System) => Some("system"),
            Some(_) => Some("assistant"),
            None => None,
        };
        let role = string(said, "role").or(default.map(str::to_owned));
        let role = role.ok_or_else(|| bad("`role` is missing"))?;
        let is_answer = match role.as_str() {
            "user" | "system" => false,
            "assistant" | "agent" => true,
            _ => {
                return Err(bad(format!(
                    "`role` is `{role}`, not `user` or `assistant`"
                )));
            }
        };
        let mut draft = Self::new(is_answer);
        draft.model = unsaid.model.as_deref().map(model);
        if is_own {
            draft.own(root, said)?;
        } else {
            let is_injected = role == "system" || !is_answer && is_told(root);
            draft.unified(root, is_injected, now)?;
        }
        draft.checked()
    }

    /// Takes a message in the format's own vocabulary: `{info, parts}`, as in an export.
    fn own(&mut self, root: Value<'_>, info: Value<'_>) -> Result<(), WriteError> {
        self.id = string(info, "id");
        let members = Members::parse(info.raw());
        self.time = members.as_ref().and_then(said_at);
        self.finish = string(info, "finish");
        self.usage = members.as_ref().and_then(usage).unwrap_or_default();
        let named = info.get("model").unwrap_or(info);
        let provider = string(named, "providerID");
        if let Some(id) = string(named, "modelID") {
            self.model = Some(ModelRef { provider, id });
        }
        self.info = Some(without(info, &["id", "sessionID", "role", "time"]));
        let parts = root.get("parts").into_iter().flat_map(Value::items);
        for (i, part) in parts.enumerate() {
            if string(part, "type").is_none() {
                return Err(bad(format!("part {}: `type` is missing", i + 1)));
            }
            self.parts
                .push(without(part, &["id", "sessionID", "messageID"]));
        }
        Ok(())
    }

    /// Takes a message in the unified vocabulary.
    fn unified(
        &mut self,
        root: Value<'_>,
        is_injected: bool,
        now: Moment,
    ) -> Result<(), WriteError> {
        self.id = string(root, "uuid").or_else(|| string(root, "id"));
        if let Some(time) = string(root, "timestamp") {
            let moment = time.parse();
            let moment = moment.map_err(|e| bad(format!("`timestamp` is `{time}`: {e}")))?;
            self.time = Some(moment);
        }
        let at = |path: &[&str]| root.get("metadata").and_then(|m| m.at(path));
        let named = at(&["model", "name"]).or_else(|| root.get("model"));
        if let Some(name) = named.and_then(Value::str) {
            self.model = Some(model(&name));
        }
        self.finish = at(&["model", "stop_reason"]).and_then(|v| v.str().map(Into::into));
        let count = |key| at(&["token_usage", key]).and_then(Value::u64).unwrap_or(0);
        self.usage = Usage {
            input: count("input_tokens"),
            output: count("output_tokens"),
            cache_read: count("cache_read_tokens"),
            cache_write: count("cache_creation_tokens"),
            ..Usage::default()
        };
        let content = root
            .get("content")
            .ok_or_else(|| bad("`content` is missing"))?;
        if let Some(text) = content.str() {
            self.text(&text, is_injected);
        }
        for (i, block) in content.items().enumerate() {
            self.block(block, is_injected, now)
                .map_err(|why| bad(format!("content block {}: {why}", i + 1)))?;
        }
        Ok(())
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

    fn block(&mut self, block: Value<'_>, is_injected: bool, now: Moment) -> Result<(), String> {
        let named = |key: &str| string(block, key).ok_or(format!("`{key}` is missing"));
        match named("type")?.as_str() {
            "text" => self.text(&named("text")?, is_injected),
            // The client itself gives it to another model as text.
            "thinking" => {
                let said = text_of(block, "thinking").or_else(|| text_of(block, "text"));
                let at = self.time.unwrap_or(now).millis();
                let time = Object::new().i64("start", at).i64("end", at);
                let part = Object::new()
                    .str("type", "reasoning")
                    .str("text", &said.ok_or("`thinking` is missing")?.value)
                    .raw("time", &time.finish());
                self.parts.push(part.finish());
            }
            "tool_use" => {
                let state = Object::new()
                    .str("status", "pending")
                    .raw("input", &input(block.get("input")))
                    .str("raw", "");
                let part = Object::new()
                    .str("type", "tool")
                    .str("callID", &named("tool_id")?)
                    .str("tool", &named("tool_name")?)
                    .raw("state", &state.finish());
                self.parts.push(part.finish());
            }
            "tool_result" => {
                let output = block.get("output").map(|v| match v.str() {
                    Some(text) => text.into_owned(),
                    None => String::from_utf8_lossy(v.raw()).into_owned(),
                });
                self.results.push(ToolOutput {
                    call: named("tool_id")?,
                    output: output.unwrap_or_default(),
                    files: files(block.get("content"))?,
                    is_error: block.get("is_error").and_then(Value::bool) == Some(true),
                });
            }
            "image" | "file" | "document" => {
                // The client gives no text to a model as a file: it says what is in it.
                if let Some(text) = plain_text(block) {
                    self.text(&text, true);
                }
                self.parts.push(file(block)?);
            }
            other => return Err(format!("there is no place for a block of type `{other}`")),
        }
        Ok(())
    }

    /// A message that says something.
    fn checked(self) -> Result<Self, WriteError> {
        if self.parts.is_empty() && self.results.is_empty() {
            return Err(bad("the message is empty"));
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

fn picture(asset: &Asset, name: Option<&str>) -> Vec<u8> {
    let url = format!(
        "data:{};base64,{}",
        asset.mime,
        STANDARD.encode(&asset.bytes)
    );
    Object::new()
        .str("type", "file")
        .str("mime", &asset.mime)
        .opt_str("filename", name)
        .str("url", &url)
        .finish()
}

/// A picture or a file, by its bytes or its address.
fn file(block: Value<'_>) -> Result<Vec<u8>, String> {
    let name = string(block, "name").or_else(|| string(block, "filename"));
    if let Some(found) = inline(block)? {
        return Ok(picture(&found.asset, name.as_deref()));
    }
    let url = string(block, "url").ok_or("there is neither inline data nor a `url` in it")?;
    let mime = string(block, "mimeType").or_else(|| string(block, "mime"));
    Ok(Object::new()
        .str("type", "file")
        .str("mime", mime.as_deref().unwrap_or(mime_of_name(&url)))
        .opt_str("filename", name.as_deref())
        .str("url", &url)
        .finish())
}

/// What is in a file of plain text.
fn plain_text(block: Value<'_>) -> Option<String> {
    let found = inline(block).ok()??;
    let is_text = found.asset.mime == "text/plain";
    String::from_utf8(found.asset.bytes)
        .ok()
        .filter(|_| is_text)
}

/// The pictures and files among what a tool gave.
fn files(content: Option<Value<'_>>) -> Result<Vec<Vec<u8>>, String> {
    let is_file = |block: &Value<'_>| {
        let kind = string(*block, "type").unwrap_or_default();
        ["image", "file", "document"].contains(&kind.as_str())
    };
    let blocks = content.into_iter().flat_map(Value::items);
    blocks.filter(is_file).map(file).collect()
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
