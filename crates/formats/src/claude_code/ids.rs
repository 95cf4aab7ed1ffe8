//! The ids of records while a transcript is read, in little room: there can be millions of them.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;

use hashbrown::HashTable;
use uuid::Uuid;

use super::store::is_uuid;

/// An id in sixteen bytes: the UUID that it is, else a hash of its text that holds in this process.
pub(super) type Key = [u8; 16];

/// The key of a node without an id. No id has it.
const NAMELESS: Key = [0; 16];

/// What ids lead to.
#[derive(Default)]
pub(super) struct IdTable {
    names: NodeIds,
    /// The nodes, found by their keys; the last of those that share one.
    nodes: HashTable<u32>,
    /// What ids lead to that no node has: for progress, what that hangs from.
    others: HashMap<Key, u32>,
    hasher: RandomState,
}

/// The ids of all nodes.
#[derive(Default)]
pub(super) struct NodeIds {
    /// In the order of their numbers.
    keys: Vec<Key>,
    /// Ids that are no UUIDs as the client writes them.
    odd: HashMap<Key, Box<str>>,
}

impl IdTable {
    /// Names the next node; whether its id was there before.
    pub(super) fn push(&mut self, id: Option<&str>) -> bool {
        let Self {
            names: NodeIds { keys, odd },
            nodes,
            others,
            hasher,
        } = self;
        let own = id.map_or(NAMELESS, id_key);
        let number = u32::try_from(keys.len()).ok();
        keys.push(own);
        let (Some(id), Some(number)) = (id, number) else {
            return false;
        };
        if !is_plain_uuid(id) {
            odd.entry(own).or_insert_with(|| id.into());
        }
        let key_of = |node: &u32| keys.get(*node as usize).copied().unwrap_or(NAMELESS);
        let hash = hash(hasher, &own);
        if let Some(known) = nodes.find_mut(hash, |node| key_of(node) == own) {
            *known = number;
            return true;
        }
        nodes.insert_unique(hash, number, |node| self::hash(hasher, &key_of(node)));
        others.contains_key(&own)
    }

    /// Says what an id leads to that no node has.
    pub(super) fn lead(&mut self, id: Key, node: u32) {
        if self.get(&id).is_none() {
            self.others.insert(id, node);
        }
    }

    /// What an id leads to.
    pub(super) fn get(&self, id: &Key) -> Option<u32> {
        let is_id = |node: &u32| self.names.keys.get(*node as usize) == Some(id);
        let node = self.nodes.find(hash(&self.hasher, id), is_id);
        node.or_else(|| self.others.get(id)).copied()
    }

    /// The ids of all nodes alone.
    pub(super) fn into_names(self) -> NodeIds {
        self.names
    }
}

impl NodeIds {
    /// The id of a node; empty if it has none.
    pub(super) fn of(&self, node: usize) -> String {
        let Some(key) = self.keys.get(node).filter(|key| **key != NAMELESS) else {
            return String::new();
        };
        match self.odd.get(key) {
            Some(text) => text.to_string(),
            None => Uuid::from_bytes(*key).hyphenated().to_string(),
        }
    }
}

fn hash(hasher: &RandomState, key: &Key) -> u64 {
    hasher.hash_one(u128::from_ne_bytes(*key))
}

/// An id in sixteen bytes.
pub(super) fn id_key(id: &str) -> Key {
    // Nobody who writes a file knows these, so nobody can make two ids alike.
    static HASHERS: LazyLock<[RandomState; 2]> = LazyLock::new(Default::default);
    if is_plain_uuid(id)
        && let Ok(uuid) = Uuid::parse_str(id)
    {
        return uuid.into_bytes();
    }
    let [low, high] = HASHERS.each_ref().map(|h| u128::from(h.hash_one(id)));
    (low | high << 64).to_le_bytes()
}

/// Whether an id is a UUID that is spelled as everybody spells them, and not the one that is nothing
/// but zeros.
fn is_plain_uuid(id: &str) -> bool {
    is_uuid(id)
        && !id.bytes().any(|b| b.is_ascii_uppercase())
        && id.bytes().any(|b| b != b'0' && b != b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_lead_to_the_last_node_that_has_them() {
        const NIL: &str = "00000000-0000-0000-0000-000000000000";
        const PLAIN: &str = "5f0c5f0c-0000-4000-8000-000000000001";
        let mut ids = IdTable::default();
        assert!(!ids.push(Some(PLAIN)));
        assert!(!ids.push(None));
        assert!(!ids.push(Some(NIL)));
        assert!(!ids.push(Some("odd")));
        assert!(ids.push(Some(PLAIN)));
        ids.lead(id_key(PLAIN), 9);
        ids.lead(id_key("later"), 1);
        ids.lead(id_key("later"), 2);
        let found = [PLAIN, NIL, "odd", "later", "never"].map(|id| ids.get(&id_key(id)));
        assert_eq!(found, [Some(4), Some(2), Some(3), Some(1), None]);
        assert!(ids.push(Some("later")));
        assert_eq!(ids.get(&id_key("later")), Some(5));
        let names = ids.into_names();
        let all: Vec<String> = (0..7).map(|node| names.of(node)).collect();
        assert_eq!(all, [PLAIN, "", NIL, "odd", PLAIN, "later", ""]);
    }

    #[test]
    fn many_ids_are_found_again() {
        let id = |n: u32| format!("{n:08x}-0000-4000-8000-{n:012x}");
        let mut ids = IdTable::default();
        for n in 0..10_000 {
            assert!(!ids.push(Some(&id(n))));
        }
        assert!((0..10_000).all(|n| ids.get(&id_key(&id(n))) == Some(n)));
    }
}
