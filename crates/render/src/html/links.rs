//! Addresses of the web in text, which become links.

use std::io;

use crate::neutral::is_active;

use super::out::HtmlWriter;

/// Writes text with links for the addresses in it. Only `http` and `https` count, and only where an
/// address is written out: what is a link leads where its words say.
pub(super) fn write_linked(out: &mut HtmlWriter<'_>, text: &str) -> io::Result<()> {
    let (mut from, mut at) = (0, 0);
    while let Some(found) = text[at..].find("://") {
        let colon = at + found;
        at = colon + 3;
        let Some(start) = scheme_start(&text[from..colon]).map(|start| from + start) else {
            continue;
        };
        let end = at + end_of_address(&text[at..]);
        if end == at {
            continue;
        }
        out.write_text(&text[from..start])?;
        open_link(out, &text[start..end])?;
        out.write_text(&text[start..end])?;
        out.write_markup("</a>")?;
        (from, at) = (end, end);
    }
    out.write_text(&text[from..])
}

/// Opens a link that tells nobody where the reader comes from.
pub(super) fn open_link(out: &mut HtmlWriter<'_>, address: &str) -> io::Result<()> {
    out.write_markup("<a rel=\"noreferrer noopener\" href=\"")?;
    out.write_text(address)?;
    out.write_markup("\">")
}

/// Where the scheme of an address begins that ends here.
fn scheme_start(before: &str) -> Option<usize> {
    for name in ["https", "http"] {
        let Some(start) = before.len().checked_sub(name.len()) else {
            continue;
        };
        let word = before.get(start..);
        if !word.is_some_and(|word| word.eq_ignore_ascii_case(name)) {
            continue;
        }
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '+' | '-' | '.');
        return (!before[..start].ends_with(is_word)).then_some(start);
    }
    None
}

/// How far an address goes behind its scheme: not at all where no host follows. Punctuation at its
/// end belongs to the sentence, and so does a bracket that was opened before it.
fn end_of_address(rest: &str) -> usize {
    if !rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '[' | '_')) {
        return 0;
    }
    let ends = |c: char| {
        c.is_whitespace()
            || is_active(c)
            || matches!(c, '<' | '>' | '"' | '`' | '\\' | '^' | '{' | '}' | '|')
            || matches!(c, '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ffef}')
    };
    let address = &rest[..rest.find(ends).unwrap_or(rest.len())];
    let closed = closed_brackets(address);
    let sentence = |c: char| {
        matches!(
            c,
            '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '*' | '_' | '~'
        )
    };
    address[..closed].trim_end_matches(sentence).len()
}

/// How far an address goes until a bracket is closed that was not opened in it.
fn closed_brackets(address: &str) -> usize {
    let (mut round, mut square) = (0_i64, 0_i64);
    for (at, c) in address.char_indices() {
        match c {
            '(' => round += 1,
            ')' => round -= 1,
            '[' => square += 1,
            ']' => square -= 1,
            _ => {}
        }
        if round < 0 || square < 0 {
            return at;
        }
    }
    address.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> String {
        let mut page = Vec::new();
        write_linked(&mut HtmlWriter::new(&mut page), text).unwrap();
        let page = String::from_utf8(page).unwrap();
        page.replace(" rel=\"noreferrer noopener\"", "")
    }

    /// The addresses that became links. Each is written twice: as the target, and as its words.
    fn links(text: &str) -> Vec<String> {
        let page = page(text);
        let all = page.split("<a href=\"").skip(1).map(|link| {
            let (to, rest) = link.split_once("\">").unwrap();
            let (words, _) = rest.split_once("</a>").unwrap();
            assert_eq!(to, words);
            to.replace("&amp;", "&").replace("&#39;", "'")
        });
        all.collect()
    }

    #[test]
    fn addresses_end_where_a_reader_would_say() {
        for (text, found) in [
            ("see https://a.example/b.", &["https://a.example/b"][..]),
            ("(http://a.example)", &["http://a.example"]),
            ("https://a.example/b_(c), d", &["https://a.example/b_(c)"]),
            (
                "<https://a.example?b=1&c=2#d>",
                &["https://a.example?b=1&c=2#d"],
            ),
            ("[HTTP://A.example/]", &["HTTP://A.example/"]),
            ("http://[::1]:80/x", &["http://[::1]:80/x"]),
            ("http://a.example/it's", &["http://a.example/it's"]),
            ("'http://a.example/b'", &["http://a.example/b"]),
            (
                "a=http://a.example;http://b.example",
                &["http://a.example;http://b.example"],
            ),
            ("http://a.example、次", &["http://a.example"]),
            ("http://a.example\u{202e}b", &["http://a.example"]),
            ("http://a.example\u{1b}[0m", &["http://a.example"]),
            ("http:// https:///x xhttp://a svn+http://b", &[]),
            (
                "javascript://a.example/%0aalert(1) file:///etc ftp://a.example",
                &[],
            ),
            ("://a http://", &[]),
        ] {
            assert_eq!(links(text), found, "{text}");
        }
    }

    #[test]
    fn text_around_and_inside_is_escaped() {
        assert_eq!(
            page("<b> http://a.example/?a&b'onx=1 <i>"),
            "&lt;b&gt; <a href=\"http://a.example/?a&amp;b&#39;onx=1\">\
             http://a.example/?a&amp;b&#39;onx=1</a> &lt;i&gt;"
        );
        assert_eq!(
            page("http://a.example\"onmouseover=alert(1)"),
            "<a href=\"http://a.example\">http://a.example</a>&quot;onmouseover=alert(1)"
        );
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_lost(text in "(https?://|[a-z.()\\[\\]\"'<>&:/ é\u{202e}]){0,40}") {
            let page = page(&text);
            let mut words = String::new();
            for (at, piece) in page.split("<a href=\"").enumerate() {
                words.push_str(if at == 0 { piece } else { piece.split_once("\">").unwrap().1 });
            }
            let mut whole = Vec::new();
            HtmlWriter::new(&mut whole).write_text(&text).unwrap();
            proptest::prop_assert_eq!(words.replace("</a>", ""), String::from_utf8(whole).unwrap());
        }
    }
}
