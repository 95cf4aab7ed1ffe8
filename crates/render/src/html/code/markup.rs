//! Telling words of HTML and XML apart.

use std::io;

use super::{Class, Words};

/// Gives all words of a text, in order.
pub(super) fn words(text: &str, put: &mut Words<'_>) -> io::Result<()> {
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        put(Class::Plain, &rest[..at])?;
        rest = &rest[at..];
        let len = if rest.starts_with("<!--") {
            let end = rest.find("-->").map_or(rest.len(), |end| end + 3);
            put(Class::Comment, &rest[..end])?;
            end
        } else {
            tag(rest, put)?
        };
        rest = &rest[len..];
    }
    put(Class::Plain, rest)
}

/// Gives the words of what begins with `<`; how long it is.
fn tag(rest: &str, put: &mut Words<'_>) -> io::Result<usize> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.' | '@' | '#');
    let open = rest
        .find(|c: char| !matches!(c, '<' | '/' | '!' | '?'))
        .unwrap_or(rest.len());
    put(Class::Plain, &rest[..open])?;
    let mut at = open;
    let mut class = Class::Keyword;
    if !rest[at..].starts_with(|c: char| c.is_alphabetic()) {
        return Ok(at);
    }
    while let Some(c) = rest[at..].chars().next() {
        let here = &rest[at..];
        let len = match c {
            '>' => {
                put(Class::Plain, ">")?;
                return Ok(at + 1);
            }
            '<' => return Ok(at),
            '"' | '\'' => {
                let end = here[1..].find(c).map_or(here.len(), |end| end + 2);
                put(Class::Text, &here[..end])?;
                end
            }
            c if is_name(c) => {
                let end = here.find(|c| !is_name(c)).unwrap_or(here.len());
                put(class, &here[..end])?;
                class = Class::Name;
                end
            }
            c => {
                put(Class::Plain, &here[..c.len_utf8()])?;
                c.len_utf8()
            }
        };
        at += len;
    }
    Ok(at)
}
