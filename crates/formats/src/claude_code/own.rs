//! What a model sees in the words of the client: messages as its API takes them.

use rethread_json::{Object, Tree, Value};
use rethread_model::EntryIx;

use super::kinds::is_command;
use super::record::TranscriptRecord;
use crate::{Conversation, RawJson, RecordKind};

/// The messages in the records of an entry, as they are. Of records with one id the last counts.
pub(super) fn native_messages(conversation: &Conversation, entry: EntryIx) -> Vec<RawJson> {
    let native = &conversation.native;
    let mut found: Vec<(Option<String>, RawJson)> = Vec::new();
    let mut tree = Tree::default();
    for raw in conversation.session.origin(entry) {
        if native.record_kind(*raw) != Some(RecordKind::Value) {
            continue;
        }
        let bytes = native.read(*raw).unwrap_or_default();
        if tree.parse_into(&bytes).is_err() {
            continue;
        }
        let record = TranscriptRecord::of(tree.root(&bytes));
        let id = record.uuid.and_then(|id| Some(id.str()?.into_owned()));
        found.retain(|(known, _)| id.is_none() || *known != id);
        let messages = said(tree.root(&bytes), &record);
        found.extend(messages.into_iter().map(|m| (id.clone(), m.into())));
    }
    found.into_iter().map(|(_, message)| message).collect()
}

/// The message of a record, else what the client makes of what it attached.
fn said(value: Value<'_>, record: &TranscriptRecord<'_>) -> Vec<Vec<u8>> {
    if let Some(message) = record.message {
        return vec![message.raw().to_vec()];
    }
    let made = |role: &[u8], content: Value<'_>| {
        let message = Object::new().raw("role", role);
        message.raw("content", content.raw()).finish()
    };
    if let Some(queued) = record.attachment.and_then(|a| a.get("prompt")) {
        return vec![made(b"\"user\"", queued)];
    }
    if is_command(record) {
        let content = value.get("content").into_iter();
        return content.map(|said| made(b"\"user\"", said)).collect();
    }
    let role = value.get("renderedRole").filter(|r| r.content().is_some());
    let role = role.map_or(&b"\"user\""[..], Value::raw);
    let rendered = record.rendered.into_iter().flat_map(Value::items);
    rendered
        .filter_map(|r| Some(made(role, r.get("content")?)))
        .collect()
}
