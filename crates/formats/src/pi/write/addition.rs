//! Adding to a session whose entries stay in its file: only their ids are held.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use rethread_json::{Object, Tree, Value};
use rethread_model::Note;

use super::message::Before;
use super::{host_of, not_ours, refused};
use crate::error::unreadable_file;
use crate::fields::string_of;
use crate::pi::entry::{EntryKind, SessionEntry};
use crate::pi::manager::{
    LoadedEntry, LoadedFile, SessionError, SessionManager, bring_up_to_date, part_of, scan, tool_in,
};
use crate::pi::{Flavour, context};
use crate::session_log::SessionLog;
use crate::{Part, Source, WriteError, Writing};

/// A session that entries are added to. They are written together, when all of them are known.
pub(in crate::pi) struct Addition<'a> {
    flavour: &'a Flavour,
    w: &'a Writing<'a>,
    log: SessionLog<'a>,
    part: Part,
    is_old: bool,
    /// What is added. It knows the ids of what is in the file, and where the session is.
    pub(in crate::pi) session: SessionManager,
}

impl<'a> Addition<'a> {
    /// Locks a session, which must be there.
    pub(in crate::pi) fn open(
        flavour: &'a Flavour,
        w: &'a Writing<'a>,
        source: &Source,
    ) -> Result<Self, WriteError> {
        let path = source.path.as_path();
        let log = SessionLog::open(w, path)?;
        let part = part_of(path)?;
        let mut session = SessionManager::behind(&host_of(flavour, w));
        let scanned = scan(&part, |found| {
            session.pass(found.value);
            Ok(())
        });
        let LoadedFile::Session(lines) = scanned.map_err(|e| unreadable_file(path, e))? else {
            return Err(not_ours(flavour, path).into());
        };
        session.follow(lines.header);
        Ok(Self {
            flavour,
            w,
            log,
            part,
            is_old: lines.old.is_some(),
            session,
        })
    }

    /// The session's file.
    pub(in crate::pi) fn path(&self) -> &Path {
        &self.part.path
    }

    /// Writes what was added, all at once. A file of an older version is brought to today's first.
    pub(in crate::pi) fn write(mut self) -> Result<Option<Note>, WriteError> {
        let mut lines = Vec::new();
        for entry in self.session.entries() {
            lines.extend_from_slice(entry.raw());
            lines.push(b'\n');
        }
        if lines.is_empty() {
            return Ok(None);
        }
        if self.is_old {
            let done = bring_up_to_date(self.log.whole(), self.w.durability);
            done.map_err(|e| refused(e, self.flavour, &self.part.path))?;
        }
        self.log.append(&lines)
    }

    /// Looks at the entries of the file. One that cannot be read any more says nothing.
    fn each(&self, mut each: impl FnMut(LoadedEntry<'_>)) {
        let _ = scan(&self.part, |found| {
            each(found);
            Ok::<(), io::Error>(())
        });
    }

    /// Who answers at an entry of the file.
    fn model_at(&self, id: &str) -> Option<(String, String)> {
        const NONE: u32 = u32::MAX;
        let narrow = |at: usize| u32::try_from(at).unwrap_or(NONE);
        // Each model once: a session has few.
        let mut models: Vec<(String, String)> = Vec::new();
        let mut numbers: HashMap<(String, String), u32> = HashMap::new();
        let mut entries: Vec<(u32, u32)> = Vec::new();
        self.each(|found| {
            let parent = string_of(found.value, "parentId");
            let parent = parent.and_then(|id| self.session.place_of(&id));
            let model = model_of(found.value).map(|model| {
                *numbers.entry(model).or_insert_with_key(|model| {
                    models.push(model.clone());
                    narrow(models.len() - 1)
                })
            });
            entries.push((parent.map_or(NONE, narrow), model.unwrap_or(NONE)));
        });
        let mut at = self.session.place_of(id);
        // A circle of parents is left after so many steps at the latest.
        for _ in 0..entries.len() {
            let (parent, model) = *entries.get(at?)?;
            if let Some(model) = models.get(model as usize) {
                return Some(model.clone());
            }
            at = Some(parent as usize);
        }
        None
    }
}

impl Before for Addition<'_> {
    fn check_entry(&self, entry: Value<'_>) -> Result<String, SessionError> {
        self.session.check_entry(entry)
    }

    /// Only what gives instructions is held; of the rest, where it stands in the tree.
    fn instructions(&self) -> Option<Vec<u8>> {
        let mut entries = Vec::new();
        self.each(|found| entries.push(held_for_instructions(found.value)));
        entries.extend(self.session.entries().iter().cloned());
        let mut session = SessionManager::of_entries(&host_of(self.flavour, self.w), entries);
        session.branch(self.session.leaf_id()?).ok()?;
        session.instructions()
    }

    fn last_answer(&self) -> Option<(String, String)> {
        let added = self.session.last_answer();
        added.or_else(|| {
            let mut last = None;
            self.each(|found| last = answer_in(found.value).or(last.take()));
            last
        })
    }

    fn model(&self) -> Option<(String, String)> {
        let mut id = self.session.leaf_id()?.to_owned();
        // What was added hangs from what is in the file, and never the other way round.
        while let Some(entry) = self.session.entry(&id) {
            if let Some(model) = entry.look(model_of) {
                return Some(model);
            }
            id = entry.parent_id()?.to_owned();
        }
        self.model_at(&id)
    }

    fn tool_of(&self, call_id: &str) -> Option<String> {
        let added = self.session.tool_of(call_id);
        added.or_else(|| {
            let mut last = None;
            self.each(|found| last = tool_in(found.value, call_id).or(last.take()));
            last
        })
    }
}

/// An entry that gives instructions or replaces others, as it is; of another one, a mark in its place.
fn held_for_instructions(entry: Value<'_>) -> SessionEntry {
    let role = entry.get("message").and_then(|message| message.get("role"));
    let is_compaction = EntryKind::of(entry.get("type")) == EntryKind::Compaction;
    if is_compaction || role.is_some_and(|role| role.is_str("system")) {
        return SessionEntry::of(entry);
    }
    let place = |key| entry.get(key).map(Value::raw);
    let mark = Object::new()
        .str("type", "custom")
        .opt_raw("id", place("id"))
        .opt_raw("parentId", place("parentId"))
        .finish();
    let tree = Tree::parse(&mark).unwrap_or_default();
    SessionEntry::of(tree.root(&mark))
}

/// The provider and the model that an entry chooses or that answers in it.
fn model_of(entry: Value<'_>) -> Option<(String, String)> {
    let model = context::chosen_model(entry)?;
    Some((model.provider, model.model_id))
}

/// The interface and the provider of an answer, if an entry is one.
pub(super) fn answer_in(entry: Value<'_>) -> Option<(String, String)> {
    let message = entry.get("message")?;
    Some((string_of(message, "api")?, string_of(message, "provider")?))
}
