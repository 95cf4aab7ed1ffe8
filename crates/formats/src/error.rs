//! Why a conversation could not be opened or written.

use std::io;
use std::path::{Path, PathBuf};

use rethread_disk::DiskError;

/// A session could not be opened at all. Damage inside it is a note, not an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// A file could not be read.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// It is written in a version that must be refused.
    #[error("`{}` is written in version {version} of {format}, and this program reads {supported}", .path.display())]
    Unsupported {
        /// The file that says so.
        path: PathBuf,
        /// The format.
        format: &'static str,
        /// The version, as spelled.
        version: String,
        /// What we can read.
        supported: &'static str,
    },
    /// The file that describes the session is no JSON object.
    #[error("`{}` is damaged: {why}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, where one can be named.
        line: Option<u64>,
        /// What is wrong with it.
        why: String,
    },
    /// There is nothing of this format at that path.
    #[error("`{}` is not a session of {format}", .path.display())]
    NotOurs {
        /// The path.
        path: PathBuf,
        /// The format.
        format: &'static str,
    },
    /// A healthy file in which there is no conversation.
    #[error("`{}` holds no conversation: {why}", .path.display())]
    NoConversation {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: &'static str,
    },
    /// A file that holds several sessions does not hold this one.
    #[error("there is no session `{id}` of {format} in `{}`", .path.display())]
    NoSession {
        /// The file.
        path: PathBuf,
        /// The session.
        id: String,
        /// The format.
        format: &'static str,
    },
    /// Nothing says yet what is right in this format.
    #[error("`{}` cannot be checked: there are no rules for {format} yet", .path.display())]
    NoRules {
        /// The path.
        path: PathBuf,
        /// The format.
        format: &'static str,
    },
}

/// Makes the error for a file that cannot be read.
pub(crate) fn read_failed(path: &Path) -> impl Fn(io::Error) -> DiskError + Copy {
    move |cause| DiskError::Read {
        path: path.to_owned(),
        cause,
    }
}

/// The error for a file that was opened and cannot be read.
pub(crate) fn unreadable_file(path: &Path, cause: io::Error) -> OpenError {
    read_failed(path)(cause).into()
}

impl OpenError {
    /// The file concerned.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Disk(e) => e.path(),
            Self::Unsupported { path, .. }
            | Self::Damaged { path, .. }
            | Self::NotOurs { path, .. }
            | Self::NoConversation { path, .. }
            | Self::NoSession { path, .. }
            | Self::NoRules { path, .. } => Some(path),
        }
    }

    /// The line concerned.
    pub fn line(&self) -> Option<u64> {
        match self {
            Self::Damaged { line, .. } => *line,
            _ => None,
        }
    }

    /// What to do next.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Disk(e) => e.hint(),
            Self::Unsupported { .. } => Some(
                "a newer version of rethread may read it; `show --to raw` gives the bytes".into(),
            ),
            Self::Damaged { .. } => Some("`show --to raw` gives the bytes".into()),
            Self::NotOurs { .. }
            | Self::NoConversation { .. }
            | Self::NoSession { .. }
            | Self::NoRules { .. } => None,
        }
    }

    /// A short name for scripts.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Disk(_) => "io",
            Self::Unsupported { .. } => "unsupported_version",
            Self::Damaged { .. } => "damaged",
            Self::NotOurs { .. } => "not_a_session",
            Self::NoConversation { .. } => "no_conversation",
            Self::NoSession { .. } => "not_found",
            Self::NoRules { .. } => "unsupported",
        }
    }
}

/// Something could not be written. Nothing of it was, unless the error says otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The disk refused.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The session could not be read first.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Sessions of this format are only read so far.
    #[error("{format} sessions can only be read so far")]
    ReadOnly {
        /// The format.
        format: &'static str,
    },
    /// What is there is not laid out as we know it, so nothing is written to it.
    #[error("`{}` is not laid out as this program knows {format}: {why}", .path.display())]
    UnknownStore {
        /// The file.
        path: PathBuf,
        /// The format.
        format: &'static str,
        /// What is not known.
        why: String,
    },
    /// The format has no place for this.
    #[error("{format} sessions have no {what}")]
    Unsupported {
        /// The format.
        format: &'static str,
        /// What was asked for.
        what: &'static str,
    },
    /// A message is not one that the format allows.
    #[error("{}{why}", place(.line.as_ref()))]
    BadMessage {
        /// The line of the input, counted from 1, where there are several.
        line: Option<u64>,
        /// What is wrong with it.
        why: String,
    },
    /// Something else that was given cannot be used.
    #[error("{0}")]
    BadInput(String),
    /// The id is taken.
    #[error("the id `{id}` exists already in `{}`", .path.display())]
    Exists {
        /// The id.
        id: String,
        /// Where it exists.
        path: PathBuf,
    },
    /// The entry to be changed is not there any more.
    #[error("the entry `{id}` is not in `{}`", .path.display())]
    NoEntry {
        /// The entry.
        id: String,
        /// The log.
        path: PathBuf,
    },
}

fn place(line: Option<&u64>) -> String {
    line.map_or_else(String::new, |n| format!("message {n}: "))
}

impl WriteError {
    /// The file concerned.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Disk(e) => e.path(),
            Self::Open(e) => e.path(),
            Self::Exists { path, .. }
            | Self::NoEntry { path, .. }
            | Self::UnknownStore { path, .. } => Some(path),
            _ => None,
        }
    }

    /// The line concerned.
    pub fn line(&self) -> Option<u64> {
        match self {
            Self::BadMessage { line, .. } => *line,
            Self::Open(e) => e.line(),
            _ => None,
        }
    }

    /// What to do next.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Disk(e) => e.hint(),
            Self::Open(e) => e.hint(),
            Self::UnknownStore { .. } => {
                Some("it can still be read; a newer version of rethread may write it".into())
            }
            _ => None,
        }
    }

    /// A short name for scripts.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Disk(DiskError::Busy { .. }) => "busy",
            Self::Disk(_) => "io",
            Self::Open(e) => e.kind(),
            Self::Unsupported { .. } | Self::ReadOnly { .. } => "unsupported",
            Self::UnknownStore { .. } => "unsupported_version",
            Self::BadMessage { .. } => "bad_message",
            Self::BadInput(_) => "bad_input",
            Self::Exists { .. } => "exists",
            Self::NoEntry { .. } => "not_found",
        }
    }
}
