//! Statistics for people: tables with bars, a calendar, a line for prompts, and what a picture shows.

use std::collections::BTreeMap;
use std::io::{self, Write};

use jiff::Zoned;
use jiff::civil::Date;
use rethread_engine::{
    BudgetState, ExplainedRow, Filter, GroupBy, GroupKey, Stats, StatsGroup, StatsReport,
    StatsSums, by_name, workspace_labels,
};
use rethread_model::Moment;
use rethread_render::{
    PictureBar, StatsPicture, byte_count, dollars, draw_bar, draw_calendar, draw_gauge, fit,
    one_line, short_count, width,
};

use crate::context::Context;
use crate::table::{HEADING, QUIET, count, left, paint, right, title};

/// How wide it is where the output is no terminal.
const COLUMNS: usize = 100;
/// The widest and the narrowest that a bar is.
const WIDEST_BAR: usize = 40;
const LEAST_BAR: usize = 6;
/// The widest that a name is beside its numbers.
const WIDEST_LABEL: usize = 44;
/// So many groups of each kind are on the page that shows several.
const FEW: usize = 7;
/// So many days are on it.
const DAYS: usize = 14;

/// What is printed of statistics.
pub(crate) struct StatsPage<'a> {
    context: &'a Context,
    found: &'a Stats,
    by: &'a [GroupBy],
    filter: &'a Filter,
    now: Zoned,
    columns: usize,
}

/// A column of a table: its heading, and what stands in it.
struct Column {
    heading: &'static str,
    shown: fn(&StatsSums) -> String,
}

const TOKENS: Column = Column {
    heading: "tokens",
    shown: |sums| short_count(sums.tokens.total()),
};
const COST: Column = Column {
    heading: "cost",
    shown: shown_cost,
};
const SESSIONS: Column = Column {
    heading: "sessions",
    shown: |sums| count(sums.sessions),
};
const MESSAGES: Column = Column {
    heading: "messages",
    shown: |sums| count(sums.messages),
};
const CALLS: Column = Column {
    heading: "calls",
    shown: |sums| count(sums.tool_calls),
};
const FAILED: Column = Column {
    heading: "failed",
    shown: |sums| count(sums.tool_failures),
};
const TOOL_TIME: Column = Column {
    heading: "time",
    shown: |sums| shown_time(sums.tool_ms),
};
const ACTIVE: Column = Column {
    heading: "active",
    shown: |sums| shown_time(sums.active_ms),
};
const LINES: Column = Column {
    heading: "lines",
    shown: |sums| match (sums.lines_added, sums.lines_removed) {
        (0, 0) => String::new(),
        (added, removed) => format!("+{} −{}", count(added), count(removed)),
    },
};
const SIZE: Column = Column {
    heading: "size",
    shown: |sums| byte_count(sums.bytes),
};
const CACHED: Column = Column {
    heading: "from cache",
    shown: |sums| short_count(sums.tokens.cache_read),
};
const OUTPUT: Column = Column {
    heading: "output",
    shown: |sums| short_count(sums.tokens.output),
};
const RESPONSES: Column = Column {
    heading: "responses",
    shown: |sums| count(sums.responses),
};

/// The columns of a table, the most wanted first: those at the end go where there is no room.
fn columns_of(by: GroupBy) -> Vec<Column> {
    match by {
        GroupBy::Tool => vec![CALLS, FAILED, TOOL_TIME, SESSIONS],
        GroupBy::Model => vec![TOKENS, COST, RESPONSES, OUTPUT, CACHED, SESSIONS],
        GroupBy::Agent | GroupBy::Workspace => vec![
            TOKENS, COST, SESSIONS, SIZE, MESSAGES, ACTIVE, CALLS, FAILED, LINES,
        ],
        GroupBy::Session => vec![TOKENS, COST, ACTIVE, MESSAGES, CALLS, LINES, SIZE],
        GroupBy::Day | GroupBy::Week | GroupBy::Month | GroupBy::Hour => vec![
            TOKENS, COST, MESSAGES, ACTIVE, SESSIONS, CALLS, FAILED, LINES, CACHED,
        ],
    }
}

fn shown_cost(sums: &StatsSums) -> String {
    let is_known = sums.responses > sums.unpriced_responses || sums.cost_usd() > 0.0;
    match (is_known, sums.responses) {
        (true, _) => dollars(sums.cost_usd()),
        (false, 0) => String::new(),
        (false, _) => "unpriced".to_owned(),
    }
}

