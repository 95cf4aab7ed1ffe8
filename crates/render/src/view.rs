//! What is to be shown, and how.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::tz::TimeZone;
use rethread_model::{
    Bodies, Body, ConvertedFrom, EntryIx, Kind, Moment, Session, Summary, Usage, Visibility,
};

use crate::sums::recorded_usage;

/// A conversation, or the part of it that is to be shown.
pub struct View<'a> {
    /// The conversation's heads.
    pub session: &'a Session,
    /// What its entries say.
    pub bodies: &'a dyn Bodies,
    /// The entries to show, in order.
    pub entries: Vec<EntryIx>,
    /// Its main file or folder.
    pub path: &'a Path,
    /// Where it came from.
    pub source: SourceInfo,
    /// The name of the agent that held it, for people, where it is known.
    pub agent: Option<&'a str>,
    /// What a list says of it, where somebody asked.
    pub summary: Option<&'a Summary>,
}

impl<'a> View<'a> {
    /// The name of the agent that held the conversation, for people.
    pub(crate) fn agent_name(&self) -> &'a str {
        let head = &self.session.head;
        let named = self.agent.or(head.agent.name.as_deref());
        named.unwrap_or_else(|| head.held_by())
    }

    /// The agent as a heading names it: where the title is the name that people gave their agent, the program
    /// that ran it.
    pub(crate) fn agent_fact(&self) -> &'a str {
        let head = &self.session.head;
        let title = head.title.as_ref().map(|title| title.text.trim());
        match self.agent_name() {
            name if title == Some(name.trim()) => head.held_by(),
            name => name,
        }
    }

    /// What all of it used; nothing where nobody recorded that.
    pub(crate) fn total_usage(&self) -> Option<Usage> {
        let listed = self.summary.and_then(|summary| summary.counts.usage);
        let usage = listed.or_else(|| recorded_usage(&self.session.head));
        usage.filter(|usage| !usage.is_zero())
    }

    /// How many messages the whole conversation has, as a list counts them: with those of its
    /// sub-agents.
    pub(crate) fn message_count(&self) -> u64 {
        let read = || self.session.message_count() as u64;
        self.summary.map_or_else(read, |s| s.counts.messages)
    }

    /// How many messages are shown, where that is only a part of the session. What a list does not
    /// count (the past that a fork copied, what was taken back) makes no whole.
    fn shown_part(&self) -> Option<u64> {
        let agents = self.summary.and_then(|summary| summary.subagents.as_ref());
        let in_agents = agents.map_or(0, |agents| agents.counts.messages);
        let shown = self.shown_messages() as u64;
        let own = self.message_count().saturating_sub(in_agents);
        (shown < own).then_some(shown)
    }

    /// The number of messages in words: how many there are, how many of them are shown where that is
    /// not the whole session, and how many are those of sub-agents.
    pub(crate) fn message_words(&self) -> String {
        let all = self.message_count();
        let noun = if all == 1 { "message" } else { "messages" };
        let words = match self.shown_part() {
            Some(shown) => format!("{shown} of {all} {noun}"),
            None => format!("{all} {noun}"),
        };
        match self.sub_agent_words() {
            Some(in_sub_agents) => format!("{words} ({in_sub_agents})"),
            None => words,
        }
    }

    /// The same as the value of a fact: the number, and what is to be said of it. `is_all`: whatever
    /// is not among the entries to show is shown elsewhere.
    pub(crate) fn message_facts(&self, is_all: bool) -> String {
        let part = self.shown_part().filter(|_| !is_all);
        let part = part.map(|shown| format!("{shown} shown"));
        let remarks: Vec<String> = part.into_iter().chain(self.sub_agent_words()).collect();
        let all = self.message_count();
        if remarks.is_empty() {
            all.to_string()
        } else {
            format!("{all} ({})", remarks.join(", "))
        }
    }

    /// How many of the messages are those of sub-agents, in words.
    pub(crate) fn sub_agent_words(&self) -> Option<String> {
        let agents = self.summary?.subagents.as_ref()?;
        let noun = if agents.sessions == 1 {
            "a sub-agent".to_owned()
        } else {
            format!("{} sub-agents", agents.sessions)
        };
        Some(format!("{} in {noun}", agents.counts.messages))
    }

    /// When the conversation began and ended. A list says the same, but for sessions in which nothing was
    /// said, which it puts where their files belong.
    pub(crate) fn first_and_last(&self) -> (Option<Moment>, Option<Moment>) {
        session_span(self.session)
    }

    /// The session that this one was converted from.
    pub(crate) fn converted_from(&self) -> Option<&ConvertedFrom> {
        let listed = self.summary.map(|summary| &summary.head);
        let head = listed.unwrap_or(&self.session.head);
        head.converted_from.as_ref()
    }

    /// The entries to show that the session really has.
    pub(crate) fn shown_entries(&self) -> impl Iterator<Item = EntryIx> + '_ {
        let len = self.session.entries().len();
        self.entries
            .iter()
            .copied()
            .filter(move |ix| ix.get() < len)
    }

    /// How many of the entries to show are messages.
    pub(crate) fn shown_messages(&self) -> usize {
        self.shown_entries()
            .filter(|ix| self.session.entry(*ix).kind.is_message())
            .count()
    }

    /// Where the conversation was first found.
    pub(crate) fn first_path(&self) -> &str {
        let provenance = self.session.head.provenance.as_ref();
        let path = provenance.and_then(|p| p.path.as_deref());
        path.unwrap_or(&self.source.path)
    }

    /// The bookmarks that are set, by the ids of their entries.
    pub(crate) fn labels_by_entry(&self) -> BTreeMap<String, String> {
        let mut labels = BTreeMap::new();
        let entries = self.session.indexed();
        for (ix, _) in entries.filter(|(_, e)| e.kind == Kind::Label) {
            if let Body::Label(change) = self.bodies.body(ix) {
                match change.label.filter(|l| !l.is_empty()) {
                    Some(label) => labels.insert(change.target, label),
                    None => labels.remove(&change.target),
                };
            }
        }
        labels
    }
}

