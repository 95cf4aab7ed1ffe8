//! Asking the index.

use std::collections::{HashMap, HashSet};
use std::ops::Bound;
use std::sync::Arc;

use rethread_catalog::RowId;
use tantivy::collector::{Collector, SegmentCollector};
use tantivy::columnar::Column;
use tantivy::query::{
    AllQuery, BooleanQuery, EmptyQuery, Occur, PhraseQuery, Query as IndexQuery, RangeQuery,
    TermQuery, TermSetQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, ReloadPolicy, Score, Searcher, SegmentOrdinal, SegmentReader, Term};

use super::TextIndex;
use super::schema::{DIGEST, KIND, PLACE, SESSION, TIME, WORDS};
use crate::hit::Hit;
use crate::matcher::{TextFilters, folded_tool, is_tool};
use crate::query::{FilterName, Query, SearchTerm};
use crate::texts::{TextKind, TextPlace};

/// What the index says.
pub(crate) struct IndexAnswer {
    /// The texts; more than there are where it is not exact.
    pub(crate) hits: Vec<Hit>,
    /// Whether these are just the texts that the scan would find.
    pub(crate) is_exact: bool,
}

/// A query as the index understands it.
struct BuiltQuery {
    query: Box<dyn IndexQuery>,
    /// What the texts must not fit. It is asked for by itself: tantivy's own exclusion of a phrase looks
    /// back in it, which that cannot.
    without: Vec<Box<dyn IndexQuery>>,
    is_exact: bool,
}

impl BuiltQuery {
    fn exact(query: Box<dyn IndexQuery>) -> Self {
        Self {
            query,
            without: Vec::new(),
            is_exact: true,
        }
    }

    fn inexact(query: Box<dyn IndexQuery>) -> Self {
        Self {
            is_exact: false,
            ..Self::exact(query)
        }
    }
}

