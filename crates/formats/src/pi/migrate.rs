//! Old sessions as if they had been written today.
//!
//! Version 1 is a list: entries have no ids, and a compaction names the first entry it keeps by
//! its place. Version 2 is a tree, but calls the messages of extensions `hookMessage`. What is
//! new in an object goes to its end; every other byte stays.

use rethread_json::{Patch, Value, quote};

use super::entry::CURRENT_VERSION;
use super::links::made_up_id;

/// Brings the values of one file to the current version, in their order.
#[derive(Debug)]
pub(crate) struct Migration {
    version: u64,
    /// The ids given so far, by the place of the value in the file; the header is the first.
    given: Vec<Option<String>>,
    last: Option<String>,
}

impl Migration {
    /// For a file whose header names this version.
    pub(crate) fn from(version: u64) -> Self {
        Self {
            version,
            given: Vec::new(),
            last: None,
        }
    }

    /// Whether anything changes.
    pub(crate) fn is_needed(&self) -> bool {
        self.version < CURRENT_VERSION
    }

    /// The header, a later line that looks like one, or what is no object: it counts, and is no
    /// entry.
    pub(crate) fn pass(&mut self) {
        self.given.push(None);
    }

    /// The entry as it would be written today.
    pub(crate) fn entry(&mut self, value: Value<'_>) -> Vec<u8> {
        let mut patch = Patch::new(value);
        if self.version < 2 {
            self.grow(value, &mut patch);
        }
        let is_message = value.get("type").is_some_and(|t| t.is_str("message"));
        if let Some(role) = value.at(&["message", "role"])
            && is_message
            && role.is_str("hookMessage")
        {
            patch.replace(role, b"\"custom\"");
        }
        patch.finish()
    }

    /// Gives an entry its id and its parent. The id follows from the place of the entry, so that it
    /// is the same whenever the file is read.
    fn grow<'a>(&mut self, value: Value<'a>, patch: &mut Patch<'a>) {
        let place = u32::try_from(self.given.len()).unwrap_or(u32::MAX);
        let id = made_up_id(place);
        let parent = match self.last.take() {
            Some(last) => quote(&last),
            None => b"null".to_vec(),
        };
        patch.set(value, "id", &quote(&id));
        patch.set(value, "parentId", &parent);
        self.given.push(Some(id.clone()));
        self.last = Some(id);
        self.keep_by_id(value, patch);
    }

    /// A place counts all values of the file, the header among them.
    fn keep_by_id<'a>(&self, value: Value<'a>, patch: &mut Patch<'a>) {
        if !value.get("type").is_some_and(|t| t.is_str("compaction")) {
            return;
        }
        let Some(place) = value.get("firstKeptEntryIndex") else {
            return;
        };
        if place.f64().is_none() {
            return;
        }
        let kept = place.u64().and_then(|at| usize::try_from(at).ok());
        if let Some(Some(id)) = kept.and_then(|at| self.given.get(at)) {
            patch.set(value, "firstKeptEntryId", &quote(id));
        }
        patch.remove(value, "firstKeptEntryIndex");
    }
}

/// The header as it would be written today.
pub(crate) fn header(value: Value<'_>) -> Vec<u8> {
    let mut patch = Patch::new(value);
    patch.set(value, "version", CURRENT_VERSION.to_string().as_bytes());
    patch.finish()
}
