//! Adding up what counts, by day, agent, model and so on.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use rethread_model::{ModelRef, Summary};

use crate::law::{
    CountVisitor, CountedActivity, CountedResponse, LeftOut, StatsSession, count_sessions,
};
use crate::ledger::{ActiveSpan, OddityKind, QUARTER_MS, ResponseRow, TokenCounts};
use crate::prices::PriceTable;

/// What is added up together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroupBy {
    /// A day.
    #[default]
    Day,
    /// A week, which begins on Monday.
    Week,
    /// A month.
    Month,
    /// An hour of the day, of all days together.
    Hour,
    /// An agent.
    Agent,
    /// A model.
    Model,
    /// A tool.
    Tool,
    /// A workspace.
    Workspace,
    /// A session with its sub-agents.
    Session,
}

impl GroupBy {
    /// Whether it is a time.
    pub fn is_time(self) -> bool {
        matches!(self, Self::Day | Self::Week | Self::Month | Self::Hour)
    }

    /// A word for scripts.
    pub fn word(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Hour => "hour",
            Self::Agent => "agent",
            Self::Model => "model",
            Self::Tool => "tool",
            Self::Workspace => "workspace",
            Self::Session => "session",
        }
    }
}

/// What is added up.
#[derive(Clone, Debug, Default)]
pub struct StatsSums {
    /// Sessions in which something of it happened; those of sub-agents count with their parents.
    pub sessions: u64,
    /// Responses of models.
    pub responses: u64,
    /// What they used.
    pub tokens: TokenCounts,
    /// What agents recorded that they cost, in US dollars.
    pub recorded_usd: f64,
    /// What the others cost by the table of prices.
    pub computed_usd: f64,
    /// Responses whose price nobody knows.
    pub unpriced_responses: u64,
    /// Messages of all roles.
    pub messages: u64,
    /// What people said.
    pub prompts: u64,
    /// Calls of tools.
    pub tool_calls: u64,
    /// How many of them failed.
    pub tool_failures: u64,
    /// How long they took together, in milliseconds.
    pub tool_ms: u64,
    /// Lines that came into files.
    pub lines_added: u64,
    /// Lines that went out of files.
    pub lines_removed: u64,
    /// How long something went on, in milliseconds.
    pub active_ms: u64,
    /// Bytes on disk.
    pub bytes: u64,
    counted: HashSet<usize>,
    active: Vec<ActiveSpan>,
}

impl StatsSums {
    /// What all of it cost, as far as that is known.
    pub fn cost_usd(&self) -> f64 {
        self.recorded_usd + self.computed_usd
    }

    fn finish(&mut self) {
        self.sessions = self.counted.len() as u64;
        self.counted = HashSet::new();
        let mut spans = std::mem::take(&mut self.active);
        spans.sort_unstable();
        let mut end = i64::MIN;
        for span in spans {
            let start = span.start.max(end);
            if span.end > start {
                let more = u64::try_from(span.end - start).unwrap_or(0);
                self.active_ms = self.active_ms.saturating_add(more);
                end = span.end;
            }
        }
    }
}

/// What identifies a group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GroupKey {
    /// A day, or the first of a week or month.
    Date(Date),
    /// An hour of the day.
    Hour(i8),
    /// A name.
    Name(String),
    /// The place of a session among those that were given.
    Session(usize),
    /// What says nothing of its time, model or workspace.
    Unknown,
}

/// What was added up together.
#[derive(Clone, Debug)]
pub struct StatsGroup {
    /// What it is.
    pub key: GroupKey,
    /// The sums.
    pub sums: StatsSums,
}

/// Something that could not be counted as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundOddity {
    /// What.
    pub kind: OddityKind,
    /// How often.
    pub count: u64,
    /// The place of the first session with it.
    pub session: usize,
    /// The number of the entry there; 0 where it is about the whole.
    pub entry: u32,
    /// What stands there.
    pub example: String,
}

