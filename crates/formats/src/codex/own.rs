//! What a model sees in the words of the client: items as its API takes them.

use rethread_json::{Array, Object, Tree, Value};
use rethread_model::{EntryIx, Kind, Role};

use super::record::{Item, RolloutRecord, RolloutType};
use crate::fields::text_of;
use crate::{Conversation, PartKind, RawJson, RecordKind};

/// The items in the records of an entry, as they are.
pub(super) fn native_messages(conversation: &Conversation, entry: EntryIx) -> Vec<RawJson> {
    let (native, session) = (&conversation.native, &conversation.session);
    let kind = session.entry(entry).kind;
    let mut found = Vec::new();
    let mut tree = Tree::default();
    for raw in session.origin(entry) {
        if native.record_kind(*raw) != Some(RecordKind::Value) {
            continue;
        }
        let bytes = native.read(*raw).unwrap_or_default();
        if native.part_kind(*raw) == Some(PartKind::Document) {
            // An item, and what stands between it and the next one.
            if tree.parse_prefix(&bytes, 0).is_ok() {
                found.push(tree.root(&bytes).raw().to_vec());
            }
            continue;
        }
        if tree.parse_into(&bytes).is_err() {
            continue;
        }
        let record = RolloutRecord::of(tree.root(&bytes));
        match (kind, record.what) {
            (Kind::Compaction, RolloutType::Compacted) => found.extend(replaced(record.payload)),
            // A result has the record of its call beside its own, and the other way around.
            (Kind::Message(role), RolloutType::Item(item))
                if (item == Item::Output) == (role == Role::Tool) =>
            {
                found.push(record.payload.raw().to_vec());
            }
            _ => {}
        }
    }
    found.into_iter().map(RawJson::from).collect()
}

/// What takes the place of the past: the items that the client noted, else its summary.
fn replaced(payload: Value<'_>) -> Vec<Vec<u8>> {
    let history = payload.get("replacement_history").filter(|h| h.is_array());
    if let Some(history) = history {
        return history.items().map(|item| item.raw().to_vec()).collect();
    }
    let summary = text_of(payload, "message").filter(|t| !t.value.is_empty());
    let item = summary.and_then(|_| payload.get("message")).map(|summary| {
        let text = Object::new().str("type", "input_text");
        let text = text.raw("text", summary.raw()).finish();
        Object::new()
            .str("type", "message")
            .str("role", "user")
            .raw("content", &Array::new().raw(&text).finish())
            .finish()
    });
    item.into_iter().collect()
}
