//! What a list shows of a session.

use std::ops::AddAssign;
use std::path::PathBuf;

use crate::{Activity, Head, LinkKind, Note, Usage};

/// What a list shows of a session, without reading all of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Facts about the whole.
    pub head: Head,
    /// Its main file or folder.
    pub path: PathBuf,
    /// How much is in it, and in its sub-agents where those are counted with it.
    pub counts: Counts,
    /// When these messages were written, where usage was asked for and as far as they say so.
    pub activity: Activity,
    /// The size of all these files in bytes.
    pub size: u64,
    /// How much of that is in its sub-agents, where they are counted with it.
    pub subagents: Option<Subagents>,
    /// Whether it can be used.
    pub state: State,
    /// What was noticed.
    pub notes: Vec<Note>,
}

impl Summary {
    /// The session that started this one as a sub-agent.
    pub fn parent(&self) -> Option<&str> {
        let links = self.head.links.iter();
        let mut parents = links.filter(|l| l.kind == LinkKind::Parent);
        parents.next().map(|l| l.session.as_str())
    }

    /// Whether another session started this one.
    pub fn is_subagent(&self) -> bool {
        self.parent().is_some()
    }
}

/// What the sub-agents of a session did, and theirs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Subagents {
    /// How many there are.
    pub sessions: u64,
    /// How much is in them.
    pub counts: Counts,
    /// The size of their files in bytes.
    pub size: u64,
}

/// How much is in a session.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// Messages of all roles.
    pub messages: u64,
    /// Messages of the user.
    pub user_messages: u64,
    /// Messages of the model.
    pub assistant_messages: u64,
    /// Calls of tools.
    pub tool_calls: u64,
    /// Tokens and cost, where they were asked for.
    pub usage: Option<Usage>,
}

impl AddAssign<&Counts> for Counts {
    fn add_assign(&mut self, other: &Counts) {
        for (mine, theirs) in [
            (&mut self.messages, other.messages),
            (&mut self.user_messages, other.user_messages),
            (&mut self.assistant_messages, other.assistant_messages),
            (&mut self.tool_calls, other.tool_calls),
        ] {
            *mine = mine.saturating_add(theirs);
        }
        match (&mut self.usage, &other.usage) {
            (Some(mine), Some(theirs)) => *mine += theirs,
            (mine, theirs) => *mine = mine.or(*theirs),
        }
    }
}

/// Whether a session can be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// It can.
    #[default]
    Ready,
    /// It is written in a version that we must refuse.
    Unsupported {
        /// The version.
        version: String,
    },
    /// What describes it is damaged; only its name is known.
    Damaged,
    /// The system does not let us look at it, whatever is in it.
    Unreadable,
    /// A healthy file in which nothing was said: no conversation, and not listed.
    Empty,
    /// Only its description is left.
    Gone,
}
