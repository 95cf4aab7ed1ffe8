//! Counting responses once each, in little room: there can be millions of them.

use std::hash::{BuildHasher as _, RandomState};

use hashbrown::HashTable;

/// Ids that were counted, in nine bytes each.
#[derive(Clone, Debug, Default)]
pub(super) struct Counted {
    hashes: HashTable<u64>,
    /// Nobody who writes a file knows it, so nobody can make two ids alike.
    hasher: RandomState,
    last: String,
}

impl Counted {
    /// Whether an id was not counted before.
    pub(super) fn insert(&mut self, id: &str) -> bool {
        // The records of a response stand together.
        if !self.hashes.is_empty() && self.last == id {
            return false;
        }
        id.clone_into(&mut self.last);
        let hash = self.hasher.hash_one(id);
        let is_new = self.hashes.find(hash, |h| *h == hash).is_none();
        if is_new {
            self.hashes.insert_unique(hash, hash, |h| *h);
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_id_counts_once() {
        let mut counted = Counted::default();
        let is_new = ["", "a", "a", "b", "a", ""].map(|id| counted.insert(id));
        assert_eq!(is_new, [true, true, false, true, false, false]);
    }
}
