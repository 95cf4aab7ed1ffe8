//! What a user asks to be written, as messages of the vendor's API.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rethread_disk::read_small;
use rethread_json::{Array, Document, Object, Value};
use rethread_model::{Moment, Role};
use sha2::{Digest, Sha256};

use super::scribe::Saying;
use crate::pi::fields::{is_true, string};
use crate::{MessageInput, TextMessage, Unsaid, WriteError};

/// A message that can be written.
pub(super) struct Prepared {
    pub(super) saying: Saying,
    /// The id and the time that the user chose.
    pub(super) id: Option<String>,
    pub(super) time: Option<Moment>,
    /// What the person says in it.
    pub(super) prompt: Option<String>,
}

/// What is known where a message does not say it.
pub(super) struct Defaults {
    /// The model that answers.
    pub(super) model: String,
    /// An id for a response.
    pub(super) response: String,
}

/// Checks a message and brings it into the vendor's form.
pub(super) fn prepare(input: &MessageInput, d: &Defaults) -> Result<Prepared, WriteError> {
    match input {
        MessageInput::Text(text) => from_text(text, d),
        MessageInput::Json {
            bytes,
            line,
            unsaid,
        } => from_json(bytes, unsaid, d).map_err(|why| WriteError::BadMessage {
            line: Some(*line),
            why,
        }),
    }
}

fn from_text(text: &TextMessage, d: &Defaults) -> Result<Prepared, WriteError> {
    let bad = |why: &str| WriteError::BadMessage {
        line: None,
        why: why.to_owned(),
    };
    let mut content = Content::default();
    content.text(&text.text);
    for path in &text.images {
        let bytes = read_small(path)?;
        let mime = mime_of(&bytes).ok_or_else(|| bad("a picture is no PNG, JPEG, GIF or WebP"))?;
        content.image(mime, &STANDARD.encode(bytes));
    }
    let model = text.model.as_deref();
    finish(
        text.role,
        content,
        &Said {
            model,
            ..Said::default()
        },
        d,
    )
    .map_err(|why| bad(&why))
}

/// What a message says beside its content.
#[derive(Default)]
struct Said<'a> {
    model: Option<&'a str>,
    stop_reason: Option<String>,
    usage: Option<Vec<u8>>,
    id: Option<String>,
    time: Option<Moment>,
}

fn from_json(bytes: &[u8], unsaid: &Unsaid, d: &Defaults) -> Result<Prepared, String> {
    let document = Document::parse(bytes.to_vec()).map_err(|e| format!("not JSON: {e}"))?;
    let root = document.root();
    if !root.is_object() {
        return Err("not a JSON object".to_owned());
    }
    // A record of the client holds its message.
    let message = root
        .get("message")
        .filter(|m| m.is_object())
        .unwrap_or(root);
    let role = match string(message, "role").as_deref() {
        Some("user") => Role::User,
        Some("assistant" | "agent") => Role::Assistant,
        Some("system") => Role::System,
        Some(other) => return Err(format!("`role` is `{other}`, not `user` or `assistant`")),
        None => unsaid.role.ok_or("`role` is missing")?,
    };
    let given = message.get("content").ok_or("`content` is missing")?;
    let mut content = Content::default();
    if let Some(text) = given.str() {
        content.text(&text);
    }
    for (i, block) in given.items().enumerate() {
        let failed = |why| format!("content block {}: {why}", i + 1);
        content.block(block, role).map_err(failed)?;
    }
    let text = |path: &[&str]| Some(root.at(path)?.str()?.into_owned());
    let model = string(message, "model").or_else(|| text(&["metadata", "model", "name"]));
    let time = match string(root, "timestamp") {
        Some(text) => Some(
            text.parse::<Moment>()
                .map_err(|e| format!("`timestamp` is `{text}`: {e}"))?,
        ),
        None => None,
    };
    let used = message
        .get("usage")
        .or_else(|| root.at(&["metadata", "token_usage"]));
    let said = Said {
        model: model.as_deref().or(unsaid.model.as_deref()),
        stop_reason: string(message, "stop_reason")
            .or_else(|| text(&["metadata", "model", "stop_reason"])),
        usage: used.map(usage),
        id: string(root, "uuid").filter(|id| !id.is_empty()),
        time,
    };
    finish(role, content, &said, d)
}

