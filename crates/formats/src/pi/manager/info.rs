//! What a session is, and what the model is shown of it.

use std::path::Path;

use super::{SessionHeader, SessionManager, system};
use crate::pi::context::{self, Leaf, SessionContext};
use crate::pi::entry::{EntryKind, SessionEntry, name_of};

impl SessionManager {
    /// What the model is shown at the leaf: the messages on the way from the root, after the last
    /// compaction its summary and what it kept; the thinking level; and the model.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
    /// # let mut session = SessionManager::in_memory(&Host::atomic(env), "/p");
    /// session.append_thinking_level_change("low")?;
    /// session.append_message(NewPiMessage::user("hello").at(5))?;
    /// let context = session.build_session_context();
    /// assert_eq!(context.messages, [br#"{"role":"user","content":"hello","timestamp":5}"#]);
    /// assert_eq!(context.thinking_level, "low");
    /// assert_eq!(context.model, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn build_session_context(&self) -> SessionContext {
        self.build_session_context_at(self.leaf_id().map_or(Leaf::Root, Leaf::At))
    }

    /// What the model is shown elsewhere in the tree.
    pub fn build_session_context_at(&self, leaf: Leaf<'_>) -> SessionContext {
        let last = self.entries.len().checked_sub(1);
        let from = match leaf {
            Leaf::Root => None,
            Leaf::Last => last,
            Leaf::At(id) => self.index.get(id).copied().or(last),
        };
        let path = from.map(|from| context::path(&self.entries, &self.index, from));
        context::build_context(&path.unwrap_or_default(), self.host.agent)
    }

    /// The instructions that hold at the leaf, as one message; none if there are none, and where the
    /// entries before those that are added are not held.
    pub(crate) fn instructions(&self) -> Option<Vec<u8>> {
        if self.past > 0 {
            return None;
        }
        let now = self.host.env.now().millis();
        system::all_as_one(&self.build_session_context().messages, now)
    }

    /// All entries, in the order of the file, without the header.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
    /// # let mut session = SessionManager::in_memory(&Host::atomic(env), "/p");
    /// session.append_message(NewPiMessage::user("hello"))?;
    /// assert_eq!(session.entries().len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn entries(&self) -> &[SessionEntry] {
        &self.entries
    }

    /// The first line of the file.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
    /// # let mut session = SessionManager::in_memory(&Host::atomic(env), "/p");
    /// assert_eq!(session.header().version(), 3);
    /// assert_eq!(session.header().cwd(), Some("/p"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn header(&self) -> &SessionHeader {
        &self.header
    }

    /// The name of the session, as it was given last, on whichever branch.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
    /// # let mut session = SessionManager::in_memory(&Host::atomic(env), "/p");
    /// assert_eq!(session.session_name(), None);
    /// session.append_session_info("Files")?;
    /// assert_eq!(session.session_name().as_deref(), Some("Files"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn session_name(&self) -> Option<String> {
        let is_info = |entry: &&SessionEntry| entry.kind() == EntryKind::SessionInfo;
        self.entries.iter().rfind(is_info)?.look(name_of)
    }

    /// The folder that the work is done in.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
    /// # let mut session = SessionManager::in_memory(&Host::atomic(env), "/p");
    /// assert_eq!(session.cwd().to_str(), Some("/p"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// The folder that new session files go to; empty in memory.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let home = tempfile::tempdir()?;
    /// # let env = Env::from_variables(Default::default(), Some(home.path().into()), home.path().into())?;
    /// # let host = Host::atomic(env);
    /// let session = SessionManager::create(&host, "/my/project", None)?;
    /// assert!(session.session_dir().ends_with("sessions/--my-project--"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn session_dir(&self) -> &Path {
        &self.session_dir
    }

    /// The id of the session.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
    /// # let mut session = SessionManager::in_memory(&Host::atomic(env), "/p");
    /// assert_eq!(session.session_id(), session.header().id());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn session_id(&self) -> &str {
        self.header.id()
    }

    /// The file of the session, whether it is there yet or not; none in memory.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
    /// # let mut session = SessionManager::in_memory(&Host::atomic(env), "/p");
    /// assert_eq!(session.session_file(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn session_file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Whether the session goes to a file.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
    /// # let mut session = SessionManager::in_memory(&Host::atomic(env), "/p");
    /// assert!(!session.is_persisted());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_persisted(&self) -> bool {
        self.file.is_some()
    }
}
