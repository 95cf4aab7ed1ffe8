//! Filters: `agent:codex`, `file:src/main.rs`.

use super::QueryError;
use crate::texts::TextRole;

/// A filter, and whether it is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterClause {
    /// Which filter.
    pub name: FilterName,
    /// The values, of which any will do.
    pub any: Vec<String>,
    /// Whether none of them may be.
    pub is_negated: bool,
}

impl FilterClause {
    /// Whether it lets something pass of which `fits` says whether a value is true.
    pub fn passes(&self, fits: impl FnMut(&str) -> bool) -> bool {
        self.any.iter().map(String::as_str).any(fits) != self.is_negated
    }
}

/// What can be asked of a conversation or a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterName {
    /// The agent that held the conversation.
    Agent,
    /// The workspace.
    Dir,
    /// Who speaks in the text.
    Role,
    /// The tool that was called, or that answered.
    Tool,
    /// A file that the conversation read or wrote.
    File,
    /// The model of the conversation.
    Model,
    /// What the conversation is: `subagent`.
    Is,
    /// What is in the conversation: `error`, `image`.
    Has,
    /// When the text was said, at the earliest.
    Since,
    /// When the text was said, at the latest.
    Until,
    /// A part of the title.
    Title,
}

/// What a conversation may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Has {
    /// Something that went wrong.
    Error,
    /// A picture.
    Image,
}

impl Has {
    /// What a word stands for.
    pub fn named(word: &str) -> Option<Self> {
        match word {
            "error" => Some(Self::Error),
            "image" => Some(Self::Image),
            _ => None,
        }
    }
}

impl FilterName {
    /// All filters, in the order in which help shows them.
    pub const ALL: [Self; 11] = [
        Self::Agent,
        Self::Dir,
        Self::Role,
        Self::Tool,
        Self::File,
        Self::Model,
        Self::Is,
        Self::Has,
        Self::Since,
        Self::Until,
        Self::Title,
    ];

    /// The word before the colon.
    pub fn word(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Dir => "dir",
            Self::Role => "role",
            Self::Tool => "tool",
            Self::File => "file",
            Self::Model => "model",
            Self::Is => "is",
            Self::Has => "has",
            Self::Since => "since",
            Self::Until => "until",
            Self::Title => "title",
        }
    }

    /// The filter that a word stands for.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|name| name.word() == word)
    }

    /// Whether a list knows it without looking into conversations.
    pub fn is_in_lists(self) -> bool {
        matches!(
            self,
            Self::Agent
                | Self::Dir
                | Self::Model
                | Self::Is
                | Self::Title
                | Self::Since
                | Self::Until
        )
    }

    /// Whether it chooses texts, and not conversations.
    pub fn is_of_texts(self) -> bool {
        matches!(self, Self::Role | Self::Tool | Self::Since | Self::Until)
    }

    /// Whether a thing has only one value of it, so that two of them can only mean any of both.
    pub(crate) fn has_one_value(self) -> bool {
        matches!(
            self,
            Self::Agent | Self::Dir | Self::Model | Self::Role | Self::Tool
        )
    }

    /// Refuses values that there are not.
    pub(crate) fn check_value(self, value: &str) -> Result<(), QueryError> {
        let known: &[&str] = match self {
            Self::Role => &TextRole::WORDS,
            Self::Is => &["subagent"],
            Self::Has => &["error", "image"],
            _ if value.is_empty() => {
                return Err(QueryError::NoValue {
                    filter: self.word(),
                });
            }
            _ => return Ok(()),
        };
        let is_known = known.contains(&value) || self == Self::Role && value == "agent";
        if is_known {
            return Ok(());
        }
        Err(QueryError::UnknownValue {
            filter: self.word(),
            value: value.to_owned(),
            known: known.to_vec(),
        })
    }
}
