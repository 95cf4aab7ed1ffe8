//! Entries while a file is read. A record may belong to an entry that was met long before it, so
//! entries are finished only when all records are known.

use rethread_model::{EntryIx, Kind, Moment, NewEntry, RawRef, SessionBuilder, Visibility};

/// An entry that is not finished.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) id: String,
    pub(super) aliases: Vec<String>,
    pub(super) kind: Kind,
    pub(super) visibility: Visibility,
    pub(super) time: Option<Moment>,
    pub(super) origin: Vec<RawRef>,
    pub(super) usage_key: Option<String>,
    pub(super) inherited: bool,
    pub(super) place: Place,
}

/// Where an entry stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Behind the entry before it.
    Chain,
    /// The same, and the person's turn begins with it.
    Turn,
    /// Where the conversation goes on after that many turns were taken back.
    Back(u32),
    /// Beside the conversation.
    Beside,
    /// Nowhere: it became a part of another.
    Merged,
}

impl Draft {
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
            place: Place::Chain,
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

/// All entries so far, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Drafts(Vec<Draft>);

impl Drafts {
    /// Adds an entry and gives its number.
    pub(super) fn add(&mut self, draft: Draft) -> usize {
        self.0.push(draft);
        self.0.len() - 1
    }

    pub(super) fn get_mut(&mut self, number: usize) -> Option<&mut Draft> {
        self.0.get_mut(number)
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Draft> {
        self.0.iter()
    }

    /// Makes one entry a part of another: its records and ids.
    pub(super) fn merge(&mut self, from: usize, into: usize) {
        if from == into {
            return;
        }
        let Some(gone) = self.0.get_mut(from) else {
            return;
        };
        gone.place = Place::Merged;
        let (origin, id) = (
            std::mem::take(&mut gone.origin),
            std::mem::take(&mut gone.id),
        );
        let aliases = std::mem::take(&mut gone.aliases);
        if let Some(draft) = self.0.get_mut(into) {
            for raw in origin {
                draft.claim(raw);
            }
            for id in std::iter::once(id).chain(aliases) {
                draft.name(id);
            }
        }
    }

    /// Finishes all entries.
    pub(super) fn finish(self, builder: &mut SessionBuilder) {
        let mut path: Vec<(EntryIx, bool)> = Vec::new();
        for draft in self.0 {
            if let Place::Back(turns) = draft.place {
                go_back(&mut path, turns);
            }
            let new = NewEntry {
                id: &draft.id,
                parent: path.last().map(|(ix, _)| *ix),
                kind: draft.kind,
                time: draft.time,
                visibility: draft.visibility,
                origin: &draft.origin,
            };
            let added = match draft.place {
                Place::Merged => continue,
                Place::Beside => builder.add_beside(&new),
                Place::Chain | Place::Turn | Place::Back(_) => builder.add(&new),
            };
            let Some(ix) = added else {
                for raw in draft.origin {
                    builder.unclaimed(raw);
                }
                continue;
            };
            for alias in &draft.aliases {
                builder.alias(ix, alias);
            }
            if let Some(key) = &draft.usage_key {
                builder.set_usage_key(ix, key);
            }
            builder.entry(ix).inherited = draft.inherited;
            if draft.place != Place::Beside {
                path.push((ix, draft.place == Place::Turn));
            }
        }
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
