//! What a model sees in the words of the client: messages with their parts, as its API and its
//! exports have them.

use rethread_json::{Array, Object, Passed, Skim};
use rethread_model::{EntryIx, ModelRef};

use super::said::split;
use crate::{Conversation, OwnWords, PartKind, RawJson};

/// The client's words.
pub(super) const WORDS: OwnWords = OwnWords { messages, model };

fn model(model: &ModelRef) -> Vec<u8> {
    let provider = model.provider.as_deref();
    Object::new()
        .opt_str("providerID", provider)
        .str("modelID", &model.id)
        .finish()
}

/// The messages in the records of an entry: a compaction has that which asked for it, and its
/// summary.
fn messages(conversation: &Conversation, entry: EntryIx) -> Vec<RawJson> {
    let native = &conversation.native;
    let mut all: Vec<OwnParts> = Vec::new();
    for raw in conversation.session.origin(entry) {
        let bytes = native.read(*raw).unwrap_or_default();
        let Ok(root) = Skim::checking(&bytes).pass() else {
            continue;
        };
        let is_row = matches!(native.part_kind(*raw), Some(PartKind::Rows { .. }));
        let Ok(inside) = split(&mut Skim::trusting(&bytes), is_row) else {
            continue;
        };
        let row = is_row.then_some(root);
        if let Some(info) = inside.info {
            all.push(OwnParts {
                info: spelled_row(info.value(), row),
                parts: Array::new(),
            });
        }
        for part in inside.parts {
            if let Some(message) = all.last_mut() {
                let parts = std::mem::take(&mut message.parts);
                message.parts = parts.raw(&spelled_row(part.value(), row));
            }
        }
    }
    all.into_iter()
        .map(|message| message.finish().into())
        .collect()
}

struct OwnParts {
    info: Vec<u8>,
    parts: Array,
}

impl OwnParts {
    fn finish(self) -> Vec<u8> {
        let message = Object::new().raw("info", &self.info);
        message.raw("parts", &self.parts.finish()).finish()
    }
}

/// A message or a part; of a row with the ids that the database has in columns of their own.
pub(super) fn spelled_row(value: Passed<'_>, row: Option<Passed<'_>>) -> Vec<u8> {
    const COLUMNS: [(&str, &str); 3] = [
        ("id", "id"),
        ("session_id", "sessionID"),
        ("message_id", "messageID"),
    ];
    let Some(row) = row else {
        return value.raw().to_vec();
    };
    let mut object = Object::new();
    for (key, member) in value.members() {
        let key = key.text();
        if COLUMNS.iter().all(|(_, c)| *c != key) {
            object = object.raw(&key, member.raw());
        }
    }
    for (column, key) in COLUMNS {
        object = object.opt_raw(key, row.get(column).map(Passed::raw));
    }
    object.finish()
}
