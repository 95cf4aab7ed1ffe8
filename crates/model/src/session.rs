//! A whole conversation: facts about it, and the tree of its entries.

use std::collections::HashSet;
use std::ops::Range;
use std::path::PathBuf;

use crate::texts::Texts;
use crate::{Entry, EntryIx, Link, Moment, Origin, RawRef, Title, UsageRecord};

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
    /// When its first message was written; where no message tells, when it began.
    pub created: Option<Moment>,
    /// When its last message was written; where no message tells, when it was changed.
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
    /// Where a session was first found, if it was imported or is of another home.
    pub provenance: Option<Provenance>,
    /// The session that this one is a copy of, if it was converted from another format.
    pub converted_from: Option<ConvertedFrom>,
    /// When the session itself was made, which is later than its first message if that was copied.
    pub made: Option<Moment>,
}

/// The session that a converted one was made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConvertedFrom {
    /// Its format, by its short name.
    pub format: String,
    /// Its id there.
    pub id: String,
    /// Its main file or folder, where it is still there.
    pub path: Option<PathBuf>,
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
    /// When its file was changed there, if nobody noted when it was held.
    pub file_time: Option<Moment>,
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
    pub(crate) leaf: Option<EntryIx>,
    /// The ids of all entries, one after the other.
    pub(crate) ids: String,
    /// Other ids of entries: one that was made of several records has an id of each.
    pub(crate) aliases: Texts,
    /// The entry of each of these.
    pub(crate) aliased: Vec<EntryIx>,
    /// What usage keys stand for, in the order of their numbers.
    pub(crate) usage_keys: Texts,
    /// The records of entries that have more than one, and where those of each are.
    pub(crate) origins: Vec<RawRef>,
    pub(crate) several: Vec<Range<u32>>,
    pub(crate) unclaimed: Vec<RawRef>,
    /// What records name as their parents, where that is not what stands before them in the tree.
    pub(crate) source_parents: Vec<SourceParent>,
    pub(crate) source_parent_ids: Texts,
}

/// What a record of an entry names as its parent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SourceParent {
    /// The entry, and which of its records it is.
    pub(crate) of: (EntryIx, u32),
    /// The entry that the parent is a record of.
    pub(crate) parent: EntryIx,
    /// The number of the parent's id.
    pub(crate) id: u32,
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
        let before = ix.get().checked_sub(1).and_then(|at| self.entries.get(at));
        let start = before.map_or(0, |entry| entry.id_end) as usize;
        let end = self.entry(ix).id_end as usize;
        self.ids.get(start..end).unwrap_or_default()
    }

    /// The raw records that an entry came from.
    pub fn origin(&self, ix: EntryIx) -> Origin<'_> {
        let number = match self.entry(ix).origin.get() {
            Ok(one) => return std::slice::from_ref(one),
            Err(number) => number as usize,
        };
        let range = self.several.get(number);
        range
            .and_then(|r| self.origins.get(r.start as usize..r.end as usize))
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

    /// What a record of an entry names as its parent, where that is not what stands before it in the
    /// tree: the entry, and the id of that entry's record. `record` counts the entry's records from 0.
    ///
    /// The tree is one thread where the conversation did not fork; some clients write otherwise.
    pub fn source_parent(&self, ix: EntryIx, record: usize) -> Option<(EntryIx, &str)> {
        let wanted = (ix, u32::try_from(record).ok()?);
        let all = &self.source_parents;
        let at = all.binary_search_by_key(&wanted, |one| one.of).ok()?;
        let found = all.get(at)?;
        Some((found.parent, self.source_parent_ids.get(found.id)))
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
            let mut all = self.aliases.iter().zip(&self.aliased).rev();
            all.find(|(alias, _)| *alias == id)
        };
        own.or_else(|| alias().map(|(_, ix)| *ix))
    }

    /// What identifies the response that an entry's usage belongs to, also in other sessions: a
    /// fork that copies the response copies its key.
    pub fn usage_key(&self, ix: EntryIx) -> Option<&str> {
        let number = self.entry(ix).usage_key?;
        Some(self.usage_keys.get(number.get() - 1))
    }

    /// Checks the law that records are never lost: every record of every part is claimed by an
    /// entry or listed as unclaimed. Gives the first one that is neither.
    pub fn unaccounted(&self, records_of_parts: &[u32]) -> Option<RawRef> {
        let claimed = self.indexed().flat_map(|(ix, _)| self.origin(ix));
        let known: HashSet<RawRef> = claimed.chain(&self.unclaimed).copied().collect();
        let all = (0_u32..)
            .zip(records_of_parts)
            .flat_map(|(part, records)| (0..*records).map(move |record| RawRef { part, record }));
        let mut missing = all.filter(|raw| !known.contains(raw));
        missing.next()
    }
}
