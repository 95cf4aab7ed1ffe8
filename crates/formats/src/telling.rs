//! A whole conversation that is told to a session: not one message behind the other, but as it went,
//! with its branches and with what was summed up on the way.

use rethread_model::Moment;

use crate::MessageInput;

/// What a format has records of its own for, when it is [told](crate::Format::tell) a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keeps {
    /// Ways that the conversation left again.
    pub branches: Branches,
    /// Summaries in the place of what came before.
    pub compactions: bool,
    /// Bookmarks on messages.
    pub labels: bool,
    /// Sub-agents, in sessions of their own that lie with the one that started them.
    pub agents: bool,
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
    /// What was said on them.
    Plain,
    /// What was said on them, and in a few words what that was, where the conversation goes on.
    SummedUp,
}

/// One step of a conversation.
#[derive(Clone, Debug)]
pub struct Told {
    /// The step that it follows, by its place in the list, which is before its own; none begins the
    /// conversation. The last step is where the conversation is.
    pub after: Option<usize>,
    /// When it happened.
    pub time: Option<Moment>,
    /// What it is.
    pub step: Step,
}

/// What a sub-agent is told.
#[derive(Clone, Copy, Debug)]
pub struct ToldAgent<'a> {
    /// The call that started it, by the id that the parent was told.
    pub call: Option<&'a str>,
    /// What it was started for.
    pub title: Option<&'a str>,
    /// What was said, as in any conversation.
    pub told: &'a [Told],
}

/// What a step is.
#[derive(Clone, Debug)]
pub enum Step {
    /// Something is said.
    Message(MessageInput),
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
}
