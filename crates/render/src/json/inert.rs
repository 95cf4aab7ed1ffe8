//! JSON that does nothing where it is shown.

use std::io::{self, Write};

use crate::neutral::is_active;

/// Writes JSON in which characters that act on a terminal, end a line for some readers, or change
/// the order of others are spelled as escapes. It means the same: JSON has such characters in
/// strings alone.
///
/// ```
/// use std::io::Write;
/// let mut out = Vec::new();
/// let mut json = rethread_render::InertJson::new(&mut out);
/// json.write_all("\"a\u{9b}31m\u{202e}é\"".as_bytes())?;
/// json.flush()?;
/// assert_eq!(out, r#""a\u009b31m\u202eé""#.as_bytes());
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct InertJson<W: Write> {
    out: W,
    /// The beginning of a character whose rest has not come yet.
    pending: Vec<u8>,
}

impl<W: Write> InertJson<W> {
    /// Writes to this.
    pub fn new(out: W) -> Self {
        Self {
            out,
            pending: Vec::new(),
        }
    }

    /// Writes text and gives the beginning of a character at its end. What is not UTF-8 becomes
    /// U+FFFD.
    fn put_text<'a>(&mut self, mut rest: &'a [u8]) -> io::Result<&'a [u8]> {
        loop {
            let plain = rest.iter().position(|b| !is_plain(*b));
            let (before, behind) = rest.split_at(plain.unwrap_or(rest.len()));
            self.out.write_all(before)?;
            if behind.is_empty() {
                return Ok(behind);
            }
            // A run of other characters, up to the next plain one.
            let end = behind.iter().position(|b| is_plain(*b));
            let (run, after) = behind.split_at(end.unwrap_or(behind.len()));
            let mut chunks = run.utf8_chunks().peekable();
            while let Some(chunk) = chunks.next() {
                self.write_escapes(chunk.valid())?;
                let invalid = chunk.invalid();
                let may_go_on = chunks.peek().is_none() && after.is_empty();
                if may_go_on && is_beginning(invalid) {
                    return Ok(run.get(run.len() - invalid.len()..).unwrap_or_default());
                }
                if !invalid.is_empty() {
                    self.out.write_all("\u{fffd}".as_bytes())?;
                }
            }
            rest = after;
        }
    }

    fn write_escapes(&mut self, text: &str) -> io::Result<()> {
        let mut rest = text;
        while let Some(at) = rest.find(is_active) {
            let (before, behind) = rest.split_at(at);
            self.out.write_all(before.as_bytes())?;
            let mut chars = behind.chars();
            for unit in chars.next().into_iter().flat_map(utf16_units) {
                write!(self.out, "\\u{unit:04x}")?;
            }
            rest = chars.as_str();
        }
        self.out.write_all(rest.as_bytes())
    }
}

/// Whether a byte stands in JSON as it is: also the white space between values.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t')
}

fn utf16_units(c: char) -> impl Iterator<Item = u16> {
    let mut units = [0; 2];
    let len = c.encode_utf16(&mut units).len();
    units.into_iter().take(len)
}

/// Whether more bytes could make a character of these.
fn is_beginning(bytes: &[u8]) -> bool {
    let known = std::str::from_utf8(bytes);
    !bytes.is_empty() && known.is_err_and(|e| e.error_len().is_none())
}

impl<W: Write> Write for InertJson<W> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        if self.pending.is_empty() {
            self.pending = self.put_text(buf)?.to_vec();
        } else {
            let mut all = std::mem::take(&mut self.pending);
            all.extend_from_slice(buf);
            self.pending = self.put_text(&all)?.to_vec();
        }
        Ok(buf.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.pending).is_empty() {
            self.out.write_all("\u{fffd}".as_bytes())?;
        }
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    /// What comes out if it comes in pieces of this length.
    fn spelled(bytes: &[u8], piece: usize) -> String {
        let mut out = Vec::new();
        let mut json = InertJson::new(&mut out);
        for piece in bytes.chunks(piece) {
            json.write_all(piece).unwrap();
        }
        json.flush().unwrap();
        String::from_utf8(out).unwrap()
    }

    fn acts(c: char) -> bool {
        is_active(c) && !matches!(c, '\n' | '\r' | '\t')
    }

    proptest! {
        #[test]
        fn it_means_the_same_and_does_nothing(
            text in "[a\u{7f}\u{85}\u{9b}\u{2028}\u{202e}\u{2066}\u{feff}é日🦀\u{e0041}\"\\\\\n]{0,40}",
            piece in 1_usize..9,
        ) {
            let value = serde_json::json!({ "text": text, "list": [1, text] });
            let spelled = spelled(value.to_string().as_bytes(), piece);
            prop_assert!(!spelled.chars().any(acts), "{}", spelled);
            prop_assert_eq!(serde_json::from_str::<Value>(&spelled).unwrap(), value);
        }

        #[test]
        fn pieces_make_no_difference(
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), 0x80_u8..], 0..60),
            piece in 1_usize..9,
        ) {
            let whole = spelled(&bytes, usize::MAX);
            prop_assert_eq!(spelled(&bytes, piece), whole);
        }
    }
}
