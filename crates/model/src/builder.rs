//! Building a conversation, one entry after the other.

use std::hash::{BuildHasher as _, RandomState};
use std::num::NonZeroU32;

use hashbrown::HashTable;

use crate::entry::Records;
use crate::session::SourceParent;
use crate::{Entry, EntryIx, Head, Kind, Moment, RawRef, Role, Session, Visibility};

/// What a reader says about an entry before it is added.
#[derive(Clone, Debug)]
pub struct NewEntry<'a> {
    /// Its id; empty where the source gives none.
    pub id: &'a str,
    /// The entry before it.
    pub parent: Option<EntryIx>,
    /// What it is.
    pub kind: Kind,
    /// When it was written.
    pub time: Option<Moment>,
    /// Who is meant to see it.
    pub visibility: Visibility,
    /// The raw records it came from.
    pub origin: &'a [RawRef],
}

impl<'a> NewEntry<'a> {
    /// A visible message without a parent.
    pub fn message(id: &'a str, role: Role, origin: &'a [RawRef]) -> Self {
        Self {
            id,
            parent: None,
            kind: Kind::Message(role),
            time: None,
            visibility: Visibility::Visible,
            origin,
        }
    }
}

/// Builds a [`Session`] one record after the other.
#[derive(Debug, Default)]
pub struct SessionBuilder {
    session: Session,
    /// The numbers of usage keys, found by their texts, which are in the session.
    usage_keys: HashTable<u32>,
    hasher: RandomState,
}

impl SessionBuilder {
    /// Starts with the facts about the whole; they can still be changed.
    pub fn new(head: Head) -> Self {
        Self {
            session: Session {
                head,
                ..Session::default()
            },
            ..Self::default()
        }
    }

    /// The facts about the whole.
    pub fn head(&mut self) -> &mut Head {
        &mut self.session.head
    }

    /// Adds an entry and makes it the leaf. `None` when the session cannot hold more: then the
    /// caller keeps its records as unclaimed.
    pub fn add(&mut self, new: &NewEntry<'_>) -> Option<EntryIx> {
        let ix = EntryIx::new(self.session.entries.len())?;
        let id_end = u32::try_from(self.session.ids.len().checked_add(new.id.len())?).ok()?;
        let origin = self.records(new.origin)?;
        self.session.ids.push_str(new.id);
        self.session.entries.push(Entry {
            id_end,
            origin,
            parent: new.parent,
            logical_parent: None,
            time: new.time,
            usage_key: None,
            kind: new.kind,
            visibility: new.visibility,
            inherited: false,
            beside: false,
            side: false,
        });
        self.session.leaf = Some(ix);
        Some(ix)
    }

    /// Adds an entry that stands beside the tree: it has no parent and never is the leaf.
    pub fn add_beside(&mut self, new: &NewEntry<'_>) -> Option<EntryIx> {
        let leaf = self.session.leaf;
        let ix = self.add(&NewEntry {
            parent: None,
            ..new.clone()
        })?;
        self.entry(ix).beside = true;
        self.session.leaf = leaf;
        Some(ix)
    }

    /// Adds a raw record to those that the entry added last came from; of any other entry, it is kept
    /// as unclaimed.
    pub fn claim(&mut self, ix: EntryIx, raw: RawRef) {
        let is_last = ix.get() + 1 == self.session.entries.len();
        let grown = is_last.then(|| self.and_one_more(ix, raw)).flatten();
        match grown {
            Some(records) => self.entry(ix).origin = records,
            None => self.session.unclaimed.push(raw),
        }
    }

    /// The records of the last entry, and one more. If there are several, they are the last of all.
    fn and_one_more(&mut self, ix: EntryIx, raw: RawRef) -> Option<Records> {
        let session = &mut self.session;
        let origin = session.entries.get(ix.get())?.origin;
        match origin.get() {
            Ok(one) => {
                let both = [*one, raw];
                self.records(&both)
            }
            Err(number) => match session.several.get_mut(number as usize) {
                Some(range) => {
                    range.end = range.end.checked_add(1)?;
                    session.origins.push(raw);
                    Some(origin)
                }
                None => self.records(&[raw]),
            },
        }
    }

    /// Where an entry comes from, in the form that its head holds.
    fn records(&mut self, origin: &[RawRef]) -> Option<Records> {
        let one = match origin {
            [] => Some(Records::NOTHING),
            [one] => Records::one(*one),
            _ => None,
        };
        if one.is_some() {
            return one;
        }
        let session = &mut self.session;
        let number = u32::try_from(session.several.len()).ok()?;
        let start = u32::try_from(session.origins.len()).ok()?;
        let len = u32::try_from(origin.len()).ok()?;
        session.several.push(start..start.checked_add(len)?);
        session.origins.extend_from_slice(origin);
        Some(Records::several(number))
    }

    /// Gives an entry another id: that of one more record that it came from.
    pub fn alias(&mut self, ix: EntryIx, id: &str) {
        if self.session.aliases.push(id).is_some() {
            self.session.aliased.push(ix);
        }
    }

    /// Notes what a record of an entry names as its parent, where that is not what stands before it
    /// in the tree: the entry that the parent is a record of, and its id.
    pub fn source_parent(&mut self, of: (EntryIx, u32), parent: EntryIx, id: &str) {
        if let Some(id) = self.session.source_parent_ids.push(id) {
            let one = SourceParent { of, parent, id };
            self.session.source_parents.push(one);
        }
    }