/// A model whose price nobody knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnpricedModel {
    /// Its name, with that of its provider; empty where the source names none.
    pub model: String,
    /// How many responses.
    pub responses: u64,
    /// How many tokens.
    pub tokens: u64,
}

/// A response behind a number.
#[derive(Clone, Debug)]
pub struct ExplainedRow {
    /// The group that it counts in; none where it does not count.
    pub group: Option<GroupKey>,
    /// The place of its session.
    pub session: usize,
    /// What it used.
    pub row: ResponseRow,
    /// Its model, with its provider.
    pub model: String,
    /// What it cost, and why.
    pub cost: RowCost,
    /// Whether it stands for what an agent added up itself.
    pub is_rest: bool,
    /// Why it does not count.
    pub left_out: Option<LeftOut>,
}

/// What a response cost, and how that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum RowCost {
    /// The agent recorded it.
    Recorded(f64),
    /// It is a part of what the agent recorded for the whole session.
    Shared(f64),
    /// It is computed by a table of prices.
    Computed(f64),
    /// Nobody knows.
    #[default]
    Unpriced,
}

impl RowCost {
    /// The amount in US dollars.
    pub fn usd(self) -> Option<f64> {
        match self {
            Self::Recorded(usd) | Self::Shared(usd) | Self::Computed(usd) => Some(usd),
            Self::Unpriced => None,
        }
    }

    /// A word for scripts.
    pub fn word(self) -> &'static str {
        match self {
            Self::Recorded(_) => "recorded",
            Self::Shared(_) => "shared",
            Self::Computed(_) => "computed",
            Self::Unpriced => "unpriced",
        }
    }
}

/// What is asked.
#[derive(Clone, Copy)]
pub struct StatsRequest<'r> {
    /// What is added up together.
    pub by: GroupBy,
    /// Only from this on, in milliseconds.
    pub since: Option<i64>,
    /// Only up to this.
    pub until: Option<i64>,
    /// Whether a model is wanted.
    pub takes_model: &'r dyn Fn(Option<&ModelRef>) -> bool,
    /// Whether a session is wanted, by its place.
    pub takes_session: &'r dyn Fn(usize) -> bool,
    /// The name of a session's workspace; none where it has none.
    pub workspace_of: &'r dyn Fn(&Summary) -> Option<String>,
    /// The zone in which days begin.
    pub zone: &'r TimeZone,
    /// So many rows behind the numbers are kept.
    pub explained: usize,
}

/// The answer.
#[derive(Debug, Default)]
pub struct StatsReport {
    /// The groups, sorted by what they are.
    pub groups: Vec<StatsGroup>,
    /// All together.
    pub total: StatsSums,
    /// All together by day, whatever was asked for.
    pub days: BTreeMap<Date, DaySums>,
    /// Models whose prices nobody knows, that with the most tokens first.
    pub unpriced: Vec<UnpricedModel>,
    /// What could not be counted as it is.
    pub oddities: Vec<FoundOddity>,
    /// How many responses do not count where they stand, by reason.
    pub left_out: BTreeMap<LeftOut, u64>,
    /// Rows behind the numbers.
    pub rows: Vec<ExplainedRow>,
    /// How many more there are.
    pub more_rows: u64,
}

/// What a calendar shows of a day.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DaySums {
    /// Tokens.
    pub tokens: u64,
    /// US dollars, as far as that is known.
    pub usd: f64,
    /// Messages.
    pub messages: u64,
}

