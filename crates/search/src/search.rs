//! From a query to conversations.

use std::cmp::Reverse;
use std::collections::HashMap;

use rethread_catalog::RowId;
use rethread_model::{Moment, Note, TitleSource};

use crate::hit::{FoundSession, Hit, HitOrder, SearchedSession, original_places, ranked};
use crate::index::TextIndex;
use crate::matcher::TextFilters;
use crate::query::Query;
use crate::scan::TextScan;
use crate::texts::TextKind;

/// What is looked for, and how it is told.
#[derive(Clone, Copy, Debug)]
pub struct SearchRequest<'a> {
    /// What is looked for in texts.
    pub query: &'a Query,
    /// Only what was said then or later, in milliseconds.
    pub since: Option<i64>,
    /// Only what was said then or before, in milliseconds.
    pub until: Option<i64>,
    /// In what order conversations are told.
    pub order: HitOrder,
    /// The time, in milliseconds.
    pub now: i64,
}

/// What was found, and what was noticed.
#[derive(Debug, Default)]
pub struct SearchResults {
    /// The conversations, in order.
    pub found: Vec<FoundSession>,
    /// What is wrong with the index, and conversations that could not be read.
    pub notes: Vec<Note>,
}

/// Searches conversations, and orders what was found: by the index those that it knows as they are now,
/// the others by reading them. Filters that a list knows are not looked at: the sessions are those that
/// they let pass.
pub fn search_sessions(
    request: &SearchRequest<'_>,
    sessions: &[SearchedSession<'_>],
    index: Option<&TextIndex>,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> SearchResults {
    let (hits, notes) = find_hits(request, sessions, index, progress);
    SearchResults {
        found: finish(request, hits, sessions),
        notes,
    }
}

/// Finds texts, in no particular order, and says what is wrong with the index and with conversations.
pub(crate) fn find_hits(
    request: &SearchRequest<'_>,
    sessions: &[SearchedSession<'_>],
    index: Option<&TextIndex>,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> (Vec<Hit>, Vec<Note>) {
    let scan = TextScan::new(request.query);
    let mut hits = Vec::new();
    let mut notes = Vec::new();
    let mut is_scanned = vec![true; sessions.len()];
    if let Some(index) = index {
        let rows: HashMap<RowId, u32> = (0_u32..)
            .zip(sessions)
            .filter(|(_, session)| index.has(session.cataloged))
            .filter_map(|(at, session)| Some((session.cataloged.row?, at)))
            .collect();
        let known: Vec<u32> = rows.values().copied().collect();
        match index.ask(request.query, rows) {
            Ok(answer) => {
                for at in known {
                    set(&mut is_scanned, at, false);
                }
                if answer.is_exact {
                    hits = answer.hits;
                } else {
                    // What may have it is read.
                    for hit in answer.hits {
                        set(&mut is_scanned, hit.session, true);
                    }
                }
            }
            Err(e) => notes.push(Note::quiet(format!("the search index was not used: {e}"))),
        }
    }
    let mut wanted: Vec<u32> = (0_u32..)
        .zip(&is_scanned)
        .filter(|(_, is_scanned)| **is_scanned)
        .map(|(at, _)| at)
        .collect();
    wanted.sort_by_key(|at| Reverse(sessions.get(*at as usize).map(|s| s.summary.head.updated)));
    let scanned = scan.scan(sessions, &wanted, progress);
    hits.extend(scanned.hits);
    notes.extend(scanned.notes);
    hits.extend(title_hits(request, &scan, sessions));
    (hits, notes)
}

fn set(flags: &mut [bool], at: u32, value: bool) {
    if let Some(flag) = flags.get_mut(at as usize) {
        *flag = value;
    }
}

/// What is left of what was found in the time that is asked for, in order.
pub(crate) fn finish(
    request: &SearchRequest<'_>,
    mut hits: Vec<Hit>,
    sessions: &[SearchedSession<'_>],
) -> Vec<FoundSession> {
    hits.retain(|hit| is_in_span(request, hit, sessions));
    ranked(hits, sessions, request.order, request.now)
}

/// What is found in titles. They are in the list, so nothing else must be read for them.
pub(crate) fn title_hits(
    request: &SearchRequest<'_>,
    scan: &TextScan<'_>,
    sessions: &[SearchedSession<'_>],
) -> Vec<Hit> {
    let filters = TextFilters::new(request.query);
    let has_terms = request.query.wanted_terms().next().is_some();
    if !has_terms || filters.needs_all_texts() || !filters.wants_kind(TextKind::Title) {
        return Vec::new();
    }
    let originals = original_places(sessions);
    let title_of = |at: u32| sessions.get(at as usize)?.summary.head.title.as_ref();
    let hit = |(at, session): (u32, &SearchedSession<'_>)| {
        let title = session.summary.head.title.as_ref()?;
        // A converted copy has the title of its original.
        let original = originals.get(&at).and_then(|original| title_of(*original));
        if original.is_some_and(|original| original.text == title.text) {
            return None;
        }
        // What was made of a prompt is found in the prompt.
        let is_own = !matches!(
            title.source,
            TitleSource::FirstPrompt | TitleSource::LastPrompt
        );
        let hit = is_own.then(|| scan.scan_title(at, &title.text)).flatten()?;
        Some(hit)
    };
    (0_u32..).zip(sessions).filter_map(hit).collect()
}

/// Whether a text was said in the time that is asked for. Of one without a time, its conversation must
/// have something of that time.
fn is_in_span(request: &SearchRequest<'_>, hit: &Hit, sessions: &[SearchedSession<'_>]) -> bool {
    let SearchRequest { since, until, .. } = request;
    if since.is_none() && until.is_none() {
        return true;
    }
    let head = sessions.get(hit.session as usize).map(|s| &s.summary.head);
    let first = head.and_then(|h| h.created).map(Moment::millis);
    let last = head
        .and_then(|h| h.updated.or(h.created))
        .map(Moment::millis);
    let latest = hit.time.or(last);
    let earliest = hit.time.or(first).or(last);
    let is_late_enough = since.is_none_or(|since| latest.is_some_and(|time| time >= since));
    let is_early_enough = until.is_none_or(|until| earliest.is_some_and(|time| time <= until));
    is_late_enough && is_early_enough
}
