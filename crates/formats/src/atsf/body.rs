//! What an entry of a thread says, decoded from its record.

use std::path::Path;

use rethread_json::Tree;
use rethread_model::{Block, Body, EntryIx, Event, Json, Kind, Level, Message, RawRef, Session};

use super::Atsf;
use super::message::body as message_body;
use crate::{BodyReader, Conversation, Native, OwnWords, RawJson, RecordKind};

impl BodyReader for Atsf {
    /// What an entry says.
    fn body(&self, native: &Native, session: &Session, entry: EntryIx) -> Body {
        let Some(raw) = session.origin(entry).first().copied() else {
            return Body::Unknown(None);
        };
        if native.record_kind(raw) == Some(RecordKind::Giant) {
            return giant_body(native, session, entry, raw);
        }
        let bytes = match native.read(raw) {
            Ok(bytes) => bytes,
            Err(e) => return unreadable_event(&e.to_string()),
        };
        // What follows the value in its record is the line break.
        let mut tree = Tree::default();
        if tree.parse_into(&bytes).is_err() {
            return unreadable_event("the log was changed while it was read");
        }
        let value = tree.root(&bytes);
        if !session.entry(entry).kind.is_message() {
            return Body::Unknown(super::message::string(value, "type"));
        }
        let folder = native
            .parts
            .first()
            .and_then(|p| p.path.parent())
            .unwrap_or(Path::new(""));
        Body::Message(message_body(value, folder))
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

fn giant_body(native: &Native, session: &Session, entry: EntryIx, raw: RawRef) -> Body {
    let len = native.span(raw).map_or(0, |s| s.end - s.start);
    let Kind::Message(role) = session.entry(entry).kind else {
        return Body::Unknown(None);
    };
    let type_name = format!("message of {len} bytes");
    Body::Message(Message::new(
        role,
        vec![Block::Unknown {
            type_name,
            raw: Json::new(b"null"),
        }],
    ))
}

fn unreadable_event(why: &str) -> Body {
    Body::Event(Event {
        name: "unreadable".to_owned(),
        text: Some(why.into()),
        level: Level::Error,
        details: None,
    })
}
