//! Untrusted text, made harmless to show.

use std::borrow::Cow;
use std::fmt::{self, Write};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Text of a conversation for a terminal or a document: lines and tabs stay, everything that could
/// steer a terminal or hide what is written becomes visible.
///
/// ```
/// use rethread_render::Plain;
/// assert_eq!(Plain("a\u{1b}[31mb\r\nc\u{202e}d").to_string(), "a␛[31mb\nc<U+202E>d");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Plain<'a>(pub &'a str);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_neutral(self.0, f)
    }
}

/// The same on one line, for titles, ids and paths: line breaks and tabs become a space.
///
/// ```
/// use rethread_render::OneLine;
/// assert_eq!(OneLine("Fix\r\n\tthe  bug\n").to_string(), "Fix the  bug");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OneLine<'a>(pub &'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&one_line(self.0))
    }
}

/// What [`Plain`] shows.
pub fn neutral(text: &str) -> Cow<'_, str> {
    if first_active(text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    match write_neutral(text, &mut out) {
        Ok(()) | Err(fmt::Error) => Cow::Owned(out),
    }
}

/// What [`OneLine`] shows.
pub fn one_line(text: &str) -> Cow<'_, str> {
    let text = neutral(text);
    if !text.contains(['\n', '\t']) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest: &str = &text;
    while let Some(at) = rest.find([' ', '\n', '\t']) {
        out.push_str(&rest[..at]);
        let after = rest[at..].trim_start_matches([' ', '\n', '\t']);
        let gap = &rest[at..rest.len() - after.len()];
        if !gap.contains(['\n', '\t']) {
            out.push_str(gap);
        } else if !out.is_empty() && !after.is_empty() {
            out.push(' ');
        }
        rest = after;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// One line as a cell of a table for other programs. Spreadsheets compute what begins like a
/// formula; behind a `'` it is text to all of them.
///
/// ```
/// use rethread_render::cell;
/// assert_eq!(cell("=1+1"), "'=1+1");
/// assert_eq!(cell("a = 1"), "a = 1");
/// ```
pub fn cell(text: &str) -> String {
    let line = one_line(text);
    let computed = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];
    if line.trim_start().starts_with(computed) {
        format!("'{line}")
    } else {
        line.into_owned()
    }
}

/// One line that fits into so many columns; what does not fit is cut and ends with `…`.
///
/// ```
/// use rethread_render::fit;
/// assert_eq!(fit("Fix the bug", 8), "Fix the…");
/// assert_eq!(fit("日本語", 5), "日本…");
/// ```
pub fn fit(text: &str, width: usize) -> String {
    let line = one_line(text);
    if line.width() <= width {
        return line.into_owned();
    }
    let Some(room) = width.checked_sub(1) else {
        return String::new();
    };
    let mut used = 0;
    let mut end = 0;
    for (at, c) in line.char_indices() {
        used += c.width().unwrap_or(0);
        if used > room {
            break;
        }
        end = at + c.len_utf8();
    }
    // A selector of emoji makes the character before it wider, and a joiner must not join the dots.
    let mut cut = line[..end].trim_end_matches(['\u{200d}', ' ']);
    while cut.width() > room {
        let mut chars = cut.chars();
        chars.next_back();
        cut = chars.as_str();
    }
    format!("{cut}…")
}

/// How many columns of a terminal a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

fn write_neutral(text: &str, out: &mut dyn Write) -> fmt::Result {
    let mut rest = text;
    while let Some((at, c)) = first_active(rest) {
        out.write_str(&rest[..at])?;
        rest = &rest[at + c.len_utf8()..];
        if c == '\r' && rest.starts_with('\n') {
            continue;
        }
        show_active(c, out)?;
    }
    out.write_str(rest)
}

/// The first character that does something, and where it is.
fn first_active(text: &str) -> Option<(usize, char)> {
    let mut at = 0;
    loop {
        at += plain_len(&text.as_bytes()[at..]);
        for c in text[at..].chars() {
            if is_active(c) {
                return Some((at, c));
            }
            at += c.len_utf8();
            if c.is_ascii() {
                break;
            }
        }
        if at == text.len() {
            return None;
        }
    }
}

/// How many plain characters of ASCII come first, or fewer: most of all text is such, and many of
/// them are looked at together.
fn plain_len(bytes: &[u8]) -> usize {
    let is_plain = |b: u8| matches!(b, b' '..=b'~' | b'\n' | b'\t');
    let (chunks, _) = bytes.as_chunks::<32>();
    let all_plain = |chunk: &&[u8; 32]| chunk.iter().fold(true, |all, b| all & is_plain(*b));
    let whole = chunks.iter().take_while(all_plain).count() * 32;
    let rest = bytes.get(whole..).unwrap_or_default();
    whole + rest.iter().take_while(|b| is_plain(**b)).count()
}

/// Writes what stands for a character that does something.
pub(crate) fn show_active(c: char, out: &mut dyn Write) -> fmt::Result {
    match control_picture(c) {
        Some(symbol) => out.write_char(symbol),
        None => write!(out, "<U+{:04X}>", u32::from(c)),
    }
}

/// The symbol for a control character, where Unicode has one.
fn control_picture(c: char) -> Option<char> {
    match u32::from(c) {
        code @ 0..0x20 => char::from_u32(0x2400 + code),
        0x7f => Some('\u{2421}'),
        _ => None,
    }
}

/// Whether a character does something instead of showing something.
pub(crate) fn is_active(c: char) -> bool {
    match c {
        '\n' | '\t' | ' '..='~' => false,
        c if c.is_control() => true,
        c => is_deceptive(c),
    }
}

/// Whether a character is invisible, or changes the order in which others are shown. The joiners
/// and the selectors that scripts and emoji need are not among them.
fn is_deceptive(c: char) -> bool {
    matches!(c,
        '\u{ad}'                        // soft hyphen
        | '\u{61c}'                     // Arabic letter mark
        | '\u{115f}' | '\u{1160}'       // Hangul fillers
        | '\u{180e}'                    // Mongolian vowel separator
        | '\u{200b}'                    // zero width space
        | '\u{200e}' | '\u{200f}'       // direction marks
        | '\u{2028}' | '\u{2029}'       // line and paragraph separators
        | '\u{202a}'..='\u{202e}'       // embeddings and overrides
        | '\u{2060}'..='\u{206f}'       // word joiner, invisible operators, isolates
        | '\u{3164}'                    // Hangul filler
        | '\u{feff}'                    // byte order mark
        | '\u{ffa0}'                    // Hangul filler
        | '\u{fff9}'..='\u{fffb}'       // annotations
        | '\u{e0000}'..='\u{e00ff}'     // tags
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{first_active, is_active};

    proptest! {
        #[test]
        fn the_first_character_that_acts_is_found(
            plain in "[ -~\n\té日🦀]{0,100}",
            text in any::<String>()
        ) {
            let text = plain + &text;
            let wanted = text.char_indices().find(|(_, c)| is_active(*c));
            prop_assert_eq!(first_active(&text), wanted);
        }
    }
}
