//! Where the tokens of JSON end: white space, strings, numbers and words.

use crate::block::{BLOCK, Block, LANE, Lane, bits_from};
use crate::error::{Fault, SyntaxErrorKind};

/// The mark that some editors put before UTF-8 text.
pub(crate) const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Length of the byte order mark at the beginning, if there is one.
pub(crate) fn bom_len(src: &[u8]) -> usize {
    if src.starts_with(BOM) { BOM.len() } else { 0 }
}

pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}

/// The first byte at or after `pos` that is not white space.
#[inline]
pub(crate) fn skip_space(src: &[u8], pos: usize) -> usize {
    match src.get(pos) {
        Some(byte) if *byte > b' ' => pos,
        Some(byte) if is_space(*byte) => skip_spaces(src, pos + 1),
        _ => pos,
    }
}

/// The same where white space was met: in texts that are laid out, many blanks follow a line break.
fn skip_spaces(src: &[u8], mut pos: usize) -> usize {
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

/// The end of a string, and what was met on the way.
pub(crate) struct StringEnd {
    pub(crate) end: usize,
    /// Whether it holds a backslash.
    pub(crate) escaped: bool,
    /// Whether it holds an escape by number.
    pub(crate) numbered: bool,
}

/// The end (after the closing quote) of the string whose opening quote is at `pos`.
#[inline]
pub(crate) fn string_end(src: &[u8], pos: usize) -> Result<StringEnd, Fault> {
    let mut at = pos + 1;
    // Most strings are short.
    for _ in 0..BLOCK / LANE {
        let Some(before) = before_end(src, at) else {
            break;
        };
        at += before;
        if before < LANE {
            if src[at] == b'"' {
                return Ok(StringEnd {
                    end: at + 1,
                    escaped: false,
                    numbered: false,
                });
            }
            break;
        }
    }
    long_string(src, at)
}

/// The same from a place inside the string: long ones, and those with escapes, of which a block may
/// hold many.
fn long_string(src: &[u8], mut at: usize) -> Result<StringEnd, Fault> {
    let (mut escaped, mut numbered) = (false, false);
    while let Some(block) = Block::load_at(src, at) {
        let mut next = at + BLOCK;
        let mut ends = block.string_end_mask();
        while ends != 0 {
            let before = ends.trailing_zeros() as usize;
            let end = at + before;
            match src[end] {
                b'"' => {
                    return Ok(StringEnd {
                        end: end + 1,
                        escaped,
                        numbered,
                    });
                }
                b'\\' => {
                    escaped = true;
                    let len = escape_len(src, end)?;
                    numbered |= len > 2;
                    ends &= bits_from(before + len);
                    next = next.max(end + len);
                }
                _ => return Err(control_fault(src, end)),
            }
        }
        at = next;
    }
    loop {
        at = plain_end(src, at);
        match src.get(at) {
            Some(b'"') => {
                return Ok(StringEnd {
                    end: at + 1,
                    escaped,
                    numbered,
                });
            }
            Some(b'\\') => {
                escaped = true;
                let len = escape_len(src, at)?;
                numbered |= len > 2;
                at += len;
            }
            _ => return Err(control_fault(src, at)),
        }
    }
}

fn control_fault(src: &[u8], at: usize) -> Fault {
    Fault::unexpected_byte(src, at, SyntaxErrorKind::ControlCharacter)
}

/// What the letters behind a backslash stand for, where that is one byte; else 0.
pub(crate) const ESCAPED: [u8; 256] = {
    let mut bytes = [0; 256];
    let mut at = 0;
    let letters = b"\"\"\\\\//b\x08f\x0Cn\nr\rt\t";
    while at < letters.len() {
        bytes[letters[at] as usize] = letters[at + 1];
        at += 2;
    }
    bytes
};

/// Length of the escape whose backslash is at `pos`.
#[inline]
pub(crate) fn escape_len(src: &[u8], pos: usize) -> Result<usize, Fault> {
    match src.get(pos + 1) {
        Some(letter) if ESCAPED[usize::from(*letter)] != 0 => Ok(2),
        _ => unicode_escape_len(src, pos),
    }
}

/// Length of an escape that can only be one by number.
#[cold]
fn unicode_escape_len(src: &[u8], pos: usize) -> Result<usize, Fault> {
    let wrong = |at| Fault::unexpected_byte(src, at, SyntaxErrorKind::InvalidEscape);
    if src.get(pos + 1) != Some(&b'u') {
        return Err(wrong(pos + 1));
    }
    for at in pos + 2..pos + 6 {
        if !src.get(at).is_some_and(u8::is_ascii_hexdigit) {
            return Err(wrong(at));
        }
    }
    Ok(6)
}

const LOW: u64 = 0x0101_0101_0101_0101;

/// How many of the next bytes precede the first one that ends a plain stretch of a string; none near
/// the end of the text.
#[inline]
fn before_end(src: &[u8], at: usize) -> Option<usize> {
    Some(Lane::count_before(
        Lane::load_at(src, at)?.string_end_mask(),
    ))
}

/// The first byte at or after `pos` that ends a plain stretch of a string:
/// a quote, a backslash or a control character; else the end of the text.
#[inline]
pub(crate) fn plain_end(src: &[u8], mut pos: usize) -> usize {
    while let Some(before) = before_end(src, pos) {
        pos += before;
        if before < LANE {
            return pos;
        }
    }
    while pos < src.len() && src[pos] >= 0x20 && src[pos] != b'"' && src[pos] != b'\\' {
        pos += 1;
    }
    pos
}

/// The end of the number that begins at `pos` with a minus or a digit.
pub(crate) fn number_end(src: &[u8], pos: usize) -> Result<usize, Fault> {
    match number_len(|at| src.get(pos + at).copied()) {
        Ok(len) => Ok(pos + len),
        Err(fault) => Err(Fault::new(pos + fault.offset, fault.kind)),
    }
}

/// The length of a number that begins with a minus or a digit, of which each byte is asked for.
#[inline]
pub(crate) fn number_len(mut byte: impl FnMut(usize) -> Option<u8>) -> Result<usize, Fault> {
    let whole = usize::from(byte(0) == Some(b'-'));
    let mut at = digits_end(&mut byte, whole)?;
    if at > whole + 1 && byte(whole) == Some(b'0') {
        return Err(Fault::new(whole + 1, SyntaxErrorKind::InvalidNumber));
    }
    if byte(at) == Some(b'.') {
        at = digits_end(&mut byte, at + 1)?;
    }
    if let Some(b'e' | b'E') = byte(at) {
        let sign = usize::from(matches!(byte(at + 1), Some(b'+' | b'-')));
        at = digits_end(&mut byte, at + 1 + sign)?;
    }
    Ok(at)
}

/// The end of one digit or more.
#[inline]
fn digits_end(byte: &mut impl FnMut(usize) -> Option<u8>, from: usize) -> Result<usize, Fault> {
    let mut at = from;
    loop {
        match byte(at) {
            Some(b'0'..=b'9') => at += 1,
            _ if at > from => return Ok(at),
            Some(_) => return Err(Fault::new(at, SyntaxErrorKind::InvalidNumber)),
            None => return Err(Fault::new(at, SyntaxErrorKind::UnexpectedEnd)),
        }
    }
}

/// The end of `literal_end`, which must stand at `pos`.
pub(crate) fn literal_end(src: &[u8], pos: usize, word: &[u8]) -> Result<usize, Fault> {
    let there = &src[pos..src.len().min(pos + word.len())];
    let same = there.iter().zip(word).take_while(|(a, b)| a == b).count();
    if same == word.len() {
        Ok(pos + same)
    } else {
        Err(Fault::unexpected_byte(
            src,
            pos + same,
            SyntaxErrorKind::InvalidWord,
        ))
    }
}
