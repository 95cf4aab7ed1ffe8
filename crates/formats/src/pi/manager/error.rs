//! What a session manager refuses.

use std::path::{Path, PathBuf};

use rethread_disk::DiskError;
use rethread_json::SyntaxError;

/// A session could not be opened or changed. What is in memory and on disk is as it was before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The disk refused.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The file is something else. It is left as it is.
    #[error("Session file is not a valid pi session: {}", .path.display())]
    NotASession {
        /// The file.
        path: PathBuf,
    },
    /// The file to be forked is missing, empty or something else.
    #[error("Cannot fork: source session file is empty or invalid: {}", .path.display())]
    CannotFork {
        /// The file.
        path: PathBuf,
    },
    /// No entry has this id.
    #[error("Entry {id} not found")]
    EntryNotFound {
        /// The id.
        id: String,
    },
    /// The id that was chosen cannot be one.
    #[error(
        "Session id must be non-empty, contain only alphanumeric characters, '-', '_', and '.', and start and end with an alphanumeric character"
    )]
    InvalidSessionId {
        /// The id.
        id: String,
    },
    /// The file to be made is there already.
    #[error("`{}` exists already", .path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The session is of a later version: it can be read, but not written.
    #[error("version {version} of the session is newer than version 3, which can be written")]
    TooNew {
        /// The version.
        version: u64,
    },
    /// What was given as JSON is none.
    #[error("{what} is not JSON: {cause}")]
    NotJson {
        /// What it was given as.
        what: &'static str,
        /// What is wrong with it.
        cause: SyntaxError,
    },
    /// What was given as a message is none that can be stored.
    #[error("a message {why}")]
    BadMessage {
        /// What is wrong with it.
        why: &'static str,
    },
    /// What was given as an entry is none that can be stored.
    #[error("an entry {why}")]
    BadEntry {
        /// What is wrong with it.
        why: String,
    },
    /// No home folder is known, and no folder was given.
    #[error("the folder of the sessions is not known: no home folder is set")]
    NoHome,
}

impl SessionError {
    /// The file concerned.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Disk(e) => e.path(),
            Self::NotASession { path } | Self::CannotFork { path } | Self::Exists { path } => {
                Some(path)
            }
            _ => None,
        }
    }

    /// What to do next.
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Disk(e) => return e.hint(),
            Self::NotASession { .. } => "the file was left as it is; name another one",
            Self::Exists { .. } => "open that session, or start one with another id",
            Self::TooNew { .. } => "a newer version of rethread may write it",
            Self::NoHome => "name a session folder",
            _ => return None,
        };
        Some(text.to_owned())
    }

    /// A short name for scripts.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Disk(DiskError::Busy { .. }) => "busy",
            Self::Disk(_) => "io",
            Self::NotASession { .. } | Self::CannotFork { .. } => "not_a_session",
            Self::EntryNotFound { .. } => "not_found",
            Self::InvalidSessionId { .. } | Self::NotJson { .. } => "bad_input",
            Self::Exists { .. } => "exists",
            Self::TooNew { .. } => "unsupported_version",
            Self::BadMessage { .. } | Self::BadEntry { .. } => "bad_message",
            Self::NoHome => "no_home",
        }
    }
}
