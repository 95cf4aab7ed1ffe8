//! Whether a text has what a query wants, and where.

use std::collections::HashMap;
use std::ops::Range;

use regex::Regex;

use crate::query::{FilterName, Query, SearchTerm};
use crate::texts::{SearchText, TextKind};
use crate::tokens::{Token, Tokens};
use crate::touched::AskedPath;

/// The most places of an expression that are told of a text.
const MOST_REGEX_PLACES: usize = 1000;

/// Looks for the terms of a query in texts.
#[derive(Debug)]
pub struct TextMatcher {
    words: HashMap<String, usize>,
    prefixes: HashMap<String, usize>,
    /// The lengths of the prefixes in bytes, each once.
    prefix_lengths: Vec<usize>,
    slots: usize,
    clauses: Vec<ClauseMatcher>,
}

#[derive(Debug)]
struct ClauseMatcher {
    any: Vec<TermMatcher>,
    is_negated: bool,
}

#[derive(Debug)]
enum TermMatcher {
    /// Words that follow each other, by their slots.
    Words(Vec<usize>),
    Regex(Regex),
}

/// A word of the query in a text.
#[derive(Clone, Debug)]
struct Occurrence {
    position: u32,
    range: Range<usize>,
}

/// What was found in a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextMatch {
    /// Where the terms that are wanted stand, in order, none inside another.
    pub ranges: Vec<Range<usize>>,
    /// How many words the text has.
    pub words: u32,
}

impl TextMatcher {
    /// Looks for what this query wants.
    pub fn new(query: &Query) -> Self {
        let mut matcher = Self {
            words: HashMap::new(),
            prefixes: HashMap::new(),
            prefix_lengths: Vec::new(),
            slots: 0,
            clauses: Vec::new(),
        };
        for clause in &query.terms {
            let any = clause.any.iter().map(|term| match term {
                SearchTerm::Regex(regex) => TermMatcher::Regex(regex.clone()),
                SearchTerm::Words { words, is_prefix } => {
                    TermMatcher::Words(matcher.slots_of(words, *is_prefix))
                }
            });
            let any = any.collect();
            matcher.clauses.push(ClauseMatcher {
                any,
                is_negated: clause.is_negated,
            });
        }
        matcher
    }

    fn slots_of(&mut self, words: &[String], is_prefix: bool) -> Vec<usize> {
        let last = words.len().saturating_sub(1);
        let mut slots = Vec::with_capacity(words.len());
        for (at, word) in words.iter().enumerate() {
            let is_start = is_prefix && at == last;
            if is_start && !self.prefix_lengths.contains(&word.len()) {
                self.prefix_lengths.push(word.len());
            }
            let known = if is_start {
                &mut self.prefixes
            } else {
                &mut self.words
            };
            let next = self.slots;
            let slot = *known.entry(word.clone()).or_insert(next);
            self.slots = self.slots.max(slot + 1);
            slots.push(slot);
        }
        slots
    }

    /// What is found in a text; none where it has not all that is wanted, or something that is not.
    pub fn find_in(&self, text: &str) -> Option<TextMatch> {
        let (found, words) = self.occurrences(text);
        let mut ranges = Vec::new();
        for clause in &self.clauses {
            let mut has_any = false;
            for term in &clause.any {
                match term {
                    TermMatcher::Words(slots) => has_any |= find_phrase(&found, slots, &mut ranges),
                    TermMatcher::Regex(regex) if clause.is_negated => {
                        has_any |= regex.is_match(text);
                    }
                    TermMatcher::Regex(regex) => {
                        let before = ranges.len();
                        let places = regex.find_iter(text).take(MOST_REGEX_PLACES);
                        ranges.extend(places.map(|place| place.range()));
                        has_any |= ranges.len() > before;
                    }
                }
            }
            if has_any == clause.is_negated {
                return None;
            }
        }
        Some(TextMatch {
            ranges: joined(ranges),
            words,
        })
    }

    /// Where the words of the query stand in a text, and how many words it has.
    fn occurrences(&self, text: &str) -> (Vec<Vec<Occurrence>>, u32) {
        let mut found: Vec<Vec<Occurrence>> = vec![Vec::new(); self.slots];
        let mut tokens = Tokens::of(text);
        let mut words = 0;
        let mut add = |slot: usize, token: &Token| {
            if let Some(places) = found.get_mut(slot) {
                places.push(Occurrence {
                    position: token.position,
                    range: token.range.clone(),
                });
            }
        };
        while let Some(token) = tokens.next_token() {
            words = token.position.saturating_add(1);
            if let Some(slot) = self.words.get(&token.term) {
                add(*slot, token);
            }
            for length in &self.prefix_lengths {
                let start = token.term.get(..*length);
                if let Some(slot) = start.and_then(|start| self.prefixes.get(start)) {
                    add(*slot, token);
                }
            }
        }
        (found, words)
    }
}

