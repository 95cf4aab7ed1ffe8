//! Where the tokens of JSON end: white space, strings, numbers and words.

use crate::error::{Fault, SyntaxErrorKind};

/// The mark that some editors put before UTF-8 text.
pub(crate) const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Length of the byte order mark at the beginning, if there is one.
pub(crate) fn bom(src: &[u8]) -> usize {
    if src.starts_with(BOM) { BOM.len() } else { 0 }
}

pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}

/// The first byte at or after `pos` that is not white space.
#[inline]
pub(crate) fn space(src: &[u8], pos: usize) -> usize {
    match src.get(pos) {
        Some(byte) if is_space(*byte) => spaces(src, pos + 1),
        _ => pos,
    }
}

/// The same where white space was met: in texts that are laid out, many blanks follow a line break.
fn spaces(src: &[u8], mut pos: usize) -> usize {
    while let Some(chunk) = src.get(pos..).and_then(<[u8]>::first_chunk) {
        let differs = u64::from_le_bytes(*chunk) ^ (LOW * 0x20);
        if differs == 0 {
            pos += chunk.len();
            continue;
        }
        pos += differs.trailing_zeros() as usize / 8;
        if !is_space(src[pos]) {
            return pos;
        }
        pos += 1;
    }
    while pos < src.len() && is_space(src[pos]) {
        pos += 1;
    }
    pos
}

/// The end of a string, and whether a backslash was met on the way.
pub(crate) struct StringEnd {
    pub(crate) end: usize,
    pub(crate) escaped: bool,
}

/// The end (after the closing quote) of the string whose opening quote is at `pos`.
#[inline]
pub(crate) fn string(src: &[u8], pos: usize) -> Result<StringEnd, Fault> {
    let at = plain(src, pos + 1);
    if src.get(at) == Some(&b'"') {
        return Ok(StringEnd {
            end: at + 1,
            escaped: false,
        });
    }
    string_with_escapes(src, at)
}

fn string_with_escapes(src: &[u8], mut at: usize) -> Result<StringEnd, Fault> {
    let mut escaped = false;
    loop {
        match src.get(at) {
            Some(b'"') => {
                return Ok(StringEnd {
                    end: at + 1,
                    escaped,
                });
            }
            Some(b'\\') => {
                escaped = true;
                at = plain(src, at + escape(src, at)?);
            }
            _ => {
                return Err(Fault::unexpected(
                    src,
                    at,
                    SyntaxErrorKind::ControlCharacter,
                ));
            }
        }
    }
}

/// Length of the escape whose backslash is at `pos`.
#[inline]
pub(crate) fn escape(src: &[u8], pos: usize) -> Result<usize, Fault> {
    let wrong = |at| Fault::unexpected(src, at, SyntaxErrorKind::InvalidEscape);
    match src.get(pos + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(2),
        Some(b'u') => {
            for at in pos + 2..pos + 6 {
                if !src.get(at).is_some_and(u8::is_ascii_hexdigit) {
                    return Err(wrong(at));
                }
            }
            Ok(6)
        }
        _ => Err(wrong(pos + 1)),
    }
}

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// The high bit of each of eight bytes that ends a plain stretch. The lowest
/// bit set is exact; those above it need not be.
#[inline]
fn ends(word: u64) -> u64 {
    let quote = (word ^ (LOW * 0x22)).wrapping_sub(LOW);
    let slash = (word ^ (LOW * 0x5C)).wrapping_sub(LOW);
    let control = word.wrapping_sub(LOW * 0x20);
    // A difference below zero sets the high bit; bytes that had it end nothing.
    (quote | slash | control) & !word & HIGH
}

/// So many bytes are looked at together.
pub(crate) const CHUNK: usize = 16;

/// How many bytes of a chunk precede the first one that ends a plain stretch of
/// a string; none if none of them does.
#[inline]
pub(crate) fn before_end(chunk: [u8; CHUNK]) -> Option<usize> {
    let both = u128::from_le_bytes(chunk);
    #[allow(clippy::cast_possible_truncation, reason = "one half each")]
    let (low, high) = (both as u64, (both >> 64) as u64);
    let found = u128::from(ends(low)) | (u128::from(ends(high)) << 64);
    (found != 0).then(|| found.trailing_zeros() as usize / 8)
}

/// The first byte at or after `pos` that ends a plain stretch of a string:
/// a quote, a backslash or a control character; else the end of the text.
#[inline]
pub(crate) fn plain(src: &[u8], mut pos: usize) -> usize {
    while let Some(chunk) = src.get(pos..).and_then(<[u8]>::first_chunk) {
        if let Some(before) = before_end(*chunk) {
            return pos + before;
        }
        pos += CHUNK;
    }
    while pos < src.len() && src[pos] >= 0x20 && src[pos] != b'"' && src[pos] != b'\\' {
        pos += 1;
    }
    pos
}

/// The end of the number that begins at `pos` with a minus or a digit.
pub(crate) fn number(src: &[u8], pos: usize) -> Result<usize, Fault> {
    let digits = |mut at: usize| {
        while src.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let some_digits = |at: usize| match digits(at) {
        end if end > at => Ok(end),
        _ => Err(Fault::unexpected(src, at, SyntaxErrorKind::InvalidNumber)),
    };
    let whole = pos + usize::from(src.get(pos) == Some(&b'-'));
    let mut at = some_digits(whole)?;
    if src[whole] == b'0' && at > whole + 1 {
        return Err(Fault::new(whole + 1, SyntaxErrorKind::InvalidNumber));
    }
    if src.get(at) == Some(&b'.') {
        at = some_digits(at + 1)?;
    }
    if let Some(b'e' | b'E') = src.get(at) {
        let sign = usize::from(matches!(src.get(at + 1), Some(b'+' | b'-')));
        at = some_digits(at + 1 + sign)?;
    }
    Ok(at)
}

/// The end of `word`, which must stand at `pos`.
pub(crate) fn word(src: &[u8], pos: usize, word: &[u8]) -> Result<usize, Fault> {
    let there = &src[pos..src.len().min(pos + word.len())];
    let same = there.iter().zip(word).take_while(|(a, b)| a == b).count();
    if same == word.len() {
        Ok(pos + same)
    } else {
        Err(Fault::unexpected(
            src,
            pos + same,
            SyntaxErrorKind::InvalidWord,
        ))
    }
}
