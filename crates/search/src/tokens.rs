//! The words of a text: one function for queries, the scan and the index, so that they mean the same.
//!
//! A segment is a run of letters and digits, folded ([`crate::fold`]), of which the first 64 bytes count.
//! Its number is its position. Parts of `camelCase` are extra words at the same position. Chinese,
//! Japanese and Korean are pairs of characters and the last of a run. Base64 is no word.

use std::ops::Range;

use crate::fold::{fold_into, is_paired, is_word_char};

/// So many bytes of a word count: the longest that an index keeps whole, and more than anybody types.
pub(crate) const LONGEST_WORD: usize = 64;

/// Shorter runs are never taken for base64.
const LEAST_BASE64: usize = 64;

/// A word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The word, folded.
    pub term: String,
    /// Its number in the text. A word and its parts have the same.
    pub position: u32,
    /// Where it stands in the text.
    pub range: Range<usize>,
    /// What it is.
    pub kind: TokenKind,
}

/// What a word of a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A run of letters and digits.
    Word,
    /// A part of one, at the same position.
    Part,
    /// Two characters of a script without spaces.
    Pair,
    /// The last character of a run of such, which is in the last pair as well.
    RunEnd,
    /// A run of one such character.
    Single,
}

/// The words of a text, one after the other.
#[derive(Clone, Debug)]
pub struct Tokens<'a> {
    text: &'a str,
    at: usize,
    /// Up to where the text was looked through for base64.
    checked: usize,
    position: u32,
    /// What is left of a run of paired characters, as byte ranges of the text with the folded character.
    pairs: Vec<PairedChar>,
    next_pair: usize,
    /// The parts of the word that was given last, the last of them first.
    parts: Vec<Range<usize>>,
    token: Token,
}

#[derive(Clone, Debug)]
struct PairedChar {
    folded: String,
    range: Range<usize>,
}

