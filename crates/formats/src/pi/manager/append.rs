//! Adding entries. Each becomes the child of the leaf, and the new leaf.

use rethread_json::{Object, Tree, compact};
use rethread_model::Moment;

use super::content::Content;
use super::new_message::NewPiMessage;
use super::{SessionError, SessionManager, names};

impl SessionManager {
    /// Adds a message and returns the id of its entry.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
    /// # let mut session = SessionManager::in_memory(&Host::atomic(env), "/p");
    /// use rethread_formats::pi::ContentBlock;
    /// session.append_message(NewPiMessage::user("List the files."))?;
    /// let call = ContentBlock::tool_call("c1", "bash", br#"{"command":"ls"}"#);
    /// session.append_message(
    ///     NewPiMessage::assistant([call]).model("openai-responses", "openai", "gpt-x"),
    /// )?;
    /// let id = session.append_message(
    ///     NewPiMessage::tool_result("c1", "bash", [ContentBlock::text("a.txt")]),
    /// )?;
    /// assert_eq!(session.leaf_id(), Some(id.as_str()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append_message(
        &mut self,
        message: impl Into<NewPiMessage>,
    ) -> Result<String, SessionError> {
        let now = self.host.env.now().millis();
        let json = message.into().to_json(now);
        let json = json.map_err(|cause| SessionError::NotJson {
            what: "the details",
            cause,
        })?;
        self.append_stored(&json)
    }

    /// Adds a message that is given as JSON. Fields, spellings and their order are kept.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
    /// # let mut session = SessionManager::in_memory(&Host::atomic(env), "/p");
    /// session.append_message_json(br#"{"role": "user", "content": "hello", "mood": 1.0}"#)?;
    /// let messages = session.build_session_context().messages;
    /// assert_eq!(messages, [br#"{"role":"user","content":"hello","mood":1.0}"#]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append_message_json(&mut self, json: &[u8]) -> Result<String, SessionError> {
        let json = checked("the message", json)?;
        let tree = Tree::parse(&json).unwrap_or_default();
        let message = tree.root(&json);
        let why = match message.get("role").and_then(rethread_json::Value::str) {
            None if !message.is_object() => "must be an object",
            None => "must have a role",
            Some(role) if role == "branchSummary" || role == "compactionSummary" => {
                "of this role is made by the context, and is not stored"
            }
            Some(_) => return self.append_stored(&json),
        };
        Err(SessionError::BadMessage { why })
    }

    fn append_stored(&mut self, message: &[u8]) -> Result<String, SessionError> {
        let id = self.fresh_id();
        let entry = self.base("message", &id).raw("message", message);
        self.commit(&entry.finish())
    }

    /// Notes that the model is to think more or less from here on.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
    /// # let mut session = SessionManager::in_memory(&Host::atomic(env), "/p");
    /// session.append_thinking_level_change("high")?;
    /// assert_eq!(session.build_session_context().thinking_level, "high");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append_thinking_level_change(&mut self, level: &str) -> Result<String, SessionError> {
        let id = self.fresh_id();
        let entry = self.base("thinking_level_change", &id);
        self.commit(&entry.str("thinkingLevel", level).finish())
    }

    /// Notes that another model answers from here on.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
    /// # let mut session = SessionManager::in_memory(&Host::atomic(env), "/p");
    /// session.append_model_change("anthropic", "claude-x")?;
    /// assert_eq!(session.build_session_context().model.unwrap().model_id, "claude-x");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append_model_change(
        &mut self,
        provider: &str,
        model_id: &str,
    ) -> Result<String, SessionError> {
        let id = self.fresh_id();
        let entry = self.base("model_change", &id);
        let entry = entry.str("provider", provider).str("modelId", model_id);
        self.commit(&entry.finish())
    }

    /// Puts a summary in the place of what came before `first_kept_entry_id`; of everything, if
    /// that is none. `details` are JSON; `from_hook` says that an extension made the summary. If
    /// messages of the system are in the context, what they say is kept with the summary.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
    /// # let mut session = SessionManager::in_memory(&Host::atomic(env), "/p");
    /// session.append_message(NewPiMessage::user("a long story"))?;
    /// let kept = session.append_message(NewPiMessage::user("and now?"))?;
    /// session.append_compaction("It was long.", Some(&kept), 9000, None, None)?;
    /// assert_eq!(session.build_session_context().messages.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append_compaction(
        &mut self,
        summary: &str,
        first_kept_entry_id: Option<&str>,
        tokens_before: u64,
        details: Option<&[u8]>,
        from_hook: Option<bool>,
    ) -> Result<String, SessionError> {
        let details = optional("the details", details)?;
        let system = self.instructions();
        let id = self.fresh_id();
        let entry = self
            .base("compaction", &id)
            .str("summary", summary)
            .str("firstKeptEntryId", first_kept_entry_id.unwrap_or(&id))
            .u64("tokensBefore", tokens_before)
            .opt_raw("details", details.as_deref())
            .opt_raw("fromHook", from_hook.map(truth))
            .opt_raw("systemMessage", system.as_deref());
        self.commit(&entry.finish())
    }

    /// Keeps state of an extension, as JSON. The model does not see it.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
    /// # let mut session = SessionManager::in_memory(&Host::atomic(env), "/p");
    /// let id = session.append_custom_entry("todo", Some(br#"{"open": 3}"#))?;
    /// assert_eq!(session.entry(&id).unwrap().field("data").unwrap(), br#"{"open":3}"#);
    /// assert!(session.build_session_context().messages.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append_custom_entry(
        &mut self,
        custom_type: &str,
        data: Option<&[u8]>,
    ) -> Result<String, SessionError> {
        let data = optional("the data", data)?;
        let id = self.fresh_id();
        let entry = Object::new()
            .str("type", "custom")
            .str("customType", custom_type)
            .opt_raw("data", data.as_deref());
        self.commit(&self.place(entry, &id).finish())
    }

    /// Names the session. Line breaks become spaces; a blank name takes the name away.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
    /// # let mut session = SessionManager::in_memory(&Host::atomic(env), "/p");
    /// session.append_session_info("  Files\nand folders ")?;
    /// assert_eq!(session.session_name().as_deref(), Some("Files and folders"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append_session_info(&mut self, name: &str) -> Result<String, SessionError> {
        let lines = name.split(['\r', '\n']).filter(|line| !line.is_empty());
        let name = lines.collect::<Vec<_>>().join(" ");
        let id = self.fresh_id();
        let entry = self.base("session_info", &id).str("name", name.trim());
        self.commit(&entry.finish())
    }

    /// Adds a message of an extension, which the model sees. `display` says whether the user sees
    /// it too; `details` are JSON for the extension alone.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
    /// # let mut session = SessionManager::in_memory(&Host::atomic(env), "/p");
    /// session.append_custom_message("weather", "It rains.", true, None)?;
    /// assert_eq!(session.build_session_context().messages.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append_custom_message(
        &mut self,
        custom_type: &str,
        content: impl Into<Content>,
        display: bool,
        details: Option<&[u8]>,
    ) -> Result<String, SessionError> {
        let details = optional("the details", details)?;
        let id = self.fresh_id();
        let entry = Object::new()
            .str("type", "custom_message")
            .str("customType", custom_type)
            .raw("content", &content.into().to_json())
            .bool("display", display)
            .opt_raw("details", details.as_deref());
        self.commit(&self.place(entry, &id).finish())
    }

    /// Puts a label on an entry, or takes it away if `label` is none or empty.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
    /// # let mut session = SessionManager::in_memory(&Host::atomic(env), "/p");
    /// let id = session.append_message(NewPiMessage::user("hello"))?;
    /// session.append_label_change(&id, Some("start"))?;
    /// assert_eq!(session.label(&id), Some("start"));
    /// session.append_label_change(&id, None)?;
    /// assert_eq!(session.label(&id), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append_label_change(
        &mut self,
        target_id: &str,
        label: Option<&str>,
    ) -> Result<String, SessionError> {
        self.find(target_id)?;
        let id = self.fresh_id();
        let entry = self.base("label", &id);
        let entry = entry.str("targetId", target_id).opt_str("label", label);
        self.commit(&entry.finish())
    }

    /// An id that no entry has.
    pub(super) fn fresh_id(&self) -> String {
        names::entry_id(&self.host.env, |id| self.index.contains_key(id))
    }

    /// What entries begin with.
    fn base(&self, type_name: &str, id: &str) -> Object {
        self.place(Object::new().str("type", type_name), id)
    }

    /// Id, parent and time of an entry at the leaf.
    fn place(&self, entry: Object, id: &str) -> Object {
        let time = self.time.unwrap_or_else(|| self.host.env.now());
        place(entry, id, self.leaf_id(), &time.to_string())
    }

    /// The time of the entries that are added from here on; none for the time at which they are.
    pub(crate) fn set_time(&mut self, time: Option<Moment>) {
        self.time = time;
    }
}

/// Id, parent and time of an entry.
pub(super) fn place(entry: Object, id: &str, parent: Option<&str>, timestamp: &str) -> Object {
    let entry = entry.str("id", id);
    let entry = match parent {
        Some(parent) => entry.str("parentId", parent),
        None => entry.null("parentId"),
    };
    entry.str("timestamp", timestamp)
}

/// JSON without spaces, or why it is none.
fn checked(what: &'static str, json: &[u8]) -> Result<Vec<u8>, SessionError> {
    compact(json).map_err(|cause| SessionError::NotJson { what, cause })
}

pub(super) fn optional(
    what: &'static str,
    json: Option<&[u8]>,
) -> Result<Option<Vec<u8>>, SessionError> {
    json.map(|json| checked(what, json)).transpose()
}

pub(super) fn truth(value: bool) -> &'static [u8] {
    if value { b"true" } else { b"false" }
}