impl TextIndex {
    /// Finds texts in the sources with these rows, each with its place among those that are searched.
    pub(crate) fn ask(
        &self,
        query: &Query,
        rows: HashMap<RowId, u32>,
    ) -> tantivy::Result<IndexAnswer> {
        let builder = self
            .index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual);
        let reader: tantivy::IndexReader = builder.try_into()?;
        let searcher = reader.searcher();
        let filters = TextFilters::new(query);
        let BuiltQuery {
            query: built,
            without,
            is_exact,
        } = self.build(query, &filters, &searcher)?;
        let collector = HitCollector {
            rows: Arc::new(rows),
        };
        let mut hits = searcher.search(&*built, &collector)?;
        hits.retain(|hit| filters.wants_kind(hit.kind));
        for unwanted in &without {
            let found = searcher.search(&**unwanted, &collector)?;
            let found: HashSet<Hit> = found.into_iter().collect();
            hits.retain(|hit| !found.contains(hit));
        }
        if query.has_filter(FilterName::Has) || query.has_filter(FilterName::File) {
            let wanted = self.wanted_sessions(query, &filters, &searcher, &collector)?;
            hits.retain(|hit| wanted(hit.session));
        }
        Ok(IndexAnswer { hits, is_exact })
    }

    /// Gives every word of the index, also of texts that are there no more.
    pub(crate) fn each_word(&self, give: &dyn Fn(&str)) -> tantivy::Result<()> {
        let builder = self
            .index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual);
        let reader: tantivy::IndexReader = builder.try_into()?;
        let fits = |word: &str| {
            give(word);
            false
        };
        matching_terms(&reader.searcher(), self.fields.text, &fits).map(drop)
    }

    /// Which conversations are wanted, by what they have and which files they touched.
    fn wanted_sessions(
        &self,
        query: &Query,
        filters: &TextFilters<'_>,
        searcher: &Searcher,
        collector: &HitCollector,
    ) -> tantivy::Result<impl Fn(u32) -> bool + use<>> {
        let mut sets: Vec<(HashSet<u32>, bool)> = Vec::new();
        let mut add = |asked: Box<dyn IndexQuery>, is_negated: bool| -> tantivy::Result<()> {
            let hits = searcher.search(&*asked, collector)?;
            sets.push((
                hits.into_iter().map(|hit| hit.session).collect(),
                is_negated,
            ));
            Ok(())
        };
        for clause in query.filters_of(FilterName::Has) {
            let terms = clause
                .any
                .iter()
                .map(|flag| Term::from_field_text(self.fields.flag, flag));
            add(Box::new(TermSetQuery::new(terms)), clause.is_negated)?;
        }
        for files in filters.files() {
            let terms = self.path_terms(searcher, files)?;
            add(Box::new(TermSetQuery::new(terms)), files.is_negated)?;
        }
        Ok(move |session: u32| {
            sets.iter()
                .all(|(set, is_negated)| set.contains(&session) != *is_negated)
        })
    }

    fn build(
        &self,
        query: &Query,
        filters: &TextFilters<'_>,
        searcher: &Searcher,
    ) -> tantivy::Result<BuiltQuery> {
        let mut is_exact = true;
        let mut clauses: Vec<(Occur, Box<dyn IndexQuery>)> = Vec::new();
        let mut without = Vec::new();
        for clause in &query.terms {
            let mut any: Vec<Box<dyn IndexQuery>> = Vec::new();
            let mut is_whole = true;
            for term in &clause.any {
                let built = self.term(term);
                let is_usable = built.is_exact || !clause.is_negated;
                is_whole &= is_usable;
                is_exact &= built.is_exact;
                any.push(built.query);
            }
            // What may not be there can only be left out where it is known exactly.
            if clause.is_negated && is_whole {
                without.push(union(any));
            } else if is_whole {
                clauses.push((Occur::Must, union(any)));
            }
        }
        for clause in query.filters_of(FilterName::Tool) {
            let asked: Vec<String> = clause.any.iter().map(|tool| folded_tool(tool)).collect();
            let is_asked = |tool: &str| asked.iter().any(|asked| is_tool(tool, asked));
            let terms = matching_terms(searcher, self.fields.tool, &is_asked)?;
            let tools: Box<dyn IndexQuery> = Box::new(TermSetQuery::new(terms));
            if clause.is_negated {
                without.push(tools);
            } else {
                clauses.push((Occur::Must, tools));
            }
        }
        if query.terms.is_empty() {
            clauses.extend(self.chosen(filters, searcher)?.map(|q| (Occur::Must, q)));
        }
        if clauses.is_empty() {
            clauses.push((Occur::Must, Box::new(AllQuery)));
        }
        Ok(BuiltQuery {
            query: Box::new(BooleanQuery::new(clauses)),
            without,
            is_exact,
        })
    }

    /// The texts that a filter of conversations is about, where nothing else is asked for.
    fn chosen(
        &self,
        filters: &TextFilters<'_>,
        searcher: &Searcher,
    ) -> tantivy::Result<Option<Box<dyn IndexQuery>>> {
        let mut terms = Vec::new();
        let mut wanted = filters
            .files()
            .iter()
            .filter(|files| !files.is_negated)
            .peekable();
        let has_files = wanted.peek().is_some();
        for files in wanted {
            terms.extend(self.path_terms(searcher, files)?);
        }
        if !has_files {
            let flags = filters.wanted_has();
            if flags.is_empty() {
                return Ok(None);
            }
            let flag = |flag: &&str| Term::from_field_text(self.fields.flag, flag);
            terms.extend(flags.iter().map(flag));
        }
        Ok(Some(Box::new(TermSetQuery::new(terms))))
    }

    fn path_terms(
        &self,
        searcher: &Searcher,
        files: &crate::matcher::AskedFiles,
    ) -> tantivy::Result<Vec<Term>> {
        let is_asked = |signed: &str| {
            let path = signed.get(1..).unwrap_or_default();
            files.any.iter().any(|asked| asked.has(path))
        };
        matching_terms(searcher, self.fields.path, &is_asked)
    }

    fn term(&self, term: &SearchTerm) -> BuiltQuery {
        let SearchTerm::Words { words, is_prefix } = term else {
            return BuiltQuery::inexact(Box::new(AllQuery));
        };
        let field = self.fields.text;
        let terms: Vec<Term> = words
            .iter()
            .map(|word| Term::from_field_text(field, word))
            .collect();
        let one = |term: &Term| -> Box<dyn IndexQuery> {
            Box::new(TermQuery::new(term.clone(), IndexRecordOption::Basic))
        };
        let begin = || begins_with(field, words.last().map_or("", String::as_str));
        match (terms.as_slice(), is_prefix) {
            ([], _) => BuiltQuery::exact(Box::new(EmptyQuery)),
            ([only], false) => BuiltQuery::exact(one(only)),
            ([_], true) => BuiltQuery::exact(begin()),
            (several, false) => BuiltQuery::exact(Box::new(PhraseQuery::new(several.to_vec()))),
            ([whole @ .., _], true) => {
                let all = whole.iter().map(one).chain([begin()]);
                let all = all.map(|query| (Occur::Must, query)).collect();
                BuiltQuery::inexact(Box::new(BooleanQuery::new(all)))
            }
        }
    }
}

