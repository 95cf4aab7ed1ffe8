//! What is told where no text has all that is wanted: conversations that have it in different texts, and
//! words that nearly fit.

use std::collections::{BTreeSet, HashSet};
use std::sync::Mutex;

use rayon::prelude::*;

use crate::carried::walk_all_texts;
use crate::distance::edit_distance;
use crate::hit::{Hit, SearchedSession};
use crate::index::TextIndex;
use crate::query::{Query, SearchTerm, TermClause};
use crate::search::{SearchRequest, SearchResults, find_hits, finish};
use crate::tokens::Tokens;

/// So many words that nearly fit are tried for one that was typed.
const MOST_NEAR: usize = 64;
/// A query of more clauses is not tried in other ways.
const MOST_CLAUSES: usize = 16;

/// How what is told differs from what was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NearMiss {
    /// The words are in different texts of the conversations.
    DifferentTexts,
    /// Other words were looked for.
    OtherWords(Vec<OtherWords>),
}

/// A word that was typed, and those that were looked for instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherWords {
    /// What was typed.
    pub typed: String,
    /// What was looked for, the most alike first.
    pub words: Vec<String>,
}

/// What nearly fits a query that nothing fits.
#[derive(Debug, Default)]
pub struct NearResults {
    /// What was found.
    pub results: SearchResults,
    /// The query that found it, by which words are marked.
    pub query: Query,
    /// How it differs from what was asked for; none where nothing nearly fits.
    pub miss: Option<NearMiss>,
}

/// Looks for what nearly fits a query that nothing fits.
pub fn search_near(
    request: &SearchRequest<'_>,
    sessions: &[SearchedSession<'_>],
    index: Option<&TextIndex>,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> NearResults {
    let near = NearSearch {
        request,
        sessions,
        index,
        progress,
    };
    let query = request.query;
    let count = query.wanted_terms().count();
    if count == 0 || count > MOST_CLAUSES {
        return NearResults::default();
    }
    let by_clause = near.clause_hits(query);
    let found = near.in_different_texts(&by_clause);
    if !found.found.is_empty() {
        return NearResults {
            results: found,
            query: query.clone(),
            miss: Some(NearMiss::DifferentTexts),
        };
    }
    let (widened, others) = near.widened(query, &by_clause);
    if others.is_empty() {
        return NearResults::default();
    }
    let request = SearchRequest {
        query: &widened,
        ..*request
    };
    let (hits, notes) = find_hits(&request, sessions, index, progress);
    let mut results = SearchResults {
        found: finish(&request, hits, sessions),
        notes,
    };
    if results.found.is_empty() {
        let near = NearSearch {
            request: &request,
            ..near
        };
        let by_clause = near.clause_hits(&widened);
        results = near.in_different_texts(&by_clause);
    }
    if results.found.is_empty() {
        return NearResults::default();
    }
    NearResults {
        results,
        query: widened,
        miss: Some(NearMiss::OtherWords(others)),
    }
}

#[derive(Clone, Copy)]
struct NearSearch<'a> {
    request: &'a SearchRequest<'a>,
    sessions: &'a [SearchedSession<'a>],
    index: Option<&'a TextIndex>,
    progress: &'a (dyn Fn(usize, usize) + Sync),
}