/// Adds up sessions.
pub fn report_stats(
    sessions: &[StatsSession<'_>],
    prices: &mut PriceTable,
    request: &StatsRequest<'_>,
) -> StatsReport {
    let mut adder = Adder {
        sessions,
        request,
        prices,
        groups: HashMap::new(),
        report: StatsReport::default(),
        unpriced: BTreeMap::new(),
        oddities: BTreeMap::new(),
        quarters: HashMap::new(),
        sized: BTreeSet::new(),
    };
    count_sessions(sessions, &mut adder);
    adder.finish()
}

/// Where a quarter of an hour is in the calendar.
#[derive(Clone, Copy)]
struct LocalQuarter {
    day: Date,
    hour: i8,
}

struct Adder<'a, 'r> {
    sessions: &'a [StatsSession<'a>],
    request: &'a StatsRequest<'r>,
    prices: &'a mut PriceTable,
    groups: HashMap<GroupKey, StatsSums>,
    report: StatsReport,
    unpriced: BTreeMap<String, UnpricedModel>,
    oddities: BTreeMap<OddityKind, FoundOddity>,
    quarters: HashMap<i64, LocalQuarter>,
    /// Sessions whose bytes were added.
    sized: BTreeSet<usize>,
}

impl Adder<'_, '_> {
    fn root_of(&self, session: usize) -> usize {
        self.sessions.get(session).map_or(session, |s| s.root)
    }

    fn local(&mut self, quarter: i64) -> Option<LocalQuarter> {
        if let Some(known) = self.quarters.get(&quarter) {
            return Some(*known);
        }
        let start = Timestamp::from_millisecond(quarter.checked_mul(QUARTER_MS)?).ok()?;
        let zoned = start.to_zoned(self.request.zone.clone());
        let local = LocalQuarter {
            day: zoned.date(),
            hour: zoned.hour(),
        };
        self.quarters.insert(quarter, local);
        Some(local)
    }

    /// The group of something that happened in a session at some time; none where such things are in no
    /// group of what is asked for.
    fn group_of(&mut self, session: usize, quarter: Option<i64>) -> Option<GroupKey> {
        let local = quarter.and_then(|quarter| self.local(quarter));
        let of_day = |date: fn(Date) -> Date| match local {
            Some(local) => GroupKey::Date(date(local.day)),
            None => GroupKey::Unknown,
        };
        Some(match self.request.by {
            GroupBy::Day => of_day(|day| day),
            GroupBy::Week => of_day(first_of_week),
            GroupBy::Month => of_day(Date::first_of_month),
            GroupBy::Hour => local.map_or(GroupKey::Unknown, |local| GroupKey::Hour(local.hour)),
            GroupBy::Agent => {
                let root = self.sessions.get(self.root_of(session))?;
                GroupKey::Name(root.summary.head.held_by().to_owned())
            }
            GroupBy::Workspace => {
                let root = self.sessions.get(self.root_of(session))?;
                let name = (self.request.workspace_of)(root.summary);
                name.map_or(GroupKey::Unknown, GroupKey::Name)
            }
            GroupBy::Session => GroupKey::Session(self.root_of(session)),
            GroupBy::Model | GroupBy::Tool => return None,
        })
    }

    /// Adds to the sums of a group, and to those of all.
    fn add(&mut self, session: usize, group: Option<GroupKey>, add: impl Fn(&mut StatsSums)) {
        let root = self.root_of(session);
        if let Some(group) = group {
            let sums = self.groups.entry(group).or_default();
            sums.counted.insert(root);
            add(sums);
        }
        self.report.total.counted.insert(root);
        add(&mut self.report.total);
    }

    /// Adds the bytes of a session, once.
    fn add_size(&mut self, session: usize) {
        let Some(one) = self.sessions.get(session) else {
            return;
        };
        if !self.sized.insert(session) {
            return;
        }
        let bytes = one.summary.size;
        let group = match self.request.by {
            GroupBy::Agent | GroupBy::Workspace | GroupBy::Session => self.group_of(session, None),
            _ => None,
        };
        self.add(session, group, |sums| {
            sums.bytes = sums.bytes.saturating_add(bytes);
        });
    }

    fn is_in_span(&self, time: Option<i64>) -> bool {
        let StatsRequest { since, until, .. } = self.request;
        match time {
            Some(time) => {
                since.is_none_or(|since| time >= since) && until.is_none_or(|until| time <= until)
            }
            None => since.is_none() && until.is_none(),
        }
    }

