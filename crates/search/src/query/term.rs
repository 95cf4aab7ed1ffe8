//! What a text must have, or must not have.

use regex::{Regex, RegexBuilder};

use super::QueryError;
use crate::tokens::{TokenKind, Tokens};

/// How large a regular expression may become when it is compiled, in bytes.
const MOST_REGEX: usize = 4 << 20;
/// How much memory its matching may use for what it remembers, in bytes.
const MOST_REGEX_CACHE: usize = 4 << 20;
/// How deep its groups may nest.
const DEEPEST_REGEX: u32 = 64;

/// Any of some terms, or none of them.
#[derive(Clone, Debug)]
pub struct TermClause {
    /// The terms, of which any will do.
    pub any: Vec<SearchTerm>,
    /// Whether the text must not have them.
    pub is_negated: bool,
}

/// Something that a text has or has not.
#[derive(Clone, Debug)]
pub enum SearchTerm {
    /// Words that follow each other; often only one.
    Words {
        /// The words, folded.
        words: Vec<String>,
        /// Whether the last of them is only the beginning of a word.
        is_prefix: bool,
    },
    /// A regular expression, for the text as it is.
    Regex(Regex),
}

impl SearchTerm {
    /// The words of what was typed; none where it has no letters and no digits.
    pub(crate) fn words(typed: &str, is_prefix: bool) -> Option<Self> {
        let mut words: Vec<String> = Vec::new();
        let mut last = TokenKind::Word;
        let mut tokens = Tokens::of(typed);
        while let Some(token) = tokens.next_token() {
            if token.kind != TokenKind::Part {
                words.push(token.term.clone());
                last = token.kind;
            }
        }
        // Whatever follows there, the last pair says as much.
        if last == TokenKind::RunEnd {
            words.pop();
        }
        // One character of such a script begins pairs, or ends a run.
        let is_prefix = is_prefix || last == TokenKind::Single;
        (!words.is_empty()).then_some(Self::Words { words, is_prefix })
    }

    /// A regular expression as it was typed between slashes.
    pub(crate) fn regex(pattern: &str, ignores_case: bool) -> Result<Self, QueryError> {
        let built = RegexBuilder::new(pattern)
            .case_insensitive(ignores_case)
            .multi_line(true)
            .size_limit(MOST_REGEX)
            .dfa_size_limit(MOST_REGEX_CACHE)
            .nest_limit(DEEPEST_REGEX)
            .build();
        built.map(Self::Regex).map_err(|e| {
            let why = e.to_string();
            let last = why.lines().rev().find(|line| !line.trim().is_empty());
            let last = last.unwrap_or_default().trim();
            QueryError::Regex {
                pattern: pattern.to_owned(),
                why: last.strip_prefix("error: ").unwrap_or(last).to_owned(),
            }
        })
    }
}
