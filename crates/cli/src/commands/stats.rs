//! `stats`: tokens, money, time, tools and lines.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use rethread_disk::{Mode, replace};
use rethread_engine::{
    Durability, Filter, GroupBy, Stats, StatsGroup, StatsOptions, asked_span, stats,
};
use rethread_model::Note;
use rethread_render::write_stats_picture;

use super::list::{none_found, split_filters};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::filters::FilterFlags;
use crate::homes::HomeFlags;
use crate::names::name_parser;
use crate::output::{print, print_json, say};
use crate::pager::page;
use crate::progress::Progress;
use crate::stats_json::{report_json, write_tsv};
use crate::stats_page::StatsPage;

/// Add up tokens, money, time, tools, lines and bytes.
///
/// Each response of a model counts once, whatever number of files repeat it, in the session in which it was
/// given; `docs/statistics.md` is the law, and `--explain` shows the rows behind the numbers. Costs that agents
/// recorded are used as they are, others are computed by a table of prices, which `[prices]` in `config.toml`
/// overrides; a model that nobody knows the price of is named and counted apart. `[budget]` there, with
/// `month = 200`, shows how much of it is spent. `--tsv` prints the columns key, sessions, responses, input, output,
/// cache read, cache written, reasoning and all tokens, cost, recorded cost, unpriced responses, messages, prompts,
/// tool calls, failures, seconds in tools, active seconds, lines added, lines removed and bytes, without a heading.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread stats                                    days, models, workspaces, a calendar
  rethread stats --by workspace --since 'last month'  what to put into a report
  rethread stats . --by session --sort cost -n 5    what cost the most here
  rethread stats --by tool                          calls, failures, time
  rethread stats --by hour                          a clock of the day
  rethread stats --by agent --sort size             what takes the disk
  rethread stats --since today --explain            every response of today
  rethread stats --svg year.svg                     the same as a picture")]
pub(crate) struct StatsCommand {
    /// Only these workspaces: `.` for the current project with its git worktrees, a path, or a part of
    /// its name, which may also stand in the title. A word such as `title:login` is a filter of
    /// `rethread search`.
    #[arg(value_name = "WORKSPACE", value_parser = name_parser())]
    workspaces: Vec<String>,
    #[command(flatten)]
    filters: FilterFlags,
    /// What to add up together.
    #[arg(long, value_name = "KEY")]
    by: Option<ByKey>,
    /// What to sort by, the greatest first; times are in their own order unless this is given.
    #[arg(long, value_name = "KEY")]
    sort: Option<StatsSort>,
    /// At most so many: the last of times, the first of all else.
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
    /// Show the responses behind the numbers, with what was left out and why.
    #[arg(long, conflicts_with_all = ["tsv", "svg", "statusline"])]
    explain: bool,
    /// Print one short line, for a prompt or an agent's status line: today and this month.
    #[arg(long, conflicts_with_all = ["tsv", "svg", "by", "json"])]
    statusline: bool,
    /// Write the picture to FILE, in colours that follow the reader's screen.
    #[arg(long, value_name = "FILE", conflicts_with = "tsv")]
    svg: Option<PathBuf>,
    /// Print tab-separated values.
    #[arg(long, conflicts_with = "json")]
    tsv: bool,
    #[command(flatten)]
    homes: HomeFlags,
}

