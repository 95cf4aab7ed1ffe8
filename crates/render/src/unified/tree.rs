//! Which messages are written, where, and below which other.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rethread_model::{EntryIx, Piece, Session};

use super::ids::id_of;

/// The messages that are written, with the nearest written ancestor of each.
///
/// A few bytes an entry; no walk recurses, and cycles of parents end.
pub(super) struct MessageTree {
    /// For every entry of the session: whether it is written, and what is known about it.
    slots: Vec<MessageSlot>,
    /// The written messages in the order of writing.
    written: Vec<EntryIx>,
    /// What messages are called that came in pieces.
    pieces: BTreeMap<EntryIx, MessagePieces>,
    /// Whether messages without an id get one.
    made_ids: bool,
}

#[derive(Clone, Copy, Default)]
struct MessageSlot {
    nearest: NearestWritten,
    /// The index of its first message, once it is written.
    index: u32,
    split: bool,
    results_only: bool,
}

/// What a message is called that came in pieces.
struct MessagePieces {
    ids: Vec<String>,
    /// Which of the entry's records the first of them is.
    first_record: usize,
}

/// The nearest entry that is written: the entry itself, or an ancestor.
#[derive(Clone, Copy, Default)]
enum NearestWritten {
    #[default]
    Unknown,
    Nobody,
    Is(EntryIx),
}

impl MessageTree {
    pub(super) fn new(session: &Session, chosen: impl Iterator<Item = EntryIx>) -> Self {
        let mut slots = vec![MessageSlot::default(); session.entries().len()];
        for ix in chosen {
            slots[ix.get()].nearest = NearestWritten::Is(ix);
        }
        Self {
            slots,
            written: Vec::new(),
            pieces: BTreeMap::new(),
            made_ids: false,
        }
    }

    /// Gives messages without an id one if the tree forks: the graph can name them only so.
    pub(super) fn make_ids(&mut self, session: &Session) {
        let mut parents = Vec::new();
        let mut nameless = false;
        for (ix, _) in session.indexed() {
            if matches!(self.slots[ix.get()].nearest, NearestWritten::Is(own) if own == ix) {
                nameless |= session.id(ix).is_empty();
                parents.extend(self.written_parent(session, ix));
            }
        }
        parents.sort_unstable();
        self.made_ids = nameless && parents.windows(2).any(|pair| pair[0] == pair[1]);
    }