/// Token counts, in the client's words.
fn usage(given: Value<'_>) -> Vec<u8> {
    let count = |keys: [&str; 2]| {
        let found = keys.iter().find_map(|key| given.get(key)?.u64());
        found.unwrap_or(0)
    };
    Object::new()
        .u64("input_tokens", count(["input_tokens", "input"]))
        .u64(
            "cache_creation_input_tokens",
            count(["cache_creation_input_tokens", "cache_creation_tokens"]),
        )
        .u64(
            "cache_read_input_tokens",
            count(["cache_read_input_tokens", "cache_read_tokens"]),
        )
        .u64("output_tokens", count(["output_tokens", "output"]))
        .finish()
}

fn finish(role: Role, content: Content, said: &Said<'_>, d: &Defaults) -> Result<Prepared, String> {
    if content.blocks.is_empty() {
        return Err("nothing is said in it".to_owned());
    }
    let prompt = (role == Role::User && !content.words.is_empty()).then(|| content.words.clone());
    let ids = (!content.ids.is_empty()).then(|| content.ids.finish());
    let only_text = content
        .only_text
        .then(|| rethread_json::quote(&content.words));
    let blocks = content.blocks.finish();
    let message = match role {
        Role::Assistant => {
            let none = Object::new().u64("input_tokens", 0).u64("output_tokens", 0);
            let usage = said.usage.clone().unwrap_or_else(|| none.finish());
            let calls = content.calls > 0;
            let stop = if calls { "tool_use" } else { "end_turn" };
            Object::new()
                .str("id", &d.response)
                .str("type", "message")
                .str("role", "assistant")
                .str("model", said.model.unwrap_or(&d.model))
                .raw("content", &blocks)
                .str("stop_reason", said.stop_reason.as_deref().unwrap_or(stop))
                .null("stop_sequence")
                .raw("usage", &usage)
        }
        Role::User | Role::System => Object::new()
            .str("role", "user")
            .raw("content", only_text.as_deref().unwrap_or(&blocks)),
        Role::Tool => return Err("results of tools are given as `tool_result` blocks".to_owned()),
    };
    Ok(Prepared {
        saying: Saying {
            type_name: if role == Role::Assistant {
                "assistant"
            } else {
                "user"
            },
            message: message.finish(),
            meta: role == Role::System,
            ids,
        },
        id: said.id.clone(),
        time: said.time,
        prompt,
    })
}

/// The blocks of a message while it is put together.
struct Content {
    blocks: Array,
    /// Ids of calls that had to be changed.
    ids: Object,
    words: String,
    calls: usize,
    only_text: bool,
}

impl Default for Content {
    fn default() -> Self {
        Self {
            blocks: Array::new(),
            ids: Object::new(),
            words: String::new(),
            calls: 0,
            only_text: true,
        }
    }
}

impl Content {
    fn push(&mut self, block: Object) {
        let blocks = std::mem::take(&mut self.blocks);
        self.blocks = blocks.raw(&block.finish());
    }

    fn text(&mut self, text: &str) {
        // The vendor's API takes neither empty blocks nor NUL.
        let text = text.replace('\0', "\u{FFFD}");
        if text.trim().is_empty() {
            return;
        }
        self.only_text &= self.words.is_empty();
        self.words = match self.words.as_str() {
            "" => text.clone(),
            before => format!("{before}\n\n{text}"),
        };
        self.push(Object::new().str("type", "text").str("text", &text));
    }

    fn image(&mut self, mime: &str, data: &str) {
        self.only_text = false;
        let source = Object::new()
            .str("type", "base64")
            .str("media_type", mime)
            .str("data", data);
        let image = Object::new().str("type", "image");
        self.push(image.raw("source", &source.finish()));
    }

