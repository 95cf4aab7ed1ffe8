//! What there is on this machine, at a glance.

use std::cmp::Reverse;
use std::path::PathBuf;

use jiff::Zoned;
use jiff::civil::Date;
use rethread_catalog::list as list_all;
use rethread_formats::{Env, FORMATS, Want, last_name};
use rethread_model::{Activity, Counts, Moment, Note, Summary, Usage};

use crate::list::{Sort, sort_by};
use crate::session_names::SessionNames;
use crate::subagents::with_parents;

/// What there is on this machine. It counts what `list` lists: sessions of sub-agents count with those
/// that started them, and what agents hide is not counted but in `hidden`.
#[derive(Debug, Default)]
pub struct Overview {
    /// One line for each agent that has conversations, that with the most first.
    pub agents: Vec<AgentLine>,
    /// The most recent conversations, the newest first.
    pub recent: Vec<Summary>,
    /// What to call them.
    pub names: SessionNames,
    /// How many sessions there are in all.
    pub sessions: u64,
    /// How many more there are that their agents hide.
    pub hidden: u64,
    /// How many of them are converted copies of others that are there.
    pub copies: u64,
    /// How many messages there are in all.
    pub messages: u64,
    /// Tokens and cost of all.
    pub usage: Usage,
    /// How many bytes they have.
    pub size: u64,
    /// The places in which conversations were found.
    pub found: Vec<PathBuf>,
    /// Where each format looked, for people.
    pub looked: Vec<(&'static str, &'static str)>,
    /// What was noticed.
    pub notes: Vec<Note>,
}

/// What one agent has.
#[derive(Debug)]
pub struct AgentLine {
    /// The format, by its short name.
    pub format: &'static str,
    /// The name for people.
    pub name: &'static str,
    /// How many sessions.
    pub sessions: u64,
    /// How many of them are converted copies of others that are there. Only what was said in them since
    /// counts among messages, tokens and cost.
    pub copies: u64,
    /// How many messages.
    pub messages: u64,
    /// Tokens and cost.
    pub usage: Usage,
    /// When something was last said.
    pub updated: Option<Moment>,
    /// When the messages were written.
    pub activity: Activity,
    /// The names of the workspaces, that in which something was last said first.
    pub workspaces: Vec<String>,
}

/// Looks at everything.
pub fn overview(env: &Env, recent: usize, progress: &(dyn Fn(usize, usize) + Sync)) -> Overview {
    let mut found = list_all(env, Want::WHOLE, &[], progress);
    let names = SessionNames::of_library(&found);
    let mut sessions = with_parents(std::mem::take(&mut found.sessions));
    sort_by(&mut sessions, Sort::Updated);
    let mut all = Overview {
        names,
        notes: found.notes,
        ..Overview::default()
    };
    let noted = sessions.iter().chain(&found.empty);
    all.notes
        .extend(noted.flat_map(|s| s.notes.iter().cloned()));
    let before = sessions.len();
    sessions.retain(|session| !session.head.hidden);
    all.hidden = (before - sessions.len()) as u64;
    for format in FORMATS {
        let about = format.about();
        let own = sessions.iter().filter(|s| s.head.format == about.slug);
        let line = AgentLine::of(about.slug, about.name, own, &sessions);
        all.sessions += line.sessions;
        all.copies += line.copies;
        all.messages += line.messages;
        all.usage += &line.usage;
        all.looked.push((about.slug, about.where_it_looks));
        if line.sessions > 0 {
            all.agents.push(line);
        }
    }
    all.agents
        .sort_by_key(|line| Reverse((line.sessions, line.updated)));
    let sizes = sessions.iter().map(|s| s.size);
    all.size = sizes.fold(0, u64::saturating_add);
    all.found = found.roots.into_iter().map(|r| r.path).collect();
    sessions.truncate(recent);
    all.recent = sessions;
    all
}

/// How many messages were written on a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayCount {
    /// The day, in the zone that was asked for.
    pub day: Date,
    /// How many messages.
    pub count: u64,
}

impl AgentLine {
    /// How many messages were written on each of so many days up to today, the oldest first.
    pub fn messages_by_day(&self, now: &Zoned, days: usize) -> Vec<DayCount> {
        let mut found: Vec<DayCount> = Vec::with_capacity(days);
        let mut day = Some(now.date());
        while let Some(date) = day.filter(|_| found.len() < days) {
            found.push(DayCount {
                day: date,
                count: 0,
            });
            day = date.yesterday().ok();
        }
        found.reverse();
        for span in self.activity.spans() {
            let date = span.start().to_zoned(now.time_zone().clone()).date();
            let at = found.binary_search_by_key(&date, |one| one.day);
            if let Some(one) = at.ok().and_then(|at| found.get_mut(at)) {
                one.count = one.count.saturating_add(span.messages);
            }
        }
        found
    }

    /// What these sessions have together; the newest comes first. They are among `all`.
    fn of<'a>(
        format: &'static str,
        name: &'static str,
        sessions: impl Iterator<Item = &'a Summary>,
        all: &[Summary],
    ) -> Self {
        let mut line = Self {
            format,
            name,
            sessions: 0,
            copies: 0,
            messages: 0,
            usage: Usage::default(),
            updated: None,
            activity: Activity::default(),
            workspaces: Vec::new(),
        };
        for session in sessions {
            line.sessions += 1;
            let original = original_of(session, all);
            line.copies += u64::from(original.is_some());
            let counts = match original {
                Some(original) => counts_since(session, original),
                None => session.counts,
            };
            line.messages = line.messages.saturating_add(counts.messages);
            line.usage += &counts.usage.unwrap_or_default();
            line.activity += &session.activity;
            if let Some(original) = original {
                line.activity.remove_all(&original.activity);
            }
            line.updated = line.updated.max(session.head.updated);
            let path = session.head.workspace.path.as_deref();
            let Some(name) = path.map(last_name).filter(|name| !name.is_empty()) else {
                continue;
            };
            if line.workspaces.len() < MOST_WORKSPACES
                && !line.workspaces.iter().any(|known| known == name)
            {
                line.workspaces.push(name.to_owned());
            }
        }
        line
    }
}

/// How many workspaces of an agent are named.
const MOST_WORKSPACES: usize = 8;

/// The session that one was converted from, if it is there: what was said in it counts there.
fn original_of<'a>(session: &Summary, all: &'a [Summary]) -> Option<&'a Summary> {
    let from = session.head.converted_from.as_ref()?;
    let path = from.path.as_ref()?;
    let is_original = |s: &&Summary| s.path == *path && s.head.id == from.id;
    all.iter().find(is_original)
}

/// What was said in a converted copy since it was made.
fn counts_since(session: &Summary, original: &Summary) -> Counts {
    let (mine, theirs) = (&session.counts, &original.counts);
    let since = |u: Usage, before: Usage| Usage {
        input: u.input.saturating_sub(before.input),
        output: u.output.saturating_sub(before.output),
        cache_read: u.cache_read.saturating_sub(before.cache_read),
        cache_write: u.cache_write.saturating_sub(before.cache_write),
        cache_write_1h: u.cache_write_1h.saturating_sub(before.cache_write_1h),
        ..Usage::default()
    };
    Counts {
        messages: mine.messages.saturating_sub(theirs.messages),
        user_messages: mine.user_messages.saturating_sub(theirs.user_messages),
        assistant_messages: mine
            .assistant_messages
            .saturating_sub(theirs.assistant_messages),
        tool_calls: mine.tool_calls.saturating_sub(theirs.tool_calls),
        usage: mine
            .usage
            .map(|u| since(u, theirs.usage.unwrap_or_default())),
    }
}
