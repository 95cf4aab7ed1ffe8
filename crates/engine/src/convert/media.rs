//! Pictures and files, in the words that every format takes, as far as the target has a place for
//! them.

use base64::Engine as _;
use base64::alphabet::STANDARD as STANDARD_ALPHABET;
use base64::engine::general_purpose::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use rethread_disk::read_small;
use rethread_formats::{Attachments, Files, MessageInput};
use rethread_json::{Array, Object, Patch, Tree, Value};
use rethread_model::{Blob, Block, Bodies, Media, ToolResult};

/// Some write base64 without its padding.
const ANY_PADDING: GeneralPurpose = GeneralPurpose::new(
    &STANDARD_ALPHABET,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Who says what a picture or a file is a part of.
#[derive(Clone, Copy)]
pub(super) enum By {
    Person,
    Model,
    Tool,
}

impl By {
    /// By the word for the role of a message.
    pub(super) fn role(word: &str) -> Self {
        if word == "assistant" {
            Self::Model
        } else {
            Self::Person
        }
    }
}

/// A picture or a file, if its bytes are here or its address is one of the web.
pub(super) fn attached(bodies: &dyn Bodies, block: &Block) -> Option<Vec<u8>> {
    let (kind, media) = match block {
        Block::Image(media) => ("image", media),
        Block::File(media) => ("file", media),
        _ => return None,
    };
    let object = Object::new().str("type", kind);
    let object = match base64(bodies, media) {
        // What is no base64 would be refused by every client.
        Some((_, data)) if ANY_PADDING.decode(&data).is_err() => return None,
        Some((mime, data)) => object
            .str("mimeType", &mime.unwrap_or_else(|| unnamed(kind)))
            .str("data", &data),
        None => object
            .opt_str("mimeType", media.mime.as_deref())
            .str("url", address(media)?),
    };
    Some(object.opt_str("name", media.name.as_deref()).finish())
}

/// The type of bytes that have none.
fn unnamed(kind: &str) -> String {
    let mime = match kind {
        "image" => "image/png",
        _ => "application/octet-stream",
    };
    mime.to_owned()
}

/// What a tool gave, block by block; none if all of it is text.
pub(super) fn content(bodies: &dyn Bodies, result: &ToolResult) -> Option<Vec<u8>> {
    let mut has_media = false;
    let mut content = Array::new();
    for block in &result.blocks {
        if let Block::Text(text) = block {
            let text = Object::new().str("type", "text").str("text", &text.value);
            content = content.raw(&text.finish());
        } else if let Some(attached) = attached(bodies, block) {
            has_media = true;
            content = content.raw(&attached);
        }
    }
    has_media.then(|| content.finish())
}

/// A block as far as a format has a place for it; none if it has none.
pub(super) fn fitting(block: Vec<u8>, by: By, takes: Attachments) -> Option<Vec<u8>> {
    let Ok(tree) = Tree::parse(&block) else {
        return Some(block);
    };
    let root = tree.root(&block);
    if is(root, "tool_result") {
        let Some(content) = root.get("content") else {
            return Some(block);
        };
        let fits = |item: &Value<'_>| is(*item, "text") || is_taken(*item, By::Tool, takes);
        let kept: Vec<Value<'_>> = content.items().filter(fits).collect();
        let mut patch = Patch::new(root);
        if kept.iter().all(|item| is(*item, "text")) {
            patch.remove(root, "content");
        } else {
            let kept = kept.iter().fold(Array::new(), |all, v| all.raw(v.raw()));
            patch.replace(content, &kept.finish());
        }
        return Some(patch.finish());
    }
    let fits = is_taken(root, by, takes);
    fits.then_some(block)
}

/// A message as far as a format has a place for it, and how many blocks of it there is none for. None
/// if nothing is left of it.
pub(super) fn fitting_message(
    message: MessageInput,
    takes: Attachments,
) -> (Option<MessageInput>, usize) {
    let MessageInput::Json {
        bytes,
        line,
        unsaid,
    } = message
    else {
        return (Some(message), 0);
    };
    let Ok(tree) = Tree::parse(&bytes) else {
        return (None, 0);
    };
    let root = tree.root(&bytes);
    let role = root.get("role").and_then(Value::str).unwrap_or_default();
    let Some(content) = root.get("content") else {
        return (None, 0);
    };
    let (mut kept, mut left) = (Array::new(), 0);
    for block in content.items() {
        let was = block.raw();
        let now = fitting(was.to_vec(), By::role(&role), takes);
        left += usize::from(now.as_deref() != Some(was));
        if let Some(now) = now {
            kept = kept.raw(&now);
        }
    }
    if kept.is_empty() {
        return (None, left);
    }
    let mut patch = Patch::new(root);
    patch.replace(content, &kept.finish());
    let message = MessageInput::Json {
        bytes: patch.finish(),
        line,
        unsaid,
    };
    (Some(message), left)
}

fn is(block: Value<'_>, kind: &str) -> bool {
    block.get("type").is_some_and(|t| t.is_str(kind))
}

/// Whether there is a place for a block; what is neither a picture nor a file always has one.
fn is_taken(block: Value<'_>, by: By, takes: Attachments) -> bool {
    let is_file = is(block, "file");
    if !is_file && !is(block, "image") {
        return true;
    }
    if block.get("data").is_none() && !takes.addresses {
        return false;
    }
    let files = match by {
        By::Person => takes.in_prompts,
        By::Model => takes.in_answers,
        By::Tool => takes.in_results,
    };
    match files {
        Files::Nothing => false,
        Files::Pictures => !is_file,
        Files::Documents => !is_file || is_document(block),
        Files::All => true,
    }
}

/// Whether a file is PDF, or text.
fn is_document(file: Value<'_>) -> bool {
    let mime = file.get("mimeType").and_then(Value::str);
    let mime = mime.unwrap_or_default();
    if !mime.starts_with("text/") {
        return mime == "application/pdf";
    }
    let data = file.get("data").and_then(Value::str);
    let bytes = data.and_then(|data| ANY_PADDING.decode(data.as_bytes()).ok());
    bytes.is_some_and(|bytes| std::str::from_utf8(&bytes).is_ok())
}

/// An address on the web. Other addresses mean something on one machine alone.
fn address(media: &Media) -> Option<&str> {
    let Blob::Url(url) = &media.blob else {
        return None;
    };
    let is_web = url.starts_with("https://") || url.starts_with("http://");
    is_web.then_some(url.as_str())
}

/// The bytes of a picture or a file as base64, with their type if it is known. What lies outside of
/// the session's own files is not looked at.
pub(super) fn base64(bodies: &dyn Bodies, media: &Media) -> Option<(Option<String>, String)> {
    let mime = || media.mime.clone();
    match &media.blob {
        Blob::Url(url) => {
            let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
            let named = head.strip_suffix(";base64")?;
            let named = (!named.is_empty()).then(|| named.to_owned());
            Some((named.or_else(mime), data.to_owned()))
        }
        Blob::Inline { .. } => {
            let data = String::from_utf8(bodies.inline(&media.blob)?).ok()?;
            Some((mime(), data))
        }
        Blob::File(path) => Some((mime(), STANDARD.encode(read_small(path).ok()?))),
        Blob::Text(text) if !text.lossy => {
            let mime = mime().or_else(|| Some("text/plain".to_owned()));
            Some((mime, STANDARD.encode(&text.value)))
        }
        Blob::Text(_) | Blob::Outside(_) | Blob::Missing(_) => None,
    }
}
