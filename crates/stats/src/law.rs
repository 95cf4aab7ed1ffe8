//! Which session counts what: each response once, whatever number of files repeat it. `docs/statistics.md`
//! says it in words.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use rethread_model::{LinkKind, ModelRef, Summary, Usage, UsageScope};

use crate::bytes::load_ledger;
use crate::ledger::{
    ActiveSpan, CallRow, Oddity, OddityKind, ResponseRow, SessionLedger, SpanRow, TokenCounts,
};

/// A session, and what was recorded of it.
#[derive(Clone, Copy, Debug)]
pub struct StatsSession<'a> {
    /// What a list knows of it.
    pub summary: &'a Summary,
    /// Its ledger as bytes; empty where it could not be read.
    pub ledger: &'a [u8],
    /// The place of the session that started it, and so on; its own where nobody did.
    pub root: usize,
}

/// A response that counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountedResponse<'a> {
    /// The place of its session.
    pub(crate) session: usize,
    /// What it used.
    pub(crate) row: ResponseRow,
    /// Its model.
    pub(crate) model: Option<&'a ModelRef>,
    /// Its part of what the agent recorded for the whole session, in US dollars.
    pub(crate) shared_cost: Option<f64>,
    /// Whether it stands for what an agent added up itself, and no response tells.
    pub(crate) is_rest: bool,
}

/// Why a response does not count where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOut {
    /// Another file has it as well, and counts it.
    Repeated,
    /// The session was forked from one that is there and counts it.
    Inherited,
    /// The session was converted from one that counts it.
    Converted,
}

impl LeftOut {
    /// A word for scripts.
    pub fn word(self) -> &'static str {
        match self {
            Self::Repeated => "repeated",
            Self::Inherited => "inherited",
            Self::Converted => "converted",
        }
    }
}

/// Is told what counts.
pub(crate) trait CountVisitor {
    /// A response counts.
    fn count_response(&mut self, response: &CountedResponse<'_>);
    /// A response does not count here.
    fn leave_out(&mut self, session: usize, row: &ResponseRow, why: LeftOut);
    /// What was said and done otherwise.
    fn count_activity(&mut self, session: usize, activity: &CountedActivity<'_>);
}

/// What was said and done in a session, without what others count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountedActivity<'a> {
    /// By quarters of an hour.
    pub(crate) spans: &'a [SpanRow],
    /// Calls of tools.
    pub(crate) calls: &'a [CallRow],
    /// The names of these tools.
    pub(crate) tools: &'a [String],
    /// When something went on.
    pub(crate) active: &'a [ActiveSpan],
    /// All that was recorded of the session, before anything was left out.
    pub(crate) ledger: &'a SessionLedger,
}

/// Keys are hashes already.
#[derive(Default)]
struct KeptHash(u64);

impl Hasher for KeptHash {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

type KeySet = HashSet<u64, BuildHasherDefault<KeptHash>>;

/// Counts sessions by the law.
pub(crate) fn count_sessions(sessions: &[StatsSession<'_>], visitor: &mut dyn CountVisitor) {
    let mut counting = Counting::new(sessions);
    let order = counting.order();
    for &(at, rank) in &order {
        counting.count_own(at, rank, visitor);
    }
    for &(at, rank) in &order {
        counting.count_inherited(at, rank, visitor);
    }
}

/// What a session is beside others of its kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// The first of its id.
    Original,
    /// Converted from another, which may be there.
    Copy,
    /// The same session in another place, which says no more.
    Mirror,
}

/// What responses of a session used together, before anything is left out.
#[derive(Clone, Copy, Default)]
struct OwnSum {
    tokens: TokenCounts,
    has_cost: bool,
    /// The same of what it inherited.
    inherited: TokenCounts,
    has_inherited: bool,
    /// Whether what looks inherited is its own: its file was given another name.
    is_renamed: bool,
}

struct Counting<'s, 'a> {
    sessions: &'s [StatsSession<'a>],
    /// Places of sessions by format and id.
    places: HashMap<(&'a str, &'a str), usize>,
    sums: Vec<OwnSum>,
    /// The same of all sub-agents of a session.
    families: Vec<OwnSum>,
    /// Responses that were counted.
    keys: KeySet,
    /// The same by what they say, where there are converted copies.
    contents: KeySet,
    has_copies: bool,
}

impl<'s, 'a> Counting<'s, 'a> {
    fn new(sessions: &'s [StatsSession<'a>]) -> Self {
        let mut places: HashMap<(&str, &str), usize> = HashMap::with_capacity(sessions.len());
        for (at, session) in sessions.iter().enumerate() {
            let head = &session.summary.head;
            let place = places.entry((head.format, head.id.as_str())).or_insert(at);
            let before = sessions.get(*place).map(|s| fullness(s.summary));
            if before.is_none_or(|before| fullness(session.summary) > before) {
                *place = at;
            }
        }
        let sums = sessions.iter().map(|session| own_sum(session.ledger));
        let mut sums: Vec<OwnSum> = sums.collect();
        for (session, sum) in sessions.iter().zip(&mut sums) {
            let listed = session
                .summary
                .counts
                .usage
                .map_or(0, |usage| usage.total());
            let is_own = sum.tokens.total() == 0 && listed == sum.inherited.total();
            if is_own && listed > 0 {
                sum.is_renamed = true;
                sum.tokens = sum.inherited;
            }
        }
        let mut families = vec![OwnSum::default(); sessions.len()];
        for (at, (session, sum)) in sessions.iter().zip(&sums).enumerate() {
            if let Some(family) = families
                .get_mut(session.root)
                .filter(|_| session.root != at)
            {
                family.tokens += sum.tokens;
                family.has_cost |= sum.has_cost;
            }
        }
        let is_copy = |s: &StatsSession<'_>| s.summary.head.converted_from.is_some();
        Self {
            sessions,
            places,
            sums,
            families,
            keys: KeySet::default(),
            contents: KeySet::default(),
            has_copies: sessions.iter().any(is_copy),
        }
    }

