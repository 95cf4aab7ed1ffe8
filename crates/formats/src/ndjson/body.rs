//! What an entry says, decoded from the objects that it came from.

use rethread_json::{Tree, Value};
use rethread_model::{Body, EntryIx, Event, Json, Kind, Level, Message, RawRef, Session};

use super::entry::entry_body;
use super::fields::extensions;
use super::message::message;
use super::read::between;
use crate::{Native, RecordKind};

/// What an entry says.
pub(super) fn body(native: &Native, session: &Session, entry: EntryIx) -> Body {
    let origin = session.origin(entry);
    let mut objects = Vec::new();
    for raw in origin {
        if native.record_kind(*raw) == Some(RecordKind::Giant) {
            return giant(native, session, entry, *raw);
        }
        let bytes = match native.read(*raw) {
            Ok(bytes) => bytes,
            Err(e) => return unreadable(&e.to_string()),
        };
        let start = between(&bytes);
        match Tree::parse(bytes.get(start..).unwrap_or_default()) {
            Ok(tree) => objects.push((*raw, bytes, start, tree)),
            // The entries of a session without messages stand at the beginning of its line.
            Err(_) => return beginning(&bytes, session, entry, *raw),
        }
    }
    let values: Vec<(RawRef, usize, Value<'_>)> = objects
        .iter()
        .map(|(raw, bytes, start, tree)| (*raw, *start, tree.root(&bytes[*start..])))
        .collect();
    let Some((raw, _, value)) = values.first() else {
        return Body::Unknown(None);
    };
    if session.entry(entry).kind.is_message() {
        return Body::Message(message(&values));
    }
    let Some(more) = extensions(*value) else {
        return unreadable("the file was changed while it was read");
    };
    let before = more.get("preceded_by").map(Value::items);
    let after = more.get("followed_by").map(Value::items);
    let before: Vec<Value<'_>> = before.into_iter().flatten().collect();
    let nth = place_in_record(session, entry, *raw);
    let found = match nth.checked_sub(before.len()) {
        None => before.get(nth).copied(),
        Some(behind) => after.into_iter().flatten().nth(behind.saturating_sub(1)),
    };
    found.map_or_else(
        || unreadable("the file was changed while it was read"),
        entry_body,
    )
}

/// How many entries before this one came from the same record.
fn place_in_record(session: &Session, entry: EntryIx, raw: RawRef) -> usize {
    let before = (0..entry.get()).rev().map_while(EntryIx::new);
    before
        .take_while(|ix| session.origin(*ix).contains(&raw))
        .count()
}

/// An entry in the session object of a session without messages.
fn beginning(bytes: &[u8], session: &Session, entry: EntryIx, raw: RawRef) -> Body {
    let mut tree = Tree::default();
    let nth = place_in_record(session, entry, raw);
    let found = session_object(bytes, &mut tree).and_then(|object| {
        let entries = object.at(&["extensions", "entries"])?;
        entries.items().nth(nth)
    });
    found.map_or_else(
        || unreadable("the file was changed while it was read"),
        entry_body,
    )
}

/// The session object in the beginning of a line, which ends where the messages begin.
pub(super) fn session_object<'a>(bytes: &'a [u8], tree: &'a mut Tree) -> Option<Value<'a>> {
    let at = memchr::memmem::find(bytes, b"\"session\":{")? + b"\"session\":".len();
    tree.parse_prefix(bytes, at).ok()?;
    Some(tree.root(bytes))
}

fn giant(native: &Native, session: &Session, entry: EntryIx, raw: RawRef) -> Body {
    let len = native.span(raw).map_or(0, |s| s.end - s.start);
    let type_name = format!("message of {len} bytes");
    let Kind::Message(role) = session.entry(entry).kind else {
        return Body::Unknown(Some(type_name));
    };
    let block = rethread_model::Block::Unknown {
        type_name,
        raw: Json::new(b"null"),
    };
    Body::Message(Message::new(role, vec![block]))
}

pub(super) fn unreadable(why: &str) -> Body {
    Body::Event(Event {
        name: "unreadable".to_owned(),
        text: Some(why.into()),
        level: Level::Error,
        details: None,
    })
}
