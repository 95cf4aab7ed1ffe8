//! `conversation_stats`: what conversations used.

use std::fmt::Write as _;

use rethread_lib::engine::{GroupBy, GroupKey, Stats, StatsGroup, StatsOptions, StatsSums, stats};
use rethread_lib::render::one_line;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::list::list_filter;
use super::{ToolDescription, ToolEntry};
use crate::answer::{ToolAnswer, ToolError};
use crate::arguments::conversation_limit;
use crate::handle::handle;
use crate::library::LibraryOptions;
use crate::progress::CallProgress;

/// So many rows are told unless the client asks for another number.
const USUAL_LIMIT: usize = 20;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StatsArguments {
    /// What to add up together.
    #[serde(default)]
    by: StatsKey,
    /// Which conversations, as for `list_conversations`: `agent:codex dir:shop since:7d`.
    #[serde(default)]
    filters: Option<String>,
    /// At most so many rows, 1 to 50; 20 by default. Of times the last, of all else what cost the most.
    #[serde(default)]
    limit: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum StatsKey {
    #[default]
    Day,
    Week,
    Month,
    Hour,
    Agent,
    Model,
    Tool,
    Workspace,
    Session,
}

impl From<StatsKey> for GroupBy {
    fn from(key: StatsKey) -> Self {
        match key {
            StatsKey::Day => Self::Day,
            StatsKey::Week => Self::Week,
            StatsKey::Month => Self::Month,
            StatsKey::Hour => Self::Hour,
            StatsKey::Agent => Self::Agent,
            StatsKey::Model => Self::Model,
            StatsKey::Tool => Self::Tool,
            StatsKey::Workspace => Self::Workspace,
            StatsKey::Session => Self::Session,
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StatsData {
    total: StatsRow,
    rows: Vec<StatsRow>,
    /// How many rows are left out.
    more: usize,
    /// Models whose price is not known; their responses are not in `cost_usd`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unpriced: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct StatsRow {
    /// The day, agent, model and so on; `total` for all.
    key: String,
    sessions: u64,
    messages: u64,
    /// Tokens of input, output and cache together.
    tokens: u64,
    output_tokens: u64,
    /// US dollars, as far as prices are known.
    cost_usd: f64,
    tool_calls: u64,
    tool_failures: u64,
    active_minutes: u64,
    lines_added: u64,
    lines_removed: u64,
}

impl StatsRow {
    fn new(key: String, sums: &StatsSums) -> Self {
        Self {
            key,
            sessions: sums.sessions,
            messages: sums.messages,
            tokens: sums.tokens.total(),
            output_tokens: sums.tokens.output,
            cost_usd: (sums.cost_usd() * 10_000.0).round() / 10_000.0,
            tool_calls: sums.tool_calls,
            tool_failures: sums.tool_failures,
            active_minutes: sums.active_ms / 60_000,
            lines_added: sums.lines_added,
            lines_removed: sums.lines_removed,
        }
    }
}

pub(super) fn entry() -> ToolEntry {
    let about = ToolDescription {
        name: "conversation_stats",
        title: "What conversations used",
        text: "Adds up tokens, cost, time, tool calls and changed lines of recorded conversations.",
        is_read_only: true,
    };
    ToolEntry::new(&about, run)
}

fn run(
    library: &LibraryOptions,
    arguments: &StatsArguments,
    progress: &CallProgress,
) -> Result<ToolAnswer<StatsData>, ToolError> {
    let limit = conversation_limit(arguments.limit, USUAL_LIMIT)?;
    let by = GroupBy::from(arguments.by);
    let filter = list_filter(library, arguments.filters.as_deref())?;
    let options = StatsOptions {
        by: vec![by],
        explained: 0,
    };
    let tell = |done, of| progress.tell(done, of);
    let found = stats(&library.env, &filter, &options, &library.zone, &tell)?;
    let Some(report) = found.reports.first() else {
        return Err(ToolError::new("nothing was counted"));
    };
    let mut groups: Vec<&StatsGroup> = report.groups.iter().collect();
    if !by.is_time() {
        groups.sort_by(|a, b| {
            let cost = b.sums.cost_usd().total_cmp(&a.sums.cost_usd());
            cost.then_with(|| b.sums.tool_calls.cmp(&a.sums.tool_calls))
                .then_with(|| a.key.cmp(&b.key))
        });
    }
    let more = groups.len().saturating_sub(limit);
    if by.is_time() {
        groups.drain(..more);
    } else {
        groups.truncate(limit);
    }
    let row = |group: &&StatsGroup| StatsRow::new(row_key(&found, &group.key), &group.sums);
    let unpriced = report.unpriced.iter();
    let data = StatsData {
        total: StatsRow::new("total".to_owned(), &report.total),
        rows: groups.iter().map(row).collect(),
        more,
        unpriced: unpriced.map(|m| one_line(&m.model).into_owned()).collect(),
    };
    Ok(ToolAnswer {
        text: stats_text(&data),
        data,
    })
}

fn row_key(found: &Stats, key: &GroupKey) -> String {
    match key {
        GroupKey::Date(date) => date.to_string(),
        GroupKey::Hour(hour) => format!("{hour:02}:00"),
        GroupKey::Name(name) => one_line(name).into_owned(),
        GroupKey::Session(at) => {
            let session = found.sessions.get(*at);
            session.map_or_else(String::new, |session| handle(&found.names, session))
        }
        GroupKey::Unknown => "unknown".to_owned(),
    }
}

fn stats_text(data: &StatsData) -> String {
    let mut text =
        "key: sessions, messages, tokens, output tokens, US dollars, tool calls (failed), active minutes, lines"
            .to_owned();
    for row in data.rows.iter().chain([&data.total]) {
        let _ = write!(
            text,
            "\n{}: {}, {}, {}, {}, {:.2}, {} ({}), {}, +{} -{}",
            row.key,
            row.sessions,
            row.messages,
            row.tokens,
            row.output_tokens,
            row.cost_usd,
            row.tool_calls,
            row.tool_failures,
            row.active_minutes,
            row.lines_added,
            row.lines_removed
        );
    }
    if data.more > 0 {
        let _ = write!(text, "\n{} more rows are left out", data.more);
    }
    if !data.unpriced.is_empty() {
        let _ = write!(text, "\nwithout a price: {}", data.unpriced.join(", "));
    }
    text
}
