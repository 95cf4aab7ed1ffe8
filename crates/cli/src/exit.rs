//! The whole story of exit codes.

use std::process::ExitCode;

use rethread_model::{Note, Severity};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// Failed, or nothing was found.
    Failed = 1,
    /// The command line makes no sense.
    Usage = 2,
    /// Done in part: some input was damaged or skipped.
    Partly = 3,
}

impl Exit {
    /// Done, or done in part when there was damage; with `strict`, that is a failure.
    pub(crate) fn after(notes: &[Note], strict: bool) -> Self {
        let damage = notes.iter().any(|n| n.severity == Severity::Damage);
        match (damage, strict) {
            (false, _) => Self::Done,
            (true, false) => Self::Partly,
            (true, true) => Self::Failed,
        }
    }

    /// This end, or the other one if this was a good one.
    pub(crate) fn or(self, other: Self) -> Self {
        if self == Self::Done { other } else { self }
    }

    /// The same end, where `strict` turns a part into a failure.
    pub(crate) fn strictly(self, strict: bool) -> Self {
        if strict && self == Self::Partly {
            Self::Failed
        } else {
            self
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
