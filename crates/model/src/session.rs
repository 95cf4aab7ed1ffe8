//! A whole conversation: facts about it, and the tree of its entries.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::num::NonZeroU32;
use std::ops::Range;

use crate::{
    Entry, EntryIx, Kind, Link, Moment, Origin, RawRef, Role, Title, UsageRecord, Visibility,
};

/// What is known about a conversation as a whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Head {
    /// The session's id, as its agent knows it.
    pub id: String,
    /// The format it is stored in, by its short name.
    pub format: &'static str,
    /// The version of the format, as the source spells it.
    pub dialect: Option<String>,
    /// Its title.
    pub title: Option<Title>,
    /// The agent that held it.
    pub agent: Agent,
    /// Where the work was done.
    pub workspace: Workspace,
    /// When it began.
    pub created: Option<Moment>,
    /// When something was last said.
    pub updated: Option<Moment>,
    /// The model that answers when a message does not say otherwise.
    pub model: Option<crate::ModelRef>,
    /// Whether its agent put it away.
    pub archived: bool,
    /// The sessions it belongs with.
    pub links: Vec<Link>,
    /// Usage that the source recorded for the whole session, a model each where it says so.
    pub recorded_usage: Vec<UsageRecord>,
    /// How long its answers took together, in milliseconds, where the source says so.
    pub duration_ms: Option<u64>,
    /// How far the work got, where the source says so.
    pub status: Option<Status>,
    /// Whether its agent hides it from lists for people.
    pub hidden: bool,
    /// Where an imported session was first found.
    pub provenance: Option<Provenance>,
}

impl Head {
    /// The agent that held the conversation, by the short name of its format: of an imported one the
    /// agent that first had it.
    pub fn held_by(&self) -> &str {
        let imported = self.provenance.as_ref().map(|p| p.agent.as_str());
        imported
            .filter(|agent| !agent.is_empty())
            .unwrap_or(self.format)
    }
}

/// How far the work of a session got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// It goes on.
    Running,
    /// It was done.
    Completed,
    /// It ended with this error.
    Failed(Option<String>),
    /// It waits for somebody.
    Suspended,
    /// A word that we do not know.
    Other(String),
}

/// Where an imported session was first found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// What kind of home: `local`, `wsl`, `windows`, `remote`.
    pub kind: String,
    /// The machine, where it is another one.
    pub host: Option<String>,
    /// The session's file there.
    pub path: Option<String>,
    /// The agent that held it, by the short name of its format.
    pub agent: String,
}

impl Provenance {
    /// The name of the home that the session was found in, as the header of an export has it.
    pub fn home(&self) -> String {
        home_name(&self.kind, self.host.as_deref())
    }
}

/// The name of a home: `local`, `wsl_ubuntu`, `windows_ada`, `remote_vm01`.
///
/// ```
/// use rethread_model::home_name;
/// assert_eq!(home_name("remote", Some("ada@VM01")), "remote_vm01");
/// assert_eq!(home_name("local", None), "local");
/// ```
pub fn home_name(kind: &str, host: Option<&str>) -> String {
    let host = host.map(|h| h.rsplit('@').next().unwrap_or(h).to_lowercase());
    match host {
        Some(host) if kind != "local" && !host.is_empty() => format!("{kind}_{host}"),
        _ => kind.to_owned(),
    }
}

/// The program that held a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agent {
    /// Its identifier.
    pub id: Option<String>,
    /// Its name for people.
    pub name: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// What it was there for, where it was a sub-agent: its type, nickname or role.
    pub role: Option<String>,
    /// The protocol it was driven by, such as `acp`.
    pub protocol: Option<String>,
    /// That protocol's version, as spelled.
    pub protocol_version: Option<String>,
}

/// Where the work was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workspace {
    /// The folder, as the source spells it; perhaps of another machine.
    pub path: Option<String>,
    /// The project's root, as the source spells it.
    pub root: Option<String>,
    /// The folder relative to the project's root.
    pub relative: Option<String>,
    /// The name of the folder that the source keeps the project's sessions in.
    pub encoded: Option<String>,
    /// The git branch.
    pub branch: Option<String>,
    /// The commit that was checked out.
    pub commit: Option<String>,
    /// The address of the repository.
    pub remote: Option<String>,
    /// The git worktree, where one was used.
    pub worktree: Option<WorktreeRef>,
}

/// A git worktree that a conversation was held in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorktreeRef {
    /// Its folder.
    pub path: String,
    /// Its branch.
    pub branch: Option<String>,
}

/// A conversation: its [`Head`], its entries in the order of the source, and the active leaf.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// Facts about the whole.
    pub head: Head,
    pub(crate) entries: Vec<Entry>,
    leaf: Option<EntryIx>,
    ids: String,
    /// Other ids of entries: one that was made of several records has an id of each.
    aliases: Vec<(Range<u32>, EntryIx)>,
    /// What usage keys stand for, in the order of their numbers.
    usage_keys: Vec<Range<u32>>,
    origins: Vec<RawRef>,
    unclaimed: Vec<RawRef>,
}

impl Session {
    /// All entries, in the order of the source.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// All entries with their places.
    pub fn indexed(&self) -> impl Iterator<Item = (EntryIx, &Entry)> {
        self.entries
            .iter()
            .enumerate()
            .filter_map(|(i, e)| Some((EntryIx::new(i)?, e)))
    }

