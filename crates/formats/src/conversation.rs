//! A conversation that was read: its original bytes, what they mean, and what was wrong.

use std::fmt;

use rethread_model::{Bodies, Body, EntryIx, Note, Session};

use crate::{Format, Native, Source};

/// A conversation that was read.
pub struct Conversation {
    /// Where it was found.
    pub source: Source,
    /// Its original records.
    pub native: Native,
    /// What they mean.
    pub session: Session,
    /// What was wrong with them.
    pub notes: Vec<Note>,
    /// How it is written down.
    pub format: &'static dyn Format,
}

impl Bodies for Conversation {
    fn body(&self, ix: EntryIx) -> Body {
        self.format.body(&self.native, &self.session, ix)
    }
}

impl fmt::Debug for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversation")
            .field("source", &self.source)
            .field("session", &self.session)
            .field("notes", &self.notes)
            .finish_non_exhaustive()
    }
}
