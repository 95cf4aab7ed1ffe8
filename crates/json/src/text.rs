//! Decoding strings.

use std::borrow::Cow;

use memchr::memchr;

/// A decoded string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text<'a> {
    /// The text, borrowed where nothing had to be decoded.
    pub text: Cow<'a, str>,
    /// Whether lone surrogates or invalid UTF-8 became U+FFFD.
    pub lossy: bool,
    /// The lone surrogates among them: at which byte of the text each stood, and what it was.
    pub lone: Vec<(usize, u16)>,
}

/// Decodes what stands between the quotes of a string.
pub(crate) fn decode(content: &[u8], escaped: bool) -> Text<'_> {
    if !escaped {
        return match std::str::from_utf8(content) {
            Ok(text) => Text {
                text: Cow::Borrowed(text),
                lossy: false,
                lone: Vec::new(),
            },
            Err(_) => Text {
                text: String::from_utf8_lossy(content),
                lossy: true,
                lone: Vec::new(),
            },
        };
    }
    let mut out = Vec::with_capacity(content.len());
    let mut lone = Vec::new();
    let mut rest = content;
    while let Some(slash) = memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..slash]);
        rest = &rest[slash..];
        let escape = decode_escape(rest);
        lone.extend(escape.lone.map(|unit| (out.len(), unit)));
        push_char(&mut out, escape.char);
        rest = &rest[escape.len..];
    }
    out.extend_from_slice(rest);
    match String::from_utf8(out) {
        Ok(text) => Text {
            text: Cow::Owned(text),
            lossy: !lone.is_empty(),
            lone,
        },
        Err(_) => decode_invalid(content),
    }
}

/// Decodes what is not all UTF-8. No character reaches over an escape, so each piece between two of
/// them can be decoded by itself.
fn decode_invalid(content: &[u8]) -> Text<'_> {
    let mut text = String::with_capacity(content.len());
    let mut lone = Vec::new();
    let mut rest = content;
    while let Some(slash) = memchr(b'\\', rest) {
        text.push_str(&String::from_utf8_lossy(&rest[..slash]));
        rest = &rest[slash..];
        let escape = decode_escape(rest);
        lone.extend(escape.lone.map(|unit| (text.len(), unit)));
        text.push(escape.char);
        rest = &rest[escape.len..];
    }
    text.push_str(&String::from_utf8_lossy(rest));
    Text {
        text: Cow::Owned(text),
        lossy: true,
        lone,
    }
}

pub(crate) fn push_char(out: &mut Vec<u8>, char: char) {
    out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
}

/// What one escape, or a pair that is one character, stands for.
pub(crate) struct Escape {
    pub(crate) char: char,
    /// How many bytes it takes.
    pub(crate) len: usize,
    /// The lone surrogate that it was.
    pub(crate) lone: Option<u16>,
}

/// Decodes the valid escape at the beginning of `src`.
pub(crate) fn decode_escape(src: &[u8]) -> Escape {
    let simple = |char| Escape {
        char,
        len: src.len().min(2),
        lone: None,
    };
    match src.get(1) {
        Some(b'u') => decode_unicode(src),
        Some(b'b') => simple('\u{8}'),
        Some(b'f') => simple('\u{C}'),
        Some(b'n') => simple('\n'),
        Some(b'r') => simple('\r'),
        Some(b't') => simple('\t'),
        Some(&same) => simple(char::from(same)),
        None => simple(char::REPLACEMENT_CHARACTER),
    }
}

fn decode_unicode(src: &[u8]) -> Escape {
    let first = hex(src).unwrap_or(0xFFFD);
    if let Some(char) = char::from_u32(first) {
        return Escape {
            char,
            len: src.len().min(6),
            lone: None,
        };
    }
    let second = src.get(6..).and_then(hex);
    let pair = second.and_then(|second| {
        let is_pair = first < 0xDC00 && (0xDC00..0xE000).contains(&second);
        let code = 0x1_0000 + ((first & 0x3FF) << 10) + (second & 0x3FF);
        is_pair.then(|| char::from_u32(code)).flatten()
    });
    Escape {
        char: pair.unwrap_or(char::REPLACEMENT_CHARACTER),
        len: if pair.is_some() { 12 } else { 6 },
        lone: u16::try_from(first).ok().filter(|_| pair.is_none()),
    }
}

/// The number in `\uXXXX` at the beginning of `src`.
fn hex(src: &[u8]) -> Option<u32> {
    let digits = src.strip_prefix(b"\\u")?.first_chunk::<4>()?;
    digits.iter().try_fold(0, |sum, &digit| {
        Some(sum * 16 + char::from(digit).to_digit(16)?)
    })
}
