//! `rethread`: what there is on this machine.

use std::io::{self, Write};

use anstyle::Style;
use jiff::Zoned;
use jiff::civil::Date;
use rethread_engine::{
    AgentLine, BudgetState, Can, DayCount, Overview, by_name, month_budget, overview,
    temporary_sample,
};
use rethread_model::{Moment, Note, Summary};
use rethread_render::{byte_count, fit, one_line, short_count, width};
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print_json, session_json};
use crate::progress::Progress;
use crate::session_table::{LEAST_TITLE, name_width};
use crate::stats_json::budget_json;
use crate::stats_page::budget_line;
use crate::table::{
    HEADING, ID, QUIET, WORKSPACE, count, left, paint, right, title_with_origin, workspace,
};

/// How many conversations are shown.
const RECENT: usize = 10;

/// How wide it is where the output is no terminal.
const COLUMNS: usize = 100;

pub(crate) fn run(context: &Context) -> Result<Exit, Failure> {
    let progress = Progress::new("reading");
    let mut all = overview(&context.env, RECENT, &|done, of| progress.at(done, of));
    drop(progress);
    let budget = budget(context, &mut all);
    if context.json {
        let mut answer = as_json(&all, &local_now(context));
        if let (Some(budget), Value::Object(members)) = (&budget, &mut answer) {
            members.insert("budget".to_owned(), budget_json(budget));
        }
        print_json(&answer)?;
    } else if all.sessions == 0 && all.hidden == 0 {
        nothing(context, &all)?;
    } else {
        print(context, &all, budget)?;
    }
    Ok(context.notes(&all.notes))
}

/// How much of the month's budget is spent, if the user set one. Trouble with the settings is noted.
fn budget(context: &Context, all: &mut Overview) -> Option<BudgetState> {
    let progress = Progress::new("counting");
    let found = month_budget(&context.env, context.zone(), &|done, of| {
        progress.at(done, of);
    });
    match found {
        Ok(budget) => budget,
        Err(e) => {
            all.notes.push(Note::remark(e.to_string()));
            None
        }
    }
}

/// What time it is where the user is.
fn local_now(context: &Context) -> Zoned {
    let now = context.env.now().timestamp();
    now.to_zoned(context.zone().clone())
}

fn print(context: &Context, all: &Overview, budget: Option<BudgetState>) -> Result<(), Failure> {
    let page = Page {
        budget,
        context,
        all,
        now: local_now(context),
        columns: context.columns.unwrap_or(COLUMNS),
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    page.write(&mut out)?;
    Ok(out.flush()?)
}

/// The overview, as people see it.
struct Page<'a> {
    context: &'a Context,
    budget: Option<BudgetState>,
    all: &'a Overview,
    now: Zoned,
    columns: usize,
}

