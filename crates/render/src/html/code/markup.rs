//! Telling words of HTML and XML apart.

use std::io;

use super::{WordClass, WordSink};

/// Gives all words of a text, in order.
pub(super) fn lex_markup(text: &str, put: &mut WordSink<'_>) -> io::Result<()> {
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        put(WordClass::Plain, &rest[..at])?;
        rest = &rest[at..];
        let len = if rest.starts_with("<!--") {
            let end = rest.find("-->").map_or(rest.len(), |end| end + 3);
            put(WordClass::Comment, &rest[..end])?;
            end
        } else {
            lex_tag(rest, put)?
        };
        rest = &rest[len..];
    }
    put(WordClass::Plain, rest)
}

/// Gives the words of what begins with `<`; how long it is.
fn lex_tag(rest: &str, put: &mut WordSink<'_>) -> io::Result<usize> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.' | '@' | '#');
    let open = rest
        .find(|c: char| !matches!(c, '<' | '/' | '!' | '?'))
        .unwrap_or(rest.len());
    put(WordClass::Plain, &rest[..open])?;
    let mut at = open;
    let mut class = WordClass::Keyword;
    if !rest[at..].starts_with(|c: char| c.is_alphabetic()) {
        return Ok(at);
    }
    while let Some(c) = rest[at..].chars().next() {
        let here = &rest[at..];
        let len = match c {
            '>' => {
                put(WordClass::Plain, ">")?;
                return Ok(at + 1);
            }
            '<' => return Ok(at),
            '"' | '\'' => {
                let end = here[1..].find(c).map_or(here.len(), |end| end + 2);
                put(WordClass::Text, &here[..end])?;
                end
            }
            c if is_name(c) => {
                let end = here.find(|c| !is_name(c)).unwrap_or(here.len());
                put(class, &here[..end])?;
                class = WordClass::Name;
                end
            }
            c => {
                put(WordClass::Plain, &here[..c.len_utf8()])?;
                c.len_utf8()
            }
        };
        at += len;
    }
    Ok(at)
}
