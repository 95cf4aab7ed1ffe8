//! Adding entries that are given as JSON.

use rethread_json::{Object, Tree, Value, compact, quote};

use super::append::place;
use super::{SessionError, SessionManager};
use crate::fields::string_of;

/// What says where an entry stands; the session sets it.
const PLACE: [&str; 4] = ["type", "id", "parentId", "timestamp"];

/// What every compaction has, in this order.
const FIRST: [&str; 3] = ["summary", "firstKeptEntryId", "tokensBefore"];

/// What the value of a field must be.
#[derive(Clone, Copy)]
enum ValueRule {
    Text,
    /// A text that says something.
    Words,
    Truth,
    Count,
    /// The id of an entry of the session.
    Entry,
    /// A text, or blocks.
    Content,
}

impl ValueRule {
    /// What is wrong with a value, if something is.
    fn fault(self, session: &SessionManager, value: Value<'_>) -> Option<String> {
        let is = |fits: bool, what: &str| (!fits).then(|| format!("is not {what}"));
        let text = value.str();
        match self {
            Self::Text => is(text.is_some(), "a text"),
            Self::Words => match text {
                Some(text) if text.is_empty() => Some("is empty".to_owned()),
                text => is(text.is_some(), "a text"),
            },
            Self::Truth => is(value.bool().is_some(), "`true` or `false`"),
            Self::Count => is(value.u64().is_some(), "a whole number"),
            Self::Content => is(
                text.is_some() || value.is_array(),
                "a text or a list of blocks",
            ),
            Self::Entry => match text {
                Some(id) if session.index.contains_key(id.as_ref()) => None,
                Some(id) => Some(format!("is `{id}`, which is no entry of the session")),
                None => Some("is not the id of an entry".to_owned()),
            },
        }
    }
}

/// A field of an entry: its name, whether it must be there, and what it must be.
type EntryField = (&'static str, bool, ValueRule);

/// The fields of entries, in the order in which their program writes them.
fn fields(type_name: &str) -> &'static [EntryField] {
    match type_name {
        "thinking_level_change" => &[("thinkingLevel", true, ValueRule::Words)],
        "model_change" => &[
            ("provider", true, ValueRule::Words),
            ("modelId", true, ValueRule::Words),
        ],
        "compaction" => &[
            ("summary", true, ValueRule::Text),
            ("firstKeptEntryId", false, ValueRule::Entry),
            ("tokensBefore", false, ValueRule::Count),
            ("fromHook", false, ValueRule::Truth),
        ],
        "branch_summary" => &[
            ("fromId", false, ValueRule::Text),
            ("summary", true, ValueRule::Text),
            ("fromHook", false, ValueRule::Truth),
        ],
        "custom" => &[("customType", true, ValueRule::Words)],
        "custom_message" => &[
            ("customType", true, ValueRule::Words),
            ("content", true, ValueRule::Content),
            ("display", true, ValueRule::Truth),
        ],
        "label" => &[
            ("targetId", true, ValueRule::Entry),
            ("label", false, ValueRule::Text),
        ],
        "context_edit" => &[("targetId", true, ValueRule::Entry)],
        "session_info" => &[("name", false, ValueRule::Text)],
        _ => &[],
    }
}

impl SessionManager {
    /// Adds an entry that is given as JSON, of a type that is known here or not. Its `id` and
    /// `parentId` are set by the session, and so is its `timestamp` if it has none; all other
    /// fields are kept. Messages are added with [`SessionManager::append_message_json`].
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
    /// # let mut session = SessionManager::in_memory(&Host::atomic(env), "/p");
    /// let hello = session.append_message(NewPiMessage::user("hello"))?;
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
        let type_name = self.check_entry(value)?;
        let id = self.fresh_id();
        let line = self.placed(value, &type_name, &id);
        self.commit(&line)
    }

    /// The type of an entry that is given as JSON, or why it cannot be added.
    pub(crate) fn check_entry(&self, value: Value<'_>) -> Result<String, SessionError> {
        let bad = |why: &str| SessionError::BadEntry {
            why: why.to_owned(),
        };
        let type_name = string_of(value, "type");
        let type_name = type_name.ok_or_else(|| bad("must be an object with a `type`"))?;
        match type_name.as_str() {
            "session" => return Err(bad("cannot be another header")),
            "message" => return Err(bad("of this type is a message")),
            _ => {}
        }
        for (key, is_needed, is) in fields(&type_name) {
            let of = |why: &str| bad(&format!("of type `{type_name}` {why}"));
            match value.get(key).filter(|value| !value.is_null()) {
                None if *is_needed => return Err(of(&format!("must have a `{key}`"))),
                None => {}
                Some(value) => {
                    if let Some(fault) = is.fault(self, value) {
                        return Err(of(&format!("has a `{key}` that {fault}")));
                    }
                }
            }
        }
        Ok(type_name)
    }

    /// The entry with its place, in the order in which its program writes the fields.
    fn placed(&self, value: Value<'_>, type_name: &str, id: &str) -> Vec<u8> {
        let time = string_of(value, "timestamp").unwrap_or_else(|| self.host.env.now().to_string());
        let said = |key: &str| value.get(key).filter(|value| !value.is_null());
        let payload = |mut entry: Object| {
            if type_name == "compaction" {
                // What must be there is, in its order; the rest comes behind as it was given.
                let kept = said("firstKeptEntryId").map(Value::raw);
                let own = quote(id);
                let tokens = said("tokensBefore").map_or(&b"0"[..], Value::raw);
                entry = entry
                    .opt_raw("summary", said("summary").map(Value::raw))
                    .raw("firstKeptEntryId", kept.unwrap_or(&own))
                    .raw("tokensBefore", tokens);
            } else if type_name == "branch_summary" && said("fromId").is_none() {
                entry = entry.str("fromId", self.leaf_id().unwrap_or("root"));
            }
            for (key, value) in value.members() {
                let key = key.str().unwrap_or_default();
                let is_there = match type_name {
                    "compaction" => FIRST.contains(&key.as_ref()),
                    "branch_summary" => key == "fromId" && value.is_null(),
                    _ => false,
                };
                if !is_there && !PLACE.contains(&key.as_ref()) {
                    entry = entry.raw(&key, value.raw());
                }
            }
            if type_name == "compaction" && said("systemMessage").is_none() {
                entry = entry.opt_raw("systemMessage", self.instructions().as_deref());
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
    string_of(content.items().find(is_it)?, "name")
}
