//! Where a value ends, over windows: what [`Tree`](crate::Tree) says of a text that is held.

use super::windows::ByteWindows;
use crate::error::{Fault, SyntaxErrorKind};
use crate::pull::Nesting;
use crate::scan;

/// A key that is longer is not compared with others.
pub(super) const KEY_CAP: u64 = 1024;

/// Where a document stops being JSON, and why.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValueFault {
    pub(super) offset: u64,
    pub(super) kind: SyntaxErrorKind,
}

/// The next byte; none at the end.
pub(super) fn byte_at(src: &mut impl ByteWindows, at: u64) -> Option<u8> {
    src.bytes_from(at).first().copied()
}

/// The first byte at or after a place that is not white space.
pub(super) fn skip_space(src: &mut impl ByteWindows, mut at: u64) -> u64 {
    loop {
        let window = src.bytes_from(at);
        let count = scan::skip_space(window, 0);
        at += count as u64;
        if count == 0 || count < window.len() {
            return at;
        }
    }
}

/// Some bytes; fewer at the end.
pub(super) fn copy_bytes(src: &mut impl ByteWindows, mut at: u64, out: &mut [u8]) -> usize {
    let mut filled = 0;
    while let Some(rest) = out.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        let window = src.bytes_from(at);
        let count = window.len().min(rest.len());
        if count == 0 {
            break;
        }
        for (to, from) in rest.iter_mut().zip(window) {
            *to = *from;
        }
        filled += count;
        at += count as u64;
    }
    filled
}

/// Goes through values of a document.
#[derive(Debug, Default)]
pub(super) struct ValueScan {
    /// The first two keys of the object that was gone through, as they are spelled.
    pub(super) first_keys: Vec<u8>,
    /// How many of its keys were met, as far as that matters.
    keys: usize,
}

impl ValueScan {
    /// Where the value ends that begins here, behind white space.
    pub(super) fn value_end(
        &mut self,
        src: &mut impl ByteWindows,
        from: u64,
    ) -> Result<u64, ValueFault> {
        self.first_keys.clear();
        self.keys = 0;
        let mut nesting = Nesting::default();
        let mut at = from;
        loop {
            at = skip_space(src, at);
            match byte_at(src, at) {
                Some(b'"') => at = string_end(src, at)?,
                Some(bracket @ (b'{' | b'[')) => {
                    let inner = skip_space(src, at + 1);
                    // `]` and `}` are two after `[` and `{`.
                    if byte_at(src, inner) == Some(bracket + 2) {
                        at = inner + 1;
                    } else {
                        let is_object = bracket == b'{';
                        nesting.open(is_object);
                        at = if is_object {
                            self.key_end(src, inner, nesting.depth())?
                        } else {
                            inner
                        };
                        continue;
                    }
                }
                Some(b'-' | b'0'..=b'9') => at = number_end(src, at)?,
                Some(b't') => at = word_end(src, at, b"true")?,
                Some(b'f') => at = word_end(src, at, b"false")?,
                Some(b'n') => at = word_end(src, at, b"null")?,
                _ => return Err(unexpected_byte(src, at, SyntaxErrorKind::ExpectedValue)),
            }
            loop {
                if nesting.depth() == 0 {
                    return Ok(at);
                }
                at = skip_space(src, at);
                match (byte_at(src, at), nesting.in_object()) {
                    (Some(b','), false) => {
                        at += 1;
                        break;
                    }
                    (Some(b','), true) => {
                        let key = skip_space(src, at + 1);
                        at = self.key_end(src, key, nesting.depth())?;
                        break;
                    }
                    (Some(b'}'), true) | (Some(b']'), false) => {
                        nesting.close();
                        at += 1;
                    }
                    (_, true) => {
                        let kind = SyntaxErrorKind::ExpectedCommaOrBrace;
                        return Err(unexpected_byte(src, at, kind));
                    }
                    (_, false) => {
                        let kind = SyntaxErrorKind::ExpectedCommaOrBracket;
                        return Err(unexpected_byte(src, at, kind));
                    }
                }
            }
        }
    }

