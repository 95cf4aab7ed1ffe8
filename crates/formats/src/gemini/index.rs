//! Messages by their ids, which are kept with the messages alone.

use std::hash::{BuildHasher as _, RandomState};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::replay::Draft;

/// The last message with each id.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// The places of messages, beside what their ids are hashed to.
    places: HashTable<(u64, usize)>,
    hasher: RandomState,
}

/// An id, as it is looked up.
#[derive(Clone, Copy)]
pub(super) struct Sought(u64);

impl Index {
    /// How an id is looked up.
    pub(super) fn sought(&self, id: &str) -> Sought {
        Sought(self.hasher.hash_one(id))
    }

    /// The place of the last message with this id.
    pub(super) fn get(&self, sought: Sought, id: &str, drafts: &[Draft]) -> Option<usize> {
        let is_it = |(hash, at): &(u64, usize)| *hash == sought.0 && id_of(drafts, *at) == id;
        self.places.find(sought.0, is_it).map(|(_, at)| *at)
    }

    /// Notes that the message at this place is the last one with its id.
    pub(super) fn set(&mut self, sought: Sought, at: usize, drafts: &[Draft]) {
        let id = id_of(drafts, at);
        let is_it = |(hash, at): &(u64, usize)| *hash == sought.0 && id_of(drafts, *at) == id;
        match self.places.entry(sought.0, is_it, |(hash, _)| *hash) {
            Entry::Occupied(mut known) => known.get_mut().1 = at,
            Entry::Vacant(free) => drop(free.insert((sought.0, at))),
        }
    }
}

fn id_of(drafts: &[Draft], at: usize) -> &str {
    drafts.get(at).map_or("", |draft| draft.head.id.as_str())
}