    /// In which order sessions are asked: what came first counts.
    fn order(&self) -> Vec<(usize, Rank)> {
        let rank = |at: usize, session: &StatsSession<'_>| {
            let head = &session.summary.head;
            // Sub-agents of a converted session were converted with it.
            let root = self.sessions.get(session.root).unwrap_or(session);
            let is_copy = [session, root].map(|s| s.summary.head.converted_from.is_some());
            if self.places.get(&(head.format, head.id.as_str())) != Some(&at) {
                Rank::Mirror
            } else if is_copy.contains(&true) {
                Rank::Copy
            } else {
                Rank::Original
            }
        };
        let all = self.sessions.iter().enumerate();
        let mut order: Vec<(usize, Rank)> = all.map(|(at, s)| (at, rank(at, s))).collect();
        order.sort_by_cached_key(|(at, rank)| {
            let summary = self.sessions.get(*at).map(|s| s.summary);
            let head = summary.map(|summary| &summary.head);
            let began = head.and_then(|head| head.made.or(head.created));
            let path = summary.map(|summary| summary.path.clone());
            (*rank, began.is_none(), began, path)
        });
        order
    }

    /// Counts what is a session's own.
    fn count_own(&mut self, at: usize, rank: Rank, visitor: &mut dyn CountVisitor) {
        let Some(session) = self.sessions.get(at) else {
            return;
        };
        let Some(ledger) = load_ledger(session.ledger) else {
            return;
        };
        let original = match rank {
            Rank::Copy => self.original_of(session),
            Rank::Original | Rank::Mirror => None,
        };
        let family = match rank {
            Rank::Copy if session.root != at => self.original_family(session.root),
            _ => Vec::new(),
        };
        let original_times: HashSet<i64> = original
            .iter()
            .flat_map(|ledger| &ledger.responses)
            .filter_map(|row| row.time)
            .collect();
        let shared = self.shared_cost(at);
        let is_renamed = self.is_renamed(at);
        let own = |row: &&ResponseRow| is_renamed || !row.is_inherited;
        let mut counted = 0;
        for row in ledger.responses.iter().filter(own) {
            let content = content_key(row);
            let is_copy = rank == Rank::Copy
                && (self.contents.contains(&content)
                    || row.time.is_some_and(|time| {
                        original_times.contains(&time) || was_active(&family, time)
                    }));
            let why = if is_copy {
                Some(LeftOut::Converted)
            } else if self.keys.insert(row.key) {
                None
            } else {
                Some(LeftOut::Repeated)
            };
            if let Some(why) = why {
                visitor.leave_out(at, row, why);
                continue;
            }
            counted += 1;
            if self.has_copies {
                self.contents.insert(content);
            }
            visitor.count_response(&CountedResponse {
                session: at,
                row: *row,
                model: model_of(&ledger, row),
                shared_cost: shared.map(|rate| rate * tokens_of(row)),
                is_rest: false,
            });
        }
        if rank == Rank::Original {
            self.count_rest(at, &ledger, visitor);
        }
        let has_only_copies = rank == Rank::Copy && original.is_none() && counted == 0;
        let is_mere_copy = has_only_copies && !ledger.responses.is_empty()
            || ledger.is_all_inherited && !is_renamed && self.has_origin(session.summary);
        if rank != Rank::Mirror && !is_mere_copy {
            let activity = ActivityLeft::of(&ledger, original.as_ref());
            visitor.count_activity(
                at,
                &CountedActivity {
                    spans: &activity.spans,
                    calls: &activity.calls,
                    tools: &ledger.tools,
                    active: &activity.active,
                    ledger: &ledger,
                },
            );
        }
    }

    /// Counts what a session inherited and nobody else has.
    fn count_inherited(&mut self, at: usize, rank: Rank, visitor: &mut dyn CountVisitor) {
        if self.is_renamed(at) || !self.sums.get(at).is_some_and(|sum| sum.has_inherited) {
            return;
        }
        let Some(session) = self.sessions.get(at) else {
            return;
        };
        let Some(ledger) = load_ledger(session.ledger) else {
            return;
        };
        let has_origin = rank == Rank::Copy || self.has_origin(session.summary);
        for row in ledger.responses.iter().filter(|row| row.is_inherited) {
            if has_origin || !self.keys.insert(row.key) {
                let why = if has_origin {
                    LeftOut::Inherited
                } else {
                    LeftOut::Repeated
                };
                visitor.leave_out(at, row, why);
                continue;
            }
            visitor.count_response(&CountedResponse {
                session: at,
                row: *row,
                model: model_of(&ledger, row),
                shared_cost: None,
                is_rest: false,
            });
        }
    }

    fn is_renamed(&self, at: usize) -> bool {
        self.sums.get(at).is_some_and(|sum| sum.is_renamed)
    }

    /// Whether the session that one was forked from is there.
    fn has_origin(&self, summary: &Summary) -> bool {
        let head = &summary.head;
        let mut links = head.links.iter().filter(|link| {
            matches!(
                link.kind,
                LinkKind::ForkOf | LinkKind::Continues | LinkKind::Parent
            )
        });
        links.any(|link| {
            self.places
                .contains_key(&(head.format, link.session.as_str()))
        })
    }

    /// What is known of the session that one was converted from, if it is there.
    fn original_of(&self, session: &StatsSession<'_>) -> Option<SessionLedger> {
        let at = self.original_place(session.summary)?;
        load_ledger(self.sessions.get(at)?.ledger)
    }

    fn original_place(&self, summary: &Summary) -> Option<usize> {
        let from = summary.head.converted_from.as_ref()?;
        let key = (from.format.as_str(), from.id.as_str());
        self.places.get(&key).copied()
    }

    /// When the sub-agents of the session that one was converted from were at work. A copy of one of
    /// them does not say of which, and some formats keep only sums of responses.
    fn original_family(&self, copied: usize) -> Vec<ActiveSpan> {
        let copied = self.sessions.get(copied);
        let Some(root) = copied.and_then(|session| self.original_place(session.summary)) else {
            return Vec::new();
        };
        let family = self.sessions.iter().filter(|session| session.root == root);
        let ledgers = family.filter_map(|session| load_ledger(session.ledger));
        ledgers.flat_map(|ledger| ledger.active).collect()
    }

    /// What a session used by its own account, and how much of that its responses tell.
    fn told(&self, at: usize) -> Option<(Usage, OwnSum)> {
        let session = self.sessions.get(at)?;
        let usage = session.summary.counts.usage?;
        let mut sum = self.sums.get(at).copied()?;
        if !sum.is_renamed {
            sum.tokens += sum.inherited;
        }
        if usage.scope == UsageScope::WithSubAgents {
            let family = self.families.get(at).copied().unwrap_or_default();
            sum.tokens += family.tokens;
            sum.has_cost |= family.has_cost;
        }
        Some((usage, sum))
    }

    /// US dollars a token, where an agent recorded only what the whole session cost.
    #[allow(clippy::cast_precision_loss, reason = "a share needs no more digits")]
    fn shared_cost(&self, at: usize) -> Option<f64> {
        let session = self.sessions.get(at)?;
        let teller = [at, session.root].into_iter().find(|teller| {
            let usage = self
                .sessions
                .get(*teller)
                .and_then(|s| s.summary.counts.usage);
            usage.is_some_and(|usage| {
                usage.cost.is_some() && (*teller == at || usage.scope == UsageScope::WithSubAgents)
            })
        })?;
        let (usage, sum) = self.told(teller)?;
        let cost = usage.cost?.usd;
        let tokens = sum.tokens.total().max(usage.total());
        let is_shared = !sum.has_cost && tokens > 0 && cost.is_finite() && cost >= 0.0;
        is_shared.then(|| cost / tokens as f64)
    }

    /// Counts what an agent added up itself beyond what its responses tell.
    fn count_rest(&self, at: usize, ledger: &SessionLedger, visitor: &mut dyn CountVisitor) {
        let Some((usage, sum)) = self.told(at) else {
            return;
        };
        let told = token_counts(&usage);
        let is_huge = |odd: &Oddity| odd.kind == OddityKind::HugeCount;
        if told.total() <= sum.tokens.total() || ledger.oddities.iter().any(is_huge) {
            return;
        }
        let (all, known) = (told.parts(), sum.tokens.parts());
        let rest = TokenCounts::of_parts(std::array::from_fn(|i| {
            all.get(i)
                .copied()
                .unwrap_or_default()
                .saturating_sub(known.get(i).copied().unwrap_or_default())
        }));
        let Some(session) = self.sessions.get(at) else {
            return;
        };
        let head = &session.summary.head;
        let recorded = head.recorded_usage.iter();
        let largest = recorded.max_by_key(|record| record.usage.total());
        let model = largest.and_then(|record| record.model.as_ref());
        let model = model.or(ledger.models.first()).or(head.model.as_ref());
        let shared = self.shared_cost(at);
        let row = ResponseRow {
            time: head.updated.map(rethread_model::Moment::millis),
            tokens: rest,
            ..ResponseRow::default()
        };
        visitor.count_response(&CountedResponse {
            session: at,
            row,
            model,
            shared_cost: shared.map(|rate| rate * tokens_of(&row)),
            is_rest: true,
        });
    }
}

