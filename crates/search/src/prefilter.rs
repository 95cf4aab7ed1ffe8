//! Whether bytes of a source can hold what a query wants, before anything is decoded.
//!
//! A word stands in JSON as it is spelled, in any case, unless letters of it have accents, or are written
//! as escapes. So what has such letters passes, whatever else it holds.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};
use rethread_disk::open_read;

use crate::query::{Query, SearchTerm};
use crate::tokens::{TokenKind, Tokens};

/// Letters that fold to letters of ASCII: with accents, or followed by one, raw or as an escape; and
/// letters of ASCII that are written as escapes.
const FOLDING: &str = r"[\xc3-\xcd]|\xe1[\xb8-\xbb]|\xe2\x84[\xaa\xab]|\xd6[\x91-\xbf]|\xd7[\x80-\x87]|\xd8[\x90-\x9a]|\xd9[\x8b-\x9f\xb0]|\\u(?:00(?:3[0-9]|[4-7c-fC-F])|0[1-3]|05[9a-cA-C]|06[1-7]|1[eE]|212[abAB])";
/// Letters that are not of ASCII, raw or as an escape.
const OTHER: &str = r"[\x80-\xff]|\\u(?:00[89a-fA-F]|0[1-9a-fA-F]|[1-9a-fA-F])";

/// So much of a file is looked at at once.
const CHUNK: usize = 1 << 20;
/// Longer than any word, with its escapes.
const OVERLAP: usize = 256;
/// A query of more clauses is looked for by some of them.
const MOST_CLAUSES: usize = 16;
/// A clause of more terms lets everything pass.
const MOST_TERMS: usize = 32;

/// Looks for the words of a query in bytes.
#[derive(Debug)]
pub(crate) struct BytePrefilter {
    /// Of each of these, something must be there.
    clauses: Vec<Regex>,
}

/// Whether bytes pass whatever else they hold.
fn has_folding_letters(bytes: &[u8]) -> bool {
    static LETTERS: LazyLock<Option<Regex>> =
        LazyLock::new(|| RegexBuilder::new(FOLDING).unicode(false).build().ok());
    LETTERS
        .as_ref()
        .is_none_or(|letters| letters.is_match(bytes))
}

/// Whether records may hold all words of a text, as far as bytes tell.
pub(crate) fn holds_words(records: &[Vec<u8>], text: &str) -> bool {
    let lower: Vec<Vec<u8>> = records.iter().map(|r| r.to_ascii_lowercase()).collect();
    let may_be_spelled_otherwise = records.iter().any(|record| has_folding_letters(record));
    let mut tokens = Tokens::of(text);
    while let Some(token) = tokens.next_token() {
        let is_looked_for = token.kind != TokenKind::Part && token.term.is_ascii();
        if !is_looked_for || may_be_spelled_otherwise {
            continue;
        }
        let finder = memchr::memmem::Finder::new(&token.term);
        if !lower.iter().any(|record| finder.find(record).is_some()) {
            return false;
        }
    }
    true
}

impl BytePrefilter {
    /// Looks for what this query wants; none where anything could be it.
    pub(crate) fn new(query: &Query) -> Option<Self> {
        let patterns: Vec<String> = query
            .wanted_terms()
            .filter(|clause| clause.any.len() <= MOST_TERMS)
            .filter_map(|clause| {
                let any: Option<Vec<String>> = clause.any.iter().map(pattern_of).collect();
                any.map(|any| any.join("|"))
            })
            .take(MOST_CLAUSES)
            .collect();
        let build = |pattern: &String| {
            let mut builder = RegexBuilder::new(pattern);
            builder.unicode(false).case_insensitive(true).build().ok()
        };
        let clauses: Vec<Regex> = patterns.iter().map(build).collect::<Option<_>>()?;
        if clauses.is_empty() {
            return None;
        }
        Some(Self { clauses })
    }

