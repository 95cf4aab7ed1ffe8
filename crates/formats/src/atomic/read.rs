//! Reading a session of Atomic: as pi's.
//!
//! What Atomic adds are entries and fields that pi does not write, and the shared reader knows them:
//! `internal` and `workflow` in the header, `excludeFromContext`, `session_summary`, and the retired
//! `context_compaction` and `context_window_change`.

use crate::{Conversation, OpenError, Source, pi};

/// Reads a session.
pub(crate) fn read(source: &Source) -> Result<Conversation, OpenError> {
    pi::read(&super::FLAVOUR, source)
}
