//! What a model sees in the words of the client: its messages, with calls and results inside.

use rethread_json::Tree;
use rethread_model::EntryIx;

use crate::{Conversation, RawJson, RecordKind};

/// The message of an entry, as it is.
pub(super) fn native_messages(conversation: &Conversation, entry: EntryIx) -> Vec<RawJson> {
    let native = &conversation.native;
    // The version that speaks stands first.
    let raw = conversation.session.origin(entry).first();
    let raw = raw.filter(|raw| native.record_kind(**raw) != Some(RecordKind::Giant));
    let bytes = raw.and_then(|raw| native.read(*raw).ok());
    let bytes = bytes.unwrap_or_default();
    let mut tree = Tree::default();
    // What separates it from the next item of a list may follow.
    if tree.parse_prefix(&bytes, 0).is_err() && tree.parse_into(&bytes).is_err() {
        return Vec::new();
    }
    vec![tree.root(&bytes).raw().to_vec().into()]
}
