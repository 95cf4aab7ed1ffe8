//! What a user asks to be written, as messages of the vendor's API.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rethread_disk::read_small;
use rethread_json::{Document, Object, Value};
use rethread_model::{Moment, Role};

use super::content::Content;
use super::scribe::Saying;
use crate::fields::string;
use crate::unified::is_told;
use crate::{MessageInput, NewMessage, TextMessage, Unsaid, WriteError};

/// A message that can be written.
pub(super) struct Prepared {
    /// What is said, record by record.
    pub(super) sayings: Vec<Saying>,
    /// The id and the time that the user chose.
    pub(super) id: Option<String>,
    pub(super) time: Option<Moment>,
    /// The model that answers in it, if it is named.
    pub(super) model: Option<String>,
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
        MessageInput::Message(new) => prepare_new(new, d),
    }
}

/// Brings a message that is as the model has it into the vendor's form.
pub(super) fn prepare_new(new: &NewMessage, d: &Defaults) -> Result<Prepared, WriteError> {
    from_json(&new.to_unified(), &new.defaults(), d).map_err(|why| WriteError::BadMessage {
        line: Some(new.number),
        why,
    })
}

fn from_text(text: &TextMessage, d: &Defaults) -> Result<Prepared, WriteError> {
    let bad = |why: &str| WriteError::BadMessage {
        line: None,
        why: why.to_owned(),
    };
    let mut content = Content::of(text.role);
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
    /// Whether no person typed it.
    is_told: bool,
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
    let mut content = Content::of(role);
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
        is_told: is_told(root),
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
    if content.records.is_empty() {
        return Err("nothing is said in it".to_owned());
    }
    if role == Role::Tool {
        return Err("results of tools are given as `tool_result` blocks".to_owned());
    }
    let is_prompt = role == Role::User && !said.is_told && !content.words.is_empty();
    let prompt = is_prompt.then(|| content.words.clone());
    let mut ids = (!content.ids.is_empty()).then(|| content.ids.finish());
    let is_answer = role == Role::Assistant;
    let stop = if content.calls > 0 {
        "tool_use"
    } else {
        "end_turn"
    };
    let stop = said.stop_reason.as_deref().unwrap_or(stop);
    let only_text = content.only_text && !is_answer;
    let words = rethread_json::quote(&content.words);
    let none = Object::new().u64("input_tokens", 0).u64("output_tokens", 0);
    let usage = said.usage.clone().unwrap_or_else(|| none.finish());
    let message = |blocks: &[u8]| {
        if !is_answer {
            let content = if only_text { &words } else { blocks };
            return Object::new().str("role", "user").raw("content", content);
        }
        Object::new()
            .str("id", &d.response)
            .str("type", "message")
            .str("role", "assistant")
            .str("model", said.model.unwrap_or(&d.model))
            .raw("content", blocks)
            .str("stop_reason", stop)
            .null("stop_sequence")
            .raw("usage", &usage)
    };
    let records = content.records.into_iter();
    let sayings = records.map(|blocks| Saying {
        type_name: if is_answer { "assistant" } else { "user" },
        message: message(&blocks.finish()).finish(),
        meta: !is_answer && (role == Role::System || said.is_told),
        ids: ids.take(),
    });
    Ok(Prepared {
        sayings: sayings.collect(),
        id: said.id.clone(),
        time: said.time,
        model: said.model.filter(|_| is_answer).map(str::to_owned),
        prompt,
    })
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