fn was_active(spans: &[ActiveSpan], time: i64) -> bool {
    spans
        .iter()
        .any(|span| (span.start..=span.end).contains(&time))
}

/// How much a session has: of several places that hold it, the fullest says what was done.
fn fullness(summary: &Summary) -> (u64, u64) {
    (summary.counts.messages, summary.size)
}

#[allow(clippy::cast_precision_loss, reason = "a share needs no more digits")]
fn tokens_of(row: &ResponseRow) -> f64 {
    row.tokens.total() as f64
}

fn token_counts(usage: &Usage) -> TokenCounts {
    TokenCounts {
        input: usage.input,
        cache_read: usage.cache_read,
        cache_write: usage.cache_write,
        cache_write_1h: usage.cache_write_1h,
        output: usage.output,
        reasoning: usage.reasoning,
    }
}

fn own_sum(ledger: &[u8]) -> OwnSum {
    let mut sum = OwnSum::default();
    let Some(ledger) = load_ledger(ledger) else {
        return sum;
    };
    for row in &ledger.responses {
        if row.is_inherited {
            sum.has_inherited = true;
            sum.inherited += row.tokens;
        } else {
            sum.tokens += row.tokens;
            sum.has_cost |= row.cost.is_some();
        }
    }
    sum
}

fn model_of<'l>(ledger: &'l SessionLedger, row: &ResponseRow) -> Option<&'l ModelRef> {
    ledger.models.get(usize::try_from(row.model?).ok()?)
}

