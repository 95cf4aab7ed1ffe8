//! The numbers of the entries that are written, and by them where each hangs.

use rethread_model::{EntryIx, Session};

/// Entries by their numbers among those that are written, counted from 1; 0 is none.
pub(super) struct EntryNumbers<'a> {
    session: &'a Session,
    written: &'a [EntryIx],
    /// The number of each entry of the session.
    of: Vec<u32>,
}

impl<'a> EntryNumbers<'a> {
    pub(super) fn new(session: &'a Session, written: &'a [EntryIx]) -> Self {
        let mut of = vec![0; session.entries().len()];
        for (number, ix) in (1..).zip(written) {
            if let Some(slot) = of.get_mut(ix.get()) {
                *slot = number;
            }
        }
        Self {
            session,
            written,
            of,
        }
    }

    fn number_of(&self, ix: EntryIx) -> u32 {
        self.of.get(ix.get()).copied().unwrap_or(0)
    }

    /// The last entry in the tree among the first so many.
    fn last_of(&self, count: usize) -> Option<EntryIx> {
        let first = self.written.get(..count).unwrap_or_default();
        let mut last = first.iter().rev().copied();
        last.find(|ix| !self.session.entry(*ix).beside)
    }

    /// The number of the entry that the agent would go on from, where that is not the last in the
    /// tree; 0 where there is none. A part that does not hold it goes on from its own end.
    pub(super) fn leaf_number(&self) -> Option<u64> {
        let leaf = self.session.leaf();
        let number = leaf.map_or(0, |leaf| self.number_of(leaf));
        let is_elsewhere = leaf.is_some() && number == 0;
        let is_last = leaf == self.last_of(self.written.len());
        (!is_elsewhere && !is_last).then_some(number.into())
    }

    /// The number of the entry that this one hangs on, where that is not the one before it in the
    /// tree; 0 where there is none.
    pub(super) fn parent_number(&self, ix: EntryIx) -> Option<u64> {
        let entry = self.session.entry(ix);
        if entry.beside {
            return None;
        }
        let before = self.last_of((self.number_of(ix) as usize).saturating_sub(1));
        let before = before.map_or(0, |before| self.number_of(before));
        let parent = entry.parent.map_or(0, |parent| self.number_of(parent));
        (parent != before).then_some(parent.into())
    }
}
