//! What an entry says where its records cannot be decoded, and the way to those that can.

use rethread_json::{Tree, Value};
use rethread_model::{Block, Body, EntryIx, Event, Json, Kind, Level, Message, RawRef, Session};

use crate::{Native, RecordKind};

/// What is said of a record that was one when the session was read.
pub(crate) const CHANGED: &str = "the file was changed while it was read";

/// The body of an entry whose records cannot be read.
pub(crate) fn unreadable_body(why: &str) -> Body {
    Body::Event(Event {
        name: "unreadable".to_owned(),
        text: Some(why.into()),
        level: Level::Error,
        details: None,
    })
}

/// The block for a record that is too long to be held. `called` is what the format calls one.
pub(crate) fn giant_block(native: &Native, raw: RawRef, called: &str) -> Block {
    let len = native.span(raw).map_or(0, |s| s.end - s.start);
    Block::Unknown {
        type_name: format!("{called} of {len} bytes"),
        raw: Json::new(b"null"),
    }
}

/// The body of an entry whose record is too long to be held.
pub(crate) fn giant_body(native: &Native, kind: Kind, raw: RawRef, called: &str) -> Body {
    match (giant_block(native, raw, called), kind) {
        (block, Kind::Message(role)) => Body::Message(Message::new(role, vec![block])),
        (Block::Unknown { type_name, .. }, _) => Body::Unknown(Some(type_name)),
        _ => Body::Unknown(None),
    }
}

/// The body of an entry that is one record of a log.
pub(crate) fn decode_record(
    native: &Native,
    session: &Session,
    entry: EntryIx,
    called: &str,
    decode: impl FnOnce(Value<'_>, RawRef) -> Body,
) -> Body {
    let Some(raw) = session.origin(entry).first().copied() else {
        return Body::Unknown(None);
    };
    if native.record_kind(raw) == Some(RecordKind::Giant) {
        return giant_body(native, session.entry(entry).kind, raw, called);
    }
    let mut buffer = Vec::new();
    let bytes = match native.view(raw, &mut buffer) {
        Ok(bytes) => bytes,
        Err(e) => return unreadable_body(&e.to_string()),
    };
    match Tree::parse(bytes) {
        Ok(tree) => decode(tree.root(bytes), raw),
        Err(_) => unreadable_body(CHANGED),
    }
}
