//! The blocks of a message to be written, in the form that the vendor's API takes.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rethread_json::{Array, Object};
use rethread_model::{Blob, Block, Role, Thinking, ToolCall, ToolResult};
use sha2::{Digest, Sha256};

use crate::kit::{data_url, object_input};

/// The blocks of a message while it is put together, as the records that the client would write:
/// each block of a response and each result is one of its own. Clients of 2025 write anew what
/// stands otherwise.
pub(super) struct RecordContent {
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

impl RecordContent {
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

    /// Adds a block.
    pub(super) fn block(&mut self, block: &Block) -> Result<(), String> {
        match block {
            // A signature holds only where the vendor's model gave it, so none is written: what
            // another model thought is text to this one.
            Block::Text(text)
            | Block::Aside { text, .. }
            | Block::Thinking(Thinking { text, .. }) => self.text(&text.value),
            Block::Image(_) | Block::File(_) => {
                self.only_text = false;
                self.push(media(block)?);
            }
            Block::ToolCall(call) => self.call(call),
            Block::ToolResult(result) => self.result(result)?,
            Block::Unknown { type_name, .. } => {
                return Err(format!("a `{type_name}` block cannot be written here"));
            }
        }
        Ok(())
    }

    fn call(&mut self, call: &ToolCall) {
        let id = self.tool_id(&call.id);
        // The vendor takes objects alone.
        let input = object_input(call.input.as_ref());
        self.calls += 1;
        self.only_text = false;
        let object = Object::new().str("type", "tool_use").str("id", &id);
        self.push(object.str("name", &call.name).raw("input", &input));
    }

    /// Adds what a tool gave.
    pub(super) fn result(&mut self, result: &ToolResult) -> Result<(), String> {
        let id = self.tool_id(&result.call_id);
        let content = match result.blocks.as_slice() {
            [] => b"\"\"".to_vec(),
            [Block::Text(text)] => rethread_json::quote(&text.value),
            several => inside(several)?,
        };
        self.only_text = false;
        let mut object = Object::new()
            .str("tool_use_id", &id)
            .str("type", "tool_result")
            .raw("content", &content);
        if result.is_error {
            object = object.bool("is_error", true);
        }
        self.is_open = false;
        self.push(object);
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
fn media(block: &Block) -> Result<Object, String> {
    let (kind, media) = match block {
        Block::Image(media) => ("image", media),
        Block::File(media) => ("document", media),
        _ => return Err("neither a picture nor a file".to_owned()),
    };
    let Blob::Url(url) = &media.blob else {
        return Err("a picture or a file has no address".to_owned());
    };
    let source = match data_url(url) {
        Some((mime, data)) if kind == "document" && mime.starts_with("text/") => plain_text(data)?,
        Some((mime, data)) => in_base64(mime, data),
        None => Object::new().str("type", "url").str("url", url).finish(),
    };
    let title = media.name.as_deref().filter(|_| kind == "document");
    let object = Object::new().str("type", kind).raw("source", &source);
    Ok(object.opt_str("title", title))
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

/// What a tool gave, block by block.
fn inside(blocks: &[Block]) -> Result<Vec<u8>, String> {
    let mut inside = Array::new();
    for block in blocks {
        inside = match block {
            Block::Text(text) => {
                let text = Object::new().str("type", "text").str("text", &text.value);
                inside.raw(&text.finish())
            }
            Block::Image(_) | Block::File(_) => inside.raw(&media(block)?.finish()),
            _ => inside,
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
