//! What a reader is given, piece by piece.

use rethread_model::{EntryIx, Media, Moment, Thinking};

use super::{InjectedText, OmittedItems, ToolUse};
use crate::notice::Notice;

/// A piece of a conversation, in order.
pub(crate) enum ReadingPart {
    /// Somebody begins to speak. What follows is theirs.
    Turn(Turn),
    /// Something that was said or done.
    Item(TurnItem),
    /// What was left out since the last heading.
    Quiet(OmittedItems),
}

/// The heading of a turn.
pub(crate) struct Turn {
    /// The entry that it begins with.
    pub(crate) ix: EntryIx,
    /// Who speaks.
    pub(crate) speaker: Speaker,
    /// The model that answers, where it is known.
    pub(crate) model: Option<String>,
    /// When it began.
    pub(crate) time: Option<Moment>,
    /// Who was meant to see it, where not everyone was.
    pub(crate) seen: Option<&'static str>,
    /// The bookmark on its first entry.
    pub(crate) label: Option<String>,
}

impl Turn {
    /// The number that `--at '#12'` takes.
    pub(crate) fn entry_number(&self) -> u64 {
        self.ix.get() as u64 + 1
    }
}

/// Who speaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Speaker {
    /// The person.
    Person,
    /// The agent, with its tools.
    Agent,
    /// Neither: instructions and context.
    System,
    /// An extension of the agent, by its name.
    Extension(String),
    /// The conversation was cut here: a compaction, or a return from another branch.
    Cut,
}

/// Something that was said or done. Texts are untrusted, not yet neutral.
pub(crate) enum TurnItem {
    /// Words, as Markdown.
    Prose(String),
    /// A command that the person typed: `/review src`, `! ls`.
    Typed(String),
    /// What such a command printed.
    Printed(String),
    /// Reasoning.
    Thinking(Thinking),
    /// A call of a tool with its result, or a result alone.
    Call(Box<ToolUse>),
    /// A picture.
    Image(Media),
    /// Any other file.
    File(Media),
    /// What stands for a block that nobody knows.
    Unknown(String),
    /// Text that neither the person nor the agent wrote.
    Injected(InjectedText),
    /// What went wrong.
    Error(String),
    /// Something that happened, or that was set; a cut of the conversation with its summary.
    Notice(Notice),
    /// A bookmark on a step of the turn.
    Label(String),
    /// The message says nothing.
    Empty,
}