/// So many rows are explained, unless the user says how many.
const EXPLAINED: usize = 1000;

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ByKey {
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

impl From<ByKey> for GroupBy {
    fn from(key: ByKey) -> Self {
        match key {
            ByKey::Day => Self::Day,
            ByKey::Week => Self::Week,
            ByKey::Month => Self::Month,
            ByKey::Hour => Self::Hour,
            ByKey::Agent => Self::Agent,
            ByKey::Model => Self::Model,
            ByKey::Tool => Self::Tool,
            ByKey::Workspace => Self::Workspace,
            ByKey::Session => Self::Session,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StatsSort {
    Key,
    Tokens,
    Cost,
    Sessions,
    Messages,
    Calls,
    Failures,
    Time,
    Lines,
    Size,
}

pub(crate) fn run(context: &Context, args: &StatsCommand) -> Result<Exit, Failure> {
    let (workspaces, clauses) = split_filters(&args.workspaces)?;
    let flags = args.filters.filter(context, &args.homes)?;
    let span = asked_span(&clauses, &flags, context.env.now(), context.zone())?;
    let filter = Filter {
        workspaces: context.all_named(&workspaces)?,
        clauses,
        since: span.since,
        until: span.until,
        titles: true,
        ..flags
    };
    let (env, notes) = args.homes.open(context)?;
    let options = StatsOptions {
        by: match args.by {
            Some(by) => vec![by.into()],
            None if args.is_for_people(context) => {
                vec![GroupBy::Day, GroupBy::Model, GroupBy::Workspace]
            }
            None => vec![GroupBy::Day],
        },
        explained: if args.explain {
            args.limit.unwrap_or(EXPLAINED)
        } else {
            0
        },
    };
    let progress = Progress::new("counting");
    let mut found = stats(&env, &filter, &options, context.zone(), &|done, of| {
        progress.at(done, of);
    })?;
    drop(progress);
    let mut all_notes = notes;
    all_notes.append(&mut found.notes);
    all_notes.extend(odd_notes(&found));
    let exit = context.notes(&all_notes);
    let counted = found
        .reports
        .first()
        .map_or(0, |report| report.total.sessions);
    if counted == 0 && !args.statusline {
        if !context.json {
            context.tell_notes();
            say(&none_found(&filter, found.looked_at));
        }
        return Ok(Exit::Failed);
    }
    for (by, report) in options.by.iter().zip(&mut found.reports) {
        arrange(args, *by, &mut report.groups);
    }
    show(context, args, &options, &filter, &found)?;
    Ok(exit)
}

fn show(
    context: &Context,
    args: &StatsCommand,
    options: &StatsOptions,
    filter: &Filter,
    found: &Stats,
) -> Result<(), Failure> {
    let stats_page = StatsPage::new(context, found, &options.by, filter);
    if let Some(path) = &args.svg {
        let mut picture = Vec::new();
        write_stats_picture(&mut picture, &stats_page.picture())?;
        let path = context.output(path);
        write_file(&path, &picture)?;
        return print(&path.to_string_lossy());
    }
    if args.statusline {
        return print(&stats_page.status_line());
    }
    if context.json {
        return print_json(&report_json(found, &options.by, filter, args.explain));
    }
    page(context, |out: &mut dyn Write| {
        if args.tsv {
            write_tsv(out, found)
        } else if args.explain {
            stats_page.write_rows(out)
        } else {
            stats_page.write(out)
        }
    })
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    replace(path, bytes, Mode::Private, Durability::Close).map_err(rethread_engine::Error::from)?;
    Ok(())
}

impl StatsCommand {
    fn is_for_people(&self, context: &Context) -> bool {
        !context.json && !self.tsv && !self.explain && !self.statusline && self.svg.is_none()
    }
}

/// Sorts groups, and leaves out those that are not wanted.
fn arrange(args: &StatsCommand, by: GroupBy, groups: &mut Vec<StatsGroup>) {
    let sort = args.sort.unwrap_or(match by {
        GroupBy::Tool => StatsSort::Calls,
        by if by.is_time() => StatsSort::Key,
        _ => StatsSort::Cost,
    });
    if sort != StatsSort::Key {
        groups.sort_by(|a, b| {
            let order = number(b, sort).total_cmp(&number(a, sort));
            let tokens = |g: &StatsGroup| g.sums.tokens.total();
            order
                .then_with(|| tokens(b).cmp(&tokens(a)))
                .then_with(|| a.key.cmp(&b.key))
        });
    }
    let most = args.limit.filter(|_| !args.explain).unwrap_or(usize::MAX);
    if by.is_time() && sort == StatsSort::Key {
        groups.drain(..groups.len().saturating_sub(most));
    } else {
        groups.truncate(most);
    }
}

#[allow(clippy::cast_precision_loss, reason = "only compared")]
fn number(group: &StatsGroup, sort: StatsSort) -> f64 {
    let sums = &group.sums;
    match sort {
        StatsSort::Key => 0.0,
        StatsSort::Tokens => sums.tokens.total() as f64,
        StatsSort::Cost => sums.cost_usd(),
        StatsSort::Sessions => sums.sessions as f64,
        StatsSort::Messages => sums.messages as f64,
        StatsSort::Calls => sums.tool_calls as f64,
        StatsSort::Failures => sums.tool_failures as f64,
        StatsSort::Time => sums.active_ms.max(sums.tool_ms) as f64,
        StatsSort::Lines => sums.lines_added.saturating_add(sums.lines_removed) as f64,
        StatsSort::Size => sums.bytes as f64,
    }
}

/// Notes about what could not be counted as it is, each with the first place.
fn odd_notes(found: &Stats) -> Vec<Note> {
    let report = found.reports.first();
    let oddities = report
        .map(|report| report.oddities.as_slice())
        .unwrap_or_default();
    let note = |odd: &rethread_engine::FoundOddity| {
        let session = found.sessions.get(odd.session)?;
        let mut text = odd.kind.describe(odd.count);
        if !odd.example.is_empty() {
            text = format!("{text}, such as `{}`", odd.example);
        }
        let name = found.names.name_of(session);
        let note = Note::remark(text).at(&session.path);
        Some(match odd.entry {
            0 => note,
            entry => note.hint(format!("`rethread show {name} --at '#{entry}'` shows it")),
        })
    };
    oddities.iter().filter_map(note).collect()
}
