//! What an entry says, decoded from the objects that it came from.

use std::io;

use rethread_json::{Tree, Value};
use rethread_model::{Body, EntryIx, RawRef, Session};

use super::Ndjson;
use super::entry::entry_body;
use super::fields::message_extensions;
use super::message::read_message;
use super::pieces::NOTHING;
use crate::kit::{CHANGED, giant_body, unreadable_body};
use crate::outline::gap_before;
use crate::{BodyReader, Native, RecordKind};

impl BodyReader for Ndjson {
    /// What an entry says.
    fn body(&self, native: &Native, session: &Session, entry: EntryIx) -> Body {
        let origin = session.origin(entry);
        let mut objects = Vec::new();
        for raw in origin {
            if native.record_kind(*raw) == Some(RecordKind::Giant) {
                return giant_body(native, session.entry(entry).kind, *raw, "message");
            }
            let (bytes, place) = match without_original(native, *raw) {
                Ok(found) => found,
                Err(e) => return unreadable_body(&e.to_string()),
            };
            match Tree::parse(bytes.get(place.start..).unwrap_or_default()) {
                Ok(tree) => objects.push((place, bytes, tree)),
                // The entries of a session without messages stand at the beginning of its line.
                Err(_) => return session_object_body(&bytes, session, entry, *raw),
            }
        }
        let values: Vec<PlacedObject<'_>> = objects
            .iter()
            .map(|(place, bytes, tree)| PlacedObject {
                place: *place,
                value: tree.root(&bytes[place.start..]),
            })
            .collect();
        let Some(PlacedObject { place, value }) = values.first() else {
            return Body::Unknown(None);
        };
        if session.entry(entry).kind.is_message() {
            return Body::Message(read_message(&values));
        }
        let Some(more) = message_extensions(*value) else {
            return unreadable_body(CHANGED);
        };
        let before = more.get("preceded_by").map(Value::items);
        let after = more.get("followed_by").map(Value::items);
        let before: Vec<Value<'_>> = before.into_iter().flatten().collect();
        let nth = place_in_record(session, entry, place.record);
        let found = match nth.checked_sub(before.len()) {
            None => before.get(nth).copied(),
            Some(behind) => after.into_iter().flatten().nth(behind.saturating_sub(1)),
        };
        found.map_or_else(|| unreadable_body(CHANGED), entry_body)
    }
}

/// Where an object stands: its record, and the byte in it at which the object begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct ObjectPlace {
    pub(super) record: RawRef,
    pub(super) start: usize,
    /// Where an original was taken out of it: the byte, and the record that goes on behind it.
    cut: Option<(usize, RawRef)>,
}

/// An object, and where it stands.
#[derive(Clone, Copy)]
pub(super) struct PlacedObject<'a> {
    pub(super) place: ObjectPlace,
    pub(super) value: Value<'a>,
}

impl ObjectPlace {
    /// The record, and the byte in it, at which a byte of the object is.
    pub(super) fn byte_at(&self, at: usize) -> (RawRef, u64) {
        let at = self.start + at;
        match self.cut {
            Some((cut, rest)) if at >= cut + NOTHING.len() => {
                (rest, (at - cut - NOTHING.len()) as u64)
            }
            _ => (self.record, at as u64),
        }
    }
}

/// A record without the original in it, which comes in three records.
pub(super) fn without_original(native: &Native, raw: RawRef) -> io::Result<(Vec<u8>, ObjectPlace)> {
    let mut bytes = native.read(raw)?;
    let next = |n: u32| RawRef {
        record: raw.record.saturating_add(n),
        ..raw
    };
    let mut place = ObjectPlace {
        record: raw,
        start: gap_before(&bytes),
        cut: None,
    };
    if native.record_kind(next(1)) == Some(RecordKind::Carried) {
        place.cut = Some((bytes.len(), next(2)));
        bytes.extend_from_slice(NOTHING);
        bytes.extend(native.read(next(2))?);
    }
    Ok((bytes, place))
}

/// How many entries before this one came from the same record.
fn place_in_record(session: &Session, entry: EntryIx, raw: RawRef) -> usize {
    let before = (0..entry.get()).rev().map_while(EntryIx::new);
    before
        .take_while(|ix| session.origin(*ix).contains(&raw))
        .count()
}

/// An entry in the session object of a session without messages.
fn session_object_body(bytes: &[u8], session: &Session, entry: EntryIx, raw: RawRef) -> Body {
    let mut tree = Tree::default();
    let nth = place_in_record(session, entry, raw);
    let found = session_object(bytes, &mut tree).and_then(|object| {
        let entries = object.at(&["extensions", "entries"])?;
        entries.items().nth(nth)
    });
    found.map_or_else(|| unreadable_body(CHANGED), entry_body)
}

/// The session object in the beginning of a line, which ends where the messages begin.
pub(super) fn session_object<'a>(bytes: &'a [u8], tree: &'a mut Tree) -> Option<Value<'a>> {
    let at = memchr::memmem::find(bytes, b"\"session\":{")? + b"\"session\":".len();
    tree.parse_prefix(bytes, at).ok()?;
    Some(tree.root(bytes))
}