    /// A look at some bytes.
    pub(crate) fn look(&self) -> PrefilterLook<'_> {
        PrefilterLook {
            filter: self,
            found: vec![false; self.clauses.len()],
            passes: false,
        }
    }

    /// Whether a file may hold it. One that cannot be read may.
    pub(crate) fn passes_file(&self, path: &Path) -> bool {
        let Ok(mut file) = open_read(path) else {
            return true;
        };
        let mut look = self.look();
        let mut buffer = vec![0; CHUNK + OVERLAP];
        let mut kept = 0;
        loop {
            let Some(count) = fill(&mut file, &mut buffer, kept) else {
                return true;
            };
            let end = kept + count;
            let bytes = buffer.get(..end).unwrap_or_default();
            if look.add(bytes) {
                return true;
            }
            if count == 0 {
                return false;
            }
            // A word may go on in what comes next.
            let keep = OVERLAP.min(end);
            buffer.copy_within(end - keep..end, 0);
            kept = keep;
        }
    }
}

/// Fills a buffer behind what is kept in it. Gives how much came.
fn fill(file: &mut File, buffer: &mut [u8], kept: usize) -> Option<usize> {
    let mut count = 0;
    while let Some(room) = buffer
        .get_mut(kept + count..)
        .filter(|room| !room.is_empty())
    {
        match file.read(room) {
            Ok(0) => break,
            Ok(read) => count += read,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    Some(count)
}

/// What was found so far.
pub(crate) struct PrefilterLook<'p> {
    filter: &'p BytePrefilter,
    found: Vec<bool>,
    passes: bool,
}

impl PrefilterLook<'_> {
    /// Looks at more bytes. Says whether all of them together may hold what is wanted.
    pub(crate) fn add(&mut self, bytes: &[u8]) -> bool {
        if self.passes {
            return true;
        }
        for (found, clause) in self.found.iter_mut().zip(&self.filter.clauses) {
            *found = *found || clause.is_match(bytes);
        }
        self.passes = self.found.iter().all(|found| *found) || has_folding_letters(bytes);
        self.passes
    }
}

/// What must be in the bytes if the term is in the text; none where that is not known.
fn pattern_of(term: &SearchTerm) -> Option<String> {
    let SearchTerm::Words { words, .. } = term else {
        return None;
    };
    let ascii = words.iter().filter(|word| word.is_ascii());
    Some(match ascii.max_by_key(|word| word.len()) {
        Some(word) => regex::escape(word),
        None => OTHER.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fold::fold_into;

    fn passes(query: &str, bytes: &[u8]) -> bool {
        let filter = BytePrefilter::new(&Query::parse(query).unwrap()).unwrap();
        filter.look().add(bytes)
    }

    #[test]
    fn every_letter_that_folds_to_ascii_passes_raw_and_escaped() {
        let filter = BytePrefilter::new(&Query::parse("word").unwrap()).unwrap();
        for c in ('\0'..=char::MAX).filter(|c| !c.is_ascii()) {
            let mut folded = String::new();
            fold_into(c.encode_utf8(&mut [0; 4]), &mut folded);
            if !folded.is_empty() && !folded.contains(|c: char| c.is_ascii_alphanumeric()) {
                continue;
            }
            let units = |unit: &u16| format!("\\u{unit:04x}");
            let raw = format!("x{c}y");
            let escaped: String = c.encode_utf16(&mut [0; 2]).iter().map(units).collect();
            let upper = escaped.to_uppercase().replace("\\U", "\\u");
            for bytes in [raw, escaped, upper] {
                assert!(
                    filter.look().add(bytes.as_bytes()),
                    "{bytes} {c:?} {folded:?}"
                );
            }
        }
    }

    #[test]
    fn words_pass_as_they_are_spelled() {
        assert!(passes("redirect", b"...REDIRECTS..."));
        assert!(!passes("redirect", b"redirec"));
        assert!(passes("a b", b"b a"));
        assert!(!passes("a b", b"b c"));
        assert!(passes("resume", "r\u{e9}sum\u{e9}".as_bytes()));
        assert!(passes("resume", br"r\u00e9sum\u00E9"));
        assert!(passes("abc", br"\u0061bc"));
        assert!(passes("12", br"\u0031\u0032"));
        assert!(!passes("abc", "— ✓ \\u001b[0m \\u003cx".as_bytes()));
        assert!(passes("привет", "ПРИВЕТ".as_bytes()));
        assert!(passes("привет", br"\u043f\u0440"));
        assert!(!passes("привет", b"hello \\u001b"));
        assert!(passes("\"日本 ok\"", b"ok"));
        assert!(BytePrefilter::new(&Query::parse("/x/").unwrap()).is_none());
        assert!(BytePrefilter::new(&Query::parse("-a role:user").unwrap()).is_none());
    }
}