impl Page<'_> {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        self.write_totals(out)?;
        if let Some(budget) = &self.budget {
            writeln!(
                out,
                "{}",
                budget_line(budget, self.now.date(), self.columns)
            )?;
        }
        writeln!(out)?;
        if self.all.sessions > 0 {
            self.write_agents(out)?;
            self.write_recent(out)?;
            writeln!(out)?;
        }
        if self.context.sample.is_some() {
            self.write_tries(out)
        } else {
            self.write_next(out)
        }
    }

    fn write_totals(&self, out: &mut impl Write) -> io::Result<()> {
        let all = self.all;
        let agents = match all.agents.as_slice() {
            [] => String::new(),
            [one] => format!(" of {}", short_name(one.format)),
            several => format!(" of {} agents", several.len()),
        };
        let mut facts = vec![
            format!("{}{agents}", noun(all.sessions, "conversation")),
            noun(all.messages, "message"),
        ];
        let tokens = all.usage.total();
        if tokens > 0 {
            facts.push(format!("{} tokens", short_count(tokens)));
        }
        facts.push(byte_count(all.size));
        if all.hidden > 0 {
            facts.push(format!("{} hidden", count(all.hidden)));
        }
        for line in wrapped(&facts, " · ", self.columns) {
            writeln!(out, "{}", self.paint(HEADING, &line))?;
        }
        Ok(())
    }

    fn write_agents(&self, out: &mut impl Write) -> io::Result<()> {
        let agents = &self.all.agents;
        let ages: Vec<String> = agents.iter().map(|a| age(a.updated, &self.now)).collect();
        let widest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
        let names = widest(&mut agents.iter().map(|a| width(short_name(a.format))));
        let counts = widest(&mut agents.iter().map(|a| width(&count(a.sessions))));
        let aged = widest(&mut ages.iter().map(|age| width(age)));
        let mut room = self.columns.saturating_sub(names + counts + aged + 6);
        let lines = sparklines(agents, &self.now);
        let lines = lines.filter(|_| room >= DAYS + 2 + LEAST_WORKSPACES);
        if lines.is_some() {
            room -= DAYS + 2;
        }
        let mut lines = lines.unwrap_or_default().into_iter();
        for (agent, age) in agents.iter().zip(&ages) {
            let mut cells = vec![
                left(short_name(agent.format), names),
                right(&count(agent.sessions), counts),
                self.paint(QUIET, &left(age, aged)),
            ];
            cells.extend(lines.next().map(|line| self.sparkline(&line)));
            cells.push(self.workspaces(agent, room));
            writeln!(out, "{}", cells.join("  ").trim_end())?;
        }
        Ok(())
    }

    /// The bars of a week, quiet where nothing was said.
    fn sparkline(&self, line: &str) -> String {
        if line.chars().all(|bar| bar == NO_BAR) {
            self.paint(QUIET, line)
        } else {
            line.to_owned()
        }
    }

    /// As many workspaces as there is room for.
    fn workspaces(&self, agent: &AgentLine, room: usize) -> String {
        let mut shown = String::new();
        for name in agent.workspaces.iter().map(|name| one_line(name)) {
            let separator = if shown.is_empty() { "" } else { ", " };
            if width(&shown) + separator.len() + width(&name) > room {
                break;
            }
            shown = format!("{shown}{separator}{name}");
        }
        self.paint(WORKSPACE, &shown)
    }

    /// The newest conversations, by day.
    fn write_recent(&self, out: &mut impl Write) -> io::Result<()> {
        let rows: Vec<Row> = self.all.recent.iter().map(|s| self.row(s)).collect();
        let widths = OverviewWidths::of(&rows, self.columns);
        let mut day = None;
        writeln!(out)?;
        for row in &rows {
            if day != Some(&row.day) {
                writeln!(out, "{}", self.paint(HEADING, &row.day))?;
                day = Some(&row.day);
            }
            let is_apart = width(&row.name) > widths.name;
            if is_apart {
                writeln!(out, "  {}", self.paint(ID, &row.name))?;
            }
            let name = if is_apart { "" } else { &row.name };
            writeln!(out, "{}", self.line(row, name, &widths))?;
        }
        Ok(())
    }

    fn row(&self, session: &Summary) -> Row {
        let local = session
            .head
            .updated
            .map(|m| m.timestamp().to_zoned(self.now.time_zone().clone()));
        Row {
            day: local.as_ref().map_or("At some time".to_owned(), |t| {
                day(t.date(), self.now.date())
            }),
            name: one_line(&self.all.names.name_of(session)).into_owned(),
            time: local.map_or("-".to_owned(), |t| t.strftime("%H:%M").to_string()),
            agent: one_line(short_name(session.head.held_by())).into_owned(),
            workspace: workspace(session),
            title: title_with_origin(session),
            messages: count(session.counts.messages),
        }
    }

    fn line(&self, row: &Row, name: &str, w: &OverviewWidths) -> String {
        let mut cells = vec![
            format!("  {}", self.paint(ID, &left(name, w.name))),
            self.paint(QUIET, &left(&row.time, 5)),
        ];
        if w.agent > 0 {
            cells.push(left(&fit(&row.agent, w.agent), w.agent));
        }
        if w.workspace > 0 {
            let fitted = left(&fit(&row.workspace, w.workspace), w.workspace);
            cells.push(self.paint(WORKSPACE, &fitted));
        }
        cells.push(left(&fit(&row.title, w.title), w.title));
        cells.push(self.paint(QUIET, &right(&row.messages, w.messages)));
        cells.join("  ")
    }

    /// What to do next, with a session that it works with.
    fn write_next(&self, out: &mut impl Write) -> io::Result<()> {
        let name = |s: &Summary| one_line(&self.all.names.name_of(s)).into_owned();
        let is_continued =
            |s: &&Summary| by_name(s.head.format).is_some_and(|f| f.can(Can::Resume));
        let recent = &self.all.recent;
        let mut next = vec![("find:", "search WORDS".to_owned())];
        if let Some(newest) = recent.first() {
            next.push(("read:", format!("show {}", name(newest))));
        }
        if let Some(newest) = recent.iter().find(is_continued) {
            next.push(("go on:", format!("resume {}", name(newest))));
        }
        let all = if self.all.sessions > 0 {
            "list"
        } else {
            "list --hidden"
        };
        next.push(("all:", all.to_owned()));
        next.push(("places:", "agents".to_owned()));
        let next: Vec<String> = next
            .into_iter()
            .map(|(what, command)| format!("{what} {}", self.context.call(&command)))
            .collect();
        for line in wrapped(&next, "   ", self.columns) {
            writeln!(out, "{}", self.paint(QUIET, &line))?;
        }
        Ok(())
    }

    /// What can be tried on the sample, as it can be typed.
    fn write_tries(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{}", self.paint(HEADING, "Try next:"))?;
        for command in [
            "list .",
            "show latest",
            "tree pi:latest",
            "export latest -o page.html",
            "--help",
        ] {
            writeln!(out, "  {}", self.context.call(command))?;
        }
        Ok(())
    }

    fn paint(&self, style: Style, text: &str) -> String {
        paint(self.context.colour, style, text)
    }
}