    fn block(&mut self, block: Value<'_>, role: Role) -> Result<(), String> {
        let type_name = string(block, "type").ok_or("`type` is missing")?;
        match type_name.as_str() {
            "text" => self.text(&string(block, "text").ok_or("`text` is missing")?),
            // A signature holds only where the vendor's model gave it, so none is written: what
            // another model thought is text to this one.
            "thinking" => {
                let thought = string(block, "thinking").or_else(|| string(block, "text"));
                self.text(&thought.ok_or("`thinking` is missing")?);
            }
            "image" => self.given_image(block)?,
            "tool_use" if role == Role::Assistant => self.call(block)?,
            "tool_result" if role == Role::User => self.result(block)?,
            other => return Err(format!("a `{other}` block cannot be written here")),
        }
        Ok(())
    }

    fn given_image(&mut self, block: Value<'_>) -> Result<(), String> {
        if let Some(source) = block.get("source").filter(|s| s.is_object()) {
            self.only_text = false;
            let image = Object::new().str("type", "image");
            self.push(image.raw("source", source.raw()));
            return Ok(());
        }
        let data = string(block, "data").ok_or("`source` is missing")?;
        let mime = string(block, "mimeType").or_else(|| string(block, "mime_type"));
        let mime = mime.ok_or("`mimeType` is missing")?;
        self.image(&mime, &data);
        Ok(())
    }

    fn call(&mut self, block: Value<'_>) -> Result<(), String> {
        let id = string(block, "id").or_else(|| string(block, "tool_id"));
        let id = self.tool_id(&id.ok_or("`id` is missing")?);
        let name = string(block, "name").or_else(|| string(block, "tool_name"));
        let name = name.ok_or("`name` is missing")?;
        let input = block.get("input").map(|input| {
            if input.is_object() {
                return input.raw().to_vec();
            }
            // The vendor takes objects alone.
            Object::new().raw("input", input.raw()).finish()
        });
        self.calls += 1;
        self.only_text = false;
        let call = Object::new().str("type", "tool_use").str("id", &id);
        self.push(
            call.str("name", &name)
                .raw("input", input.as_deref().unwrap_or(b"{}")),
        );
        Ok(())
    }

    fn result(&mut self, block: Value<'_>) -> Result<(), String> {
        let id = string(block, "tool_use_id").or_else(|| string(block, "tool_id"));
        let id = self.tool_id(&id.ok_or("`tool_use_id` is missing")?);
        let content = block.get("content").or_else(|| block.get("output"));
        let content = match content {
            Some(c) if c.str().is_some() || c.is_array() => c.raw().to_vec(),
            Some(c) => rethread_json::quote(&String::from_utf8_lossy(c.raw())),
            None => b"\"\"".to_vec(),
        };
        self.only_text = false;
        let mut result = Object::new()
            .str("tool_use_id", &id)
            .str("type", "tool_result")
            .raw("content", &content);
        if is_true(block, "is_error") {
            result = result.bool("is_error", true);
        }
        self.push(result);
        Ok(())
    }

    /// An id that the vendor's API takes; the one that was given is kept beside the message. The
    /// same id always becomes the same one, so that results still find their calls.
    fn tool_id(&mut self, given: &str) -> String {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if !given.is_empty() && given.chars().all(fits) {
            return given.to_owned();
        }
        let plain: String = given.chars().filter(|c| fits(*c)).take(40).collect();
        let digest = Sha256::digest(given.as_bytes());
        let id = format!(
            "{plain}_{:02x}{:02x}{:02x}{:02x}",
            digest[0], digest[1], digest[2], digest[3]
        );
        let ids = std::mem::take(&mut self.ids);
        self.ids = ids.str(&id, given);
        id
    }
}

fn mime_of(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => Some("image/webp"),
        _ => None,
    }
}
