//! `list`: sessions, newest first.

use std::io::Write;

use clap::{Args, ValueEnum};
use rethread_engine::{
    Filter, FilterClause, FilterName, Listed, Sort, asked_span, follow_library, list,
    parse_filter_word,
};
use rethread_model::Summary;
use rethread_render::{cell, one_line};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::filters::FilterFlags;
use crate::following::{FollowFlags, tell_followed, write_lines};
use crate::homes::HomeFlags;
use crate::names::name_parser;
use crate::output::{json_out, say, session_json};
use crate::pager::page;
use crate::progress::Progress;
use crate::session_table::SessionTable;
use crate::table::{count, title};

/// List sessions, newest first.
///
/// Prints a table for people, with what it is sorted by, one session object a line with `--json`, and with `--tsv` the
/// columns id, agent, workspace, updated, messages, size, title, without a heading. There, a text
/// that a spreadsheet would take for a formula (it begins with `=`, `+`, `-` or `@`) has a `'`
/// before it; numbers and times never have.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread list                         everything
  rethread list .                       this project
  rethread list shop --since yesterday  workspaces or titles that have `shop`
  rethread list --since november        what was said since the first of November
  rethread list --sort cost -n 5        the five that cost the most
  rethread list --follow --agent codex  what is said from now on in any session of Codex
  rethread list title:login file:src/auth.rs  filters as `rethread search` takes them
  rethread list --remote ada@vm01       what is on another machine, too")]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(crate) struct List {
    /// Only these workspaces: `.` for the current project with its git worktrees, a path, or a part of
    /// its name, which may also stand in the title. The path of a session or of an export lists what
    /// is in it; `-` is what comes down a pipe. A word such as `title:login` is a filter of
    /// `rethread search`: `agent:`, `dir:`, `model:`, `is:`, `has:`, `file:`, `title:`, `since:`,
    /// `until:`.
    #[arg(value_name = "WORKSPACE", value_parser = name_parser())]
    workspaces: Vec<String>,
    #[command(flatten)]
    filters: FilterFlags,
    /// Also sessions that their agent hides, such as those of its own workflows.
    #[arg(long)]
    hidden: bool,
    /// At most so many.
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
    /// What to sort by; the greatest comes first.
    #[arg(long, value_name = "KEY", default_value = "updated")]
    sort: SortKey,
    /// Also list sessions of sub-agents, which else count with the sessions that started them.
    #[arg(long)]
    subagents: bool,
    /// Instead of a list, print what is said from now on in any of these sessions and in new ones, one
    /// line a message, until the command is interrupted. With `--json`, one message object a line, with
    /// the `session_id` and the `agent`.
    #[arg(long, conflicts_with_all = ["limit", "sort", "tsv"])]
    follow: bool,
    #[command(flatten)]
    following: FollowFlags,
    /// Print tab-separated values.
    #[arg(long, conflicts_with = "json")]
    tsv: bool,
    #[command(flatten)]
    homes: HomeFlags,
}

/// How long a line about a message is where no terminal says how wide it is.
const FOLLOW_COLUMNS: usize = 160;

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SortKey {
    Updated,
    Created,
    Messages,
    Tokens,
    Cost,
    Size,
}

impl From<SortKey> for Sort {
    fn from(key: SortKey) -> Self {
        match key {
            SortKey::Updated => Self::Updated,
            SortKey::Created => Self::Created,
            SortKey::Messages => Self::Messages,
            SortKey::Tokens => Self::Tokens,
            SortKey::Cost => Self::Cost,
            SortKey::Size => Self::Size,
        }
    }
}