impl<'a> Tokens<'a> {
    /// The words of this text.
    pub fn of(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            checked: 0,
            position: 0,
            pairs: Vec::new(),
            next_pair: 0,
            parts: Vec::new(),
            token: Token {
                term: String::new(),
                position: 0,
                range: 0..0,
                kind: TokenKind::Word,
            },
        }
    }

    /// The next word. It is valid until the next call.
    pub fn next_token(&mut self) -> Option<&Token> {
        if let Some(part) = self.parts.pop() {
            self.set_token(part, TokenKind::Part);
            return Some(&self.token);
        }
        if self.give_pair() {
            return Some(&self.token);
        }
        loop {
            let start = self.next_word_start()?;
            if let Some(end) = self.base64_end(start) {
                self.at = end;
                self.position = self.position.saturating_add(1);
                continue;
            }
            let (end, is_pairs) = self.end_of_run(start);
            self.at = end;
            if is_pairs {
                self.collect_pairs(start..end);
                if self.give_pair() {
                    return Some(&self.token);
                }
                continue;
            }
            self.find_parts(start..end);
            self.set_token(start..end, TokenKind::Word);
            // Marks that stand alone leave nothing.
            if self.token.term.is_empty() {
                self.parts.clear();
                continue;
            }
            self.token.position = self.position;
            self.position = self.position.saturating_add(1);
            return Some(&self.token);
        }
    }

    /// The word that was given last.
    pub fn current(&self) -> &Token {
        &self.token
    }

    fn set_token(&mut self, range: Range<usize>, kind: TokenKind) {
        let token = &mut self.token;
        token.term.clear();
        let word = self.text.get(range.clone()).unwrap_or_default();
        // Folding never makes a text three times as long, and what is cut need not be folded.
        let head = cut(word, LONGEST_WORD * 4);
        fold_into(head, &mut token.term);
        let len = cut(&token.term, LONGEST_WORD).len();
        token.term.truncate(len);
        token.range = range;
        token.kind = kind;
    }

    fn next_word_start(&self) -> Option<usize> {
        let rest = self.text.get(self.at..)?;
        let bytes = rest.as_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            if byte.is_ascii() {
                if byte.is_ascii_alphanumeric() {
                    return Some(self.at + at);
                }
                at += 1;
                continue;
            }
            let c = rest.get(at..)?.chars().next()?;
            if is_word_char(c) {
                return Some(self.at + at);
            }
            at += c.len_utf8();
        }
        None
    }

    /// Where a run of characters ends that are one word, or that are pairs.
    fn end_of_run(&self, start: usize) -> (usize, bool) {
        let rest = self.text.get(start..).unwrap_or_default();
        let is_pairs = rest.chars().next().is_some_and(is_paired);
        let bytes = rest.as_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            if byte.is_ascii() {
                if is_pairs || !byte.is_ascii_alphanumeric() {
                    break;
                }
                at += 1;
                continue;
            }
            let Some(c) = rest.get(at..).and_then(|rest| rest.chars().next()) else {
                break;
            };
            // Marks belong to whatever they stand on.
            let is_mark = unicode_normalization::char::is_combining_mark(c);
            if !is_word_char(c) || !is_mark && is_paired(c) != is_pairs {
                break;
            }
            at += c.len_utf8();
        }
        (start + at, is_pairs)
    }

    /// Where a run of base64 ends that begins here.
    fn base64_end(&mut self, start: usize) -> Option<usize> {
        if start < self.checked {
            return None;
        }
        let bytes = self.text.as_bytes().get(start..)?;
        let is_base64 = |b: &u8| b.is_ascii_alphanumeric() || b"+/=".contains(b);
        let len = bytes.iter().take_while(|b| is_base64(b)).count();
        self.checked = start + len;
        let run = bytes.get(..len).filter(|run| run.len() >= LEAST_BASE64)?;
        is_random(run).then_some(self.checked)
    }

    fn collect_pairs(&mut self, range: Range<usize>) {
        self.pairs.clear();
        self.next_pair = 0;
        let run = self.text.get(range.clone()).unwrap_or_default();
        let mut folded = String::new();
        fold_into(run, &mut folded);
        // Where folding kept every character, each is known by its place; else by that of the run.
        let is_same = folded == run;
        for (at, c) in folded.char_indices() {
            let place = range.start + at;
            self.pairs.push(PairedChar {
                folded: c.to_string(),
                range: if is_same {
                    place..place + c.len_utf8()
                } else {
                    range.clone()
                },
            });
        }
    }

    /// Gives the next pair, or the last character of a run.
    fn give_pair(&mut self) -> bool {
        let Some(first) = self.pairs.get(self.next_pair) else {
            return false;
        };
        let token = &mut self.token;
        token.term.clear();
        token.term.push_str(&first.folded);
        token.range = first.range.clone();
        token.kind = if let Some(second) = self.pairs.get(self.next_pair + 1) {
            token.term.push_str(&second.folded);
            token.range.end = second.range.end;
            TokenKind::Pair
        } else if self.next_pair > 0 {
            TokenKind::RunEnd
        } else {
            TokenKind::Single
        };
        token.position = self.position;
        self.position = self.position.saturating_add(1);
        self.next_pair += 1;
        true
    }

    /// Finds the parts of `camelCase`, if there is more than one.
    fn find_parts(&mut self, range: Range<usize>) {
        self.parts.clear();
        let word = self.text.get(range.clone()).unwrap_or_default();
        if word.len() < 3
            || !word
                .bytes()
                .any(|b| b.is_ascii_uppercase() || !b.is_ascii())
        {
            return;
        }
        let word = cut(word, LONGEST_WORD * 4);
        let mut start = 0;
        let mut before: Option<char> = None;
        let mut chars = word.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let next = chars.peek().map(|(_, next)| *next);
            let begins = c.is_uppercase()
                && before.is_some_and(|before| {
                    !before.is_uppercase() || next.is_some_and(char::is_lowercase)
                });
            if begins && at > start {
                self.parts.push(range.start + start..range.start + at);
                start = at;
            }
            // A mark says nothing of the letter that it stands on.
            if !unicode_normalization::char::is_combining_mark(c) {
                before = Some(c);
            }
        }
        if start > 0 {
            self.parts
                .push(range.start + start..range.start + word.len());
        }
        self.parts.reverse();
    }
}

