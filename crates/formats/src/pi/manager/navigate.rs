//! Moving in the tree, and looking at it.

use rethread_json::Object;

use super::append::{optional, place, truth};
use super::{SessionError, SessionManager};
use crate::pi::context;
use crate::pi::entry::SessionEntry;
use crate::pi::tree::{Label, SessionTree};

impl SessionManager {
    /// Where one is; none before all entries.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
    /// # let mut session = SessionManager::in_memory(&Host::atomic(env), "/p");
    /// assert_eq!(session.leaf_id(), None);
    /// let id = session.append_message(NewPiMessage::user("hello"))?;
    /// assert_eq!(session.leaf_id(), Some(id.as_str()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn leaf_id(&self) -> Option<&str> {
        self.leaf.as_deref()
    }

    /// The entry where one is.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
    /// # let mut session = SessionManager::in_memory(&Host::atomic(env), "/p");
    /// session.append_message(NewPiMessage::user("hello"))?;
    /// assert_eq!(session.leaf_entry().unwrap().role().as_deref(), Some("user"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn leaf_entry(&self) -> Option<&SessionEntry> {
        self.entry(self.leaf_id()?)
    }

    /// The entry with that id; of several, the last.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
    /// # let mut session = SessionManager::in_memory(&Host::atomic(env), "/p");
    /// let id = session.append_message(NewPiMessage::user("hello"))?;
    /// assert_eq!(session.entry(&id).unwrap().id(), id);
    /// assert!(session.entry("nobody").is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn entry(&self, id: &str) -> Option<&SessionEntry> {
        let at = self.place_of(id)?;
        self.entries.get(at.checked_sub(self.past)?)
    }

    /// The place of an entry among all of the session, also of those that are not held.
    pub(crate) fn place_of(&self, id: &str) -> Option<usize> {
        self.index.get(id).copied()
    }

    /// The way from the root to an entry, or to the leaf where none is named; nothing if there is
    /// no such entry.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
    /// # let mut session = SessionManager::in_memory(&Host::atomic(env), "/p");
    /// let first = session.append_message(NewPiMessage::user("hello"))?;
    /// session.append_message(NewPiMessage::user("are you there?"))?;
    /// assert_eq!(session.branch_path(None).len(), 2);
    /// assert_eq!(session.branch_path(Some(&first)).len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn branch_path(&self, from_id: Option<&str>) -> Vec<&SessionEntry> {
        let from = from_id.or(self.leaf_id());
        match from.and_then(|id| self.index.get(id)) {
            Some(&from) => context::path(&self.entries, &self.index, from),
            None => Vec::new(),
        }
    }

    /// All entries as a tree.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
    /// # let mut session = SessionManager::in_memory(&Host::atomic(env), "/p");
    /// let first = session.append_message(NewPiMessage::user("hello"))?;
    /// session.append_message(NewPiMessage::user("one way"))?;
    /// session.branch(&first)?;
    /// session.append_message(NewPiMessage::user("another way"))?;
    /// let tree = session.tree();
    /// let depths: Vec<_> = tree.walk().map(|node| node.depth).collect();
    /// assert_eq!(depths, [0, 1, 1]);
    /// assert_eq!(tree.node(tree.roots()[0]).unwrap().children, [1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tree(&self) -> SessionTree {
        SessionTree::new(&self.entries, &self.index, &self.labels)
    }

    /// The entries right below one, in the order of the file.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
    /// # let mut session = SessionManager::in_memory(&Host::atomic(env), "/p");
    /// let first = session.append_message(NewPiMessage::user("hello"))?;
    /// let second = session.append_message(NewPiMessage::user("are you there?"))?;
    /// assert_eq!(session.children(&first)[0].id(), second);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn children(&self, parent_id: &str) -> Vec<&SessionEntry> {
        let is_child = |entry: &&SessionEntry| entry.parent_id() == Some(parent_id);
        self.entries.iter().filter(is_child).collect()
    }

    /// The label on an entry.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
    /// # let mut session = SessionManager::in_memory(&Host::atomic(env), "/p");
    /// let id = session.append_message(NewPiMessage::user("hello"))?;
    /// assert_eq!(session.label(&id), None);
    /// session.append_label_change(&id, Some("start"))?;
    /// assert_eq!(session.label(&id), Some("start"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn label(&self, id: &str) -> Option<&str> {
        self.labels.get(id).map(|label| label.text.as_str())
    }

    /// The label on an entry, and when it was set.
    pub(crate) fn label_on(&self, id: &str) -> Option<&Label> {
        self.labels.get(id)
    }

    /// Moves to an entry: what is appended next becomes its child. Nothing is written; when the
    /// file is opened again, one is at its last entry.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
    /// # let mut session = SessionManager::in_memory(&Host::atomic(env), "/p");
    /// let first = session.append_message(NewPiMessage::user("hello"))?;
    /// session.append_message(NewPiMessage::user("are you there?"))?;
    /// session.branch(&first)?;
    /// assert_eq!(session.leaf_id(), Some(first.as_str()));
    /// let error = session.branch("nobody").unwrap_err();
    /// assert_eq!(error.to_string(), "Entry nobody not found");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn branch(&mut self, entry_id: &str) -> Result<(), SessionError> {
        self.find(entry_id)?;
        self.leaf = Some(entry_id.into());
        Ok(())
    }

    /// Moves before all entries: what is appended next becomes another root.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
    /// # let mut session = SessionManager::in_memory(&Host::atomic(env), "/p");
    /// session.append_message(NewPiMessage::user("hello"))?;
    /// session.reset_leaf();
    /// let id = session.append_message(NewPiMessage::user("hello again"))?;
    /// assert_eq!(session.entry(&id).unwrap().parent_id(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reset_leaf(&mut self) {
        self.leaf = None;
    }

    /// Moves to an entry, or before all of them, and adds there a summary of the branch that is
    /// left. It notes the leaf that one comes from. `details` are JSON; `from_hook` says that an
    /// extension made the summary.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
    /// # let mut session = SessionManager::in_memory(&Host::atomic(env), "/p");
    /// let first = session.append_message(NewPiMessage::user("hello"))?;
    /// let second = session.append_message(NewPiMessage::user("a dead end"))?;
    /// let id = session.branch_with_summary(Some(&first), "That led nowhere.", None, None)?;
    /// let summary = session.entry(&id).unwrap();
    /// assert_eq!(summary.parent_id(), Some(first.as_str()));
    /// assert_eq!(summary.field("fromId").unwrap(), format!("\"{second}\"").as_bytes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn branch_with_summary(
        &mut self,
        entry_id: Option<&str>,
        summary: &str,
        details: Option<&[u8]>,
        from_hook: Option<bool>,
    ) -> Result<String, SessionError> {
        if let Some(id) = entry_id {
            self.find(id)?;
        }
        let details = optional("the details", details)?;
        let id = self.fresh_id();
        let now = self.host.env.now().to_string();
        let entry = Object::new().str("type", "branch_summary");
        let entry = place(entry, &id, entry_id, &now)
            .str("fromId", self.leaf_id().unwrap_or("root"))
            .str("summary", summary)
            .opt_raw("details", details.as_deref())
            .opt_raw("fromHook", from_hook.map(truth));
        self.commit(&entry.finish())
    }
}
