//! Pictures and files as they are written: with their bytes or their address on the web, as far as the
//! target has a place for them.

use base64::Engine as _;
use base64::alphabet::STANDARD as STANDARD_ALPHABET;
use base64::engine::general_purpose::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use rethread_disk::read_small;
use rethread_formats::{Attachments, Files, MessageInput};
use rethread_model::{Blob, Block, Bodies, Media, Role, ToolResult};

use super::messages;

/// Some write base64 without its padding.
const ANY_PADDING: GeneralPurpose = GeneralPurpose::new(
    &STANDARD_ALPHABET,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Who says what a picture or a file is a part of.
#[derive(Clone, Copy)]
pub(super) enum MediaOwner {
    Person,
    Model,
    Tool,
}

impl MediaOwner {
    /// By the role of a message.
    fn of_role(role: Role) -> Self {
        match role {
            Role::Assistant => Self::Model,
            Role::User | Role::Tool | Role::System => Self::Person,
        }
    }
}

/// A picture or a file with its bytes in its address, or where it is on the web. None if its bytes are
/// not here.
pub(super) fn attach_media(bodies: &dyn Bodies, block: &Block) -> Option<Block> {
    let (Block::Image(media) | Block::File(media)) = block else {
        return None;
    };
    let (mime, url) = match to_base64(bodies, media) {
        // What is no base64 would be refused by every client.
        Some((_, data)) if ANY_PADDING.decode(&data).is_err() => return None,
        Some((mime, data)) => {
            let mime = mime.unwrap_or_else(|| default_type(block).to_owned());
            let url = format!("data:{mime};base64,{data}");
            (Some(mime), url)
        }
        None => (media.mime.clone(), web_address(media)?.to_owned()),
    };
    let media = Media {
        mime,
        name: media.name.clone(),
        uri: None,
        blob: Blob::Url(url),
    };
    Some(match block {
        Block::Image(_) => Block::Image(media),
        _ => Block::File(media),
    })
}

/// The type of bytes that have none.
fn default_type(block: &Block) -> &'static str {
    match block {
        Block::Image(_) => "image/png",
        _ => "application/octet-stream",
    }
}

/// The bytes of what is [attached](attach_media), as base64; none of what is on the web.
pub(super) fn base64_data(media: &Media) -> Option<&str> {
    let Blob::Url(url) = &media.blob else {
        return None;
    };
    let rest = url.strip_prefix("data:")?;
    rest.strip_prefix(media.mime.as_deref()?)?
        .strip_prefix(";base64,")
}

/// What a tool gave, as far as there is a place for it: block by block where pictures or files are
/// among it, else as one text.
pub(super) fn output_blocks(
    bodies: &dyn Bodies,
    result: &ToolResult,
    takes: Attachments,
) -> Vec<Block> {
    let blocks = result.blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(Block::text(&text.value)),
        block => {
            attach_media(bodies, block).filter(|block| is_taken(block, MediaOwner::Tool, takes))
        }
    });
    let is_media = |block: &Block| matches!(block, Block::Image(_) | Block::File(_));
    if result.blocks.iter().any(is_media) {
        let blocks: Vec<Block> = blocks.collect();
        if blocks.iter().any(is_media) {
            return blocks;
        }
    }
    vec![Block::text(messages::output_text(result))]
}

/// A message as far as a format has a place for it, and how many blocks of it there is none for. None
/// if nothing is left of it.
pub(super) fn fitting_message(
    message: MessageInput,
    takes: Attachments,
) -> (Option<MessageInput>, usize) {
    let MessageInput::Message(mut new) = message else {
        return (Some(message), 0);
    };
    let by = MediaOwner::of_role(new.message.role);
    let mut left = 0;
    new.message.blocks.retain_mut(|block| {
        let is_whole = match block {
            Block::ToolResult(result) => fit_result(result, takes),
            _ => is_taken(block, by, takes),
        };
        left += usize::from(!is_whole);
        is_whole || matches!(block, Block::ToolResult(_))
    });
    if new.message.blocks.is_empty() {
        return (None, left);
    }
    (Some(MessageInput::Message(new)), left)
}

/// Takes what there is no place for out of what a tool gave; whether there was nothing of that.
fn fit_result(result: &mut ToolResult, takes: Attachments) -> bool {
    let fits = |block: &Block| is_taken(block, MediaOwner::Tool, takes);
    if result.blocks.iter().all(fits) {
        return true;
    }
    result.blocks.retain(fits);
    if result
        .blocks
        .iter()
        .all(|block| matches!(block, Block::Text(_)))
    {
        result.blocks = vec![Block::text(messages::output_text(result))];
    }
    false
}

/// Whether there is a place for a block; what is neither a picture nor a file always has one.
pub(super) fn is_taken(block: &Block, by: MediaOwner, takes: Attachments) -> bool {
    let (media, is_file) = match block {
        Block::Image(media) => (media, false),
        Block::File(media) => (media, true),
        _ => return true,
    };
    if base64_data(media).is_none() && !takes.addresses {
        return false;
    }
    let files = match by {
        MediaOwner::Person => takes.in_prompts,
        MediaOwner::Model => takes.in_answers,
        MediaOwner::Tool => takes.in_results,
    };
    match files {
        Files::Nothing => false,
        Files::Pictures => !is_file,
        Files::Documents => !is_file || is_document(media),
        Files::All => true,
    }
}

/// Whether a file is PDF, or text.
fn is_document(file: &Media) -> bool {
    let mime = file.mime.as_deref().unwrap_or_default();
    if !mime.starts_with("text/") {
        return mime == "application/pdf";
    }
    let bytes = base64_data(file).and_then(|data| ANY_PADDING.decode(data.as_bytes()).ok());
    bytes.is_some_and(|bytes| std::str::from_utf8(&bytes).is_ok())
}

/// An address on the web. Other addresses mean something on one machine alone.
fn web_address(media: &Media) -> Option<&str> {
    let Blob::Url(url) = &media.blob else {
        return None;
    };
    let is_web = url.starts_with("https://") || url.starts_with("http://");
    is_web.then_some(url.as_str())
}

/// The bytes of a picture or a file as base64, with their type if it is known. What lies outside of
/// the session's own files is not looked at.
pub(super) fn to_base64(bodies: &dyn Bodies, media: &Media) -> Option<(Option<String>, String)> {
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
