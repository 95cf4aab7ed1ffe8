//! Nothing but UTF-8.

use std::io::{self, Write};

/// Lets only UTF-8 through: what is none becomes U+FFFD, also where a write ends in the middle of a
/// character and the next goes on with it.
pub struct Utf8<'a> {
    out: &'a mut dyn Write,
    /// The beginning of a character.
    torn: Vec<u8>,
}

const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

impl std::fmt::Debug for Utf8<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Utf8")
            .field("torn", &self.torn)
            .finish_non_exhaustive()
    }
}

impl<'a> Utf8<'a> {
    /// Lets UTF-8 through to `out`.
    pub fn new(out: &'a mut dyn Write) -> Self {
        Self {
            out,
            torn: Vec::new(),
        }
    }

    /// Ends it: a character that was begun is none.
    pub fn finish(self) -> io::Result<()> {
        if self.torn.is_empty() {
            return Ok(());
        }
        self.out.write_all(REPLACEMENT)
    }
}

impl Write for Utf8<'_> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        if self.torn.is_empty() && std::str::from_utf8(buf).is_ok() {
            self.out.write_all(buf)?;
            return Ok(buf.len());
        }
        let mut bytes = std::mem::take(&mut self.torn);
        bytes.extend_from_slice(buf);
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.out.write_all(chunk.valid().as_bytes())?;
            let rest = chunk.invalid();
            let begins = |e: std::str::Utf8Error| e.error_len().is_none();
            if chunks.peek().is_none() && std::str::from_utf8(rest).is_err_and(begins) {
                self.torn = rest.to_vec();
            } else if !rest.is_empty() {
                self.out.write_all(REPLACEMENT)?;
            }
        }
        Ok(buf.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_same_however_it_is_cut() {
        for bytes in [
            "größer → 🦀 日本".as_bytes(),
            b"a\xff\xe2\x82b\xf0\x9f\xa6",
            b"\xed\xa0\x80",
        ] {
            let wanted = String::from_utf8_lossy(bytes);
            for size in 1..=bytes.len() {
                let mut out = Vec::new();
                let mut writer = Utf8::new(&mut out);
                for piece in bytes.chunks(size) {
                    writer.write_all(piece).unwrap();
                }
                writer.finish().unwrap();
                assert_eq!(String::from_utf8(out).unwrap(), wanted, "{size}");
            }
        }
    }
}