    /// The id of a message; empty where it has none.
    pub(super) fn message_id<'a>(&self, session: &'a Session, ix: EntryIx) -> Cow<'a, str> {
        id_of(session, ix, self.made_ids)
    }

    /// Notes which pieces a message came in.
    pub(super) fn note_pieces(&mut self, ix: EntryIx, pieces: Vec<Piece>) {
        let first_record = pieces.first().map_or(0, |piece| piece.record);
        let ids = pieces.into_iter().map(|piece| piece.id).collect();
        self.pieces.insert(ix, MessagePieces { ids, first_record });
    }

    /// The ids of all messages of an entry, in order.
    pub(super) fn all_ids(&self, session: &Session, ix: EntryIx) -> Vec<String> {
        if let Some(pieces) = self.pieces.get(&ix) {
            return pieces.ids.clone();
        }
        let first = self.message_id(session, ix).into_owned();
        if self.slots[ix.get()].split {
            let last = results_id(&first);
            return vec![first, last];
        }
        vec![first]
    }

    /// Notes that a message was written: under which index, and whether its results are a message
    /// of their own behind it.
    pub(super) fn note_written(
        &mut self,
        ix: EntryIx,
        index: u64,
        split: bool,
        results_only: bool,
    ) {
        let slot = &mut self.slots[ix.get()];
        slot.index = u32::try_from(index).unwrap_or(u32::MAX);
        slot.split = split;
        slot.results_only = results_only;
        self.written.push(ix);
    }

    /// The nearest ancestor that is written.
    pub(super) fn written_parent(&mut self, session: &Session, ix: EntryIx) -> Option<EntryIx> {
        let found = self.nearest_written(session, session.entry(ix).parent?);
        found.filter(|parent| *parent != ix)
    }

    /// What a record of an entry names as its parent, if that is written and not what stands before
    /// it in the tree.
    pub(super) fn named_parent<'s>(
        &self,
        session: &'s Session,
        (ix, record): (EntryIx, usize),
    ) -> Option<(EntryIx, &'s str)> {
        let (parent, id) = session.source_parent(ix, record)?;
        let is_written = |at: EntryIx| {
            let nearest = self.slots.get(at.get()).map(|slot| slot.nearest);
            matches!(nearest, Some(NearestWritten::Is(own)) if own == at)
        };
        (is_written(parent) && !id.is_empty()).then_some((parent, id))
    }

    /// The message that an entry hangs on: its id and index. Where its own record names another one
    /// than the tree, that one.
    pub(super) fn message_above(
        &mut self,
        session: &Session,
        ix: EntryIx,
    ) -> Option<(String, u32)> {
        let parent = self.written_parent(session, ix)?;
        let record = self.first_record(ix);
        let named = self.named_parent(session, (ix, record));
        let named =
            named.and_then(|(parent, id)| Some((id.to_owned(), self.index_of(parent, id)?)));
        Some(named.unwrap_or_else(|| self.last_message(session, parent)))
    }

    /// The index of a message that an entry was written as, by its id.
    fn index_of(&self, ix: EntryIx, id: &str) -> Option<u32> {
        let place = match self.pieces.get(&ix) {
            Some(pieces) => pieces.ids.iter().position(|own| own == id)?,
            None => 0,
        };
        let index = self.slots.get(ix.get())?.index;
        index.checked_add(u32::try_from(place).ok()?)
    }

    fn first_record(&self, ix: EntryIx) -> usize {
        self.pieces.get(&ix).map_or(0, |pieces| pieces.first_record)
    }

    /// The entry itself if it is written, else its nearest ancestor that is.
    pub(super) fn nearest_written(&mut self, session: &Session, from: EntryIx) -> Option<EntryIx> {
        let mut walked = Vec::new();
        let mut at = Some(from);
        let mut found = NearestWritten::Nobody;
        while let Some(ix) = at {
            let slot = &mut self.slots[ix.get()];
            if !matches!(slot.nearest, NearestWritten::Unknown) {
                found = slot.nearest;
                break;
            }
            // Who comes here again in this walk goes in a circle, and finds nobody.
            slot.nearest = NearestWritten::Nobody;
            walked.push(ix);
            at = session.entry(ix).parent;
        }
        for ix in walked {
            self.slots[ix.get()].nearest = found;
        }
        match found {
            NearestWritten::Is(ix) => Some(ix),
            NearestWritten::Nobody | NearestWritten::Unknown => None,
        }
    }

    pub(super) fn written_entries(&self) -> &[EntryIx] {
        &self.written
    }

    pub(super) fn results_only(&self, ix: EntryIx) -> bool {
        self.slots[ix.get()].results_only
    }

    /// The first message of an entry: its id and index.
    pub(super) fn first_message(&self, session: &Session, ix: EntryIx) -> (String, u32) {
        let index = self.slots[ix.get()].index;
        match self.pieces.get(&ix).and_then(|p| p.ids.first()) {
            Some(id) => (id.clone(), index),
            None => (self.message_id(session, ix).into_owned(), index),
        }
    }

    /// The last message of an entry, which what follows hangs on: its id and index.
    pub(super) fn last_message(&self, session: &Session, ix: EntryIx) -> (String, u32) {
        let slot = self.slots[ix.get()];
        if let Some(MessagePieces { ids, .. }) = self.pieces.get(&ix) {
            let more = u32::try_from(ids.len().saturating_sub(1)).unwrap_or(u32::MAX);
            let id = ids.last().cloned().unwrap_or_default();
            return (id, slot.index.saturating_add(more));
        }
        let id = self.message_id(session, ix);
        if slot.split {
            (results_id(&id), slot.index.saturating_add(1))
        } else {
            (id.into_owned(), slot.index)
        }
    }
}

/// The id of the message with the results of another; empty where that has none.
pub(super) fn results_id(id: &str) -> String {
    if id.is_empty() {
        String::new()
    } else {
        format!("{id}-results")
    }
}
