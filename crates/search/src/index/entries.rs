//! Whether the beginning of a conversation is what was indexed before.

use std::hash::{Hash as _, Hasher as _};

use rethread_catalog::IndexedEntries;
use rethread_formats::Conversation;
use rethread_model::EntryIx;

/// The first entries of a conversation: what they are, and where their records stand. While that is the
/// same, and the log was only added to, they say the same. None if there are fewer.
pub(super) fn entries_of(conversation: &Conversation, count: usize) -> Option<IndexedEntries> {
    let session = &conversation.session;
    if session.entries().len() < count {
        return None;
    }
    // The same in every process.
    let mut hasher = std::hash::DefaultHasher::new();
    for ix in (0..count).filter_map(EntryIx::new) {
        let entry = session.entry(ix);
        (entry.kind, entry.visibility).hash(&mut hasher);
        let time = entry.time.map(rethread_model::Moment::millis);
        time.hash(&mut hasher);
        for raw in session.origin(ix) {
            (raw.part, raw.record).hash(&mut hasher);
            conversation.native.span(*raw).hash(&mut hasher);
        }
    }
    Some(IndexedEntries {
        count: count as u64,
        digest: hasher.finish(),
    })
}
