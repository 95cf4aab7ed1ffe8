//! Which messages are written, where, and below which other.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rethread_model::{EntryIx, Session};

use super::ids::id_of;

/// The messages that are written, with the nearest written ancestor of each.
///
/// A few bytes an entry; no walk recurses, and cycles of parents end.
pub(super) struct Tree {
    /// For every entry of the session: whether it is written, and what is known about it.
    slots: Vec<Slot>,
    /// The written messages in the order of writing.
    written: Vec<EntryIx>,
    /// The ids of messages that came in pieces.
    pieces: BTreeMap<EntryIx, Vec<String>>,
    /// Whether messages without an id get one.
    made_ids: bool,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    nearest: Nearest,
    /// The index of its first message, once it is written.
    index: u32,
    split: bool,
    results_only: bool,
}

/// The nearest entry that is written: the entry itself, or an ancestor.
#[derive(Clone, Copy, Default)]
enum Nearest {
    #[default]
    Unknown,
    Nobody,
    Is(EntryIx),
}

impl Tree {
    pub(super) fn new(session: &Session, chosen: impl Iterator<Item = EntryIx>) -> Self {
        let mut slots = vec![Slot::default(); session.entries().len()];
        for ix in chosen {
            slots[ix.get()].nearest = Nearest::Is(ix);
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
            if matches!(self.slots[ix.get()].nearest, Nearest::Is(own) if own == ix) {
                nameless |= session.id(ix).is_empty();
                parents.extend(self.parent(session, ix));
            }
        }
        parents.sort_unstable();
        self.made_ids = nameless && parents.windows(2).any(|pair| pair[0] == pair[1]);
    }

    /// The id of a message; empty where it has none.
    pub(super) fn id<'a>(&self, session: &'a Session, ix: EntryIx) -> Cow<'a, str> {
        id_of(session, ix, self.made_ids)
    }

    /// Notes that a message came in pieces with these ids.
    pub(super) fn note_pieces(&mut self, ix: EntryIx, ids: Vec<String>) {
        self.pieces.insert(ix, ids);
    }

    /// The ids of all messages of an entry, in order.
    pub(super) fn all_ids(&self, session: &Session, ix: EntryIx) -> Vec<String> {
        if let Some(ids) = self.pieces.get(&ix) {
            return ids.clone();
        }
        let first = self.id(session, ix).into_owned();
        if self.slots[ix.get()].split {
            let last = results_id(&first);
            return vec![first, last];
        }
        vec![first]
    }

    /// Notes that a message was written: under which index, and whether its results are a message
    /// of their own behind it.
    pub(super) fn note(&mut self, ix: EntryIx, index: u64, split: bool, results_only: bool) {
        let slot = &mut self.slots[ix.get()];
        slot.index = u32::try_from(index).unwrap_or(u32::MAX);
        slot.split = split;
        slot.results_only = results_only;
        self.written.push(ix);
    }

    /// The nearest ancestor that is written.
    pub(super) fn parent(&mut self, session: &Session, ix: EntryIx) -> Option<EntryIx> {
        let found = self.nearest(session, session.entry(ix).parent?);
        found.filter(|parent| *parent != ix)
    }

    /// The entry itself if it is written, else its nearest ancestor that is.
    pub(super) fn nearest(&mut self, session: &Session, from: EntryIx) -> Option<EntryIx> {
        let mut walked = Vec::new();
        let mut at = Some(from);
        let mut found = Nearest::Nobody;
        while let Some(ix) = at {
            let slot = &mut self.slots[ix.get()];
            if !matches!(slot.nearest, Nearest::Unknown) {
                found = slot.nearest;
                break;
            }
            // Who comes here again in this walk goes in a circle, and finds nobody.
            slot.nearest = Nearest::Nobody;
            walked.push(ix);
            at = session.entry(ix).parent;
        }
        for ix in walked {
            self.slots[ix.get()].nearest = found;
        }
        match found {
            Nearest::Is(ix) => Some(ix),
            Nearest::Nobody | Nearest::Unknown => None,
        }
    }

    pub(super) fn written(&self) -> &[EntryIx] {
        &self.written
    }

    pub(super) fn results_only(&self, ix: EntryIx) -> bool {
        self.slots[ix.get()].results_only
    }

    /// The first message of an entry: its id and index.
    pub(super) fn first(&self, session: &Session, ix: EntryIx) -> (String, u32) {
        let index = self.slots[ix.get()].index;
        match self.pieces.get(&ix).and_then(|ids| ids.first()) {
            Some(id) => (id.clone(), index),
            None => (self.id(session, ix).into_owned(), index),
        }
    }

    /// The last message of an entry, which what follows hangs on: its id and index.
    pub(super) fn last(&self, session: &Session, ix: EntryIx) -> (String, u32) {
        let slot = self.slots[ix.get()];
        if let Some(ids) = self.pieces.get(&ix) {
            let more = u32::try_from(ids.len().saturating_sub(1)).unwrap_or(u32::MAX);
            let id = ids.last().cloned().unwrap_or_default();
            return (id, slot.index.saturating_add(more));
        }
        let id = self.id(session, ix);
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
