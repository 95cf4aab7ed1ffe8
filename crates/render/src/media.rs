//! What stands for a picture or a file where it cannot be shown.

use std::borrow::Cow;

use rethread_model::{Blob, Media};

/// `[image sha256-….png image/png]`, or what is missing. Untrusted text, not yet neutral.
pub(crate) fn media_placeholder(kind: &str, media: &Media) -> String {
    let mime = media.mime.as_deref();
    let name = media.name.as_deref();
    let named = name.or(media.uri.as_deref());
    let place = blob_name(&media.blob).unwrap_or_default();
    let words: Vec<&str> = match &media.blob {
        Blob::Missing(what) => return format!("[missing {kind}: {}]", name.unwrap_or(what)),
        Blob::File(_) => vec![kind, &place, mime.unwrap_or("")],
        Blob::Url(url) => vec![kind, name.unwrap_or(""), url, mime.unwrap_or("")],
        Blob::Outside(_) => vec![kind, named.unwrap_or(&place), mime.unwrap_or("")],
        Blob::Text(_) => vec![kind, named.unwrap_or(""), mime.unwrap_or("text")],
        Blob::Inline { .. } => vec![kind, named.unwrap_or(""), mime.unwrap_or("inline")],
    };
    let words: Vec<&str> = words.into_iter().filter(|w| !w.is_empty()).collect();
    format!("[{}]", words.join(" "))
}

/// The text of a picture or a file that the source holds as text.
pub(crate) fn held_text(blob: &Blob) -> Option<&str> {
    match blob {
        Blob::Text(text) => Some(&text.value),
        _ => None,
    }
}

/// The name of a blob's file, its path outside the session, its address, or what it was called.
pub(crate) fn blob_name(blob: &Blob) -> Option<Cow<'_, str>> {
    match blob {
        Blob::File(path) => path.file_name().map(std::ffi::OsStr::to_string_lossy),
        Blob::Outside(path) => Some(path.to_string_lossy()),
        Blob::Url(url) => Some(url.into()),
        Blob::Missing(name) => Some(name.into()),
        Blob::Text(_) | Blob::Inline { .. } => None,
    }
}

/// The name of a file as a part of an address.
pub(crate) fn percent_encoded(name: &str) -> String {
    let mut encoded = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            _ => {
                encoded.push('%');
                for digit in [byte >> 4, byte & 15] {
                    let digit = char::from_digit(digit.into(), 16).unwrap_or('0');
                    encoded.push(digit.to_ascii_uppercase());
                }
            }
        }
    }
    encoded
}
