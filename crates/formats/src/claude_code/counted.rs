//! Counting responses once each, in little room: there can be millions of them.

use hashbrown::HashTable;

use crate::kit::{SavedState, TextHasher};

/// Ids that were counted, in nine bytes each.
#[derive(Clone, Debug, Default)]
pub(super) struct CountedIds {
    hashes: HashTable<u64>,
    /// Nobody who writes a file knows it, so nobody can make two ids alike.
    hasher: TextHasher,
    last: String,
}

impl CountedIds {
    /// Whether an id was not counted before.
    pub(super) fn insert(&mut self, id: &str) -> bool {
        // The records of a response stand together.
        if !self.hashes.is_empty() && self.last == id {
            return false;
        }
        id.clone_into(&mut self.last);
        let hash = self.hasher.hash(id);
        let is_new = self.hashes.find(hash, |h| *h == hash).is_none();
        if is_new {
            self.hashes.insert_unique(hash, hash, |h| *h);
        }
        is_new
    }
}

impl SavedState for CountedIds {
    fn save(&self, out: &mut Vec<u8>) {
        let mut hashes: Vec<u64> = self.hashes.iter().copied().collect();
        hashes.sort_unstable();
        hashes.save(out);
        self.hasher.save(out);
        self.last.save(out);
    }

    fn load(bytes: &mut &[u8]) -> Option<Self> {
        let saved = <Vec<u64>>::load(bytes)?;
        let mut hashes = HashTable::with_capacity(saved.len());
        for hash in saved {
            hashes.insert_unique(hash, hash, |h| *h);
        }
        Some(Self {
            hashes,
            hasher: SavedState::load(bytes)?,
            last: SavedState::load(bytes)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_id_counts_once() {
        let mut counted = CountedIds::default();
        let is_new = ["", "a", "a", "b", "a", ""].map(|id| counted.insert(id));
        assert_eq!(is_new, [true, true, false, true, false, false]);
    }
}
