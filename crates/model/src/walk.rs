//! Walks over the tree of a session. None recurses, and none trusts the links: parents may be
//! missing, and they may form cycles.

use crate::{EntryIx, Session};

impl Session {
    /// The entries from the root to `leaf`, inclusive. A cycle of parents ends the walk.
    ///
    /// ```
    /// use rethread_model::{EntryIx, NewEntry, Role, SessionBuilder};
    /// let mut b = SessionBuilder::default();
    /// let first = b.add(&NewEntry::message("a", Role::User, &[]));
    /// let second = b.add(&NewEntry { parent: first, ..NewEntry::message("b", Role::Assistant, &[]) });
    /// let session = b.finish();
    /// let ids: Vec<&str> = session.path(second.unwrap()).into_iter().map(|ix| session.id(ix)).collect();
    /// assert_eq!(ids, ["a", "b"]);
    /// ```
    pub fn path(&self, leaf: EntryIx) -> Vec<EntryIx> {
        let mut path = Vec::new();
        let mut at = Some(leaf);
        // No path is longer than the session; a longer one goes in a circle.
        while let Some(ix) = at {
            if path.len() == self.entries.len() {
                break;
            }
            path.push(ix);
            at = self.entry(ix).parent;
        }
        if at.is_some() {
            path = self.cut_circle(&path);
        }
        path.reverse();
        path
    }

    /// The path to the active leaf: the conversation that the agent would resume.
    pub fn active_path(&self) -> Vec<EntryIx> {
        self.leaf().map(|leaf| self.path(leaf)).unwrap_or_default()
    }

    /// Keeps the part of a circular walk before its first repetition.
    fn cut_circle(&self, path: &[EntryIx]) -> Vec<EntryIx> {
        let mut seen = vec![false; self.entries.len()];
        path.iter()
            .copied()
            .take_while(|ix| !std::mem::replace(&mut seen[ix.get()], true))
            .collect()
    }

    /// The children of every entry, in the order of the source, in one table.
    pub fn children(&self) -> Children {
        let mut starts = vec![0_u32; self.entries.len() + 1];
        for entry in &self.entries {
            if let Some(parent) = entry.parent {
                starts[parent.get() + 1] += 1;
            }
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts.clone();
        let total = starts.last().copied().unwrap_or(0) as usize;
        let mut list = vec![None; total];
        for (ix, entry) in self.indexed() {
            if let Some(parent) = entry.parent {
                let slot = &mut next[parent.get()];
                list[*slot as usize] = Some(ix);
                *slot += 1;
            }
        }
        Children {
            starts,
            list: list.into_iter().flatten().collect(),
        }
    }

    /// The entries without a parent, in the order of the source.
    pub fn roots(&self) -> impl Iterator<Item = EntryIx> {
        self.indexed()
            .filter(|(_, e)| e.parent.is_none() && !e.beside)
            .map(|(ix, _)| ix)
    }
}

/// The children of every entry of a session.
#[derive(Debug)]
pub struct Children {
    starts: Vec<u32>,
    list: Vec<EntryIx>,
}

impl Children {
    /// The children of one entry.
    pub fn of(&self, ix: EntryIx) -> &[EntryIx] {
        let range = self.starts.get(ix.get()).zip(self.starts.get(ix.get() + 1));
        range
            .and_then(|(a, b)| self.list.get(*a as usize..*b as usize))
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::{EntryIx, NewEntry, Role, Session, SessionBuilder};

    fn session(parents: &[Option<usize>]) -> Session {
        let mut b = SessionBuilder::default();
        for i in 0..parents.len() {
            b.add(&NewEntry::message(&i.to_string(), Role::User, &[]));
        }
        for (i, parent) in parents.iter().enumerate() {
            let parent = parent.filter(|p| *p < parents.len()).and_then(EntryIx::new);
            b.entry(EntryIx::new(i).unwrap()).parent = parent;
        }
        b.finish()
    }

    fn ids(s: &Session, path: &[EntryIx]) -> Vec<String> {
        path.iter().map(|ix| s.id(*ix).to_owned()).collect()
    }

    #[test]
    fn a_circle_of_parents_ends() {
        let s = session(&[Some(2), Some(0), Some(1), Some(2)]);
        let path = s.path(EntryIx::new(3).unwrap());
        assert_eq!(ids(&s, &path), ["0", "1", "2", "3"]);
        let own = session(&[Some(0)]);
        assert_eq!(own.path(EntryIx::new(0).unwrap()).len(), 1);
    }

    #[test]
    fn a_million_entries_in_a_row() {
        let parents: Vec<Option<usize>> = (0..1_000_000_usize).map(|i| i.checked_sub(1)).collect();
        let s = session(&parents);
        assert_eq!(s.active_path().len(), 1_000_000);
        assert_eq!(s.roots().count(), 1);
    }

    #[test]
    fn branches_have_their_children_in_order() {
        let s = session(&[None, Some(0), Some(0), Some(1), None]);
        let children = s.children();
        assert_eq!(ids(&s, children.of(EntryIx::new(0).unwrap())), ["1", "2"]);
        assert_eq!(
            ids(&s, children.of(EntryIx::new(4).unwrap())),
            Vec::<String>::new()
        );
        assert_eq!(ids(&s, &s.roots().collect::<Vec<_>>()), ["0", "4"]);
    }

    proptest! {
        #[test]
        fn every_walk_ends_and_visits_nothing_twice(
            parents in proptest::collection::vec(proptest::option::of(0_usize..40), 1..40)
        ) {
            let s = session(&parents);
            let children = s.children();
            for (ix, entry) in s.indexed() {
                let path = s.path(ix);
                let mut unique = path.clone();
                unique.sort_unstable();
                unique.dedup();
                prop_assert_eq!(unique.len(), path.len());
                prop_assert_eq!(path.last().copied(), Some(ix));
                if let Some(parent) = entry.parent {
                    prop_assert!(children.of(parent).contains(&ix));
                }
            }
        }
    }
}