/// A conversation in the overview.
struct Row {
    day: String,
    name: String,
    time: String,
    agent: String,
    workspace: String,
    title: String,
    messages: String,
}

/// The widths of its columns; those of zero are left out.
struct OverviewWidths {
    name: usize,
    agent: usize,
    workspace: usize,
    title: usize,
    /// The most that a title can have.
    room: usize,
    messages: usize,
}

impl OverviewWidths {
    fn of(rows: &[Row], columns: usize) -> Self {
        let widest =
            |cell: fn(&Row) -> &str| rows.iter().map(|r| width(cell(r))).max().unwrap_or(0);
        let names = rows.iter().map(|r| r.name.as_str());
        let mut widths = Self {
            name: name_width(names, Some(columns)),
            agent: widest(|r| &r.agent).min(WIDEST_AGENT),
            workspace: widest(|r| &r.workspace).min(18),
            title: 0,
            room: 0,
            messages: widest(|r| &r.messages),
        };
        let wanted = (columns * 3 / 10).max(16);
        let room = |w: &Self| {
            let cells = [w.name, 5, w.agent, w.workspace, w.messages];
            let used: usize = cells.iter().filter(|w| **w > 0).map(|w| w + 2).sum();
            columns.saturating_sub(used + 2)
        };
        if room(&widths) < wanted {
            widths.workspace = widths.workspace.min(10);
        }
        if room(&widths) < wanted {
            widths.agent = 0;
        }
        if room(&widths) < wanted {
            widths.workspace = 0;
        }
        widths.room = room(&widths);
        widths.title = widths.room.min(widest(|r| &r.title)).max(LEAST_TITLE);
        widths
    }
}

/// How many days a line of bars has: this week.
const DAYS: usize = 7;

/// Where workspaces would have less room than this, there are no bars.
const LEAST_WORKSPACES: usize = 12;

/// For each agent the messages of each of the last days as bars, all drawn to the same scale; none where
/// nothing was said in these days.
fn sparklines(agents: &[AgentLine], now: &Zoned) -> Option<Vec<String>> {
    let weeks: Vec<Vec<DayCount>> = agents
        .iter()
        .map(|agent| agent.messages_by_day(now, DAYS))
        .collect();
    let most = weeks.iter().flatten().map(|day| day.count).max();
    let most = most.filter(|most| *most > 0)?;
    let line = |week: &Vec<DayCount>| week.iter().map(|day| bar(day.count, most)).collect();
    Some(weeks.iter().map(line).collect())
}

