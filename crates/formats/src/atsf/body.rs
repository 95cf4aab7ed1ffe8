//! What an entry of a thread says, decoded from its record.

use std::path::Path;

use rethread_json::Tree;
use rethread_model::{Body, EntryIx, Session};

use super::Atsf;
use super::message::message_body;
use crate::kit::decode_record;
use crate::{BodyReader, Conversation, Native, OwnWords, RawJson, RecordKind};

impl BodyReader for Atsf {
    /// What an entry says.
    fn body(&self, native: &Native, session: &Session, entry: EntryIx) -> Body {
        decode_record(native, session, entry, "message", |value, _| {
            if !session.entry(entry).kind.is_message() {
                return Body::Unknown(crate::fields::string_of(value, "type"));
            }
            let folder = native.parts.first().and_then(|p| p.path.parent());
            Body::Message(message_body(value, folder.unwrap_or(Path::new(""))))
        })
    }

    fn own_words(&self) -> Option<OwnWords> {
        Some(OwnWords::new(own_messages))
    }
}

/// The message of an entry, as it is.
fn own_messages(conversation: &Conversation, entry: EntryIx) -> Vec<RawJson> {
    let native = &conversation.native;
    let raw = conversation.session.origin(entry).first();
    let raw = raw.filter(|raw| native.record_kind(**raw) == Some(RecordKind::Value));
    let bytes = raw.and_then(|raw| native.read(*raw).ok());
    let bytes = bytes.unwrap_or_default();
    let tree = Tree::parse(&bytes).ok();
    let message = tree.map(|tree| tree.root(&bytes).raw().to_vec().into());
    message.into_iter().collect()
}
