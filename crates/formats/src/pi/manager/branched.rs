//! One branch of a session as a session of its own.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use rethread_json::{Object, Patch, Tree, quote};

use super::append::place;
use super::{SessionError, SessionManager, names};
use crate::pi::context;
use crate::pi::entry::{EntryKind, SessionEntry};

impl SessionManager {
    /// Goes on in a new session that holds the way from the root to `leaf_id` and nothing else.
    /// Entries keep their ids; labels are set anew at the end. Returns the new file; none in
    /// memory. The file is written at once if there is a message of the user or the model.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewMessage, SessionManager}};
    /// # let home = tempfile::tempdir()?;
    /// # let env = Env::from_variables(Default::default(), Some(home.path().into()), home.path().into())?;
    /// # let host = Host::atomic(env);
    /// let mut session = SessionManager::create(&host, "/my/project", None)?;
    /// let first = session.append_message(NewMessage::user("hello"))?;
    /// session.append_message(NewMessage::user("are you there?"))?;
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
        super::store::refuse_newer(&self.header)?;
        let path = context::path(&self.entries, &self.index, leaf);
        let mut entries = without_labels(&path);
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
            entries: Vec::new(),
            index: HashMap::new(),
            labels: HashMap::new(),
            leaf: None,
            time: None,
        }
    }

    /// Sets the labels of the entries anew, one after the other at the end, in the order in which
    /// they were set and with their old times.
    fn add_labels(&self, entries: &mut Vec<SessionEntry>) {
        let mut taken: HashSet<String> = entries.iter().map(|e| e.id().to_owned()).collect();
        let mut parent = entries.last().map(|last| last.id().to_owned());
        let labelled = entries.iter().filter_map(|entry| {
            let label = self.labels.get(entry.id())?;
            Some((label, entry))
        });
        let mut labelled: Vec<_> = labelled.collect();
        labelled.sort_by_key(|(label, _)| label.since);
        let mut added = Vec::new();
        for (label, entry) in labelled {
            let id = names::entry_id(&self.host.env, |id| taken.contains(id));
            let now = || self.host.env.now().to_string();
            let timestamp = label.timestamp.clone().unwrap_or_else(now);
            let object = Object::new().str("type", "label");
            let line = place(object, &id, parent.as_deref(), &timestamp)
                .str("targetId", entry.id())
                .str("label", &label.text)
                .finish();
            added.extend(SessionEntry::parse(&line));
            taken.insert(id.clone());
            parent = Some(id);
        }
        entries.extend(added);
    }
}

/// The entries of a way without labels. What hung from a label hangs from what the label hung
/// from, and a compaction that kept from a label on keeps from the next entry on.
fn without_labels(path: &[&SessionEntry]) -> Vec<SessionEntry> {
    let mut next_of: HashMap<&str, &str> = HashMap::new();
    let mut next = None;
    for entry in path.iter().rev() {
        if entry.kind() == EntryKind::Label {
            next.map(|next| next_of.insert(entry.id(), next));
        } else {
            next = Some(entry.id());
        }
    }
    let mut kept: Vec<SessionEntry> = Vec::with_capacity(path.len());
    for entry in path.iter().filter(|e| e.kind() != EntryKind::Label) {
        let parent = kept.last().map(SessionEntry::id);
        let mut changes = Vec::new();
        if entry.parent_id() != parent {
            changes.push(("parentId", parent.map_or_else(|| b"null".to_vec(), quote)));
        }
        if entry.kind() == EntryKind::Compaction {
            let first = entry.string("firstKeptEntryId");
            let moved = first.and_then(|first| next_of.get(first.as_str()));
            changes.extend(moved.map(|next| ("firstKeptEntryId", quote(next))));
        }
        kept.push(changed(entry, &changes));
    }
    kept
}

fn changed(entry: &SessionEntry, changes: &[(&str, Vec<u8>)]) -> SessionEntry {
    if changes.is_empty() {
        return entry.clone();
    }
    let tree = Tree::parse(entry.raw()).unwrap_or_default();
    let root = tree.root(entry.raw());
    let mut patch = Patch::new(root);
    for (key, json) in changes {
        patch.set(root, key, json);
    }
    SessionEntry::parse(&patch.finish()).unwrap_or_else(|_| entry.clone())
}
