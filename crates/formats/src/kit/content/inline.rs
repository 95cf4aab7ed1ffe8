//! Bytes that a message holds itself, as base64.

use std::path::Path;

use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use memchr::memchr;
use rethread_model::{Blob, RawRef};

use crate::few::JsonValue;
use crate::picture;

/// Bytes that a message holds itself.
pub(crate) struct InlineData {
    /// What they are.
    pub(crate) mime: String,
    pub(crate) bytes: Vec<u8>,
}

/// Base64 as programs write it: padded or not.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
const LENIENT_URL: GeneralPurpose = GeneralPurpose::new(
    &alphabet::URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

impl InlineData {
    /// Decodes base64, by itself or in a `data:` URL, which says better what it is.
    pub(crate) fn decode(data: &str, mime: Option<&str>) -> Result<Self, String> {
        let (base64, from_url) = match data.get(5..).filter(|_| is_data_url(data)) {
            None => (data, None),
            Some(rest) => {
                let (head, body) = rest.split_once(',').ok_or("a data URL without a comma")?;
                let mut fields = head.split(';');
                let mime = fields.next().filter(|m| !m.is_empty());
                if !fields.any(|f| f.eq_ignore_ascii_case("base64")) {
                    return Err("a data URL that is not base64".to_owned());
                }
                (body, mime)
            }
        };
        let packed: Vec<u8> = base64
            .bytes()
            .filter(|b| !b.is_ascii_whitespace())
            .collect();
        let bytes = LENIENT
            .decode(&packed)
            .or_else(|_| LENIENT_URL.decode(&packed))
            .map_err(|e| format!("image data that is not base64: {e}"))?;
        let mime = from_url.or(mime).map_or_else(
            || picture::picture_mime(&bytes, Path::new("")).to_owned(),
            str::to_ascii_lowercase,
        );
        Ok(Self { mime, bytes })
    }

    /// A `data:` URL.
    pub(crate) fn to_url(&self) -> String {
        format!("data:{};base64,{}", self.mime, STANDARD.encode(&self.bytes))
    }
}

/// Whether an address holds the bytes itself.
pub(crate) fn is_data_url(text: &str) -> bool {
    text.get(..5)
        .is_some_and(|start| start.eq_ignore_ascii_case("data:"))
}

/// The MIME type and the base64 of an address that holds the bytes itself.
pub(crate) fn data_url(url: &str) -> Option<(&str, &str)> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    Some((head.strip_suffix(";base64")?, data))
}

/// Bytes that a record holds as base64 in a string.
pub(crate) fn inline_blob<'a>(data: impl JsonValue<'a>, record: RawRef) -> Option<Blob> {
    inline_rest(data, 0, record)
}

/// Bytes that a record holds as base64 in a string, from that byte of it.
fn inline_rest<'a>(data: impl JsonValue<'a>, from: usize, record: RawRef) -> Option<Blob> {
    Some(Blob::Inline {
        record,
        // Behind the quote.
        start: (data.start() + 1 + from) as u64,
        len: data.content()?.len().checked_sub(from)? as u64,
    })
}

/// Where the base64 begins in the string of an address that holds the bytes itself, if no escape is in
/// the way: only then are these the bytes that stand there.
pub(crate) fn base64_start(spelled: &[u8]) -> Option<usize> {
    let comma = memchr(b',', spelled)?;
    let is_base64 = spelled.starts_with(b"data:") && spelled.get(..comma)?.ends_with(b";base64");
    (is_base64 && memchr(b'\\', spelled).is_none()).then_some(comma + 1)
}

/// Where the bytes at an address are: in the record, where the address holds them as base64; else there.
pub(crate) fn url_blob<'a>(url: impl JsonValue<'a>, record: RawRef) -> Option<Blob> {
    match base64_start(url.content()?) {
        Some(from) => inline_rest(url, from, record),
        None => Some(Blob::Url(url.str()?.into_owned())),
    }
}