fn union(mut any: Vec<Box<dyn IndexQuery>>) -> Box<dyn IndexQuery> {
    match any.len() {
        1 => any.swap_remove(0),
        _ => Box::new(BooleanQuery::union(any)),
    }
}

/// Words that begin with this.
fn begins_with(field: Field, start: &str) -> Box<dyn IndexQuery> {
    let lower = Bound::Included(Term::from_field_text(field, start));
    let upper = match after_prefix(start) {
        Some(end) => Bound::Excluded(Term::from_field_text(field, &end)),
        None => Bound::Unbounded,
    };
    Box::new(RangeQuery::new(lower, upper))
}

/// The first text that is behind all that begin with this.
fn after_prefix(start: &str) -> Option<String> {
    let mut chars: Vec<char> = start.chars().collect();
    while let Some(last) = chars.pop() {
        let next = (u32::from(last) + 1..=u32::from(char::MAX)).find_map(char::from_u32);
        if let Some(next) = next {
            chars.push(next);
            return Some(chars.into_iter().collect());
        }
    }
    None
}

/// The terms of a field that fit.
fn matching_terms(
    searcher: &Searcher,
    field: Field,
    fits: &dyn Fn(&str) -> bool,
) -> tantivy::Result<Vec<Term>> {
    let mut found = Vec::new();
    for segment in searcher.segment_readers() {
        let inverted = segment.inverted_index(field)?;
        let mut stream = inverted.terms().stream()?;
        while stream.advance() {
            if let Ok(text) = std::str::from_utf8(stream.key())
                && fits(text)
            {
                found.push(Term::from_field_text(field, text));
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Gathers texts of some sources.
struct HitCollector {
    rows: Arc<HashMap<RowId, u32>>,
}

struct SegmentHits {
    rows: Arc<HashMap<RowId, u32>>,
    session: Column<u64>,
    place: Column<u64>,
    kind: Column<u64>,
    time: Column<i64>,
    words: Column<u64>,
    digest: Column<u64>,
    hits: Vec<Hit>,
}

impl Collector for HitCollector {
    type Fruit = Vec<Hit>;
    type Child = SegmentHits;

    fn for_segment(
        &self,
        _: SegmentOrdinal,
        segment: &SegmentReader,
    ) -> tantivy::Result<Self::Child> {
        let fast = segment.fast_fields();
        Ok(SegmentHits {
            rows: Arc::clone(&self.rows),
            session: fast.u64(SESSION)?,
            place: fast.u64(PLACE)?,
            kind: fast.u64(KIND)?,
            time: fast.i64(TIME)?,
            words: fast.u64(WORDS)?,
            digest: fast.u64(DIGEST)?,
            hits: Vec::new(),
        })
    }

    fn requires_scoring(&self) -> bool {
        false
    }

    fn merge_fruits(&self, fruits: Vec<Vec<Hit>>) -> tantivy::Result<Vec<Hit>> {
        Ok(fruits.into_iter().flatten().collect())
    }
}

impl SegmentHits {
    fn hit(&self, doc: DocId) -> Option<Hit> {
        let row = self.session.first(doc)?.cast_signed();
        let session = *self.rows.get(&row)?;
        let place = self.place.first(doc)?;
        Some(Hit {
            session,
            place: TextPlace {
                carried: u8::try_from(place >> 56).ok()?,
                entry: u32::try_from(place >> 24 & u64::from(u32::MAX)).ok()?,
                ordinal: u32::try_from(place & 0xff_ffff).ok()?,
            },
            kind: TextKind::of_number(self.kind.first(doc)?)?,
            time: self.time.first(doc),
            words: u32::try_from(self.words.first(doc)?).ok()?,
            digest: self.digest.first(doc)?,
        })
    }
}

impl SegmentCollector for SegmentHits {
    type Fruit = Vec<Hit>;

    fn collect(&mut self, doc: DocId, _: Score) {
        let hit = self.hit(doc);
        self.hits.extend(hit);
    }

    fn harvest(self) -> Vec<Hit> {
        self.hits
    }
}
