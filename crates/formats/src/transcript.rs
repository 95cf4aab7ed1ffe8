//! A whole conversation that is told to a session: not one message behind the other, but as it went,
//! with its branches and with what was summed up on the way.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use rethread_model::Moment;

use crate::{NewMessage, Source};

/// What a format has records of its own for, when it is [told](crate::Writer::write_transcript) a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keeps {
    /// Ways that the conversation left again.
    pub branches: Branches,
    /// Summaries in the place of what came before. Where there are none, a summary is a message like
    /// others, behind all that it sums up.
    pub compactions: bool,
    /// Bookmarks on messages.
    pub labels: bool,
    /// Pictures and files.
    pub attachments: Attachments,
}

/// Which pictures and files a format has a place for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attachments {
    /// In what the person says.
    pub in_prompts: Files,
    /// In what the model says.
    pub in_answers: Files,
    /// In what a tool gives.
    pub in_results: Files,
    /// Those that are somewhere on the web, by their address.
    pub addresses: bool,
}

impl Attachments {
    /// All of them.
    pub const ALL: Self = Self {
        in_prompts: Files::All,
        in_answers: Files::All,
        in_results: Files::All,
        addresses: true,
    };
}

/// What there is a place for; each takes what those before it take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Files {
    /// Nothing.
    #[default]
    Nothing,
    /// Pictures.
    Pictures,
    /// Pictures, PDF and plain text.
    Documents,
    /// Whatever it is.
    All,
}

/// What a format can say of ways that the conversation left again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Branches {
    /// Nothing.
    #[default]
    None,
    /// What was said on them, as far as the format does not [leave it out](crate::Writer::leaves_out).
    Plain,
    /// What was said on them, and in a few words what that was, where the conversation goes on.
    SummedUp,
}

/// One step of a conversation.
#[derive(Clone, Debug)]
pub struct TranscriptStep {
    /// The step that it follows, by its place in the list, which is before its own; none begins the
    /// conversation. The last step is where the conversation is.
    pub after: Option<usize>,
    /// When it happened.
    pub time: Option<Moment>,
    /// What it is.
    pub step: StepKind,
}

/// What a sub-agent is told.
#[derive(Clone, Copy, Debug)]
pub struct SubagentTranscript<'a> {
    /// The call that started it, by the id that the parent was told.
    pub call: Option<&'a str>,
    /// What it was started for.
    pub title: Option<&'a str>,
    /// What was said, as in any conversation.
    pub told: &'a [TranscriptStep],
}

/// A call of a session, and the sub-agent that it started.
#[derive(Clone, Copy, Debug)]
pub struct StartedSubagent<'a> {
    /// The call, by the id that the session was told.
    pub call: &'a str,
    /// The session of the sub-agent.
    pub session: &'a Source,
}

/// What a step is.
#[derive(Clone, Debug)]
pub enum StepKind {
    /// Something is said.
    Message(Box<NewMessage>),
    /// From here on a summary stands in the place of what came before.
    Compaction {
        /// The summary.
        summary: String,
        /// The first step that the model still sees behind the summary; none if it sees none.
        kept: Option<usize>,
        /// How many tokens there were before.
        tokens_before: Option<u64>,
    },
    /// What was said on the way that the conversation left, in a few words.
    BranchSummary(String),
    /// A bookmark.
    Label {
        /// The step that it is on.
        on: usize,
        /// Its text.
        text: String,
    },
    /// Nothing: the conversation went back to the step that this one follows. It comes behind all that
    /// is said.
    Back,
}

/// The steps of a conversation, one after the other.
pub struct Transcript<'a> {
    /// Whether ways are among the steps that the conversation left again.
    pub has_left: bool,
    steps: &'a mut dyn Iterator<Item = TranscriptStep>,
}

impl<'a> Transcript<'a> {
    /// These steps.
    pub fn new(has_left: bool, steps: &'a mut dyn Iterator<Item = TranscriptStep>) -> Self {
        Self { has_left, steps }
    }
}

impl Iterator for Transcript<'_> {
    type Item = TranscriptStep;

    fn next(&mut self) -> Option<TranscriptStep> {
        self.steps.next()
    }
}

/// What is known of a step without what it says.
pub(crate) struct StepHead {
    after: Option<usize>,
    is_message: bool,
    is_compaction: bool,
    /// Whether the conversation only goes back with it.
    pub(crate) is_back: bool,
    /// The calls that it makes, and those that it has results of, by their ids.
    calls: Vec<String>,
    results: Vec<String>,
}

impl StepHead {
    pub(crate) fn of(told: &TranscriptStep) -> Self {
        let message = match &told.step {
            StepKind::Message(message) => Some(message),
            _ => None,
        };
        let owned = |id: &str| id.to_owned();
        Self {
            after: told.after,
            is_message: message.is_some(),
            is_compaction: told.step.sums_up(),
            is_back: matches!(told.step, StepKind::Back),
            calls: message.map_or_else(Vec::new, |m| m.calls().map(owned).collect()),
            results: message.map_or_else(Vec::new, |m| m.results().map(owned).collect()),
        }
    }
}

impl StepKind {
    /// Whether a summary stands in the place of what came before.
    pub(crate) fn sums_up(&self) -> bool {
        matches!(self, Self::Compaction { .. })
    }
}

/// The ways that a conversation left again, by what each of its steps follows: the steps of each stand
/// behind each other, and before those of the way that it took instead. What was left on the way is a
/// way of its own.
pub fn left_ways(after: impl Iterator<Item = Option<usize>>) -> Vec<Range<usize>> {
    let mut last: HashMap<Option<usize>, usize> = HashMap::new();
    let mut ways = Vec::new();
    for (at, after) in after.enumerate() {
        if let Some(other) = last.insert(after, at) {
            ways.push(other..at);
        }
    }
    ways
}

/// The ways that a conversation with these steps left again.
pub(crate) fn left_branches(heads: &[StepHead]) -> Vec<Range<usize>> {
    left_ways(heads.iter().map(|head| head.after))
}

/// Whether something is summed up in some steps.
pub(crate) fn sums_up(steps: &[StepHead]) -> bool {
    steps.iter().any(|step| step.is_compaction)
}

/// The steps from one to another that comes behind it, by what each follows; none where there is no
/// first.
pub(crate) fn steps_between(
    after: impl Fn(usize) -> Option<usize>,
    first: Option<usize>,
    last: Option<usize>,
) -> Vec<usize> {
    let mut way = Vec::new();
    let mut at = last.filter(|_| first.is_some());
    while let Some(step) = at.filter(|step| Some(*step) >= first) {
        way.push(step);
        at = after(step);
    }
    way.reverse();
    way
}

/// Whether a way keeps to itself: it begins with something that is said, and holds results of no calls
/// but its own. Some clients write results beside their calls.
pub(crate) fn is_apart(steps: &[StepHead]) -> bool {
    let mut known: HashSet<&str> = HashSet::new();
    for (at, one) in steps.iter().enumerate() {
        if at == 0 && !(one.is_message && one.results.is_empty()) {
            return false;
        }
        known.extend(one.calls.iter().map(String::as_str));
        if !one.results.iter().all(|id| known.contains(id.as_str())) {
            return false;
        }
    }
    !steps.is_empty()
}

/// The calls that are answered somewhere, by their ids.
pub(crate) fn answered_calls(told: &[TranscriptStep]) -> HashSet<String> {
    let messages = told.iter().filter_map(|one| match &one.step {
        StepKind::Message(message) => Some(message),
        _ => None,
    });
    messages
        .flat_map(|message| message.results().map(str::to_owned))
        .collect()
}
