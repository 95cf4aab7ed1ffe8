//! The responses of a transcript while it is read: each comes in one record or several.

use std::borrow::Cow;
use std::hash::{BuildHasher as _, RandomState};
use std::num::NonZeroU32;

use hashbrown::HashTable;
use rethread_json::Value;
use rethread_model::SessionBuilder;

use super::record::TranscriptRecord;

/// What identifies the response that a record is a part of.
pub(super) struct ResponseKey<'a> {
    pub(super) id: Cow<'a, str>,
    pub(super) request: Option<Cow<'a, str>>,
    /// Whether it is a sub-agent's, in the file of the conversation.
    pub(super) side: bool,
}

impl<'a> ResponseKey<'a> {
    /// The response that a record is a part of.
    pub(super) fn of(record: &TranscriptRecord<'a>, side: bool) -> Option<Self> {
        Some(Self {
            id: record.message?.get("id")?.str()?,
            request: record.request.and_then(Value::str),
            side,
        })
    }

    /// What identifies it also in other files.
    pub(super) fn key(&self) -> Cow<'_, str> {
        match &self.request {
            Some(request) => format!("{}:{request}", self.id).into(),
            None => self.id.as_ref().into(),
        }
    }
}

/// The responses so far. What identifies them is held by the session that is built.
#[derive(Default)]
pub(super) struct Responses {
    list: Vec<First>,
    /// Their places in the list, found by their ids: those of the conversation, and those of
    /// sub-agents in the same file.
    ids: [HashTable<u32>; 2],
    hasher: RandomState,
}

/// The first part of a response.
struct First {
    node: u32,
    key: NonZeroU32,
    /// How much of the key is the response's id.
    id_len: u32,
}

impl First {
    fn id<'k>(&self, keys: &'k SessionBuilder) -> &'k str {
        let key = keys.usage_key_text(self.key);
        key.get(..self.id_len as usize).unwrap_or_default()
    }
}

impl Responses {
    /// The first part of a response, if it has begun.
    pub(super) fn find(&self, response: &ResponseKey<'_>, keys: &SessionBuilder) -> Option<u32> {
        let id = response.id.as_ref();
        let is_id = |at: &u32| self.list[*at as usize].id(keys) == id;
        let hash = self.hasher.hash_one(id);
        let at = self.ids[usize::from(response.side)].find(hash, is_id)?;
        Some(self.list[*at as usize].node)
    }

    /// Notes that a response begins; if one with its id did before, that is over. One with an empty
    /// id is never found again.
    pub(super) fn add(&mut self, node: u32, response: &ResponseKey<'_>, keys: &mut SessionBuilder) {
        let id = response.id.as_ref();
        let (Ok(at), Ok(id_len), Some(key)) = (
            u32::try_from(self.list.len()),
            u32::try_from(id.len()),
            keys.usage_key(&response.key()),
        ) else {
            return;
        };
        self.list.push(First { node, key, id_len });
        if id.is_empty() {
            return;
        }
        let Self { list, ids, hasher } = self;
        let ids = &mut ids[usize::from(response.side)];
        let id_of = |at: &u32| list[*at as usize].id(keys);
        let hash = hasher.hash_one(id);
        match ids.find_mut(hash, |at| id_of(at) == id) {
            Some(known) => *known = at,
            None => {
                ids.insert_unique(hash, at, |at| hasher.hash_one(id_of(at)));
            }
        }
    }

    /// The first parts, with the keys of their responses.
    pub(super) fn keys(&self) -> impl Iterator<Item = (u32, NonZeroU32)> {
        self.list.iter().map(|first| (first.node, first.key))
    }
}