    /// The entry at a place.
    pub fn entry(&self, ix: EntryIx) -> &Entry {
        &self.entries[ix.get()]
    }

    /// An entry's id; empty where the source gave it none.
    pub fn id(&self, ix: EntryIx) -> &str {
        self.text(&self.entry(ix).id)
    }

    /// The raw records that an entry came from.
    pub fn origin(&self, ix: EntryIx) -> Origin<'_> {
        let range = &self.entry(ix).origin;
        self.origins
            .get(range.start as usize..range.end as usize)
            .unwrap_or_default()
    }

    /// The raw records that no entry came from: damaged lines, blank lines, file headers.
    pub fn unclaimed(&self) -> &[RawRef] {
        &self.unclaimed
    }

    /// The entry at which the agent would go on.
    pub fn leaf(&self) -> Option<EntryIx> {
        self.leaf
    }

    /// How many entries are messages.
    pub fn message_count(&self) -> usize {
        self.entries.iter().filter(|e| e.kind.is_message()).count()
    }

    /// The entry with this id, or that came from a record with this id; the last where several
    /// share it.
    pub fn find(&self, id: &str) -> Option<EntryIx> {
        let own = self
            .indexed()
            .map(|(ix, _)| ix)
            .filter(|ix| self.id(*ix) == id)
            .last();
        let alias = || {
            self.aliases
                .iter()
                .rev()
                .find(|(range, _)| self.text(range) == id)
        };
        own.or_else(|| alias().map(|(_, ix)| *ix))
    }

    /// What identifies the response that an entry's usage belongs to, also in other sessions: a
    /// fork that copies the response copies its key.
    pub fn usage_key(&self, ix: EntryIx) -> Option<&str> {
        self.usage_key_text(self.entry(ix).usage_key?)
    }

    fn usage_key_text(&self, number: NonZeroU32) -> Option<&str> {
        let place = number.get() as usize - 1;
        Some(self.text(self.usage_keys.get(place)?))
    }

    /// Checks the law that records are never lost: every record of every part is claimed by an
    /// entry or listed as unclaimed. Gives the first one that is neither.
    pub fn unaccounted(&self, records_of_parts: &[u32]) -> Option<RawRef> {
        let known: HashSet<RawRef> = self
            .origins
            .iter()
            .chain(&self.unclaimed)
            .copied()
            .collect();
        let all = (0_u32..)
            .zip(records_of_parts)
            .flat_map(|(part, records)| (0..*records).map(move |record| RawRef { part, record }));
        let mut missing = all.filter(|raw| !known.contains(raw));
        missing.next()
    }

    fn text(&self, range: &Range<u32>) -> &str {
        self.ids
            .get(range.start as usize..range.end as usize)
            .unwrap_or_default()
    }
}

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
    /// Usage keys by their hashes; their texts are in the session.
    usage_keys: HashMap<u64, NonZeroU32>,
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
        let id = push_str(&mut self.session.ids, new.id)?;
        let origin = push_refs(&mut self.session.origins, new.origin)?;
        self.session.entries.push(Entry {
            id,
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
        let end = u32::try_from(self.session.origins.len()).ok();
        let entry = &mut self.session.entries[ix.get()];
        match end.and_then(|end| end.checked_add(1)) {
            Some(next) if end == Some(entry.origin.end) => {
                entry.origin.end = next;
                self.session.origins.push(raw);
            }
            _ => self.session.unclaimed.push(raw),
        }
    }

    /// Gives an entry another id: that of one more record that it came from.
    pub fn alias(&mut self, ix: EntryIx, id: &str) {
        if let Some(range) = push_str(&mut self.session.ids, id) {
            self.session.aliases.push((range, ix));
        }
    }

    /// An entry that was added before, to change its head.
    pub fn entry(&mut self, ix: EntryIx) -> &mut Entry {
        &mut self.session.entries[ix.get()]
    }

    /// Says that an entry's usage belongs to the response with this key.
    pub fn set_usage_key(&mut self, ix: EntryIx, key: &str) {
        let hash = self.hasher.hash_one(key);
        let known = self.usage_keys.get(&hash).copied();
        let known = known.filter(|number| self.session.usage_key_text(*number) == Some(key));
        let number = known.or_else(|| self.new_usage_key(hash, key));
        self.entry(ix).usage_key = number;
    }

    fn new_usage_key(&mut self, hash: u64, key: &str) -> Option<NonZeroU32> {
        let range = push_str(&mut self.session.ids, key)?;
        self.session.usage_keys.push(range);
        let number = u32::try_from(self.session.usage_keys.len())
            .ok()
            .and_then(NonZeroU32::new)?;
        self.usage_keys.insert(hash, number);
        Some(number)
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
    pub fn finish(self) -> Session {
        self.session
    }
}

fn push_str(all: &mut String, one: &str) -> Option<Range<u32>> {
    let start = u32::try_from(all.len()).ok()?;
    let end = u32::try_from(all.len().checked_add(one.len())?).ok()?;
    all.push_str(one);
    Some(start..end)
}

fn push_refs(all: &mut Vec<RawRef>, some: &[RawRef]) -> Option<Range<u32>> {
    let start = u32::try_from(all.len()).ok()?;
    let end = u32::try_from(all.len().checked_add(some.len())?).ok()?;
    all.extend_from_slice(some);
    Some(start..end)
}
