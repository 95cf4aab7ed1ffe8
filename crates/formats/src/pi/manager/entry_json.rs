//! Adding entries that are given as JSON.

use rethread_json::{Object, Tree, Value, compact};

use super::append::place;
use super::{SessionError, SessionManager};
use crate::pi::entry::owned;

/// What says where an entry stands; the session sets it.
const PLACE: [&str; 4] = ["type", "id", "parentId", "timestamp"];

/// What entries of a type cannot lack.
fn needed(type_name: &str) -> &'static [(&'static str, &'static str)] {
    match type_name {
        "thinking_level_change" => &[("thinkingLevel", "must have a `thinkingLevel`")],
        "model_change" => &[
            ("provider", "must have a `provider`"),
            ("modelId", "must have a `modelId`"),
        ],
        "compaction" | "branch_summary" => &[("summary", "must have a `summary`")],
        "custom" => &[("customType", "must have a `customType`")],
        "custom_message" => &[
            ("customType", "must have a `customType`"),
            ("content", "must have a `content`"),
            ("display", "must have a `display`"),
        ],
        "label" | "context_edit" => &[("targetId", "must have a `targetId`")],
        _ => &[],
    }
}

impl SessionManager {
    /// Adds an entry that is given as JSON, of a type that is known here or not. Its `id` and
    /// `parentId` are set by the session, and so is its `timestamp` if it has none; all other
    /// fields are kept. Messages are added with [`SessionManager::append_message_json`].
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewMessage, SessionManager}};
    /// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
    /// # let mut session = SessionManager::in_memory(&Host::atomic(env), "/p");
    /// let hello = session.append_message(NewMessage::user("hello"))?;
    /// let edit = format!(r#"{{"type":"context_edit","targetId":"{hello}","replacement":null}}"#);
    /// session.append_entry_json(edit.as_bytes())?;
    /// assert!(session.build_session_context().messages.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append_entry_json(&mut self, json: &[u8]) -> Result<String, SessionError> {
        let what = "the entry";
        let json = compact(json).map_err(|cause| SessionError::NotJson { what, cause })?;
        let tree = Tree::parse(&json).map_err(|cause| SessionError::NotJson { what, cause })?;
        let value = tree.root(&json);
        let type_name = owned(value, "type");
        let bad = |why| SessionError::BadEntry { why };
        let type_name = type_name.ok_or(bad("must be an object with a `type`"))?;
        match type_name.as_str() {
            "session" => return Err(bad("cannot be another header")),
            "message" => return Err(bad("of this type is a message")),
            _ => {}
        }
        for (key, why) in needed(&type_name) {
            if value.get(key).is_none_or(Value::is_null) {
                return Err(bad(why));
            }
        }
        if matches!(type_name.as_str(), "label" | "context_edit") {
            self.find(&owned(value, "targetId").unwrap_or_default())?;
        }
        let id = self.fresh_id();
        let line = self.placed(value, &type_name, &id);
        self.commit(&line)
    }

    /// The entry with its place, in the order in which its program writes the fields.
    fn placed(&self, value: Value<'_>, type_name: &str, id: &str) -> Vec<u8> {
        let time = owned(value, "timestamp").unwrap_or_else(|| self.host.env.now().to_string());
        let payload = |mut entry: Object| {
            for (key, value) in value.members() {
                let key = key.str().unwrap_or_default();
                if !PLACE.contains(&key.as_ref()) {
                    entry = entry.raw(&key, value.raw());
                }
            }
            match type_name {
                "compaction" => {
                    if value.get("firstKeptEntryId").is_none() {
                        entry = entry.str("firstKeptEntryId", id);
                    }
                    if value.get("tokensBefore").is_none() {
                        entry = entry.u64("tokensBefore", 0);
                    }
                }
                "branch_summary" if value.get("fromId").is_none() => {
                    entry = entry.str("fromId", self.leaf_id().unwrap_or("root"));
                }
                _ => {}
            }
            entry
        };
        let entry = Object::new().str("type", type_name);
        let entry = if matches!(type_name, "custom" | "custom_message") {
            place(payload(entry), id, self.leaf_id(), &time)
        } else {
            payload(place(entry, id, self.leaf_id(), &time))
        };
        entry.finish()
    }

    /// The tool that a call is of.
    pub(crate) fn tool_of(&self, call_id: &str) -> Option<String> {
        let mut entries = self.entries.iter().rev();
        entries.find_map(|entry| entry.look(|value| tool_in(value, call_id)))
    }
}

/// The tool that a call is of, if an entry makes it.
pub(crate) fn tool_in(entry: Value<'_>, call_id: &str) -> Option<String> {
    let content = entry.at(&["message", "content"])?;
    let is_it = |b: &Value<'_>| {
        b.get("type").is_some_and(|t| t.is_str("toolCall"))
            && b.get("id").is_some_and(|id| id.is_str(call_id))
    };
    owned(content.items().find(is_it)?, "name")
}