/// Finds words that follow each other. Says whether there are any.
fn find_phrase(found: &[Vec<Occurrence>], slots: &[usize], ranges: &mut Vec<Range<usize>>) -> bool {
    let places = |slot: &usize| found.get(*slot).map(Vec::as_slice).unwrap_or_default();
    let Some((first, rest)) = slots.split_first() else {
        return false;
    };
    let before = ranges.len();
    'starts: for start in places(first) {
        let mut end = start.range.end;
        for (behind, slot) in (1_u32..).zip(rest) {
            let wanted = start.position.saturating_add(behind);
            let all = places(slot);
            let from = all.partition_point(|place| place.position < wanted);
            match all.get(from).filter(|place| place.position == wanted) {
                Some(place) => end = place.range.end,
                None => continue 'starts,
            }
        }
        ranges.push(start.range.start..end.max(start.range.end));
    }
    ranges.len() > before
}

/// Ranges in order, those that touch or overlap as one.
fn joined(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    let mut all: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match all.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => all.push(range),
        }
    }
    all
}

/// What is wanted of a text beside its words, and of a conversation as far as its texts tell.
#[derive(Debug)]
pub(crate) struct TextFilters<'q> {
    query: &'q Query,
    files: Vec<AskedFiles>,
    /// Whether there are no terms, so that filters of conversations choose texts as well.
    chooses_texts: bool,
}

/// The paths of a filter.
#[derive(Debug)]
pub(crate) struct AskedFiles {
    pub(crate) any: Vec<AskedPath>,
    pub(crate) is_negated: bool,
}

/// What the texts of a conversation tell of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConversationFacts {
    pub(crate) has_error: bool,
    pub(crate) has_image: bool,
    /// For each filter of files, whether one of its paths was touched.
    pub(crate) touched: Vec<bool>,
}

impl<'q> TextFilters<'q> {
    pub(crate) fn new(query: &'q Query) -> Self {
        let files = query.filters_of(FilterName::File).map(|clause| AskedFiles {
            any: clause.any.iter().map(|path| AskedPath::new(path)).collect(),
            is_negated: clause.is_negated,
        });
        Self {
            files: files.collect(),
            chooses_texts: query.terms.is_empty(),
            query,
        }
    }

    /// Whether all texts of a conversation must be looked at, also those without the words.
    pub(crate) fn needs_all_texts(&self) -> bool {
        let needs = [FilterName::File, FilterName::Has, FilterName::Tool];
        needs.into_iter().any(|name| self.query.has_filter(name))
    }

    /// The filters of files.
    pub(crate) fn files(&self) -> &[AskedFiles] {
        &self.files
    }

    /// Whether a text of this kind is wanted.
    pub(crate) fn wants_kind(&self, kind: TextKind) -> bool {
        self.query.filters_of(FilterName::Role).all(|clause| {
            let role = kind.role().map_or("", crate::texts::TextRole::word);
            clause.passes(|asked| asked == role || asked == "agent" && role == "assistant")
        })
    }

    /// Whether a text is wanted, whatever its words.
    pub(crate) fn wants_text(&self, text: &SearchText) -> bool {
        let tool = text.tool.as_deref().map(folded_tool).unwrap_or_default();
        let wants_tool = |clause: &crate::FilterClause| {
            clause.passes(|asked| !tool.is_empty() && is_tool(&tool, &folded_tool(asked)))
        };
        self.wants_kind(text.kind)
            && self.query.filters_of(FilterName::Tool).all(wants_tool)
            && (!self.chooses_texts || self.chooses(text))
    }

    /// Whether a text is what a filter of conversations is about, where nothing else is asked for.
    fn chooses(&self, text: &SearchText) -> bool {
        let wanted = || self.files.iter().filter(|files| !files.is_negated);
        if wanted().next().is_some() {
            return wanted().any(|files| files.touches(text));
        }
        let has: Vec<&str> = self.wanted_has();
        has.is_empty()
            || has.iter().any(|has| match *has {
                "error" => text.is_error,
                _ => text.has_image,
            })
    }

    /// What a conversation must have.
    pub(crate) fn wanted_has(&self) -> Vec<&str> {
        let clauses = self.query.filters_of(FilterName::Has);
        let wanted = clauses.filter(|clause| !clause.is_negated);
        wanted
            .flat_map(|clause| clause.any.iter().map(String::as_str))
            .collect()
    }

