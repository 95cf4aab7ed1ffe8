//! Marking words in lines that are written.

use std::io::{self, Write};
use std::ops::Range;

use rethread_engine::{Query, TextMatcher};

/// Turns colours around, whatever they are, and back again.
const MARK: (&[u8], &[u8]) = (b"\x1b[7m", b"\x1b[27m");
/// The same where there are no colours.
const BRACKETS: (&[u8], &[u8]) = (b"[", b"]");
/// Longer lines are passed on as they are.
const LONGEST_LINE: usize = 1 << 20;

/// Passes lines on, with the words of a query marked.
pub(crate) struct MarkedLines<'a> {
    out: &'a mut dyn Write,
    matcher: TextMatcher,
    is_coloured: bool,
    line: Vec<u8>,
}

impl<'a> MarkedLines<'a> {
    pub(crate) fn new(out: &'a mut dyn Write, query: &Query, is_coloured: bool) -> Self {
        Self {
            out,
            matcher: TextMatcher::new(&query.any_term()),
            is_coloured,
            line: Vec::new(),
        }
    }

    /// Passes on what is left of the last line.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.pass_line()?;
        self.out.flush()
    }

    fn pass_line(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        let Some(shown) = ShownLine::of(&line) else {
            return self.out.write_all(&line);
        };
        let found = self.matcher.find_in(&shown.text).unwrap_or_default();
        let (start, end) = if self.is_coloured { MARK } else { BRACKETS };
        let mut at = 0;
        for range in found.ranges {
            let place = shown.bytes_of(&range);
            self.out
                .write_all(line.get(at..place.start).unwrap_or_default())?;
            self.out.write_all(start)?;
            self.out
                .write_all(line.get(place.clone()).unwrap_or_default())?;
            self.out.write_all(end)?;
            at = place.end;
        }
        self.out.write_all(line.get(at..).unwrap_or_default())
    }
}

impl Write for MarkedLines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") || self.line.len() > LONGEST_LINE {
                self.pass_line()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A line as it is seen, without what sets colours.
struct ShownLine {
    text: String,
    /// Where pieces of the text begin, in it and in the line.
    pieces: Vec<(usize, usize)>,
}

impl ShownLine {
    /// None where it is no text.
    fn of(line: &[u8]) -> Option<Self> {
        let line = std::str::from_utf8(line).ok()?;
        let mut shown = Self {
            text: String::with_capacity(line.len()),
            pieces: Vec::new(),
        };
        let mut at = 0;
        while let Some(rest) = line.get(at..).filter(|rest| !rest.is_empty()) {
            let end = rest.find('\x1b').unwrap_or(rest.len());
            shown.pieces.push((shown.text.len(), at));
            shown.text.push_str(rest.get(..end).unwrap_or_default());
            // What sets colours ends with a letter.
            let escape = rest.get(end..).unwrap_or_default();
            let len = escape
                .find(|c: char| c.is_ascii_alphabetic())
                .map_or(escape.len(), |at| at + 1);
            at += end + len;
        }
        Some(shown)
    }

    /// Where a range of the text is in the line.
    fn bytes_of(&self, range: &Range<usize>) -> Range<usize> {
        let place = |at: usize, is_end: bool| {
            let before = self.pieces.iter().rev();
            let mut before = before.filter(|(text, _)| *text < at || *text == at && !is_end);
            before.next().map_or(at, |(text, line)| line + (at - text))
        };
        place(range.start, false)..place(range.end, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(query: &str, text: &str, is_coloured: bool) -> String {
        let query = Query::parse(query).unwrap();
        let mut out = Vec::new();
        let mut lines = MarkedLines::new(&mut out, &query, is_coloured);
        for piece in text.as_bytes().chunks(3) {
            lines.write_all(piece).unwrap();
        }
        lines.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn words_are_marked_between_colours() {
        assert_eq!(
            marked(
                "b OR \"c d\" -x role:user",
                "a B\n\x1b[1mc\x1b[0m d, x\nlast b",
                false
            ),
            "a [B]\n\x1b[1m[c\x1b[0m d], x\nlast [b]"
        );
        assert_eq!(
            marked("cookie", "\x1b[2mset Cookie\x1b[0m", true),
            "\x1b[2mset \x1b[7mCookie\x1b[27m\x1b[0m"
        );
        assert_eq!(marked("é", "caf é", false), "caf [é]");
    }
}
