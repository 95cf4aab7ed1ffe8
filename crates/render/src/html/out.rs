//! Where markup and text are told apart: what is written as markup is part of this program, and
//! everything else is escaped.

use std::io::{self, Write};

use crate::neutral::{is_active, show_active};
use crate::one_line;

/// Writes a page. Markup must be known when the program is built, so no text of a conversation can
/// become some.
pub(crate) struct HtmlWriter<'a> {
    out: &'a mut dyn Write,
}

impl<'a> HtmlWriter<'a> {
    pub(crate) fn new(out: &'a mut dyn Write) -> Self {
        Self { out }
    }

    /// Writes markup.
    pub(crate) fn write_markup(&mut self, markup: &'static str) -> io::Result<()> {
        self.out.write_all(markup.as_bytes())
    }

    /// Writes text: between tags, or as the value of an attribute in double quotes. Control characters
    /// become visible.
    pub(crate) fn write_text(&mut self, text: &str) -> io::Result<()> {
        let bytes = text.as_bytes();
        let (mut clean, mut at) = (0, 0);
        while let Some(step) = bytes[at..].iter().position(|b| !PLAIN[usize::from(*b)]) {
            at += step;
            let Some(c) = text[at..].chars().next() else {
                break;
            };
            let end = at + c.len_utf8();
            if let Some(entity) = char_entity(c) {
                self.out.write_all(&bytes[clean..at])?;
                self.out.write_all(entity)?;
                clean = end;
            } else if is_active(c) {
                self.out.write_all(&bytes[clean..at])?;
                if c != '\r' || !text[end..].starts_with('\n') {
                    self.write_active(c)?;
                }
                clean = end;
            }
            at = end;
        }
        self.out.write_all(&bytes[clean..])
    }

    /// Writes text on one line.
    pub(crate) fn write_line(&mut self, text: &str) -> io::Result<()> {
        self.write_text(&one_line(text))
    }

    pub(crate) fn write_number(&mut self, number: u64) -> io::Result<()> {
        write!(self.out, "{number}")
    }

    /// Writes base64 text; it must be nothing else.
    pub(super) fn write_base64(&mut self, text: &Base64) -> io::Result<()> {
        self.out.write_all(&text.0)
    }

    fn write_active(&mut self, c: char) -> io::Result<()> {
        let mut shown = String::new();
        show_active(c, &mut shown).map_err(io::Error::other)?;
        for c in shown.chars() {
            match char_entity(c) {
                Some(entity) => self.out.write_all(entity)?,
                None => write!(self.out, "{c}")?,
            }
        }
        Ok(())
    }
}

/// Text that is base64 and nothing else.
pub(super) struct Base64(Vec<u8>);

impl Base64 {
    /// Takes text that somebody calls base64.
    pub(super) fn new(text: Vec<u8>) -> Option<Self> {
        let digits = text.trim_ascii_end().strip_suffix(b"==");
        let digits = digits.or_else(|| text.trim_ascii_end().strip_suffix(b"="));
        let digits = digits.unwrap_or(text.trim_ascii_end());
        let is_digit = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/');
        let is_base64 = !digits.is_empty() && digits.iter().all(is_digit);
        is_base64.then_some(Self(text))
    }
}

/// Bytes that stand for themselves wherever they are.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut b = b' ';
    while b <= b'~' {
        plain[b as usize] = !matches!(b, b'&' | b'<' | b'>' | b'"' | b'\'');
        b += 1;
    }
    plain[b'\n' as usize] = true;
    plain[b'\t' as usize] = true;
    plain
};

fn char_entity(c: char) -> Option<&'static [u8]> {
    Some(match c {
        '&' => b"&amp;",
        '<' => b"&lt;",
        '>' => b"&gt;",
        '"' => b"&quot;",
        '\'' => b"&#39;",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Base64, HtmlWriter};

    fn shown(text: &str) -> String {
        let mut out = Vec::new();
        HtmlWriter::new(&mut out).write_text(text).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn text_is_escaped_and_made_harmless() {
        for (text, page) in [
            ("plain\ttext\n", "plain\ttext\n"),
            (
                "<b a='1' c=\"&\">",
                "&lt;b a=&#39;1&#39; c=&quot;&amp;&quot;&gt;",
            ),
            ("é日\u{1f600}", "é日\u{1f600}"),
            ("a\r\nb\rc\0", "a\nb␍c␀"),
            ("\u{1b}[31m\u{202e}", "␛[31m&lt;U+202E&gt;"),
            ("", ""),
        ] {
            assert_eq!(shown(text), page);
        }
    }

    #[test]
    fn only_base64_is_base64() {
        for (text, is) in [
            ("iVBORw0KGgo=", true),
            ("QQ==", true),
            ("QQ==\n", true),
            ("", false),
            ("=", false),
            ("a\"b", false),
            ("a=b", false),
            ("\\u003c", false),
        ] {
            assert_eq!(Base64::new(text.into()).is_some(), is, "{text}");
        }
    }
}
