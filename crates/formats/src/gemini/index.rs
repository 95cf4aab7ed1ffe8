//! Messages by their ids, which are kept elsewhere, in the order of the messages.

use std::hash::{BuildHasher as _, RandomState};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rethread_model::Texts;

use super::nth::Nth;

/// The last message with each id.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// The places of messages, beside what their ids are hashed to.
    places: HashTable<(Sought, Nth)>,
    hasher: RandomState,
}

/// An id, as it is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sought(u32);

impl Sought {
    /// The table looks at the highest and at the lowest bits.
    fn hash(self) -> u64 {
        u64::from(self.0) << 32 | u64::from(self.0)
    }
}

impl Index {
    /// How an id is looked up.
    pub(super) fn sought(&self, id: &str) -> Sought {
        // Half of it is enough to tell almost all apart.
        let [_, _, _, _, half @ ..] = self.hasher.hash_one(id).to_be_bytes();
        Sought(u32::from_be_bytes(half))
    }

    /// The place of the last message with this id.
    pub(super) fn get(&self, sought: Sought, id: &str, ids: &Texts) -> Option<usize> {
        let is_it = |(known, at): &(Sought, Nth)| *known == sought && id_of(ids, *at) == id;
        let found = self.places.find(sought.hash(), is_it);
        found.map(|(_, at)| at.at())
    }

    /// Notes that the message at this place is the last one with its id.
    pub(super) fn set(&mut self, sought: Sought, at: usize, ids: &Texts) {
        let Some(at) = Nth::new(at) else { return };
        let id = id_of(ids, at);
        let is_it = |(known, at): &(Sought, Nth)| *known == sought && id_of(ids, *at) == id;
        let hash = |(known, _): &(Sought, Nth)| known.hash();
        match self.places.entry(sought.hash(), is_it, hash) {
            Entry::Occupied(mut known) => known.get_mut().1 = at,
            Entry::Vacant(free) => drop(free.insert((sought, at))),
        }
    }
}

fn id_of(ids: &Texts, at: Nth) -> &str {
    ids.get(at.number())
}
