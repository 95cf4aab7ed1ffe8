//! Which messages are written, where, and below which other.

use rethread_model::{EntryIx, Session};

/// The messages that are written, with the nearest written ancestor of each.
///
/// A few bytes an entry; no walk recurses, and cycles of parents end.
pub(super) struct Tree {
    /// For every entry of the session: whether it is written, and what is known about it.
    slots: Vec<Slot>,
    /// The written messages in the order of writing.
    written: Vec<EntryIx>,
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
        }
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
        (session.id(ix).to_owned(), self.slots[ix.get()].index)
    }

    /// The last message of an entry, which what follows hangs on: its id and index.
    pub(super) fn last(&self, session: &Session, ix: EntryIx) -> (String, u32) {
        let slot = self.slots[ix.get()];
        let id = session.id(ix);
        if slot.split {
            (results_id(id), slot.index.saturating_add(1))
        } else {
            (id.to_owned(), slot.index)
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
