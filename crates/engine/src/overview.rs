//! What there is on this machine, at a glance.

use std::path::PathBuf;

use rethread_catalog::list as list_all;
use rethread_formats::{Env, FORMATS, Want};
use rethread_model::{Note, Summary, Usage};

use crate::list::{SessionNames, Sort, sort_by};
use crate::subagents::with_parents;

/// What there is on this machine.
#[derive(Debug, Default)]
pub struct Overview {
    /// One line for each agent that has conversations.
    pub agents: Vec<AgentLine>,
    /// The most recent conversations, the newest first.
    pub recent: Vec<Summary>,
    /// What to call them.
    pub names: SessionNames,
    /// How many sessions there are in all.
    pub sessions: u64,
    /// How many messages there are in all.
    pub messages: u64,
    /// Tokens and cost of all.
    pub usage: Usage,
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
    /// How many sessions.
    pub sessions: u64,
    /// How many messages.
    pub messages: u64,
    /// Tokens and cost.
    pub usage: Usage,
}

/// An overview tells tokens, and in JSON also sizes.
const WHOLE: Want = Want {
    usage: true,
    size: true,
};

/// Looks at everything.
pub fn overview(env: &Env, recent: usize, progress: &(dyn Fn(usize, usize) + Sync)) -> Overview {
    let mut found = list_all(env, WHOLE, &[], progress);
    let names = SessionNames::of_library(&found);
    found.sessions = with_parents(found.sessions);
    sort_by(&mut found.sessions, Sort::Updated);
    let mut all = Overview {
        names,
        notes: found.notes,
        ..Overview::default()
    };
    for format in FORMATS {
        let about = format.about();
        let mut line = AgentLine {
            format: about.slug,
            sessions: 0,
            messages: 0,
            usage: Usage::default(),
        };
        for session in found
            .sessions
            .iter()
            .filter(|s| s.head.format == about.slug)
        {
            line.sessions += 1;
            line.messages += session.counts.messages;
            line.usage += &session.counts.usage.unwrap_or_default();
        }
        all.sessions += line.sessions;
        all.messages += line.messages;
        all.usage += &line.usage;
        all.looked.push((about.slug, about.where_it_looks));
        if line.sessions > 0 {
            all.agents.push(line);
        }
    }
    all.notes
        .extend(found.sessions.iter().flat_map(|s| s.notes.iter().cloned()));
    all.found = found.roots.into_iter().map(|r| r.path).collect();
    all.recent = found.sessions;
    all.recent.retain(|session| !session.head.hidden);
    all.recent.truncate(recent);
    all
}