    /// Adds what a text tells of its conversation.
    pub(crate) fn note(&self, text: &SearchText, facts: &mut ConversationFacts) {
        facts.has_error |= text.is_error;
        facts.has_image |= text.has_image;
        facts.touched.resize(self.files.len(), false);
        for (files, touched) in self.files.iter().zip(&mut facts.touched) {
            *touched = *touched || files.touches(text);
        }
    }

    /// Whether a conversation is wanted, by what its texts tell.
    pub(crate) fn wants_conversation(&self, facts: &ConversationFacts) -> bool {
        let has = |clause: &crate::FilterClause| {
            clause.passes(|asked| match asked {
                "error" => facts.has_error,
                _ => facts.has_image,
            })
        };
        let touched = |at: usize| facts.touched.get(at).copied().unwrap_or_default();
        let mut files = self.files.iter().enumerate();
        self.query.filters_of(FilterName::Has).all(has)
            && files.all(|(at, files)| touched(at) != files.is_negated)
    }
}

impl AskedFiles {
    /// Whether a call touches one of the paths.
    fn touches(&self, text: &SearchText) -> bool {
        let has = |path: &str| self.any.iter().any(|asked| asked.has(path));
        text.files.iter().any(|file| has(&file.path))
    }
}

/// The name of a tool as names of tools are compared.
pub(crate) fn folded_tool(name: &str) -> String {
    name.trim().to_lowercase()
}

/// Whether a tool is the one that is asked for: by its name, or by the end of it behind the server that
/// it belongs to, as in `mcp__github__search`.
pub(crate) fn is_tool(tool: &str, asked: &str) -> bool {
    let end = tool.strip_suffix(asked);
    end.is_some_and(|before| {
        before.is_empty() || before.ends_with("__") || before.ends_with(['.', '/', ':'])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(query: &str, text: &str) -> Option<Vec<String>> {
        let query = Query::parse(query).unwrap();
        let found = TextMatcher::new(&query).find_in(text)?;
        Some(
            found
                .ranges
                .into_iter()
                .map(|r| text[r].to_owned())
                .collect(),
        )
    }

    #[test]
    fn words_phrases_prefixes_and_exclusions() {
        let text =
            "Keep the target in a Cookie, so that the redirect survives getUserName in src/main.rs";
        for (query, expected) in [
            ("cookie redirect", Some(vec!["Cookie", "redirect"])),
            ("cookie missing", None),
            ("\"the redirect\"", Some(vec!["the redirect"])),
            ("\"redirect the\"", None),
            ("surv*", Some(vec!["survives"])),
            ("cookie -redirect", None),
            ("cookie -missing", Some(vec!["Cookie"])),
            ("missing OR target", Some(vec!["target"])),
            ("user", Some(vec!["User"])),
            ("getusername", Some(vec!["getUserName"])),
            ("src/main.rs", Some(vec!["src/main.rs"])),
            ("\"in src ma\"*", Some(vec!["in src/main"])),
            ("/red[a-z]+t/", Some(vec!["redirect"])),
            ("/REDIRECT/", None),
            ("/REDIRECT/i target", Some(vec!["target", "redirect"])),
            ("-/redirect/ target", None),
        ] {
            let expected = expected.map(|e| e.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(found(query, text), expected, "{query}");
        }
    }

    #[test]
    fn words_of_other_scripts() {
        for (query, text, is_there) in [
            ("日本", "これは日本語です", true),
            ("日本語", "これは日本語です", true),
            ("語", "これは日本語", true),
            ("本", "これは日本語", true),
            ("語日", "これは日本語", false),
            ("\"日本語 ok\"", "日本語 ok", true),
            ("cafe", "un Cafe\u{301}!", true),
            ("café", "CAFE", true),
            ("안녕", "안녕하세요", true),
            ("привет", "ПРИВЕТ мир", true),
            ("שלום", "שָׁלוֹם", true),
            ("สวัสดี", "สวัสดี ครับ", true),
            ("नमस्ते", "नमस्ते दुनिया", true),
            ("ελλάδα", "ΕΛΛΑΔΑ", true),
            ("مرحبا", "مَرْحَبًا", true),
            ("გამარჯობა", "გამარჯობა!", true),
        ] {
            assert_eq!(found(query, text).is_some(), is_there, "{query} in {text}");
        }
    }

    #[test]
    fn tools_are_named_with_or_without_their_server() {
        assert!(is_tool("bash", "bash"));
        assert!(is_tool("mcp__github__search", "search"));
        assert!(is_tool("functions.shell", "shell"));
        assert!(!is_tool("websearch", "search"));
    }
}