/// `45 s`, `12 min`, `3 h 20 min`.
fn shown_time(ms: u64) -> String {
    let seconds = ms / 1000;
    match (seconds / 3600, seconds / 60 % 60) {
        (0, 0) => format!("{seconds} s"),
        (0, minutes) => format!("{minutes} min"),
        (hours, minutes) => format!("{} h {minutes:02} min", count(hours)),
    }
}

/// What a bar stands for.
#[allow(clippy::cast_precision_loss, reason = "only drawn")]
fn bar_value(by: GroupBy, sums: &StatsSums) -> f64 {
    match by {
        GroupBy::Tool => sums.tool_calls as f64,
        _ => sums.tokens.total() as f64,
    }
}

impl<'a> StatsPage<'a> {
    pub(crate) fn new(
        context: &'a Context,
        found: &'a Stats,
        by: &'a [GroupBy],
        filter: &'a Filter,
    ) -> Self {
        let now = context.env.now().timestamp();
        let asked = context.style().width;
        Self {
            context,
            found,
            by,
            filter,
            now: now.to_zoned(context.zone().clone()),
            columns: context.columns.unwrap_or(match asked {
                80 => COLUMNS,
                asked => asked,
            }),
        }
    }

    fn report(&self) -> Option<&'a StatsReport> {
        self.found.reports.first()
    }

    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let Some(report) = self.report() else {
            return Ok(());
        };
        for line in self.heading(report) {
            writeln!(out, "{line}")?;
        }
        if self.by.len() > 1 {
            self.write_calendar(out, report)?;
        }
        for (by, report) in self.by.iter().zip(&self.found.reports) {
            writeln!(out)?;
            self.write_table(out, *by, &report.groups)?;
        }
        self.write_remarks(out, report)
    }

    /// The sums of all, in as many lines as they need.
    fn heading(&self, report: &StatsReport) -> Vec<String> {
        let total = &report.total;
        let mut facts = vec![
            self.span_label(report),
            noun(total.sessions, "session"),
            format!("{} tokens", short_count(total.tokens.total())),
        ];
        if total.tokens.cache_read > 0 {
            let cached = short_count(total.tokens.cache_read);
            if let Some(last) = facts.last_mut() {
                *last = format!("{last} ({cached} from cache)");
            }
        }
        facts.push(shown_cost(total));
        if total.active_ms > 0 {
            facts.push(format!("{} active", shown_time(total.active_ms)));
        }
        if total.lines_added + total.lines_removed > 0 {
            facts.push(format!(
                "+{} −{} lines",
                count(total.lines_added),
                count(total.lines_removed)
            ));
        }
        facts.push(byte_count(total.bytes));
        facts.retain(|fact| !fact.is_empty());
        let mut lines: Vec<String> = Vec::new();
        for fact in facts {
            match lines.last_mut() {
                Some(line) if width(line) + width(&fact) + 3 <= self.columns => {
                    line.push_str(" · ");
                    line.push_str(&fact);
                }
                _ => lines.push(fact),
            }
        }
        if let Some(first) = lines.first_mut() {
            *first = paint(self.context.colour, HEADING, first);
        }
        if let Some(budget) = &self.found.budget {
            lines.push(budget_line(budget, self.now.date(), self.columns));
        }
        lines
    }

    /// The time that the numbers are of.
    fn span_label(&self, report: &StatsReport) -> String {
        let day = |moment: Moment| {
            let zoned = moment.timestamp().to_zoned(self.now.time_zone().clone());
            zoned.date()
        };
        let first = self.filter.since.map(day);
        let first = first.or_else(|| report.days.keys().next().copied());
        let last = self.filter.until.map(day);
        let last = last.or_else(|| report.days.keys().next_back().copied());
        match (first, last) {
            (Some(first), Some(last)) if first < last => {
                let is_month = first.first_of_month() == first
                    && first.last_of_month() >= last
                    && last >= self.now.date().min(first.last_of_month());
                if is_month {
                    return first.strftime("%B %Y").to_string();
                }
                format!("{} – {}", self.day_label(first), self.day_label(last))
            }
            (Some(day), _) | (None, Some(day)) => self.day_label(day),
            (None, None) => "no time".to_owned(),
        }
    }

    fn day_label(&self, day: Date) -> String {
        if day.year() == self.now.year() {
            day.strftime("%-d %b").to_string()
        } else {
            day.strftime("%-d %b %Y").to_string()
        }
    }

    fn write_calendar(&self, out: &mut dyn Write, report: &StatsReport) -> io::Result<()> {
        let days = calendar_days(report);
        let calendar = draw_calendar(&days, self.now.date(), self.columns);
        if days.len() < 2 || calendar.rows.is_empty() {
            return Ok(());
        }
        writeln!(out)?;
        writeln!(
            out,
            "{}",
            paint(self.context.colour, QUIET, &calendar.months)
        )?;
        for row in &calendar.rows {
            writeln!(out, "{row}")?;
        }
        Ok(())
    }

    fn write_table(
        &self,
        out: &mut dyn Write,
        by: GroupBy,
        groups: &[StatsGroup],
    ) -> io::Result<()> {
        let groups = self.shown_groups(by, groups);
        let labels = self.labels(by, &groups);
        let mut columns = columns_of(by);
        // What is the same nothing in each row is not shown.
        columns.retain(|column| {
            let is_said = |g: &StatsGroup| {
                let shown = (column.shown)(&g.sums);
                !matches!(shown.as_str(), "" | "0" | "0 s" | "0 B")
            };
            groups.iter().any(is_said) || column.heading == TOKENS.heading
        });
        let cells: Vec<Vec<String>> = columns
            .iter()
            .map(|column| groups.iter().map(|g| (column.shown)(&g.sums)).collect())
            .collect();
        let widths: Vec<usize> = columns
            .iter()
            .zip(&cells)
            .map(|(column, cells)| {
                let widest = cells.iter().map(|cell| width(cell)).max().unwrap_or(0);
                widest.max(width(column.heading))
            })
            .collect();
        let widest = labels.iter().map(|label| width(label)).max().unwrap_or(0);
        let share = if by == GroupBy::Session { 2 } else { 3 };
        let label_width = widest.min(WIDEST_LABEL).min(self.columns / share);
        let label_width = label_width.max(width(by.word()));
        // So many columns fit beside the names and a short bar.
        let mut used = label_width + LEAST_BAR + 2;
        let mut fitting = 0;
        for width in &widths {
            if used + width + 2 > self.columns {
                break;
            }
            used += width + 2;
            fitting += 1;
        }
        let bar_width = (self.columns.saturating_sub(used) + LEAST_BAR).min(WIDEST_BAR);
        let mut line = format!(
            "{}  {}",
            left(by.word(), label_width),
            " ".repeat(bar_width)
        );
        for (column, width) in columns.iter().zip(&widths).take(fitting) {
            line.push_str("  ");
            line.push_str(&right(column.heading, *width));
        }
        writeln!(
            out,
            "{}",
            paint(self.context.colour, QUIET, line.trim_end())
        )?;
        let most = groups
            .iter()
            .map(|g| bar_value(by, &g.sums))
            .fold(0.0, f64::max);
        for (at, (group, label)) in groups.iter().zip(&labels).enumerate() {
            let bar = draw_bar(bar_value(by, &group.sums), most, bar_width);
            let mut line = left(&fit(label, label_width), label_width);
            line.push_str("  ");
            line.push_str(&left(&bar, bar_width));
            for (cells, width) in cells.iter().zip(&widths).take(fitting) {
                line.push_str("  ");
                line.push_str(&right(cells.get(at).map_or("", String::as_str), *width));
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }

    /// The groups that are shown: few of each where there are several tables, and all hours of the day.
    fn shown_groups(&self, by: GroupBy, groups: &[StatsGroup]) -> Vec<StatsGroup> {
        if by == GroupBy::Hour && groups.len() > 1 {
            let known: BTreeMap<&GroupKey, &StatsGroup> =
                groups.iter().map(|group| (&group.key, group)).collect();
            let mut hours: Vec<StatsGroup> = (0..24)
                .map(|hour| {
                    let key = GroupKey::Hour(hour);
                    match known.get(&key) {
                        Some(group) => (*group).clone(),
                        None => StatsGroup {
                            key,
                            sums: StatsSums::default(),
                        },
                    }
                })
                .collect();
            hours.extend(known.get(&GroupKey::Unknown).map(|group| (*group).clone()));
            return hours;
        }
        let most = match (self.by.len(), by) {
            (..=1, _) => usize::MAX,
            (_, GroupBy::Day) => DAYS,
            _ => FEW,
        };
        if by.is_time() {
            groups
                .iter()
                .skip(groups.len().saturating_sub(most))
                .cloned()
                .collect()
        } else {
            groups.iter().take(most).cloned().collect()
        }
    }

    /// What people call groups, each on one line.
    fn labels(&self, by: GroupBy, groups: &[StatsGroup]) -> Vec<String> {
        if by != GroupBy::Workspace {
            return groups.iter().map(|g| self.label(by, &g.key)).collect();
        }
        let named = |group: &'_ StatsGroup| match &group.key {
            GroupKey::Name(name) => name.clone(),
            key => self.label(by, key),
        };
        let names: Vec<String> = groups.iter().map(named).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let labels = workspace_labels(&names).into_iter();
        labels.map(|label| one_line(&label).into_owned()).collect()
    }

    /// What people call a group, on one line.
    fn label(&self, by: GroupBy, key: &GroupKey) -> String {
        match key {
            GroupKey::Date(day) => match by {
                GroupBy::Month => day.strftime("%B %Y").to_string(),
                GroupBy::Week => format!("week of {}", self.day_label(*day)),
                _ => format!("{} {}", day.strftime("%a"), self.day_label(*day)),
            },
            GroupKey::Hour(hour) => format!("{hour:02}:00"),
            GroupKey::Name(name) => match by {
                GroupBy::Agent => by_name(name).map_or_else(
                    || one_line(name).into_owned(),
                    |f| f.about().name.to_owned(),
                ),
                _ => one_line(name).into_owned(),
            },
            GroupKey::Session(at) => match self.found.sessions.get(*at) {
                Some(session) => {
                    let name = one_line(&self.found.names.name_of(session)).into_owned();
                    format!("{name}  {}", title(session))
                }
                None => String::new(),
            },
            GroupKey::Unknown => format!("(no {})", by.word()),
        }
    }

    fn write_remarks(&self, out: &mut dyn Write, report: &StatsReport) -> io::Result<()> {
        let lines = remarks(report);
        if !lines.is_empty() {
            writeln!(out)?;
        }
        for remark in lines {
            let line = fit(&remark, self.columns);
            writeln!(out, "{}", paint(self.context.colour, QUIET, &line))?;
        }
        Ok(())
    }

    /// Today and this month in one line.
    pub(crate) fn status_line(&self) -> String {
        let empty = BTreeMap::new();
        let days = self.report().map_or(&empty, |report| &report.days);
        let today = self.now.date();
        let sum = |first: Date| {
            let days = days.range(first..=today);
            days.fold((0_u64, 0.0), |(tokens, usd), (_, day)| {
                (tokens.saturating_add(day.tokens), usd + day.usd)
            })
        };
        let (tokens, usd) = sum(today);
        let (_, month) = sum(today.first_of_month());
        let mut line = format!(
            "today {} {} · {} {}",
            short_count(tokens),
            dollars(usd),
            today.strftime("%b"),
            dollars(month)
        );
        if let Some(budget) = &self.found.budget {
            line = format!(
                "{line} of {} {}",
                dollars(budget.month_usd),
                percent(budget)
            );
        }
        line
    }

    /// Prints the responses behind the numbers.
    pub(crate) fn write_rows(&self, out: &mut dyn Write) -> io::Result<()> {
        let Some(report) = self.report() else {
            return Ok(());
        };
        for line in self.heading(report) {
            writeln!(out, "{line}")?;
        }
        writeln!(out)?;
        for row in &report.rows {
            writeln!(out, "{}", self.explained_line(row))?;
        }
        if report.more_rows > 0 {
            writeln!(
                out,
                "… {} more; `-n` says how many are shown",
                count(report.more_rows)
            )?;
        }
        self.write_remarks(out, report)
    }

    fn explained_line(&self, explained: &ExplainedRow) -> String {
        let ExplainedRow { row, .. } = explained;
        let time = row.time.and_then(Moment::from_millis);
        let time = crate::table::time(time, self.now.time_zone());
        let session = self.found.sessions.get(explained.session);
        let name = session.map_or_else(String::new, |s| self.found.names.name_of(s));
        let entry = match row.entry {
            0 => String::new(),
            entry => format!("#{entry}"),
        };
        let tokens = format!(
            "in {} out {} cache {}+{}",
            row.tokens.input,
            row.tokens.output,
            row.tokens.cache_read,
            row.tokens
                .cache_write
                .saturating_add(row.tokens.cache_write_1h)
        );
        let ends = match (explained.left_out, explained.is_rest) {
            (Some(why), _) => format!("left out: {}", why.word()),
            (None, is_rest) => {
                let cost = explained.cost.usd().map(|usd| format!("${usd:.4} "));
                let rest = if is_rest {
                    ", added up by the agent"
                } else {
                    ""
                };
                format!(
                    "{}{}{rest}",
                    cost.unwrap_or_default(),
                    explained.cost.word()
                )
            }
        };
        let line = format!(
            "{time}  {} {}  {}  {tokens}  {ends}",
            one_line(&name),
            left(&entry, 5),
            one_line(&explained.model)
        );
        one_line(&line).into_owned()
    }

    /// The same as a picture.
    pub(crate) fn picture(&self) -> StatsPicture {
        let empty = StatsReport::default();
        let report = self.report().unwrap_or(&empty);
        let by = self.by.first().copied().unwrap_or_default();
        let labels = self.labels(by, &report.groups).into_iter();
        let bars = report
            .groups
            .iter()
            .zip(labels)
            .map(|(group, label)| PictureBar {
                label,
                value: bar_value(by, &group.sums),
                shown: match by {
                    GroupBy::Tool => {
                        format!(
                            "{} calls, {} failed",
                            (CALLS.shown)(&group.sums),
                            (FAILED.shown)(&group.sums)
                        )
                    }
                    _ => format!(
                        "{}  {}",
                        (TOKENS.shown)(&group.sums),
                        shown_cost(&group.sums)
                    ),
                },
            });
        let total = &report.total;
        let mut sums = format!(
            "{} · {} tokens ({} from cache) · {}",
            noun(total.sessions, "session"),
            short_count(total.tokens.total()),
            short_count(total.tokens.cache_read),
            shown_cost(total)
        );
        if let Some(budget) = &self.found.budget {
            let month = dollars(budget.month_usd);
            sums = format!("{sums} · {} of {month} this month", percent(budget));
        }
        StatsPicture {
            title: self.span_label(report),
            sums,
            bars: bars.collect(),
            days: calendar_days(report),
            today: self.now.date(),
            remarks: remarks(report),
        }
    }
}