/// Where a session came from, in the words of the unified vocabulary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceInfo {
    /// `local`, `wsl`, `windows` or `remote`.
    pub kind: &'static str,
    /// The machine, where it is another one.
    pub host: Option<String>,
    /// The session's file or folder there.
    pub path: String,
}

/// What to show. What is not shown is counted in one line.
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether to show calls of tools and their results.
    pub tools: bool,
    /// Whether to show what the model thought.
    pub thinking: bool,
    /// Whether to show what neither the person nor the agent wrote: permissions, skills, reminders,
    /// messages that are kept from the person.
    pub injected: bool,
    /// Whether to show what happened beside the conversation: hooks, settings, titles.
    pub events: bool,
    /// Whether long outputs are shown whole.
    pub full: bool,
}

impl Options {
    /// What documents show: everything, because they fold what a terminal leaves out.
    pub const DOCUMENT: Self = Self {
        tools: true,
        thinking: true,
        injected: true,
        events: true,
        full: true,
    };
}

/// What people are told about who was meant to see something; nothing where everyone was.
pub(crate) fn visibility_phrase(visibility: Visibility) -> Option<&'static str> {
    match visibility {
        Visibility::Visible => None,
        Visibility::Injected => Some("(injected)"),
        Visibility::UiOnly => Some("(not seen by the model)"),
        Visibility::Hidden => Some("(hidden)"),
    }
}

/// How a terminal wants its text.
#[derive(Clone, Debug)]
pub struct Style {
    /// Whether to colour.
    pub colour: bool,
    /// How many columns there are.
    pub width: usize,
    /// What time it is, so that days can be told as today and yesterday.
    pub now: Option<Moment>,
    /// The zone to show times in.
    pub zone: TimeZone,
}

/// When a session began and ended: as its head says, or as its entries do.
pub(crate) fn session_span(session: &Session) -> (Option<Moment>, Option<Moment>) {
    let times = || session.entries().iter().filter_map(|e| e.time);
    (
        session.head.created.or_else(|| times().min()),
        session.head.updated.or_else(|| times().max()),
    )
}

/// When a session began and ended, as an export says: where nobody noted it, its file was changed
/// then. Summaries that are exported as messages count as such.
pub fn exported_times(
    session: &Session,
    summaries: &[EntryIx],
    file_time: Moment,
) -> (Moment, Moment) {
    let (start, end) = session_span(session);
    let times = || summaries.iter().filter_map(|ix| session.entry(*ix).time);
    let start = start.into_iter().chain(times()).min();
    let end = end.into_iter().chain(times()).max();
    (
        start.or(end).unwrap_or(file_time),
        end.or(start).unwrap_or(file_time),
    )
}
