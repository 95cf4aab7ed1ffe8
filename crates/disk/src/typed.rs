//! Names that are no UTF-8, carried as text and back.
//!
//! What people type is mostly text: ids, words, `AGENT:latest`. It may also be the path of a file whose
//! name is any bytes. So that one kind of text can be both, bytes that are no UTF-8 become characters
//! of a private range that nobody types, and a path that is made of the text has the bytes again.

use std::ffi::OsStr;
use std::path::PathBuf;

/// The character that stands for the byte zero; that for 255 is the last of them.
const FIRST: u32 = 0x0010_FE00;

/// A name as text, from which [`path_of_text`] makes the same name again.
///
/// ```
/// use std::ffi::OsStr;
/// use rethread_disk::{path_of_text, text_of_name};
///
/// assert_eq!(text_of_name(OsStr::new("café")), "café");
/// assert_eq!(path_of_text("café"), std::path::Path::new("café"));
/// ```
pub fn text_of_name(name: &OsStr) -> String {
    if let Some(text) = name.to_str().filter(|text| !text.chars().any(is_stand_in)) {
        return text.to_owned();
    }
    let mut text = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            if is_stand_in(c) {
                let mut bytes = [0; 4];
                text.extend(c.encode_utf8(&mut bytes).bytes().filter_map(stand_in));
            } else {
                text.push(c);
            }
        }
        text.extend(chunk.invalid().iter().copied().filter_map(stand_in));
    }
    text
}

/// The path that a text of [`text_of_name`] names; any other text names itself.
pub fn path_of_text(text: &str) -> PathBuf {
    if text.chars().any(is_stand_in) {
        path_of_bytes(text)
    } else {
        PathBuf::from(text)
    }
}

/// Text for people: what is no UTF-8 is shown as such.
pub fn shown_text(text: &str) -> String {
    let shown = |c: char| {
        if is_stand_in(c) {
            char::REPLACEMENT_CHARACTER
        } else {
            c
        }
    };
    text.chars().map(shown).collect()
}

fn stand_in(byte: u8) -> Option<char> {
    char::from_u32(FIRST + u32::from(byte))
}

fn byte_of(c: char) -> Option<u8> {
    u8::try_from(u32::from(c).checked_sub(FIRST)?).ok()
}

fn is_stand_in(c: char) -> bool {
    byte_of(c).is_some()
}

#[cfg(unix)]
fn path_of_bytes(text: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt as _;
    let mut bytes = Vec::new();
    for c in text.chars() {
        match byte_of(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

/// Names of Windows are no bytes; what is no text there cannot be typed either.
#[cfg(not(unix))]
fn path_of_bytes(text: &str) -> PathBuf {
    PathBuf::from(text)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    #[test]
    fn every_name_comes_back() {
        for bytes in [
            &b"plain"[..],
            b"caf\xe9/x.jsonl",
            b"\xff\xfe",
            "café \u{10fee9} \u{10ffff}".as_bytes(),
            b"cut \xf0\x9f",
            b"",
        ] {
            let text = text_of_name(OsStr::from_bytes(bytes));
            let back = path_of_text(&text);
            assert_eq!(back.as_os_str().as_bytes(), bytes, "{text:?}");
            assert!(!shown_text(&text).chars().any(is_stand_in));
        }
    }
}