    /// Gives all entries their ids, in their order: for readers that hold ids in a shorter form
    /// until all entries are there. What is left when no id is, has none.
    pub fn name<I: AsRef<str>>(&mut self, ids: impl IntoIterator<Item = I>) {
        let all = &mut self.session.ids;
        all.clear();
        let mut ids = ids.into_iter();
        for entry in &mut self.session.entries {
            let id = ids.next();
            let id = id.as_ref().map_or("", AsRef::as_ref);
            if u32::try_from(all.len() + id.len()).is_ok() {
                all.push_str(id);
            }
            entry.id_end = u32::try_from(all.len()).unwrap_or(u32::MAX);
        }
    }

    /// An entry that was added before, to change its head.
    pub fn entry(&mut self, ix: EntryIx) -> &mut Entry {
        &mut self.session.entries[ix.get()]
    }

    /// Says that an entry's usage belongs to the response with this key.
    pub fn set_usage_key(&mut self, ix: EntryIx, key: &str) {
        self.entry(ix).usage_key = self.usage_key(key);
    }

    /// The number that stands for the key of a response; none beyond four thousand million bytes of
    /// keys.
    pub fn usage_key(&mut self, key: &str) -> Option<NonZeroU32> {
        let Self {
            session,
            usage_keys,
            hasher,
        } = self;
        let texts = &mut session.usage_keys;
        let hash = hasher.hash_one(key);
        let known = usage_keys.find(hash, |n| texts.get(*n) == key);
        let number = if let Some(known) = known {
            *known
        } else {
            let new = texts.push(key)?;
            usage_keys.insert_unique(hash, new, |n| hasher.hash_one(texts.get(*n)));
            new
        };
        NonZeroU32::new(number.checked_add(1)?)
    }

    /// The key that a number stands for.
    pub fn usage_key_text(&self, number: NonZeroU32) -> &str {
        self.session.usage_keys.get(number.get() - 1)
    }

    /// Says which entry the agent would go on from.
    pub fn set_leaf(&mut self, leaf: Option<EntryIx>) {
        self.session.leaf = leaf;
    }

    /// Keeps a record that no entry comes from.
    pub fn unclaimed(&mut self, raw: RawRef) {
        self.session.unclaimed.push(raw);
    }

    /// How many entries there are so far.
    pub fn len(&self) -> usize {
        self.session.entries.len()
    }

    /// Whether there is no entry yet.
    pub fn is_empty(&self) -> bool {
        self.session.entries.is_empty()
    }

    /// The finished session.
    pub fn finish(mut self) -> Session {
        let parents = &mut self.session.source_parents;
        if !parents.is_sorted_by_key(|one| one.of) {
            parents.sort_by_key(|one| one.of);
        }
        self.session
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(record: u32) -> RawRef {
        RawRef { part: 0, record }
    }

    #[test]
    fn records_of_an_entry_are_none_one_or_several() {
        let mut b = SessionBuilder::default();
        let mut add = |origin: &[RawRef]| b.add(&NewEntry::message("", Role::User, origin));
        let none = add(&[]).unwrap();
        let one = add(&[raw(0)]).unwrap();
        let two = add(&[raw(1), raw(2)]).unwrap();
        let far = add(&[RawRef {
            part: u32::MAX,
            record: 1,
        }])
        .unwrap();
        let session = b.finish();
        assert_eq!(session.origin(none), []);
        assert_eq!(session.origin(one), [raw(0)]);
        assert_eq!(session.origin(two), [raw(1), raw(2)]);
        assert_eq!(session.origin(far).len(), 1);
        assert_eq!(session.unaccounted(&[4]), Some(raw(3)));
    }

    #[test]
    fn the_last_entry_claims_more_records() {
        let mut b = SessionBuilder::default();
        let first = b
            .add(&NewEntry::message("", Role::User, &[raw(0)]))
            .unwrap();
        b.claim(first, raw(1));
        b.claim(first, raw(2));
        let second = b.add(&NewEntry::message("", Role::User, &[])).unwrap();
        b.claim(second, raw(3));
        b.claim(first, raw(4));
        let session = b.finish();
        assert_eq!(session.origin(first), [raw(0), raw(1), raw(2)]);
        assert_eq!(session.origin(second), [raw(3)]);
        assert_eq!(session.unclaimed(), [raw(4)]);
    }

    #[test]
    fn ids_can_come_at_the_end() {
        let mut b = SessionBuilder::default();
        for id in ["a", "", "c"] {
            b.add(&NewEntry::message(id, Role::User, &[]));
        }
        let ids = |s: &Session| -> Vec<String> {
            s.indexed().map(|(ix, _)| s.id(ix).to_owned()).collect()
        };
        assert_eq!(ids(&b.session), ["a", "", "c"]);
        b.name(["one", "two"]);
        assert_eq!(ids(&b.session), ["one", "two", ""]);
    }

    #[test]
    fn one_key_is_one_number() {
        let mut b = SessionBuilder::default();
        let numbers = ["a", "b", "a"].map(|key| b.usage_key(key).unwrap());
        assert_eq!(numbers.map(NonZeroU32::get), [1, 2, 1]);
        assert_eq!(b.usage_key_text(numbers[1]), "b");
    }
}
