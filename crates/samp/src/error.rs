//! Why something could not be done.

use std::path::{Path, PathBuf};

use rethread_disk::DiskError;

use crate::{alias::InvalidAlias, id::Id};

/// Why a message could not be sent, read or found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The disk refused.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// A name is no alias.
    #[error(transparent)]
    Alias(#[from] InvalidAlias),
    /// A message is longer than what readers take.
    #[error("the message has {len} bytes on its line, at most {limit} are read")]
    TooLong {
        /// How long its line would be.
        len: usize,
        /// How long it may be.
        limit: usize,
    },
    /// There is nothing to reply to.
    #[error("there is no message to `{me}` in `{}`", .folder.display())]
    NothingToReplyTo {
        /// Who wants to reply.
        me: String,
        /// The message folder.
        folder: PathBuf,
    },
    /// The beginning of an id is too short to mean one.
    #[error("`{0}` is too short: give at least {MIN_PREFIX} characters of an id")]
    ShortPrefix(String),
    /// No message has such an id.
    #[error("no message has an id that begins with `{0}`")]
    NoSuchMessage(String),
    /// Several messages have such an id.
    #[error("`{prefix}` is the beginning of {} ids", .ids.len())]
    Ambiguous {
        /// What was asked for.
        prefix: String,
        /// The ids, in the order of the logs.
        ids: Vec<Id>,
    },
}

/// How much of an id must be given.
pub const MIN_PREFIX: usize = 4;

/// How many ids of an ambiguous beginning are named.
const NAMED: usize = 10;

impl Error {
    /// The file concerned.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Disk(e) => e.path(),
            Self::NothingToReplyTo { folder, .. } => Some(folder),
            _ => None,
        }
    }

    /// What to do next.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Disk(e) => e.hint(),
            Self::Alias(e) => Some(e.hint()),
            Self::TooLong { .. } => Some("send a part of it, or the path of a file".to_owned()),
            Self::NothingToReplyTo { .. } => Some("start a conversation with `send`".to_owned()),
            Self::Ambiguous { ids, .. } => {
                let named: Vec<String> = ids.iter().take(NAMED).map(Id::to_string).collect();
                let more = if ids.len() > NAMED { ", …" } else { "" };
                Some(format!("there are {}{more}", named.join(", ")))
            }
            Self::ShortPrefix(_) | Self::NoSuchMessage(_) => None,
        }
    }

    /// A short name for scripts.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Disk(_) => "io",
            Self::Alias(_) | Self::TooLong { .. } | Self::ShortPrefix(_) => "usage",
            Self::NothingToReplyTo { .. } | Self::NoSuchMessage(_) => "not_found",
            Self::Ambiguous { .. } => "ambiguous",
        }
    }

    /// Whether the request itself was wrong, rather than what it met.
    pub fn is_usage(&self) -> bool {
        self.kind() == "usage"
    }
}
