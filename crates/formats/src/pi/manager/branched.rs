//! One branch of a session as a session of its own.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use rethread_json::{Object, Patch, Tree, Value, quote};

use super::append::place;
use super::{SessionError, SessionManager, names};
use crate::Env;
use crate::fields::string_of;
use crate::pi::context;
use crate::pi::entry::{EntryKind, SessionEntry};
use crate::pi::tree::Label;

impl SessionManager {
    /// Goes on in a new session that holds the way from the root to `leaf_id` and nothing else.
    /// Entries keep their ids; labels are set anew at the end. Returns the new file; none in
    /// memory. The file is written at once if there is a message of the user or the model.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let home = tempfile::tempdir()?;
    /// # let env = Env::from_variables(Default::default(), Some(home.path().into()), home.path().into())?;
    /// # let host = Host::atomic(env);
    /// let mut session = SessionManager::create(&host, "/my/project", None)?;
    /// let first = session.append_message(NewPiMessage::user("hello"))?;
    /// session.append_message(NewPiMessage::user("are you there?"))?;
    /// let old = session.session_file().unwrap().to_owned();
    /// let new = session.create_branched_session(&first)?.unwrap().to_owned();
    /// assert!(new.exists() && new != old);
    /// assert_eq!(session.entries().len(), 1);
    /// assert_eq!(session.header().parent_session(), old.to_str());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_branched_session(
        &mut self,
        leaf_id: &str,
    ) -> Result<Option<&Path>, SessionError> {
        let leaf = self.find(leaf_id)?;
        self.header.refuse_newer()?;
        let path = context::path(&self.entries, &self.index, leaf);
        let mut rehung = Rehung::default();
        let kept = path.iter().filter_map(|entry| rehung.entry(entry));
        let mut entries: Vec<SessionEntry> = kept.collect();
        self.add_labels(&mut entries);
        let parent = self.file.clone();
        let mut branched = self.clone_empty();
        branched.begin(None, parent.as_deref());
        let header = branched.header.clone();
        let is_talk = entries.iter().any(SessionEntry::is_talk);
        branched.take(header, entries);
        if is_talk {
            branched.write_whole(&[])?;
        }
        *self = branched;
        Ok(self.session_file())
    }

    /// The same manager without its entries.
    fn clone_empty(&self) -> Self {
        Self {
            host: self.host.clone(),
            cwd: self.cwd.clone(),
            session_dir: self.session_dir.clone(),
            file: self.file.clone(),
            stored: super::Stored::Nothing,
            header: self.header.clone(),
            past: 0,
            entries: Vec::new(),
            index: HashMap::new(),
            labels: HashMap::new(),
            leaf: None,
            time: None,
        }
    }

    /// Sets the labels of the entries anew.
    fn add_labels(&self, entries: &mut Vec<SessionEntry>) {
        let taken: HashSet<&str> = entries.iter().map(SessionEntry::id).collect();
        let labelled = entries.iter().filter_map(|entry| {
            let label = self.labels.get(entry.id())?;
            Some((label, entry.id()))
        });
        let parent = entries.last().map(SessionEntry::id);
        let env = &self.host.env;
        let lines = label_lines(env, labelled.collect(), parent, |id| taken.contains(id));
        let lines: Vec<_> = lines
            .iter()
            .flat_map(|line| SessionEntry::parse(line))
            .collect();
        entries.extend(lines);
    }
}

/// Entries that set labels anew, one after the other, in the order in which the labels were set and
/// with their old times.
pub(crate) fn label_lines(
    env: &Env,
    mut labelled: Vec<(&Label, &str)>,
    parent: Option<&str>,
    is_taken: impl Fn(&str) -> bool,
) -> Vec<Vec<u8>> {
    labelled.sort_by_key(|(label, _)| label.since);
    let mut ids: HashSet<String> = HashSet::new();
    let mut parent = parent.map(str::to_owned);
    let mut lines = Vec::with_capacity(labelled.len());
    for (label, target) in labelled {
        let id = names::entry_id(env, |id| is_taken(id) || ids.contains(id));
        let timestamp = label.timestamp.clone();
        let timestamp = timestamp.unwrap_or_else(|| env.now().to_string());
        let object = Object::new().str("type", "label");
        let line = place(object, &id, parent.as_deref(), &timestamp)
            .str("targetId", target)
            .str("label", &label.text);
        lines.push(line.finish());
        ids.insert(id.clone());
        parent = Some(id);
    }
    lines
}

/// The entries of a way, from its root on, without labels. What hung from a label hangs from what
/// the label hung from, and a compaction that kept from a label on keeps from the next entry on.
#[derive(Debug, Default)]
pub(crate) struct Rehung {
    /// The last entry that is no label.
    last: Option<String>,
    /// Labels behind it.
    labels: Vec<String>,
    /// The entry behind each label.
    next_of: HashMap<String, String>,
}

impl Rehung {
    /// The last entry of the way so far.
    pub(crate) fn last(&self) -> Option<&str> {
        self.last.as_deref()
    }

    /// The next entry of the way; none if it is a label.
    fn entry(&mut self, entry: &SessionEntry) -> Option<SessionEntry> {
        let changes = entry.look(|value| self.changes(value))?;
        if changes.is_empty() {
            return Some(entry.clone());
        }
        let changed = SessionEntry::parse(&changed_entry(entry.raw(), &changes));
        Some(changed.unwrap_or_else(|_| entry.clone()))
    }

    /// What changes in the next entry of the way; none if it is a label.
    pub(crate) fn changes(&mut self, entry: Value<'_>) -> Option<MemberChanges> {
        let id = string_of(entry, "id").unwrap_or_default();
        let kind = EntryKind::of(entry.get("type"));
        if kind == EntryKind::Label {
            self.labels.push(id);
            return None;
        }
        for label in self.labels.drain(..) {
            self.next_of.insert(label, id.clone());
        }
        let mut changes = Vec::new();
        if string_of(entry, "parentId") != self.last {
            let parent = self.last.as_deref();
            changes.push(("parentId", parent.map_or_else(|| b"null".to_vec(), quote)));
        }
        if kind == EntryKind::Compaction {
            let first = string_of(entry, "firstKeptEntryId");
            let moved = first.and_then(|first| self.next_of.get(&first));
            changes.extend(moved.map(|next| ("firstKeptEntryId", quote(next))));
        }
        self.last = Some(id);
        Some(changes)
    }
}

/// Members of an entry that are to be others.
pub(crate) type MemberChanges = Vec<(&'static str, Vec<u8>)>;

/// An entry with other members.
pub(crate) fn changed_entry(raw: &[u8], changes: &MemberChanges) -> Vec<u8> {
    let tree = Tree::parse(raw).unwrap_or_default();
    let root = tree.root(raw);
    let mut patch = Patch::new(root);
    for (key, json) in changes {
        patch.set(root, key, json);
    }
    patch.finish()
}