    /// What follows a key and its colon.
    fn key_end(
        &mut self,
        src: &mut impl ByteWindows,
        at: u64,
        depth: usize,
    ) -> Result<u64, ValueFault> {
        if byte_at(src, at) != Some(b'"') {
            return Err(unexpected_byte(src, at, SyntaxErrorKind::ExpectedKey));
        }
        let end = string_end(src, at)?;
        if depth == 1 && self.keys < 2 {
            self.keys += 1;
            self.note_key(src, at, end);
        }
        let colon = skip_space(src, end);
        if byte_at(src, colon) != Some(b':') {
            return Err(unexpected_byte(src, colon, SyntaxErrorKind::ExpectedColon));
        }
        Ok(colon + 1)
    }

    fn note_key(&mut self, src: &mut impl ByteWindows, at: u64, end: u64) {
        if let Some(key) = short_bytes(src, at, end) {
            self.first_keys.extend(key);
        } else {
            // It begins like no other.
            self.first_keys.clear();
            self.keys = 2;
        }
    }
}

/// Bytes of the document, if they are no more than a key that is compared.
pub(super) fn short_bytes(src: &mut impl ByteWindows, start: u64, end: u64) -> Option<Vec<u8>> {
    let len = end.checked_sub(start).filter(|len| *len <= KEY_CAP)?;
    let mut bytes = vec![0; usize::try_from(len).ok()?];
    let filled = copy_bytes(src, start, &mut bytes);
    bytes.truncate(filled);
    Some(bytes)
}

/// Behind the string that begins here.
fn string_end(src: &mut impl ByteWindows, quote: u64) -> Result<u64, ValueFault> {
    let mut at = quote + 1;
    loop {
        let window = src.bytes_from(at);
        let plain = scan::plain_end(window, 0);
        let ends_plain = window.get(plain).copied();
        let is_over = window.is_empty();
        at += plain as u64;
        match ends_plain {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at += escape_len(src, at)?,
            Some(_) => {
                return Err(ValueFault {
                    offset: at,
                    kind: SyntaxErrorKind::ControlCharacter,
                });
            }
            None if is_over => return Err(unexpected_end(at)),
            None => {}
        }
    }
}

/// The longest that an escape can be.
const ESCAPE: usize = 6;

fn escape_len(src: &mut impl ByteWindows, at: u64) -> Result<u64, ValueFault> {
    let mut ahead = [0; ESCAPE];
    let count = copy_bytes(src, at, &mut ahead);
    let len = scan::escape_len(ahead.get(..count).unwrap_or_default(), 0);
    len.map(|len| len as u64).map_err(|fault| moved(fault, at))
}

fn number_end(src: &mut impl ByteWindows, start: u64) -> Result<u64, ValueFault> {
    let len = scan::number_len(|at| byte_at(src, start + at as u64));
    len.map(|len| start + len as u64)
        .map_err(|fault| moved(fault, start))
}

fn word_end(src: &mut impl ByteWindows, at: u64, word: &[u8]) -> Result<u64, ValueFault> {
    let mut ahead = [0; 5];
    let count = copy_bytes(src, at, &mut ahead);
    let end = scan::literal_end(ahead.get(..count).unwrap_or_default(), 0, word);
    end.map(|len| at + len as u64)
        .map_err(|fault| moved(fault, at))
}

/// A fault in bytes that begin at this place.
fn moved(fault: Fault, start: u64) -> ValueFault {
    ValueFault {
        offset: start + fault.offset as u64,
        kind: fault.kind,
    }
}

fn unexpected_end(offset: u64) -> ValueFault {
    ValueFault {
        offset,
        kind: SyntaxErrorKind::UnexpectedEnd,
    }
}

/// The byte at `at` is wrong, unless the document ends there.
fn unexpected_byte(src: &mut impl ByteWindows, at: u64, kind: SyntaxErrorKind) -> ValueFault {
    match byte_at(src, at) {
        Some(_) => ValueFault { offset: at, kind },
        None => unexpected_end(at),
    }
}
