//! A new session with what was said up to some entry.

use std::collections::HashSet;
use std::io;
use std::io::Write;
use std::ops::Range;

use rethread_json::{Tree, Value, quote};
use rethread_model::{EntryIx, RawRef};
use sha2::{Digest as _, Sha256};

use super::append::last_id;
use crate::error::unreadable_file;
use crate::fields::string_of;
use crate::{Conversation, WriteError};

/// The records of a way, which are read again when they are written.
pub(super) struct Copied<'a> {
    conversation: &'a Conversation,
    /// In the order of the file, each with the entry that stands before its own on the way.
    records: Vec<(RawRef, Option<EntryIx>)>,
    /// The ids of all of them.
    ids: HashSet<u128>,
}

impl<'a> Copied<'a> {
    pub(super) fn of(conversation: &'a Conversation, way: &[EntryIx]) -> Result<Self, WriteError> {
        let session = &conversation.session;
        let mut records = Vec::with_capacity(way.len());
        for ix in way {
            let before = session.entry(*ix).parent;
            records.extend(session.origin(*ix).iter().map(|raw| (*raw, before)));
        }
        records.sort_by_key(|(raw, _)| *raw);
        let mut copied = Self {
            conversation,
            records,
            ids: HashSet::new(),
        };
        let mut ids = HashSet::with_capacity(copied.records.len());
        let read = copied.each(|record, _| {
            let root = record.tree.root(&record.bytes);
            ids.extend(string_of(root, "uuid").map(|id| key(&id)));
            Ok(())
        });
        read.map_err(|e| unreadable_file(&conversation.source.path, e))?;
        copied.ids = ids;
        Ok(copied)
    }

    /// Hands over each record, with the entry that stands before its own.
    fn each(
        &self,
        mut each: impl FnMut(&CopiedRecord, Option<EntryIx>) -> io::Result<()>,
    ) -> io::Result<()> {
        for (raw, before) in &self.records {
            let bytes = self.conversation.native.read(*raw)?;
            // What is no JSON is copied as it is.
            let tree = Tree::parse(&bytes).unwrap_or_default();
            each(&CopiedRecord { bytes, tree }, *before)?;
        }
        Ok(())
    }

    /// Writes them as records of another session. What hung from a record that is not among them
    /// hangs from what stands before it.
    pub(super) fn write(&self, session: &str, out: &mut dyn Write) -> io::Result<()> {
        self.each(|record, before| {
            let root = record.tree.root(&record.bytes);
            let parent = root.get("parentUuid");
            let is_gone = |id: &str| !self.ids.contains(&key(id));
            let lost = parent.filter(|p| p.str().is_some_and(|id| is_gone(&id)));
            let above = before.filter(|_| lost.is_some());
            let above = above.and_then(|ix| last_id(self.conversation, ix));
            let mut changes = Vec::new();
            if let (Some(lost), Some(above)) = (lost, above) {
                changes.push((lost.span(), quote(&above)));
            }
            changes.extend(owned(root, session));
            record.write(changes, out)
        })
    }
}

/// A record that is copied.
struct CopiedRecord {
    bytes: Vec<u8>,
    tree: Tree,
}

/// Places in a record, and what is to stand there.
type RecordChanges = Vec<(Range<usize>, Vec<u8>)>;

impl CopiedRecord {
    /// Writes the record with other values in places. The longest records are as long as memory
    /// allows, so there is no copy of it.
    fn write(&self, mut changes: RecordChanges, out: &mut dyn Write) -> io::Result<()> {
        changes.sort_by_key(|(place, _)| place.start);
        let bytes = self.bytes.trim_ascii_end();
        let mut at = 0;
        for (place, json) in &changes {
            out.write_all(bytes.get(at..place.start).unwrap_or_default())?;
            out.write_all(json)?;
            at = place.end;
        }
        out.write_all(bytes.get(at..).unwrap_or_default())?;
        out.write_all(b"\n")
    }
}

/// What makes a record one of a session; nothing, where it is no object.
fn owned(root: Value<'_>, session: &str) -> Option<(Range<usize>, Vec<u8>)> {
    if !root.is_object() {
        return None;
    }
    if let Some(own) = root.get("sessionId") {
        return Some((own.span(), quote(session)));
    }
    let last = root.members().last().map(|(_, value)| value.span().end);
    let at = last.unwrap_or(root.span().start + 1);
    let comma: &[u8] = if last.is_some() { b"," } else { b"" };
    let member = [comma, b"\"sessionId\":", &quote(session)].concat();
    Some((at..at, member))
}

/// An id in a few bytes: those of a UUID, as which nearly all are written, else of its digest.
fn key(id: &str) -> u128 {
    match uuid::Uuid::try_parse(id) {
        Ok(uuid) if id.len() == 36 => uuid.as_u128(),
        _ => {
            let digest = Sha256::digest(id.as_bytes());
            let mut bytes = [0; 16];
            bytes.copy_from_slice(&digest[..16]);
            u128::from_be_bytes(bytes)
        }
    }
}