pub(crate) fn run(context: &Context, args: &List) -> Result<Exit, Failure> {
    let (workspaces, clauses) = split_filters(&args.workspaces)?;
    let flags = args.filters.filter(context, &args.homes)?;
    let span = asked_span(&clauses, &flags, context.env.now(), context.zone())?;
    let filter = Filter {
        workspaces: context.all_named(&workspaces)?,
        clauses,
        since: span.since,
        until: span.until,
        titles: true,
        hidden: args.hidden,
        subagents: args.subagents,
        // People are not told all of them.
        sizes: context.json || args.tsv,
        usage: context.json,
        ..flags
    };
    let (env, notes) = args.homes.open(context)?;
    if args.follow {
        context.notes(&notes);
        let events = follow_library(&env, filter, args.following.method())?;
        let columns = context.columns.unwrap_or(FOLLOW_COLUMNS);
        context.tell_notes();
        context.say(&format!("following {}", sessions(events.session_count())));
        return tell_followed(context, &args.following, events, |out, messages| {
            write_lines(out, messages, columns)
        });
    }
    let progress = Progress::new("listing");
    let mut found = list(&env, &filter, args.sort.into(), &|done, of| {
        progress.at(done, of);
    })?;
    drop(progress);
    found.notes.splice(0..0, notes);
    found.sessions.truncate(args.limit.unwrap_or(usize::MAX));
    for session in &mut found.sessions {
        session.path = context.given_path(&session.path);
    }
    let exit = context.notes(&found.notes);
    if found.sessions.is_empty() {
        if found.holds_none {
            return Ok(exit);
        }
        if !context.json {
            context.tell_notes();
            say(&none_found(&filter, found.looked_at));
        }
        return Ok(Exit::Failed);
    }
    for (typed, named) in workspaces.iter().zip(&filter.workspaces) {
        if typed != named {
            found.names.forget_path(named);
        }
    }
    let write = |out: &mut dyn Write| print(context, args, &found, out);
    if context.json {
        json_out(std::io::BufWriter::new(std::io::stdout().lock()), write)?;
    } else {
        page(context, write)?;
    }
    Ok(exit)
}

fn sessions(count: usize) -> String {
    match count {
        1 => "one session, and new ones".to_owned(),
        n => format!("{n} sessions, and new ones"),
    }
}

/// The words that are workspaces, and those that are filters.
pub(crate) fn split_filters(words: &[String]) -> Result<(Vec<String>, Vec<FilterClause>), Failure> {
    let mut workspaces = Vec::new();
    let mut clauses = Vec::new();
    for word in words {
        let Some(clause) = parse_filter_word(word) else {
            workspaces.push(word.clone());
            continue;
        };
        let clause = clause.map_err(rethread_engine::Error::from)?;
        if matches!(clause.name, FilterName::Role | FilterName::Tool) {
            let name = clause.name.word();
            return Err(Failure::Usage {
                message: format!("`{name}:` chooses texts, and a list has none"),
                hint: Some(format!("`rethread search {word}` finds them")),
            });
        }
        clauses.push(clause);
    }
    Ok((workspaces, clauses))
}

/// Says that there is none, and what was looked at.
pub(crate) fn none_found(filter: &Filter, looked_at: usize) -> String {
    let none = "no sessions were found";
    if looked_at == 0 {
        return none.to_owned();
    }
    let mut asked: Vec<String> = Vec::new();
    for name in &filter.workspaces {
        let is_word = !name.contains(['/', '\\']) && name != "." && name != "..";
        asked.push(if is_word {
            format!("a workspace or title with `{name}`")
        } else {
            format!("the workspace `{name}`")
        });
    }
    let asked = if asked.is_empty() {
        "what was asked for".to_owned()
    } else {
        asked.join(" or ")
    };
    let but = if filter.is_narrow() && !filter.workspaces.is_empty() {
        " and the other flags"
    } else {
        ""
    };
    one_line(&format!(
        "{none}: none of {} fits {asked}{but}",
        count(looked_at as u64)
    ))
    .into_owned()
}

fn print(
    context: &Context,
    args: &List,
    found: &Listed,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    if context.json {
        for session in &found.sessions {
            writeln!(out, "{}", session_json(session))?;
        }
    } else if args.tsv {
        for session in &found.sessions {
            writeln!(out, "{}", tsv(session))?;
        }
    } else {
        let table = SessionTable::new(context, &found.names, args.sort.into());
        for line in table.lines(&found.sessions) {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// One line of tab-separated values; no value holds a tab or a line break.
fn tsv(session: &Summary) -> String {
    let head = &session.head;
    let workspace = head.workspace.path.as_deref().unwrap_or_default();
    [
        cell(&head.id),
        cell(head.held_by()),
        cell(workspace),
        head.updated.map(|t| t.to_string()).unwrap_or_default(),
        session.counts.messages.to_string(),
        session.size.to_string(),
        cell(&title(session)),
    ]
    .join("\t")
}
