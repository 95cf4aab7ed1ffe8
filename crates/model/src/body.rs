//! What an entry says.

use crate::{Blob, Block, EntryIx, Json, Moment, Role, Text, TitleChange, Usage, UsageRecord};

/// What an entry says, decoded from its raw records.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// A message.
    Message(Message),
    /// The model that answers from here on.
    ModelChange(ModelRef),
    /// How much the model thinks from here on, in the agent's own word.
    ThinkingChange(String),
    /// A summary in place of what came before.
    Compaction(Compaction),
    /// The summary of another branch.
    BranchSummary(BranchSummary),
    /// A bookmark.
    Label(LabelChange),
    /// A name for the conversation.
    Title(TitleChange),
    /// A change of what another entry contributes to the context.
    ContextEdit(ContextEdit),
    /// Tokens or cost that belong to no message.
    Usage(UsageRecord),
    /// Something that happened.
    Event(Event),
    /// A record that we do not understand, by the name of its type.
    Unknown(Option<String>),
}

/// A model, with who serves it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelRef {
    /// The provider, where the source names one.
    pub provider: Option<String>,
    /// The model.
    pub id: String,
}

/// Something that was said.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What it is made of, in order. Where a source stores a call and its result together, the
    /// result stands right behind its call.
    pub blocks: Vec<Block>,
    /// The model that answered.
    pub model: Option<ModelRef>,
    /// Why the model stopped, in the agent's own word.
    pub stop_reason: Option<String>,
    /// The sequence of characters that stopped the model.
    pub stop_sequence: Option<String>,
    /// What the response cost.
    pub usage: Option<Usage>,
    /// Where it was said, in a source that notes it with each message.
    pub place: Option<Box<Place>>,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<f64>,
    /// What went wrong.
    pub error: Option<String>,
    /// The vendor's id of the response.
    pub response_id: Option<String>,
    /// The vendor's id of the request.
    pub request_id: Option<String>,
    /// The extension that wrote the message, for messages that neither person nor model wrote.
    pub extension: Option<String>,
    /// Fields of the source that have no place above, as one JSON object.
    pub details: Option<Json>,
}

impl Message {
    /// A message without details.
    pub fn new(role: Role, blocks: Vec<Block>) -> Self {
        Self {
            role,
            blocks,
            model: None,
            stop_reason: None,
            stop_sequence: None,
            usage: None,
            place: None,
            duration_ms: None,
            error: None,
            response_id: None,
            request_id: None,
            extension: None,
            details: None,
        }
    }
}

/// Where something was said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The folder.
    pub cwd: Option<String>,
    /// The git branch.
    pub branch: Option<String>,
    /// The version of the agent.
    pub agent_version: Option<String>,
    /// What kind of user, in the agent's own word.
    pub user_type: Option<String>,
}

/// A summary in place of what came before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compaction {
    /// What the summary answers, in agents that send both to the model: the one as words of the
    /// user, the other as an answer.
    pub question: Option<Text>,
    /// The summary.
    pub summary: Option<Text>,
    /// What of the past is still in the context, behind the summary.
    pub kept: Kept,
    /// Instructions that stand before the summary in the context.
    pub system: Option<Text>,
    /// Whether a person or the agent asked for it.
    pub trigger: Option<String>,
    /// Tokens in the context before.
    pub tokens_before: Option<u64>,
    /// Tokens in the context after.
    pub tokens_after: Option<u64>,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<f64>,
    /// Whether an extension made the summary.
    pub from_hook: bool,
    /// What making the summary cost.
    pub usage: Option<Usage>,
    /// The agent's own details.
    pub details: Option<Json>,
}

/// What a compaction kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Kept {
    /// Nothing: only the summary and what follows.
    #[default]
    Nothing,
    /// Everything from the entry with this id on.
    From(String),
    /// The entries between those with these ids, inclusive.
    Range {
        /// The first.
        first: String,
        /// The last.
        last: String,
    },
    /// The entries with these ids.
    Entries(Vec<String>),
    /// What the person said, and nothing else.
    UserMessages,
    /// These messages instead of the past, as the source stores them.
    Replacement(Vec<Message>),
}

/// The summary of a branch that the conversation came back from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BranchSummary {
    /// The leaf of that branch.
    pub from: Option<String>,
    /// The summary.
    pub summary: Text,
    /// Whether an extension made it.
    pub from_hook: bool,
    /// What making it cost.
    pub usage: Option<Usage>,
    /// The agent's own details.
    pub details: Option<Json>,
}

/// A bookmark on an entry, set or cleared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelChange {
    /// The entry with the bookmark.
    pub target: String,
    /// Its text; none clears it.
    pub label: Option<String>,
}

/// A change of what another entry contributes to the context.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextEdit {
    /// The entry.
    pub target: String,
    /// The tool call in it, where only its result is changed.
    pub tool_call: Option<String>,
    /// What it contributes now; none removes it.
    pub replacement: Option<Vec<Block>>,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// What, in the agent's own word.
    pub name: String,
    /// What it says to people.
    pub text: Option<Text>,
    /// How much it matters.
    pub level: Level,
    /// The agent's own details.
    pub details: Option<Json>,
}

/// How much an event matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For information.
    #[default]
    Info,
    /// A warning.
    Warning,
    /// An error.
    Error,
}

/// Gives the bodies of a session's entries, when they are asked for.
///
/// A session holds only heads; what reads its source implements this.
pub trait Bodies {
    /// What the entry says.
    fn body(&self, ix: EntryIx) -> Body;

    /// The pieces that an entry came in, where its source gives each an id of its own; none of one
    /// that came whole.
    fn pieces(&self, _: EntryIx) -> Vec<Piece> {
        Vec::new()
    }

    /// The base64 text of a blob that lies in a record; none of any other.
    fn inline(&self, _: &Blob) -> Option<Vec<u8>> {
        None
    }

    /// The bytes of a blob that is a file of the session; none of any other, and where files are not
    /// to be opened.
    fn file(&self, _: &Blob) -> Option<Vec<u8>> {
        None
    }
}

/// One of several records that are a message together, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// Its own id.
    pub id: String,
    /// Which of the entry's records it is, counted from 0.
    pub record: usize,
    /// When it was written.
    pub time: Option<Moment>,
    /// How many of the message's blocks it brought.
    pub blocks: usize,
    /// Where it was written, as far as this record says.
    pub place: Option<Box<Place>>,
    /// Why the model stopped, as far as this record says.
    pub stop_reason: Option<String>,
    /// What it stopped at, as far as this record says.
    pub stop_sequence: Option<String>,
}
