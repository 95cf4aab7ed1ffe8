//! Entries while a file is read. A record may belong to an entry that was met some time before it, so
//! entries stay open for a while.

use std::collections::VecDeque;

use rethread_model::{EntryIx, Kind, Moment, NewEntry, RawRef, SessionBuilder, Visibility};

/// An entry that is not finished.
#[derive(Clone, Debug)]
pub(super) struct EntryDraft {
    pub(super) id: String,
    pub(super) aliases: Vec<String>,
    pub(super) kind: Kind,
    pub(super) visibility: Visibility,
    pub(super) time: Option<Moment>,
    pub(super) origin: Vec<RawRef>,
    pub(super) usage_key: Option<String>,
    pub(super) inherited: bool,
    pub(super) place: EntryPlace,
}

/// Where an entry stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryPlace {
    /// Behind the entry before it.
    Chain,
    /// The same, and the person's turn begins with it.
    Turn,
    /// Where the conversation goes on after that many turns were taken back.
    Back(u32),
    /// Beside the conversation.
    Beside,
    /// Nowhere: it became a part of the entry with this number.
    Merged(usize),
}

impl EntryDraft {
    pub(super) fn new(kind: Kind, time: Option<Moment>, raw: RawRef) -> Self {
        Self {
            id: String::new(),
            aliases: Vec::new(),
            kind,
            visibility: Visibility::Visible,
            time,
            origin: vec![raw],
            usage_key: None,
            inherited: false,
            place: EntryPlace::Chain,
        }
    }

    /// Gives the entry an id, or one more.
    pub(super) fn name(&mut self, id: String) {
        if id.is_empty() || id == self.id || self.aliases.contains(&id) {
            return;
        }
        if self.id.is_empty() {
            self.id = id;
        } else {
            self.aliases.push(id);
        }
    }

    /// Adds a record that the entry comes from.
    pub(super) fn claim(&mut self, raw: RawRef) {
        if !self.origin.contains(&raw) {
            self.origin.push(raw);
        }
    }
}

/// So many entries may still change: whatever belongs to an entry stands near it.
const OPEN: usize = 8192;

/// All entries so far, by their numbers. Old ones are finished while newer ones come.
#[derive(Debug, Default)]
pub(super) struct Drafts {
    open: VecDeque<EntryDraft>,
    /// The number of the first that is open.
    first: usize,
    builder: SessionBuilder,
    /// The conversation so far, and where turns begin.
    path: Vec<(EntryIx, bool)>,
    /// The records that entries came from, by part.
    claimed: Vec<Vec<bool>>,
    last_inherited: String,
}

impl Drafts {
    /// Adds an entry and gives its number.
    pub(super) fn add(&mut self, draft: EntryDraft) -> usize {
        if self.open.len() == OPEN {
            self.finish_first(OPEN / 2);
        }
        self.open.push_back(draft);
        self.first + self.open.len() - 1
    }

    /// An entry that may still change; of one that was merged the entry that it is a part of.
    pub(super) fn get_mut(&mut self, number: usize) -> Option<&mut EntryDraft> {
        let number = self.merged_into(number);
        self.open.get_mut(number.checked_sub(self.first)?)
    }

    /// The number of an entry, or of the one that it became a part of.
    fn merged_into(&self, mut number: usize) -> usize {
        let draft = |number: usize| self.open.get(number.checked_sub(self.first)?);
        while let Some(EntryPlace::Merged(into)) = draft(number).map(|draft| draft.place) {
            number = into;
        }
        number
    }

    /// Makes one entry a part of another: its records and ids.
    pub(super) fn merge(&mut self, from: usize, into: usize) {
        let (from, into) = (self.merged_into(from), self.merged_into(into));
        if from == into || self.get_mut(into).is_none() {
            return;
        }
        let Some(gone) = self.get_mut(from) else {
            return;
        };
        gone.place = EntryPlace::Merged(into);
        let origin = std::mem::take(&mut gone.origin);
        let id = std::mem::take(&mut gone.id);
        let aliases = std::mem::take(&mut gone.aliases);
        if let Some(draft) = self.get_mut(into) {
            for raw in origin {
                draft.claim(raw);
            }
            for id in std::iter::once(id).chain(aliases) {
                draft.name(id);
            }
        }
    }

    /// The id of the last entry that was inherited; empty where there is none, or it has none.
    pub(super) fn last_inherited(&mut self) -> &str {
        self.finish_first(usize::MAX);
        &self.last_inherited
    }

    /// Finishes all entries, and keeps those of these records that none came from.
    pub(super) fn finish(mut self, unclaimed: Vec<RawRef>) -> SessionBuilder {
        self.finish_first(usize::MAX);
        for raw in unclaimed {
            if !self.is_claimed(raw) {
                self.builder.unclaimed(raw);
            }
        }
        self.builder
    }

    fn finish_first(&mut self, count: usize) {
        for _ in 0..count {
            let Some(draft) = self.open.pop_front() else {
                return;
            };
            self.first += 1;
            self.finish_one(&draft);
        }
    }

    fn finish_one(&mut self, draft: &EntryDraft) {
        if let EntryPlace::Back(turns) = draft.place {
            go_back(&mut self.path, turns);
        }
        let new = NewEntry {
            id: &draft.id,
            parent: self.path.last().map(|(ix, _)| *ix),
            kind: draft.kind,
            time: draft.time,
            visibility: draft.visibility,
            origin: &draft.origin,
        };
        let added = match draft.place {
            EntryPlace::Merged(_) => return,
            EntryPlace::Beside => self.builder.add_beside(&new),
            EntryPlace::Chain | EntryPlace::Turn | EntryPlace::Back(_) => self.builder.add(&new),
        };
        let Some(ix) = added else {
            for raw in &draft.origin {
                self.builder.unclaimed(*raw);
            }
            return;
        };
        for raw in &draft.origin {
            self.mark_claimed(*raw);
        }
        for alias in &draft.aliases {
            self.builder.alias(ix, alias);
        }
        if let Some(key) = &draft.usage_key {
            self.builder.set_usage_key(ix, key);
        }
        self.builder.entry(ix).inherited = draft.inherited;
        if draft.inherited {
            self.last_inherited.clone_from(&draft.id);
        }
        if draft.place != EntryPlace::Beside {
            self.path.push((ix, draft.place == EntryPlace::Turn));
        }
    }

    fn mark_claimed(&mut self, raw: RawRef) {
        let (part, record) = (raw.part as usize, raw.record as usize);
        if self.claimed.len() <= part {
            self.claimed.resize_with(part + 1, Vec::new);
        }
        if let Some(records) = self.claimed.get_mut(part) {
            if records.len() <= record {
                records.resize(record + 1, false);
            }
            if let Some(is_claimed) = records.get_mut(record) {
                *is_claimed = true;
            }
        }
    }

    fn is_claimed(&self, raw: RawRef) -> bool {
        let records = self.claimed.get(raw.part as usize);
        records.and_then(|r| r.get(raw.record as usize)) == Some(&true)
    }
}

/// Cuts a path before its last so many turns; what came before the first turn stays.
fn go_back(path: &mut Vec<(EntryIx, bool)>, turns: u32) {
    for _ in 0..turns {
        match path.iter().rposition(|(_, is_turn)| *is_turn) {
            Some(at) => path.truncate(at),
            None => break,
        }
    }
}
