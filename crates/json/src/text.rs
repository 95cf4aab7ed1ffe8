//! Decoding strings.

use std::borrow::Cow;

use memchr::memchr;

use crate::block::{BLOCK, Block, bits_from};
use crate::scan;

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
pub(crate) fn decode_string(content: &[u8], escaped: bool) -> Text<'_> {
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
    let mut lone = LoneSurrogates::new();
    unescape_into(content, 0, &mut out, &mut lone);
    checked_text(out, lone, content)
}

/// Lone surrogates: at which byte of a text each stood, and what it was.
type LoneSurrogates = Vec<(usize, u16)>;

/// Decodes the string whose opening quote is at `at`, and gives the place
/// behind its closing quote; none if no whole string is there.
///
/// In one pass: where a text is known to be JSON and one long string in it is
/// wanted, this takes half the time of a [`Tree`](crate::Tree).
///
/// ```
/// let (text, end) = rethread_json::string_at(br#"["a\n",1]"#, 1).unwrap();
/// assert_eq!((text.text.as_ref(), end), ("a\n", 6));
/// ```
pub fn string_at(src: &[u8], at: usize) -> Option<(Text<'_>, usize)> {
    if src.get(at) != Some(&b'"') {
        return None;
    }
    let start = at + 1;
    let mut out = Vec::with_capacity((src.len() - start).min(FIRST_BYTES));
    let mut lone = LoneSurrogates::new();
    let end = unescape_into(src, start, &mut out, &mut lone);
    let is_whole = src.get(end) == Some(&b'"');
    is_whole.then(|| (checked_text(out, lone, &src[start..end]), end + 1))
}

/// Room for so many bytes is made at once for a string of unknown length.
const FIRST_BYTES: usize = 256 * 1024;

/// The bytes that were decoded from this, as text.
fn checked_text(bytes: Vec<u8>, lone: LoneSurrogates, content: &[u8]) -> Text<'_> {
    match String::from_utf8(bytes) {
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

/// Decodes what precedes the next quote or control character, and gives the
/// place of that; it stops as well at what is no escape.
fn unescape_into(src: &[u8], mut at: usize, out: &mut Vec<u8>, lone: &mut LoneSurrogates) -> usize {
    while let Some(block) = Block::load_at(src, at) {
        let start = at;
        let mut ends = block.string_end_mask();
        while ends != 0 {
            let before = ends.trailing_zeros() as usize;
            let end = start + before;
            copy_block(src, at, end - at, out);
            let Some(len) = push_escape(&src[end..], out, lone) else {
                return end;
            };
            at = end + len;
            ends &= bits_from(before + len);
        }
        let rest = (start + BLOCK).saturating_sub(at);
        copy_block(src, at, rest, out);
        at += rest;
    }
    loop {
        let end = scan::plain_end(src, at);
        out.extend_from_slice(&src[at..end]);
        match push_escape(&src[end..], out, lone) {
            Some(len) => at = end + len,
            None => return end,
        }
    }
}

/// Copies so many bytes, at most a block.
#[inline]
fn copy_block(src: &[u8], at: usize, len: usize, out: &mut Vec<u8>) {
    const HALF: usize = BLOCK / 2;
    let block: Option<&[u8; BLOCK]> = src.get(at..).and_then(<[u8]>::first_chunk);
    let Some(block) = block else {
        out.extend_from_slice(&src[at..at + len]);
        return;
    };
    // Copying more than that, but always as much, and taking it back is faster
    // than copying some: in what tools print, the next line break is never far.
    let end = out.len() + len;
    out.extend_from_slice(&block[..HALF]);
    if len > HALF {
        out.extend_from_slice(&block[HALF..]);
    }
    out.truncate(end);
}

/// Appends what the escape at the beginning of `src` stands for, and gives its
/// length; none if there is none.
#[inline]
fn push_escape(src: &[u8], out: &mut Vec<u8>, lone: &mut LoneSurrogates) -> Option<usize> {
    let [b'\\', letter, ..] = src else {
        return None;
    };
    match scan::ESCAPED[usize::from(*letter)] {
        0 => push_unicode(src, out, lone),
        byte => {
            out.push(byte);
            Some(2)
        }
    }
}

fn push_unicode(src: &[u8], out: &mut Vec<u8>, lone: &mut LoneSurrogates) -> Option<usize> {
    scan::escape_len(src, 0).ok()?;
    let escape = decode_escape(src);
    lone.extend(escape.lone.map(|unit| (out.len(), unit)));
    push_char(out, escape.char);
    Some(escape.len)
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
    let first = unicode_escape_value(src).unwrap_or(0xFFFD);
    if let Some(char) = char::from_u32(first) {
        return Escape {
            char,
            len: src.len().min(6),
            lone: None,
        };
    }
    let second = src.get(6..).and_then(unicode_escape_value);
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
fn unicode_escape_value(src: &[u8]) -> Option<u32> {
    let digits = src.strip_prefix(b"\\u")?.first_chunk::<4>()?;
    digits.iter().try_fold(0, |sum, &digit| {
        Some(sum * 16 + char::from(digit).to_digit(16)?)
    })
}
