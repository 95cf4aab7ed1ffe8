//! Telling words of code apart, by the rules of a language.

use std::io;

use super::languages::{KeyStyle, KnownWords, LanguageRules};
use super::{WordClass, WordSink};

/// How far a key is looked for.
const LONGEST_KEY: usize = 200;

/// Gives all words of a text, in order.
pub(super) fn lex_words(
    rules: &LanguageRules,
    text: &str,
    put: &mut WordSink<'_>,
) -> io::Result<()> {
    let known = rules.known_words();
    let mut at = 0;
    let mut plain = 0;
    let mut starts_line = true;
    while let Some(c) = text[at..].chars().next() {
        if c == '\n' {
            starts_line = true;
            at += 1;
            continue;
        }
        let word = if c.is_whitespace() {
            None
        } else {
            lex_word((rules, &known), text, at, starts_line)
        };
        let Some((class, len)) = word else {
            // A list in YAML begins a line once more.
            starts_line = starts_line && (c.is_whitespace() || c == '-');
            at += c.len_utf8();
            continue;
        };
        starts_line = false;
        let end = at + len;
        if class != WordClass::Plain {
            put(WordClass::Plain, &text[plain..at])?;
            put(class, &text[at..end])?;
            plain = end;
        }
        at = end;
    }
    put(WordClass::Plain, &text[plain..])
}

/// The word that begins at a place: what it is, and how long. None for a character that is no word.
fn lex_word(
    (rules, known): (&LanguageRules, &KnownWords),
    text: &str,
    at: usize,
    starts_line: bool,
) -> Option<(WordClass, usize)> {
    let rest = &text[at..];
    if let Some(len) = comment_len(rules, text, at) {
        return Some((WordClass::Comment, len));
    }
    if starts_line && let Some(found) = line_start(rules, rest) {
        return Some(found);
    }
    if let Some(len) = string_len(rules, rest) {
        let is_key = rules.keys == KeyStyle::Quoted && rest[len..].trim_start().starts_with(':');
        let class = if is_key {
            WordClass::Name
        } else {
            WordClass::Text
        };
        return Some((class, len));
    }
    let first = rest.chars().next()?;
    if let Some(found) = lex_sign(rules, rest, first) {
        return Some(found);
    }
    if first.is_ascii_digit() {
        return Some((WordClass::Number, number_len(rest)));
    }
    if !is_start(first) {
        return None;
    }
    let len = name_len(rules, rest);
    let (name, behind) = rest.split_at(len);
    let class = if known.is_keyword(name) {
        WordClass::Keyword
    } else if rules.keys == KeyStyle::Names && is_key(behind, ':') {
        WordClass::Name
    } else if behind.starts_with('(') || (rules.macros && behind.starts_with("!(")) {
        WordClass::Function
    } else if known.is_type(name) {
        WordClass::Type
    } else if starts_line && rules.commands {
        WordClass::Function
    } else {
        WordClass::Plain
    };
    Some((class, len))
}

fn comment_len(rules: &LanguageRules, text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    for (open, close) in rules.blocks {
        if let Some(inside) = rest.strip_prefix(open) {
            let end = inside.find(close).map(|end| open.len() + end + close.len());
            return Some(end.unwrap_or(rest.len()));
        }
    }
    let opens = |mark: &&&str| rest.starts_with(**mark);
    let mark = rules.lines.iter().find(opens)?;
    // A `#` inside a word is a part of it.
    let before = text[..at].chars().next_back();
    if *mark == "#" && before.is_some_and(|c| !c.is_whitespace() && c != ';') {
        return None;
    }
    Some(rest.find('\n').unwrap_or(rest.len()))
}

/// What only the beginning of a line can be.
fn line_start(rules: &LanguageRules, rest: &str) -> Option<(WordClass, usize)> {
    // Keys are short; a line of nothing but their beginnings may be long.
    let near = &rest[..rest.floor_char_boundary(LONGEST_KEY)];
    let line = near.find('\n').map_or(near, |end| &near[..end]);
    match rules.keys {
        KeyStyle::Settings if line.starts_with('[') => {
            let len = line.rfind(']').map_or(line.len(), |end| end + 1);
            Some((WordClass::Keyword, len))
        }
        KeyStyle::Settings | KeyStyle::Lines => {
            let mark = if rules.keys == KeyStyle::Lines {
                ':'
            } else {
                '='
            };
            let len = line
                .find(|c: char| !is_inside(c) && !matches!(c, '-' | '.' | '"' | '\'' | '/'))
                .unwrap_or(line.len());
            (len > 0 && is_key(&line[len..], mark)).then_some((WordClass::Name, len))
        }
        _ if rules.directives && line.starts_with('#') => {
            let bare = line[1..].trim_start_matches(' ');
            let word = bare.find(|c: char| !is_inside(c)).unwrap_or(bare.len());
            Some((WordClass::Name, line.len() - bare.len() + word))
        }
        _ => None,
    }
}

