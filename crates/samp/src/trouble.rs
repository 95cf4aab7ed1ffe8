//! What was noticed while reading: values that can be counted, shown and scripted against.

use std::{fmt, path::PathBuf};

use rethread_disk::FileKind;

use crate::{id::Id, record::Unreadable};

/// One thing that was noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The file concerned.
    pub path: PathBuf,
    /// The line, counted from 1.
    pub line: Option<u64>,
    /// The byte at which that line begins.
    pub offset: Option<u64>,
    /// What it is.
    pub what: What,
}

/// What was noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// A link, a pipe or a folder has the name of a log; it was not followed.
    NotALog(FileKind),
    /// A file could not be read.
    CannotRead(String),
    /// A line is no record; it was skipped.
    Unreadable(Unreadable),
    /// A line is longer than what is read; it was skipped.
    TooLong(u64),
    /// A record does not say whom it is from, or whom it is for; it was skipped.
    Nameless(&'static str),
    /// Records lie in a log that is not their sender's; they were skipped.
    Foreign {
        /// Who is said to have sent them.
        from: String,
        /// How many, the one on this line among them.
        count: u64,
    },
    /// A record was no longer what it had been a moment before; it comes next time.
    Changed,
    /// A record says another id than the one that follows from its content. It is shown.
    WrongId {
        /// What it says.
        stored: String,
        /// What follows.
        id: Id,
    },
    /// A record is from the future. It is shown, and hides nothing.
    Future {
        /// How many seconds from now.
        ahead: i64,
    },
    /// The state of a reader is not what the document says; it counts as empty.
    BadState,
    /// What was shown could not be noted, so it may be shown again.
    NotNoted(String),
}

impl What {
    /// Whether something is missing from the result.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::NotALog(_)
            | Self::CannotRead(_)
            | Self::Unreadable(_)
            | Self::TooLong(_)
            | Self::Nameless(_)
            | Self::Foreign { .. }
            | Self::Changed => true,
            Self::WrongId { .. } | Self::Future { .. } | Self::BadState | Self::NotNoted(_) => {
                false
            }
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Foreign { .. } => Some("`--lenient` shows them"),
            Self::NotALog(_) => Some("links are never followed; put the log itself there"),
            _ => None,
        }
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotALog(kind) => write!(f, "skipped: {kind}, not a log"),
            Self::CannotRead(why) => write!(f, "skipped: {why}"),
            Self::Unreadable(why) => write!(f, "skipped: {why}"),
            Self::TooLong(len) => write!(f, "skipped: a line of {len} bytes"),
            Self::Nameless(key) => write!(f, "skipped: a record without `{key}`"),
            Self::Foreign { from, count: 1 } => {
                write!(
                    f,
                    "skipped: a record from `{from}` in a log that is not its own"
                )
            }
            Self::Foreign { from, count } => write!(
                f,
                "skipped: {count} records from `{from}` in a log that is not its own"
            ),
            Self::Changed => f.write_str("changed while it was read; it is read again next time"),
            Self::WrongId { stored, id } => {
                write!(f, "the record says its id is `{stored}`, but it is {id}")
            }
            Self::Future { ahead } => write!(f, "a message from the future, by {ahead} seconds"),
            Self::BadState => f.write_str("not what the document says; it counts as empty"),
            Self::NotNoted(why) => write!(f, "what was shown is not noted: {why}"),
        }
    }
}
