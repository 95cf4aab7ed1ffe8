//! What reading a stream yields.

use std::borrow::Cow;
use std::fmt;
use std::io;

use crate::error::SyntaxErrorKind;

/// What comes next in a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// `{`
    BeginObject,
    /// `}`
    EndObject,
    /// `[`
    BeginArray,
    /// `]`
    EndArray,
    /// A key, or a part of one.
    Key(Chunk<'a>),
    /// A string, or a part of one.
    String(Chunk<'a>),
    /// A number as it is spelt.
    Number(&'a [u8]),
    /// `true` or `false`
    Bool(bool),
    /// `null`
    Null,
    /// The value is complete and nothing follows it.
    End,
}

/// A part of a decoded string. Long ones come in several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// UTF-8; no character is split between chunks. Lone surrogates and invalid
    /// UTF-8 are U+FFFD.
    pub bytes: Cow<'a, [u8]>,
    /// Whether the string ends here.
    pub last: bool,
}

/// Why a stream could not be read on.
#[derive(Debug)]
pub enum PullError {
    /// Reading failed.
    Io(io::Error),
    /// The stream is not JSON.
    Syntax {
        /// Byte at which it stops being JSON, from 0.
        offset: u64,
        /// What is wrong there.
        kind: SyntaxErrorKind,
    },
}

impl fmt::Display for PullError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Syntax { offset, kind } => write!(f, "{kind} at byte {offset}"),
        }
    }
}

impl std::error::Error for PullError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Syntax { .. } => None,
        }
    }
}

impl From<io::Error> for PullError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