impl NearSearch<'_> {
    /// The texts that have each of the clauses, and nothing that is not wanted.
    fn clause_hits(&self, query: &Query) -> Vec<Vec<Hit>> {
        let hits = |clause: &TermClause| {
            let negated = query.terms.iter().filter(|clause| clause.is_negated);
            let alone = Query {
                terms: std::iter::once(clause).chain(negated).cloned().collect(),
                filters: query.filters.clone(),
            };
            let request = SearchRequest {
                query: &alone,
                ..*self.request
            };
            find_hits(&request, self.sessions, self.index, self.progress).0
        };
        query.wanted_terms().map(hits).collect()
    }

    /// Conversations that have all clauses, wherever.
    fn in_different_texts(&self, by_clause: &[Vec<Hit>]) -> SearchResults {
        if by_clause.len() < 2 {
            return SearchResults::default();
        }
        let sets = by_clause.iter().map(|hits| {
            let sessions = hits.iter().map(|hit| hit.session);
            sessions.collect::<HashSet<u32>>()
        });
        let Some(all) = sets.reduce(|all, one| &all & &one) else {
            return SearchResults::default();
        };
        let mut hits: Vec<Hit> = by_clause.iter().flatten().copied().collect();
        hits.retain(|hit| all.contains(&hit.session));
        hits.sort_unstable();
        hits.dedup();
        SearchResults {
            found: finish(self.request, hits, self.sessions),
            notes: Vec::new(),
        }
    }

    /// The query with words that nearly fit beside those that nobody said.
    fn widened(&self, query: &Query, by_clause: &[Vec<Hit>]) -> (Query, Vec<OtherWords>) {
        let unsaid: Vec<&str> = query
            .wanted_terms()
            .zip(by_clause)
            .filter(|(_, hits)| hits.is_empty())
            .filter_map(|(clause, _)| only_word(clause))
            .collect();
        let near = self.near_words(&unsaid);
        let mut others = Vec::new();
        let mut widened = query.clone();
        for clause in widened.terms.iter_mut().filter(|clause| !clause.is_negated) {
            let Some(typed) = only_word(clause).map(str::to_owned) else {
                continue;
            };
            let found = unsaid.iter().zip(&near).find(|(word, _)| **word == typed);
            let Some(words) = found
                .map(|(_, words)| words)
                .filter(|words| !words.is_empty())
            else {
                continue;
            };
            clause.any = words.iter().map(|word| one_word(word)).collect();
            others.push(OtherWords {
                typed,
                words: words.clone(),
            });
        }
        (widened, others)
    }

    /// For each of some words, those of all texts that nearly fit, the most alike first.
    fn near_words(&self, typed: &[&str]) -> Vec<Vec<String>> {
        let found: Vec<Mutex<BTreeSet<(usize, String)>>> =
            typed.iter().map(|_| Mutex::default()).collect();
        let look = |term: &str| {
            for (word, found) in typed.iter().zip(&found) {
                let Some(distance) = near_distance(word, term) else {
                    continue;
                };
                let Ok(mut found) = found.lock() else {
                    continue;
                };
                found.insert((distance, term.to_owned()));
                if found.len() > MOST_NEAR {
                    found.pop_last();
                }
            }
        };
        if let Some(index) = self.index {
            // Where it cannot be asked, other words are not tried.
            let _ = index.each_word(&look);
        }
        let is_read = |s: &&SearchedSession<'_>| !self.index.is_some_and(|i| i.has(s.cataloged));
        let unknown: Vec<&SearchedSession<'_>> = self.sessions.iter().filter(is_read).collect();
        unknown.par_iter().for_each(|session| {
            let source = &session.cataloged.source;
            let Ok(conversation) = source.format.reader().read(source) else {
                return;
            };
            walk_all_texts(
                &conversation,
                session.summary,
                &mut |_| false,
                &mut |text| {
                    let mut tokens = Tokens::of(&text.value);
                    while let Some(token) = tokens.next_token() {
                        look(&token.term);
                    }
                },
            );
        });
        let words = |found: Mutex<BTreeSet<(usize, String)>>| {
            let found = found.into_inner().unwrap_or_default();
            // Only the most alike: what differs more is rarely meant.
            let least = found.first().map_or(0, |(distance, _)| *distance);
            let alike = found.into_iter().filter(|(distance, _)| *distance == least);
            alike.map(|(_, word)| word).collect()
        };
        found.into_iter().map(words).collect()
    }
}

/// How much a word differs from another, if that is little for its length.
fn near_distance(typed: &str, word: &str) -> Option<usize> {
    let most = match typed.chars().count() {
        0..=3 => return None,
        4..=5 => 1,
        _ => 2,
    };
    if typed.len().abs_diff(word.len()) > most * 4 {
        return None;
    }
    Some(edit_distance(typed, word)).filter(|distance| (1..=most).contains(distance))
}

/// The word of a clause that is one word.
fn only_word(clause: &TermClause) -> Option<&str> {
    match clause.any.as_slice() {
        [
            SearchTerm::Words {
                words,
                is_prefix: false,
            },
        ] => match words.as_slice() {
            [word] => Some(word),
            _ => None,
        },
        _ => None,
    }
}

fn one_word(word: &str) -> SearchTerm {
    SearchTerm::Words {
        words: vec![word.to_owned()],
        is_prefix: false,
    }
}
