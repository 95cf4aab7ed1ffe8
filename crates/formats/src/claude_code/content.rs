//! The blocks of a message to be written, in the form that the vendor's API takes.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rethread_json::{Array, Object, Value};
use rethread_model::Role;
use sha2::{Digest, Sha256};

use crate::fields::{is_true, string};

/// The blocks of a message while it is put together, as the records that the client would write:
/// each block of a response and each result is one of its own. Clients of 2025 write anew what
/// stands otherwise.
pub(super) struct Content {
    pub(super) records: Vec<Array>,
    /// Whether each block is a record of its own.
    apart: bool,
    /// Whether the next block may join the last record.
    is_open: bool,
    /// Ids of calls that had to be changed.
    pub(super) ids: Object,
    pub(super) words: String,
    pub(super) calls: usize,
    pub(super) only_text: bool,
}

impl Content {
    /// Nothing yet, of what somebody says.
    pub(super) fn of(role: Role) -> Self {
        Self {
            records: Vec::new(),
            apart: role == Role::Assistant,
            is_open: false,
            ids: Object::new(),
            words: String::new(),
            calls: 0,
            only_text: true,
        }
    }

    fn push(&mut self, block: Object) {
        let block = block.finish();
        match self.records.last_mut() {
            Some(last) if self.is_open => *last = std::mem::take(last).raw(&block),
            _ => self.records.push(Array::new().raw(&block)),
        }
        self.is_open = !self.apart;
    }

    /// Adds text.
    pub(super) fn text(&mut self, text: &str) {
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

    /// Adds a picture, as base64.
    pub(super) fn image(&mut self, mime: &str, data: &str) {
        self.only_text = false;
        let image = Object::new().str("type", "image");
        self.push(image.raw("source", &in_base64(mime, data)));
    }

    /// Adds a block as the user gave it.
    pub(super) fn block(&mut self, block: Value<'_>, role: Role) -> Result<(), String> {
        let type_name = string(block, "type").ok_or("`type` is missing")?;
        match type_name.as_str() {
            "text" => self.text(&string(block, "text").ok_or("`text` is missing")?),
            // A signature holds only where the vendor's model gave it, so none is written: what
            // another model thought is text to this one.
            "thinking" => {
                let thought = string(block, "thinking").or_else(|| string(block, "text"));
                self.text(&thought.ok_or("`thinking` is missing")?);
            }
            "image" | "document" | "file" => {
                self.only_text = false;
                self.push(media(block)?);
            }
            "tool_use" if role == Role::Assistant => self.call(block)?,
            "tool_result" if role == Role::User => self.result(block)?,
            other => return Err(format!("a `{other}` block cannot be written here")),
        }
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
            Some(c) if c.is_array() => inside(c)?,
            Some(c) if c.str().is_some() => c.raw().to_vec(),
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
        self.is_open = false;
        self.push(result);
        self.is_open = false;
        Ok(())
    }

    /// An id that the vendor's API takes; the one that was given is kept beside the message. The
    /// same id always becomes the same one, so that results still find their calls.
    fn tool_id(&mut self, given: &str) -> String {
        let id = tool_id(given);
        if let Cow::Owned(id) = &id {
            let ids = std::mem::take(&mut self.ids);
            self.ids = ids.str(id, given);
        }
        id.into_owned()
    }
}

/// A picture or a document, in the vendor's words.
fn media(block: Value<'_>) -> Result<Object, String> {
    let kind = if block.get("type").is_some_and(|t| t.is_str("image")) {
        "image"
    } else {
        "document"
    };
    let object = Object::new().str("type", kind);
    if let Some(source) = block.get("source").filter(|s| s.is_object()) {
        let object = object.raw("source", source.raw());
        return Ok(object.opt_raw("title", block.get("title").map(Value::raw)));
    }
    let title = string(block, "name").filter(|_| kind == "document");
    let mime = string(block, "mimeType").or_else(|| string(block, "mime_type"));
    let source = match (string(block, "data"), string(block, "url")) {
        (Some(data), _) => {
            let mime = mime.ok_or("`mimeType` is missing")?;
            if kind == "document" && mime.starts_with("text/") {
                plain_text(&data)?
            } else {
                in_base64(&mime, &data)
            }
        }
        (None, Some(url)) => Object::new().str("type", "url").str("url", &url).finish(),
        (None, None) => return Err("`source` is missing".to_owned()),
    };
    let object = object.raw("source", &source);
    Ok(object.opt_str("title", title.as_deref()))
}

fn in_base64(mime: &str, data: &str) -> Vec<u8> {
    Object::new()
        .str("type", "base64")
        .str("media_type", mime)
        .str("data", data)
        .finish()
}

/// The vendor's API takes text as such, and as nothing but plain text.
fn plain_text(data: &str) -> Result<Vec<u8>, String> {
    let bytes = STANDARD.decode(data).map_err(|e| format!("`data`: {e}"))?;
    let text = String::from_utf8(bytes).map_err(|e| format!("`data` is no text: {e}"))?;
    Ok(Object::new()
        .str("type", "text")
        .str("media_type", "text/plain")
        .str("data", &text)
        .finish())
}

/// What a tool gave, block by block. What is neither a picture nor a file stays as it was given.
fn inside(content: Value<'_>) -> Result<Vec<u8>, String> {
    let is_media = |block: Value<'_>| {
        let kind = block.get("type").and_then(Value::str).unwrap_or_default();
        ["image", "document", "file"].contains(&kind.as_ref())
    };
    let mut inside = Array::new();
    for block in content.items() {
        inside = if is_media(block) {
            inside.raw(&media(block)?.finish())
        } else {
            inside.raw(block.raw())
        };
    }
    Ok(inside.finish())
}

/// An id of a call as the vendor's API takes it.
pub(super) fn tool_id(given: &str) -> Cow<'_, str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !given.is_empty() && given.chars().all(fits) {
        return Cow::Borrowed(given);
    }
    let plain: String = given.chars().filter(|c| fits(*c)).take(40).collect();
    let digest = Sha256::digest(given.as_bytes());
    let end = format!(
        "{:02x}{:02x}{:02x}{:02x}",
        digest[0], digest[1], digest[2], digest[3]
    );
    // The client takes an id for another one that lacks such a number.
    let mark = if end.chars().all(|c| c.is_ascii_digit()) {
        "x"
    } else {
        ""
    };
    Cow::Owned(format!("{plain}_{mark}{end}"))
}