/// Whether a run of letters and digits looks like base64: cases and digits change all the time.
fn is_random(run: &[u8]) -> bool {
    let class = |b: &u8| match b {
        b'a'..=b'z' => 0_u8,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let has = |wanted: u8| run.iter().any(|b| class(b) == wanted);
    let pairs = run.iter().zip(run.iter().skip(1));
    let changes = pairs.filter(|(a, b)| class(a) != class(b) && class(a) < 3 && class(b) < 3);
    let changes = changes.count();
    has(0) && has(1) && has(2) && changes * 4 >= run.len()
}

/// The beginning of a text, at most so many bytes, without cutting a character.
pub(crate) fn cut(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut tokens = Tokens::of(text);
        let mut all = Vec::new();
        while let Some(token) = tokens.next_token() {
            let mark = if token.kind == TokenKind::Part {
                "+"
            } else {
                ""
            };
            all.push(format!("{}{mark}{}", token.position, token.term));
        }
        all
    }

    #[test]
    fn words_are_segments_parts_and_pairs() {
        for (text, expected) in [
            ("Fix the redirect!", &["0fix", "1the", "2redirect"][..]),
            ("get_user_name", &["0get", "1user", "2name"]),
            ("src/main.rs:12", &["0src", "1main", "2rs", "312"]),
            ("OpenCode", &["0opencode", "0+open", "0+code"]),
            (
                "parseHTTPServer2",
                &["0parsehttpserver2", "0+parse", "0+http", "0+server2"],
            ),
            (
                "IDs and URLs",
                &["0ids", "0+i", "0+ds", "1and", "2urls", "2+ur", "2+ls"],
            ),
            ("ÜberSicht", &["0ubersicht", "0+uber", "0+sicht"]),
            ("日本語 ok", &["0日本", "1本語", "2語", "3ok"]),
            ("東京Tower", &["0東京", "1京", "2tower"]),
            ("👍 nice 🦀🦀", &["0nice"]),
            ("привет, Мир", &["0привет", "1мир"]),
            ("", &[]),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn base64_is_no_word_and_a_long_path_is() {
        let base64 = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
        assert_eq!(words(&format!("a {base64} b")), ["0a", "2b"]);
        let path =
            "/Users/Ann/Projects/shop2/packages/frontend/src/components/LoginForm/index2/Deep";
        assert!(
            words(path).contains(&"5frontend".to_owned()),
            "{:?}",
            words(path)
        );
        let long = "x".repeat(200);
        assert_eq!(words(&long), [format!("0{}", "x".repeat(64))]);
    }

    proptest! {
        #[test]
        fn any_text_has_words_in_order_inside_of_it(text in ".{0,200}") {
            let mut tokens = Tokens::of(&text);
            let mut last = 0;
            while let Some(token) = tokens.next_token() {
                prop_assert!(token.position >= last);
                last = token.position;
                prop_assert!(!token.term.is_empty() && token.term.len() <= LONGEST_WORD);
                prop_assert!(text.get(token.range.clone()).is_some());
            }
        }

        #[test]
        fn a_word_alone_is_the_word_in_a_sentence(word in "[a-zA-Zé日ü\u{301}0-9]{1,20}") {
            prop_assume!(!word.starts_with('\u{301}'));
            let alone: Vec<String> = words(&word);
            let within = words(&format!("{word} end"));
            prop_assert_eq!(&within[..alone.len()], &alone[..]);
        }
    }
}
