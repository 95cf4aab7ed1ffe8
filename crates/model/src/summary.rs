//! What a list shows of a session.

use std::path::PathBuf;

use crate::{Head, Note, Usage};

/// What a list shows of a session, without reading all of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Facts about the whole.
    pub head: Head,
    /// Its main file or folder.
    pub path: PathBuf,
    /// How much is in it.
    pub counts: Counts,
    /// The size of all its files in bytes.
    pub size: u64,
    /// Whether it can be used.
    pub state: State,
    /// What was noticed.
    pub notes: Vec<Note>,
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
    /// Only its description is left.
    Gone,
}