/// What a response says, whatever identifies it: a copy in another format has the same time and tokens.
fn content_key(row: &ResponseRow) -> u64 {
    let mut key = KeptHash(0x9e37_79b9_7f4a_7c15);
    let parts = [row.tokens.all_input(), row.tokens.output];
    for part in parts.into_iter().chain(row.time.map(i64::cast_unsigned)) {
        let mixed = key.0 ^ part.wrapping_mul(0xff51_afd7_ed55_8ccd);
        key.0 = mixed.rotate_left(31).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    }
    key.0
}

/// What was done in a session since it was converted; all of it where it was not.
struct ActivityLeft {
    spans: Vec<SpanRow>,
    calls: Vec<CallRow>,
    active: Vec<ActiveSpan>,
}

impl ActivityLeft {
    fn of(ledger: &SessionLedger, original: Option<&SessionLedger>) -> Self {
        let mut left = Self {
            spans: ledger.spans.clone(),
            calls: ledger.calls.clone(),
            active: ledger.active.clone(),
        };
        let Some(original) = original else {
            return left;
        };
        let before: HashMap<Option<i64>, &SpanRow> =
            original.spans.iter().map(|s| (s.quarter, s)).collect();
        for span in &mut left.spans {
            if let Some(before) = before.get(&span.quarter) {
                span.messages = span.messages.saturating_sub(before.messages);
                span.prompts = span.prompts.saturating_sub(before.prompts);
                span.lines_added = span.lines_added.saturating_sub(before.lines_added);
                span.lines_removed = span.lines_removed.saturating_sub(before.lines_removed);
            }
        }
        // What a tool is called differs between agents, so all calls of a time are compared.
        left.calls
            .retain(|call| !original.calls.iter().any(|c| c.quarter == call.quarter));
        left.active.retain(|span| {
            let holds = |o: &ActiveSpan| o.start <= span.start && span.end <= o.end;
            !original.active.iter().any(holds)
        });
        left
    }
}
