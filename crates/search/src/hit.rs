//! What was found, and in what order it is told.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use rethread_catalog::CatalogedSource;
use rethread_model::Summary;

use crate::texts::{TextKind, TextPlace};

/// A conversation that is searched.
#[derive(Clone, Copy, Debug)]
pub struct SearchedSession<'a> {
    /// What a list shows of it.
    pub summary: &'a Summary,
    /// Where it is, and what the catalogue knows of it.
    pub cataloged: &'a CatalogedSource,
}

/// A text that has what is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hit {
    /// The conversation, by its place among those that are searched.
    pub session: u32,
    /// Where the text is in it.
    pub place: TextPlace,
    /// What it is.
    pub kind: TextKind,
    /// When it was said, in milliseconds.
    pub time: Option<i64>,
    /// How many words it has.
    pub words: u32,
    /// A number by which copies of the text are known.
    pub digest: u64,
}

/// In what order conversations are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HitOrder {
    /// What fits best first.
    #[default]
    Relevance,
    /// What was said last first.
    Newest,
}

/// A conversation with what was found in it.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundSession {
    /// The conversation, by its place among those that are searched.
    pub session: u32,
    /// How well it fits.
    pub score: f64,
    /// The texts, those that fit best first.
    pub hits: Vec<Hit>,
}

