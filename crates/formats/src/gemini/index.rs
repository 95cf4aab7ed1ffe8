//! Messages by their ids, which are kept with the messages alone.

use std::hash::{BuildHasher as _, RandomState};

use hashbrown::HashTable;

use super::replay::Draft;

/// The last message with each id.
#[derive(Debug, Default)]
pub(super) struct Index {
    places: HashTable<usize>,
    hasher: RandomState,
}

impl Index {
    /// The place of the last message with this id.
    pub(super) fn get(&self, id: &str, drafts: &[Draft]) -> Option<usize> {
        let is_it = |at: &usize| id_of(drafts, *at) == id;
        let place = self.places.find(self.hasher.hash_one(id), is_it);
        place.copied()
    }

    /// Notes that the message at this place is the last one with its id.
    pub(super) fn set(&mut self, at: usize, drafts: &[Draft]) {
        let Self { places, hasher } = self;
        let id = id_of(drafts, at);
        let hash = hasher.hash_one(id);
        if let Some(known) = places.find_mut(hash, |at| id_of(drafts, *at) == id) {
            *known = at;
        } else {
            let hash_of = |at: &usize| hasher.hash_one(id_of(drafts, *at));
            places.insert_unique(hash, at, hash_of);
        }
    }
}

fn id_of(drafts: &[Draft], at: usize) -> &str {
    drafts.get(at).map_or("", |draft| draft.head.id.as_str())
}