/// What is to be known beside the numbers.
fn remarks(report: &StatsReport) -> Vec<String> {
    let mut remarks = Vec::new();
    for model in &report.unpriced {
        let name = match model.model.as_str() {
            "" => "a model without a name".to_owned(),
            name => format!("`{}`", one_line(name)),
        };
        let are = if model.responses == 1 { "is" } else { "are" };
        remarks.push(format!(
            "{} of {name} {are} unpriced ({} tokens)",
            noun(model.responses, "response"),
            short_count(model.tokens)
        ));
    }
    let left: u64 = report.left_out.values().sum();
    if left > 0 {
        remarks.push(format!(
            "{} in other files repeat what counts once",
            noun(left, "response")
        ));
    }
    remarks
}

/// How dark each day of a calendar is.
#[allow(clippy::cast_precision_loss, reason = "only drawn")]
fn calendar_days(report: &StatsReport) -> BTreeMap<Date, f64> {
    let days = report.days.iter();
    days.map(|(day, sums)| {
        let value = sums.tokens.max(sums.messages);
        (*day, value as f64)
    })
    .collect()
}

/// How much of the month's budget is spent.
pub(crate) fn budget_line(budget: &BudgetState, today: Date, columns: usize) -> String {
    let month = today.strftime("%B").to_string();
    let mut line = format!(
        "{month}: {} of {}  {} {}",
        dollars(budget.spent_usd),
        dollars(budget.month_usd),
        draw_gauge(spent_part(budget), 10.min(columns / 4)),
        percent(budget)
    );
    if budget.unpriced_responses > 0 {
        let unpriced = noun(budget.unpriced_responses, "response");
        line = format!("{line}, {unpriced} unpriced");
    }
    line
}

fn spent_part(budget: &BudgetState) -> f64 {
    if budget.month_usd > 0.0 {
        budget.spent_usd / budget.month_usd
    } else if budget.spent_usd > 0.0 {
        1.0
    } else {
        0.0
    }
}

fn percent(budget: &BudgetState) -> String {
    format!("{:.0} %", spent_part(budget) * 100.0)
}

fn noun(n: u64, one: &str) -> String {
    format!("{} {one}{}", count(n), if n == 1 { "" } else { "s" })
}
