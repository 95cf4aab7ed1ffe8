//! What a conversation is called, and who called it that.

/// A title, with where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Title {
    /// The text, as it was written.
    pub text: String,
    /// Who gave it.
    pub source: TitleSource,
}

/// A conversation was named, or its name was cleared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TitleChange {
    /// The name; none clears it.
    pub text: Option<String>,
    /// Who gave it.
    pub source: TitleSource,
}

/// Where a title came from. The order is the precedence: a later one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TitleSource {
    /// Made by us from the first prompt, because the agent stored none.
    FirstPrompt,
    /// The last prompt, which some agents keep as a title.
    LastPrompt,
    /// A summary that the agent wrote about the conversation.
    Summary,
    /// A title that a model made.
    Model,
    /// A title that the agent's store has, without saying who chose it.
    Stored,
    /// A name that the user gave.
    User,
}
