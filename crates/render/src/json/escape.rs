//! Strings as JSON spells them.

/// So many bytes are looked at at once: a machine word of many processors.
const STRIDE: usize = 32;

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Adds what stands between the quotes of a string: quotes, backslashes and control characters are
/// escaped, all else stays.
pub(super) fn escape_into(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    out.reserve(rest.len());
    while let Some(stride) = rest.first_chunk::<STRIDE>() {
        // To copy all of it and take some back is faster than to copy some: in what tools print, the
        // next line break is never far.
        out.extend_from_slice(stride);
        let Some(at) = in_stride(stride) else {
            rest = &rest[STRIDE..];
            continue;
        };
        out.truncate(out.len() - STRIDE + at);
        push_escaped(out, stride[at]);
        rest = &rest[at + 1..];
    }
    for byte in rest {
        if is_special(*byte) {
            push_escaped(out, *byte);
        } else {
            out.push(*byte);
        }
    }
}

fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

fn push_escaped(out: &mut Vec<u8>, byte: u8) {
    match byte {
        b'"' | b'\\' => out.extend([b'\\', byte]),
        b'\n' => out.extend(b"\\n"),
        b'\t' => out.extend(b"\\t"),
        b'\r' => out.extend(b"\\r"),
        0x08 => out.extend(b"\\b"),
        0x0C => out.extend(b"\\f"),
        _ => {
            let digit = |n: u8| HEX[usize::from(n & 0xF)];
            out.extend(b"\\u00");
            out.extend([digit(byte >> 4), digit(byte)]);
        }
    }
}

/// Where the first byte is that must be escaped.
pub(super) fn first_special(bytes: &[u8]) -> Option<usize> {
    let (strides, rest) = bytes.as_chunks::<STRIDE>();
    let found = strides.iter().enumerate();
    let mut found = found.filter_map(|(n, stride)| Some(n * STRIDE + in_stride(stride)?));
    let in_rest = || {
        let at = rest.iter().position(|b| is_special(*b))?;
        Some(bytes.len() - rest.len() + at)
    };
    found.next().or_else(in_rest)
}

/// The same, of one stride.
#[inline]
fn in_stride(stride: &[u8; STRIDE]) -> Option<usize> {
    // No way out in the middle of it, so that it takes a few instructions as a whole.
    if !stride.iter().fold(false, |any, b| any | is_special(*b)) {
        return None;
    }
    in_words(stride)
}

/// The same, eight bytes at a time. The lowest bit that is set is that of the first such byte; what
/// is above it may be wrong.
fn in_words(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::MAX / 0xFF;
    let is_zero = |word: u64| word.wrapping_sub(ONES) & !word;
    let words = bytes.chunks_exact(8).filter_map(|w| w.try_into().ok());
    for (at, word) in words.map(u64::from_le_bytes).enumerate() {
        let is_control = word.wrapping_sub(ONES * 0x20) & !word;
        let is_quote = is_zero(word ^ (ONES * u64::from(b'"')));
        let is_slash = is_zero(word ^ (ONES * u64::from(b'\\')));
        let found = (is_control | is_quote | is_slash) & (ONES * 0x80);
        if found != 0 {
            return Some(at * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::escape_into;

    proptest! {
        #[test]
        fn strings_are_those_that_serde_writes(text in r#"[ -~"\\\x00-\x1f\u{7f}é→🦀]{0,120}"#) {
            let mut out = vec![b'"'];
            escape_into(&mut out, &text);
            out.push(b'"');
            prop_assert_eq!(String::from_utf8(out).unwrap(), serde_json::to_string(&text).unwrap());
        }
    }
}
