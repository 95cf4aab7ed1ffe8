//! What is wrong with a store or a session, measured against its format's own document.

pub(crate) mod fields;
pub(crate) mod known;
pub(crate) mod law;
pub(crate) mod log;
pub(crate) mod sheet;
pub(crate) mod walk;

use std::fmt;
use std::path::PathBuf;

/// One place where something is not as its document wants it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// How much it weighs.
    pub weight: Weight,
    /// The file concerned; it may be one that is missing.
    pub path: PathBuf,
    /// The line, counted from 1, where there is one.
    pub line: Option<u64>,
    /// The rule, as a short name for scripts: `required-field`.
    pub rule: &'static str,
    /// The heading in the document under which the rule stands.
    pub section: &'static str,
    /// What it is: lower case, no full stop. Text from the file may be in it, secrets are not.
    pub message: String,
}

/// How much a violation weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Unusual, and others may stumble over it.
    Warning,
    /// Against the document.
    Error,
}

impl Weight {
    /// The word for it, for people and scripts.
    pub fn word(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