    /// Whether a quarter of an hour is in the time that is asked for, at least with a part of it.
    fn has_quarter(&self, quarter: Option<i64>) -> bool {
        let StatsRequest { since, until, .. } = self.request;
        let Some(quarter) = quarter else {
            return since.is_none() && until.is_none();
        };
        since.is_none_or(|since| quarter >= since.div_euclid(QUARTER_MS))
            && until.is_none_or(|until| quarter <= until.div_euclid(QUARTER_MS))
    }

    fn explain(&mut self, row: impl FnOnce() -> ExplainedRow) {
        if self.report.rows.len() < self.request.explained {
            self.report.rows.push(row());
        } else if self.request.explained > 0 {
            self.report.more_rows += 1;
        }
    }

    fn cost_of(&mut self, response: &CountedResponse<'_>) -> RowCost {
        if let Some(usd) = response.row.cost {
            return RowCost::Recorded(usd);
        }
        if let Some(usd) = response.shared_cost {
            return RowCost::Shared(usd);
        }
        let row = &response.row;
        let computed = response
            .model
            .and_then(|model| self.prices.cost(model, &row.tokens, row.time));
        computed.map_or(RowCost::Unpriced, RowCost::Computed)
    }

    fn finish(mut self) -> StatsReport {
        let mut groups: Vec<StatsGroup> = self
            .groups
            .into_iter()
            .map(|(key, sums)| StatsGroup { key, sums })
            .collect();
        groups.sort_by(|a, b| a.key.cmp(&b.key));
        for group in &mut groups {
            group.sums.finish();
        }
        self.report.groups = groups;
        self.report.total.finish();
        self.report.unpriced = self.unpriced.into_values().collect();
        self.report
            .unpriced
            .sort_by_key(|model| std::cmp::Reverse(model.tokens));
        self.report.oddities = self.oddities.into_values().collect();
        self.report
    }
}

impl CountVisitor for Adder<'_, '_> {
    fn count_response(&mut self, response: &CountedResponse<'_>) {
        let CountedResponse {
            session,
            row,
            model,
            is_rest,
            ..
        } = *response;
        let is_wanted = (self.request.takes_session)(session)
            && (self.request.takes_model)(model)
            && self.is_in_span(row.time);
        if !is_wanted {
            return;
        }
        let cost = self.cost_of(response);
        let quarter = row.time.map(|time| time.div_euclid(QUARTER_MS));
        let name = model.map_or_else(String::new, full_model_name);
        let group = match self.request.by {
            GroupBy::Model if name.is_empty() => Some(GroupKey::Unknown),
            GroupBy::Model => Some(GroupKey::Name(name.clone())),
            _ => self.group_of(session, quarter),
        };
        self.add(session, group.clone(), |sums| {
            sums.responses += 1;
            sums.tokens += row.tokens;
            match cost {
                RowCost::Recorded(usd) | RowCost::Shared(usd) => sums.recorded_usd += usd,
                RowCost::Computed(usd) => sums.computed_usd += usd,
                RowCost::Unpriced => sums.unpriced_responses += 1,
            }
        });
        if let Some(local) = quarter.and_then(|quarter| self.local(quarter)) {
            let day = self.report.days.entry(local.day).or_default();
            day.tokens = day.tokens.saturating_add(row.tokens.total());
            day.usd += cost.usd().unwrap_or(0.0);
        }
        if cost == RowCost::Unpriced {
            let unpriced = self.unpriced.entry(name.clone()).or_insert(UnpricedModel {
                model: name.clone(),
                responses: 0,
                tokens: 0,
            });
            unpriced.responses += 1;
            unpriced.tokens = unpriced.tokens.saturating_add(row.tokens.total());
        }
        self.add_size(session);
        self.explain(|| ExplainedRow {
            group,
            session,
            row,
            model: name,
            cost,
            is_rest,
            left_out: None,
        });
    }