/// Orders what was found. `now` is the time in milliseconds.
pub(crate) fn ranked(
    hits: Vec<Hit>,
    sessions: &[SearchedSession<'_>],
    order: HitOrder,
    now: i64,
) -> Vec<FoundSession> {
    let mut hits = without_copies(hits, sessions);
    hits.sort_unstable();
    let mut found: Vec<FoundSession> = Vec::new();
    for hits in hits.chunk_by(|a, b| a.session == b.session) {
        let Some(first) = hits.first() else { continue };
        found.push(FoundSession {
            session: first.session,
            score: score_of(hits, sessions, now),
            hits: best_first(hits),
        });
    }
    let summary = |found: &FoundSession| Some(sessions.get(found.session as usize)?.summary);
    let newest = |found: &FoundSession| {
        let last = found.hits.iter().filter_map(|hit| hit.time).max();
        let updated = summary(found)
            .and_then(|s| s.head.updated)
            .map(rethread_model::Moment::millis);
        last.or(updated)
    };
    let name = |found: &FoundSession| summary(found).map(|s| (s.head.id.clone(), s.path.clone()));
    match order {
        HitOrder::Relevance => found.sort_by(|a, b| {
            let by_score = b.score.total_cmp(&a.score);
            by_score
                .then_with(|| newest(b).cmp(&newest(a)))
                .then_with(|| name(a).cmp(&name(b)))
        }),
        HitOrder::Newest => found.sort_by_cached_key(|f| (Reverse(newest(f)), name(f))),
    }
    found
}

/// How much a text of a kind tells of what a conversation is about.
fn weight(kind: TextKind) -> f64 {
    match kind {
        TextKind::Title => 12.0,
        TextKind::Prompt => 6.0,
        TextKind::Answer => 4.0,
        TextKind::Summary => 3.0,
        TextKind::ToolCall => 2.0,
        TextKind::Thinking | TextKind::ToolOutput => 1.5,
        TextKind::Event => 1.0,
        TextKind::Injected => 0.25,
    }
}

/// How well one text fits: what it is, and how much else it says.
fn text_score(hit: &Hit) -> f64 {
    weight(hit.kind) / (1.0 + (1.0 + f64::from(hit.words)).ln() / 4.0)
}

/// How well a conversation fits: its best text, how many others there are, and how new it is.
fn score_of(hits: &[Hit], sessions: &[SearchedSession<'_>], now: i64) -> f64 {
    let best = hits.iter().map(text_score).fold(0.0, f64::max);
    let sum: f64 = hits.iter().map(text_score).sum();
    let session = hits.first().and_then(|h| sessions.get(h.session as usize));
    let updated = session
        .and_then(|s| s.summary.head.updated)
        .map(rethread_model::Moment::millis);
    let last = hits.iter().filter_map(|hit| hit.time).max().or(updated);
    // A quarter of a year halves what newness adds.
    #[allow(clippy::cast_precision_loss, reason = "milliseconds of some years")]
    let age = last.map_or(f64::MAX, |last| {
        now.saturating_sub(last).max(0) as f64 / 86_400_000.0
    });
    (best * 2.0 + (1.0 + sum).ln()) * (1.0 + 0.5 * (-age / 130.0).exp())
}

/// Texts, those that fit best first; as they follow each other where they fit as well.
fn best_first(hits: &[Hit]) -> Vec<Hit> {
    let mut hits = hits.to_vec();
    hits.sort_by(|a, b| {
        text_score(b)
            .total_cmp(&text_score(a))
            .then_with(|| a.place.cmp(&b.place))
    });
    hits
}

/// Leaves out what is there again because a conversation was copied: forks and resumed conversations
/// repeat what was said before, with its times, and converted ones all that their originals say, which
/// they carry besides.
fn without_copies(mut hits: Vec<Hit>, sessions: &[SearchedSession<'_>]) -> Vec<Hit> {
    let originals = original_places(sessions);
    // Who comes first is the original.
    let rank = |session: u32| {
        let summary = sessions.get(session as usize).map(|s| s.summary);
        let is_converted = originals.contains_key(&session);
        let made = summary.map(|s| (s.head.made.or(s.head.created), s.head.created));
        (is_converted, made, summary.map(|s| &s.path), session)
    };
    let mut order: Vec<u32> = hits.iter().map(|hit| hit.session).collect();
    order.sort_unstable();
    order.dedup();
    order.sort_by(|a, b| rank(*a).cmp(&rank(*b)));
    let places: HashMap<u32, usize> = order.iter().enumerate().map(|(at, s)| (*s, at)).collect();
    let place = |hit: &Hit| places.get(&hit.session).copied().unwrap_or_default();
    hits.sort_by_key(|hit| (place(hit), hit.place));
    let mut seen: HashMap<(u64, i64), u32> = HashMap::new();
    let mut said: HashSet<SaidText> = HashSet::new();
    hits.retain(|hit| {
        let original = originals.get(&hit.session).copied().unwrap_or(hit.session);
        let is_said =
            |session: u32| SaidText::all_of(session, hit).any(|text| said.contains(&text));
        // What an original says that travels along, and the conversation says itself, is said once.
        let is_repeated = hit.place.carried > 0 && is_said(hit.session);
        let is_said_there = original != hit.session && is_said(original);
        let is_copy = is_repeated || is_said_there;
        said.extend(SaidText::all_of(hit.session, hit));
        // A title stands for its own conversation, unless that is a copy as a whole.
        if hit.kind == TextKind::Title || is_copy {
            return !is_copy;
        }
        let Some(time) = hit.time else { return true };
        *seen.entry((hit.digest, time)).or_insert(hit.session) == hit.session
    });
    hits
}

/// By what a text of a conversation is known in a converted one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum SaidText {
    /// It says the same.
    Words { session: u32, digest: u64 },
    /// It is what was said at that time, in words that may be others: some formats add the names of files.
    Moment {
        session: u32,
        kind: TextKind,
        time: i64,
    },
}

impl SaidText {
    fn all_of(session: u32, hit: &Hit) -> impl Iterator<Item = Self> + use<> {
        let digest = hit.digest;
        let words = Self::Words { session, digest };
        let kind = hit.kind;
        // Of other kinds there may be several at once.
        let is_one = kind == TextKind::Prompt;
        let moment = hit.time.filter(|_| is_one).map(|time| Self::Moment {
            session,
            kind,
            time,
        });
        [words].into_iter().chain(moment)
    }
}

/// For converted conversations whose originals are searched as well, which ones these are.
pub(crate) fn original_places(sessions: &[SearchedSession<'_>]) -> HashMap<u32, u32> {
    let is_converted = |s: &SearchedSession<'_>| s.summary.head.converted_from.is_some();
    if !sessions.iter().any(is_converted) {
        return HashMap::new();
    }
    let mut known: HashMap<(&str, &str), u32> = HashMap::new();
    for (at, session) in (0_u32..).zip(sessions) {
        let head = &session.summary.head;
        known.entry((head.format, &head.id)).or_insert(at);
    }
    let mut originals = HashMap::new();
    for (at, session) in (0_u32..).zip(sessions) {
        let Some(from) = &session.summary.head.converted_from else {
            continue;
        };
        let original = known.get(&(from.format.as_str(), from.id.as_str()));
        if let Some(original) = original.filter(|original| **original != at) {
            originals.insert(at, *original);
        }
    }
    originals
}