/// Whether a key ends here.
fn is_key(behind: &str, mark: char) -> bool {
    let behind = behind.trim_start_matches([' ', '\t']).strip_prefix(mark);
    // `a::b` and `a == b` are no keys.
    behind.is_some_and(|after| !after.starts_with(mark))
}

fn string_len(rules: &LanguageRules, rest: &str) -> Option<usize> {
    if rules.raw_strings
        && let Some(len) = raw_string(rest)
    {
        return Some(len);
    }
    let quote = rules.quotes.iter().find(|q| rest.starts_with(q.mark))?;
    let start = quote.mark.len();
    if rules.lifetimes && quote.mark == "'" && !is_character(&rest[start..]) {
        return None;
    }
    let mut escaped = false;
    for (at, c) in rest[start..].char_indices() {
        let at = start + at;
        if escaped {
            escaped = false;
        } else if c == '\\' && quote.escapes {
            escaped = true;
        } else if c == '\n' && !quote.lines {
            return Some(at);
        } else if rest[at..].starts_with(quote.mark) {
            return Some(at + quote.mark.len());
        }
    }
    Some(rest.len())
}

/// Whether a quote is that of a character, not that of a lifetime.
fn is_character(inside: &str) -> bool {
    let mut chars = inside.chars();
    match chars.next() {
        Some('\\') => true,
        Some(_) => chars.next() == Some('\''),
        None => false,
    }
}

/// `r"…"`, `r#"…"#`, also with `b` before.
fn raw_string(rest: &str) -> Option<usize> {
    let marks = rest.trim_start_matches('b').strip_prefix('r')?;
    let inside = marks.trim_start_matches('#');
    let hashes = marks.len() - inside.len();
    let start = rest.len() - inside.strip_prefix('"')?.len();
    if hashes > 16 {
        return None;
    }
    let close = format!("\"{}", "#".repeat(hashes));
    let end = rest[start..]
        .find(&close)
        .map(|end| start + end + close.len());
    Some(end.unwrap_or(rest.len()))
}

/// What a sign begins: a variable, a decorator, an attribute, a lifetime, a colour.
fn lex_sign(rules: &LanguageRules, rest: &str, first: char) -> Option<(WordClass, usize)> {
    let after = &rest[first.len_utf8()..];
    let name = || after.find(|c: char| !is_inside(c)).unwrap_or(after.len());
    match first {
        '$' if rules.variables => {
            if after.starts_with('{') {
                let end = after.find(['}', '\n']).map(|end| end + 2);
                return Some((WordClass::Variable, end.unwrap_or(rest.len())));
            }
            let len = match (name(), after.chars().next()) {
                (0, Some('#' | '?' | '@' | '*' | '!' | '$')) => 1,
                (len, _) => len,
            };
            (len > 0).then_some((WordClass::Variable, 1 + len))
        }
        '@' if rules.decorators && after.starts_with(is_start) => {
            let end = after.find(|c: char| !is_inside(c) && !matches!(c, '.' | '-'));
            Some((WordClass::Name, 1 + end.unwrap_or(after.len())))
        }
        '#' if rules.attributes && after.trim_start_matches('!').starts_with('[') => {
            let line = rest.find('\n').map_or(rest, |end| &rest[..end]);
            Some((
                WordClass::Name,
                line.rfind(']').map_or(line.len(), |end| end + 1),
            ))
        }
        '\'' if rules.lifetimes && name() > 0 => Some((WordClass::Type, 1 + name())),
        '#' if rules.colours && after.starts_with(|c: char| c.is_ascii_hexdigit()) => {
            Some((WordClass::Number, 1 + name()))
        }
        _ => None,
    }
}

fn number_len(rest: &str) -> usize {
    let mut before = ' ';
    let mut chars = rest.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, c)| *c);
        let goes_on = match c {
            '.' => before.is_ascii_digit() && next.is_some_and(|c| c.is_ascii_digit()),
            '+' | '-' => matches!(before, 'e' | 'E') && !rest.starts_with("0x"),
            c => c.is_ascii_alphanumeric() || matches!(c, '_' | '%'),
        };
        if !goes_on {
            return at;
        }
        before = c;
    }
    rest.len()
}

fn name_len(rules: &LanguageRules, rest: &str) -> usize {
    let inside = |c: char| is_inside(c) || (c == '-' && rules.dashes);
    rest.find(|c| !inside(c)).unwrap_or(rest.len())
}

fn is_start(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

fn is_inside(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}