/// A bar as high as a number is, compared with the greatest. Only that of nothing is the lowest.
fn bar(count: u64, most: u64) -> char {
    const BARS: [char; 8] = [NO_BAR, '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let steps = u128::from(count) * 7;
    let step = steps.div_ceil(u128::from(most.max(1)));
    let step = usize::try_from(step).unwrap_or(usize::MAX).min(7);
    BARS.get(step).copied().unwrap_or(NO_BAR)
}

/// The bar of a day on which nothing was said.
const NO_BAR: char = '▁';

fn noun(n: u64, one: &str) -> String {
    format!("{} {one}{}", count(n), if n == 1 { "" } else { "s" })
}

/// Pieces in as few lines as fit, never cut.
fn wrapped(pieces: &[String], separator: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for piece in pieces {
        match lines.last_mut() {
            Some(line) if width(line) + width(separator) + width(piece) <= columns => {
                line.push_str(separator);
                line.push_str(piece);
            }
            _ => lines.push(piece.clone()),
        }
    }
    lines
}

/// The widest name of an agent.
const WIDEST_AGENT: usize = 14;

/// What people call an agent, unless that is long.
fn short_name(slug: &str) -> &str {
    let name = by_name(slug).map_or(slug, |f| f.about().name);
    if width(name) > WIDEST_AGENT {
        slug
    } else {
        name
    }
}

/// How long ago something was.
pub(crate) fn age(moment: Option<Moment>, now: &Zoned) -> String {
    let Some(moment) = moment else {
        return "-".to_owned();
    };
    let then = moment.timestamp().to_zoned(now.time_zone().clone());
    let seconds = now.timestamp().as_second() - then.timestamp().as_second();
    let days = days_between(then.date(), now.date());
    let ago = |n: i64, unit: &str| format!("{n} {unit}{} ago", if n == 1 { "" } else { "s" });
    match (seconds, days) {
        (..60, ..=0) => "just now".to_owned(),
        (60..3600, _) => ago(seconds / 60, "minute"),
        (_, ..=0) => ago(seconds / 3600, "hour"),
        (_, 1) => "yesterday".to_owned(),
        (_, 2..14) => ago(days, "day"),
        (_, 14..60) => ago(days / 7, "week"),
        (_, 60..730) => ago(days / 30, "month"),
        _ => ago(days / 365, "year"),
    }
}

fn days_between(then: Date, now: Date) -> i64 {
    let span = then.until(now).ok();
    span.map_or(0, |span| i64::from(span.get_days()))
}

/// What people call a day: `Today`, `Friday`, `12 November`.
fn day(date: Date, today: Date) -> String {
    match days_between(date, today) {
        0 => "Today".to_owned(),
        1 => "Yesterday".to_owned(),
        2..7 => date.strftime("%A").to_string(),
        _ if date.year() == today.year() => date.strftime("%-d %B").to_string(),
        _ => date.strftime("%-d %B %Y").to_string(),
    }
}

/// Says that nothing was found, and shows what there would be to see in the built-in sample.
fn nothing(context: &Context, all: &Overview) -> Result<(), Failure> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    if context.env.homes_are_given {
        let homes = context.env.homes.iter().map(|h| h.display().to_string());
        let homes = homes.collect::<Vec<_>>().join("`, `");
        writeln!(
            out,
            "No conversations were found in `{}`.",
            one_line(&homes)
        )?;
        if context.verbose {
            write_places(context, all, &mut out)?;
        }
        return Ok(out.flush()?);
    }
    writeln!(out, "No conversations were found on this machine.")?;
    if context.verbose {
        write_places(context, all, &mut out)?;
    }
    writeln!(out, "This is the built-in sample, to try things on:\n")?;
    out.flush()?;
    drop(out);
    let copy = temporary_sample(&context.env)?;
    let context = context.with_sample(&copy);
    let all = overview(&context.env, RECENT, &|_, _| {});
    print(&context, &all, None)
}

/// Where conversations were looked for.
fn write_places(context: &Context, all: &Overview, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "\nRethread looked in:")?;
    for (format, place) in &all.looked {
        writeln!(out, "  {format:<12} {place}")?;
    }
    let cwd = (!context.env.homes_are_given).then_some(&context.env.cwd);
    for folder in context.env.homes.iter().chain(cwd) {
        let folder = folder.display().to_string();
        writeln!(out, "  {:<12} {}", "from", one_line(&folder))?;
    }
    writeln!(out)
}

fn as_json(all: &Overview, now: &Zoned) -> Value {
    let agents: Vec<Value> = all
        .agents
        .iter()
        .map(|a| {
            let days = a.messages_by_day(now, DAYS).into_iter();
            let days = days.map(|one| json!({ "day": one.day.to_string(), "count": one.count }));
            json!({
                "agent": a.format,
                "name": a.name,
                "session_count": a.sessions,
                "copy_count": a.copies,
                "message_count": a.messages,
                "total_tokens": a.usage.total(),
                "updated_at": a.updated.map(|t| t.to_string()),
                "messages_by_day": days.collect::<Vec<_>>(),
                "workspaces": a.workspaces,
            })
        })
        .collect();
    let looked: Vec<Value> = all
        .looked
        .iter()
        .map(|(agent, place)| json!({ "agent": agent, "place": place }))
        .collect();
    json!({
        "agents": agents,
        "session_count": all.sessions,
        "hidden_count": all.hidden,
        "copy_count": all.copies,
        "message_count": all.messages,
        "total_tokens": all.usage.total(),
        "size": all.size,
        "recent": all.recent.iter().map(session_json).collect::<Vec<_>>(),
        "found": all.found.iter().map(|p| p.to_string_lossy()).collect::<Vec<_>>(),
        "looked": looked,
    })
}