    fn leave_out(&mut self, session: usize, row: &ResponseRow, why: LeftOut) {
        if !(self.request.takes_session)(session) || !self.is_in_span(row.time) {
            return;
        }
        *self.report.left_out.entry(why).or_default() += 1;
        self.explain(|| ExplainedRow {
            group: None,
            session,
            row: *row,
            model: String::new(),
            cost: RowCost::Unpriced,
            is_rest: false,
            left_out: Some(why),
        });
    }

    fn count_activity(&mut self, session: usize, activity: &CountedActivity<'_>) {
        if !(self.request.takes_session)(session) {
            return;
        }
        let models = &activity.ledger.models;
        let has_model = models
            .iter()
            .any(|model| (self.request.takes_model)(Some(model)));
        if !has_model && !(self.request.takes_model)(None) {
            return;
        }
        let is_whole = self.request.since.is_none() && self.request.until.is_none();
        let mut is_there = is_whole;
        for span in activity.spans {
            if !self.has_quarter(span.quarter) {
                continue;
            }
            is_there = true;
            let group = self.group_of(session, span.quarter);
            self.add(session, group, |sums| {
                sums.messages += span.messages;
                sums.prompts += span.prompts;
                sums.lines_added += span.lines_added;
                sums.lines_removed += span.lines_removed;
            });
            if let Some(local) = span.quarter.and_then(|quarter| self.local(quarter)) {
                self.report.days.entry(local.day).or_default().messages += span.messages;
            }
        }
        for call in activity.calls {
            if !self.has_quarter(call.quarter) {
                continue;
            }
            let tool = usize::try_from(call.tool).ok();
            let tool = tool.and_then(|at| activity.tools.get(at));
            let group = match self.request.by {
                GroupBy::Tool => {
                    Some(tool.map_or(GroupKey::Unknown, |t| GroupKey::Name(t.clone())))
                }
                _ => self.group_of(session, call.quarter),
            };
            self.add(session, group, |sums| {
                sums.tool_calls += call.calls;
                sums.tool_failures += call.failed;
                sums.tool_ms = sums.tool_ms.saturating_add(call.duration_ms);
            });
        }
        for span in activity.active {
            self.add_active(session, *span);
        }
        if is_there {
            self.add_size(session);
            for odd in &activity.ledger.oddities {
                let found = self
                    .oddities
                    .entry(odd.kind)
                    .or_insert_with(|| FoundOddity {
                        kind: odd.kind,
                        count: 0,
                        session,
                        entry: odd.entry,
                        example: odd.example.clone(),
                    });
                found.count += odd.count;
            }
        }
    }
}

impl Adder<'_, '_> {
    /// Adds a time in which something went on; in groups of time, by quarters of an hour.
    fn add_active(&mut self, session: usize, span: ActiveSpan) {
        let StatsRequest { since, until, .. } = *self.request;
        let start = span.start.max(since.unwrap_or(i64::MIN));
        let end = span.end.min(until.unwrap_or(i64::MAX));
        if end <= start {
            return;
        }
        if !self.request.by.is_time() {
            let group = self.group_of(session, None);
            self.add(session, group, |sums| {
                sums.active.push(ActiveSpan { start, end });
            });
            return;
        }
        let mut at = start;
        while at < end {
            let quarter = at.div_euclid(QUARTER_MS);
            let next = (quarter + 1).saturating_mul(QUARTER_MS).min(end);
            let piece = ActiveSpan {
                start: at,
                end: next,
            };
            let group = self.group_of(session, Some(quarter));
            self.add(session, group, |sums| sums.active.push(piece));
            at = next;
        }
    }
}

/// The Monday on or before a day.
fn first_of_week(day: Date) -> Date {
    let back = i32::from(day.weekday().to_monday_zero_offset());
    day.checked_sub(jiff::Span::new().days(back)).unwrap_or(day)
}

/// The name of a model, with that of its provider where the source names one.
pub fn full_model_name(model: &ModelRef) -> String {
    match &model.provider {
        Some(provider) if !provider.is_empty() => format!("{provider}/{}", model.id),
        _ => model.id.clone(),
    }
}
