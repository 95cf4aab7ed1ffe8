//! One line of a session file: its bytes as they are, and what they say.

use std::ops::Range;
use std::sync::Arc;

use rethread_json::{SyntaxError, Tree, Value};
use rethread_model::Moment;

use super::id::Id;
use super::manager::{Content, Message};
use super::role::Role;
use crate::RawJson;
use crate::fields::string_of;

/// The version of the format that is written.
pub const CURRENT_VERSION: u64 = 3;

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EntryKind {
    /// A message of the conversation.
    Message,
    /// The thinking level changed.
    ThinkingLevelChange,
    /// The model changed.
    ModelChange,
    /// What came before was summarised.
    Compaction,
    /// A branch that was left was summarised.
    BranchSummary,
    /// State of an extension, not for the model.
    Custom,
    /// A message of an extension, for the model.
    CustomMessage,
    /// A bookmark on an entry.
    Label,
    /// The name of the session.
    SessionInfo,
    /// A message is shown to the model differently, or not at all.
    ContextEdit,
    /// A type that is not known here; it is kept and has its place in the tree.
    Other,
}

impl EntryKind {
    pub(crate) fn of(type_name: Option<Value<'_>>) -> Self {
        const KINDS: [(&str, EntryKind); 10] = [
            ("message", EntryKind::Message),
            ("thinking_level_change", EntryKind::ThinkingLevelChange),
            ("model_change", EntryKind::ModelChange),
            ("compaction", EntryKind::Compaction),
            ("branch_summary", EntryKind::BranchSummary),
            ("custom", EntryKind::Custom),
            ("custom_message", EntryKind::CustomMessage),
            ("label", EntryKind::Label),
            ("session_info", EntryKind::SessionInfo),
            ("context_edit", EntryKind::ContextEdit),
        ];
        let found = type_name.and_then(|t| KINDS.into_iter().find(|(name, _)| t.is_str(name)));
        found.map_or(Self::Other, |(_, kind)| kind)
    }
}

/// An entry of a session. It is the line of the file, byte for byte, so that fields which are not
/// known here are kept; [`SessionEntry::data`] says what the known ones hold.
#[derive(Clone, Debug)]
pub struct SessionEntry {
    raw: Arc<[u8]>,
    id: Id,
    parent: Option<Id>,
    millis: Option<i64>,
    /// Where in the line the message stands; nowhere if there is none.
    message: Range<u32>,
    kind: EntryKind,
    role: Role,
    lacks_content: bool,
}

/// What an entry says.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum EntryData {
    /// A message of the conversation.
    Message(Box<Message>),
    /// The thinking level changed.
    ThinkingLevelChange {
        /// The new level.
        thinking_level: String,
    },
    /// The model changed.
    ModelChange {
        /// Who offers the model.
        provider: String,
        /// The model.
        model_id: String,
    },
    /// What came before was summarised.
    Compaction {
        /// The summary.
        summary: String,
        /// The first entry that stays in the context beside the summary.
        first_kept_entry_id: Option<String>,
        /// How long the context was before, in tokens.
        tokens_before: Option<u64>,
        /// More about it, as JSON.
        details: Option<Vec<u8>>,
        /// Whether an extension made it.
        from_hook: bool,
    },
    /// A branch that was left was summarised.
    BranchSummary {
        /// The leaf of the branch that was left.
        from_id: String,
        /// The summary.
        summary: String,
        /// More about it, as JSON.
        details: Option<Vec<u8>>,
        /// Whether an extension made it.
        from_hook: bool,
    },
    /// State of an extension.
    Custom {
        /// Which extension it belongs to.
        custom_type: String,
        /// The state, as JSON.
        data: Option<Vec<u8>>,
    },
    /// A message of an extension.
    CustomMessage {
        /// Which extension it belongs to.
        custom_type: String,
        /// What it says.
        content: Content,
        /// Whether it is shown to the user.
        display: bool,
        /// More about it, as JSON.
        details: Option<Vec<u8>>,
    },
    /// A bookmark.
    Label {
        /// The entry that it is on.
        target_id: String,
        /// Its text; none takes it away.
        label: Option<String>,
    },
    /// The name of the session.
    SessionInfo {
        /// The name; none takes it away.
        name: Option<String>,
    },
    /// A message is shown to the model differently.
    ContextEdit {
        /// The message's entry.
        target_id: String,
        /// What it says instead; none leaves it out.
        replacement: Option<Content>,
    },
    /// A type that is not known here.
    Other {
        /// The type, as spelled.
        type_name: String,
    },
}

impl SessionEntry {
    /// Takes a line that holds one JSON value.
    pub fn parse(line: &[u8]) -> Result<Self, SyntaxError> {
        let tree = Tree::parse(line)?;
        Ok(Self::of(tree.root(line)))
    }

    pub(crate) fn of(value: Value<'_>) -> Self {
        let kind = EntryKind::of(value.get("type"));
        let message = value.get("message").filter(|m| m.is_object());
        let message = message.filter(|_| kind == EntryKind::Message);
        let role = message.map_or(Role::Other, Role::of);
        Self {
            raw: value.raw().into(),
            id: Id::of(value, "id").unwrap_or_default(),
            parent: Id::of(value, "parentId"),
            millis: value.get("timestamp").and_then(millis_of),
            message: message.map_or(0..0, |message| place(value, message.span())),
            kind,
            role,
            lacks_content: message.is_some_and(|message| role.lacks_content(message)),
        }
    }

    /// The JSON object exactly as it was written.
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// Its id; empty if it has none.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The entry that it follows.
    pub fn parent_id(&self) -> Option<&str> {
        self.parent.as_deref()
    }

    /// What it is.
    pub fn kind(&self) -> EntryKind {
        self.kind
    }

    /// Its type, as spelled.
    pub fn type_name(&self) -> String {
        self.string("type").unwrap_or_default()
    }

    /// When it was written, as spelled.
    pub fn timestamp(&self) -> Option<String> {
        self.string("timestamp")
    }

    /// When it was written, in milliseconds since 1970; none if that cannot be read.
    pub fn millis(&self) -> Option<i64> {
        self.millis
    }

    /// The JSON of any field, known or not.
    pub fn field(&self, key: &str) -> Option<Vec<u8>> {
        self.look(|value| value.get(key).map(|found| found.raw().to_vec()))
    }

    /// The role of the message, if it is one.
    pub fn role(&self) -> Option<String> {
        if self.kind != EntryKind::Message {
            return None;
        }
        self.look(|value| string_of(value.get("message")?, "role"))
    }

    /// What it says.
    pub fn data(&self) -> EntryData {
        self.look(|value| data(self.kind, value))
    }

    pub(crate) fn string(&self, key: &str) -> Option<String> {
        self.look(|value| string_of(value, key))
    }

    /// Whether a file is made for its sake.
    pub(crate) fn is_talk(&self) -> bool {
        matches!(self.role, Role::User | Role::Assistant)
    }

    /// Who said the message, if it is one.
    pub(crate) fn said_by(&self) -> Role {
        self.role
    }

    /// The message, if it is one, as it is stored.
    pub(crate) fn message(&self) -> Option<RawJson> {
        (!self.message.is_empty()).then(|| RawJson::part(&self.raw, self.message.clone()))
    }

    /// Whether the message must say something and does not.
    pub(crate) fn lacks_content(&self) -> bool {
        self.lacks_content
    }

    /// Looks at the value of the line.
    pub(crate) fn look<T>(&self, look: impl FnOnce(Value<'_>) -> T) -> T {
        let tree = Tree::parse(&self.raw).unwrap_or_default();
        look(tree.root(&self.raw))
    }
}

/// A place in a text, counted from the beginning of the value that is all of it.
fn place(value: Value<'_>, span: Range<usize>) -> Range<u32> {
    let from = value.span().start;
    let narrow = |at: usize| u32::try_from(at.saturating_sub(from)).unwrap_or_default();
    narrow(span.start)..narrow(span.end)
}

impl PartialEq for SessionEntry {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl Eq for SessionEntry {}

fn data(kind: EntryKind, value: Value<'_>) -> EntryData {
    let text = |key| string_of(value, key).unwrap_or_default();
    let json = |key| value.get(key).map(|found| found.raw().to_vec());
    let flag = |key| value.get(key).and_then(Value::bool).unwrap_or(false);
    match kind {
        EntryKind::Message => {
            EntryData::Message(Box::new(Message::of(value.get("message").unwrap_or(value))))
        }
        EntryKind::ThinkingLevelChange => EntryData::ThinkingLevelChange {
            thinking_level: text("thinkingLevel"),
        },
        EntryKind::ModelChange => EntryData::ModelChange {
            provider: text("provider"),
            model_id: text("modelId"),
        },
        EntryKind::Compaction => EntryData::Compaction {
            summary: text("summary"),
            first_kept_entry_id: string_of(value, "firstKeptEntryId"),
            tokens_before: value.get("tokensBefore").and_then(Value::u64),
            details: json("details"),
            from_hook: flag("fromHook"),
        },
        EntryKind::BranchSummary => EntryData::BranchSummary {
            from_id: text("fromId"),
            summary: text("summary"),
            details: json("details"),
            from_hook: flag("fromHook"),
        },
        EntryKind::Custom => EntryData::Custom {
            custom_type: text("customType"),
            data: json("data"),
        },
        EntryKind::CustomMessage => EntryData::CustomMessage {
            custom_type: text("customType"),
            content: Content::of(value.get("content")),
            display: flag("display"),
            details: json("details"),
        },
        EntryKind::Label => EntryData::Label {
            target_id: text("targetId"),
            label: string_of(value, "label").filter(|label| !label.is_empty()),
        },
        EntryKind::SessionInfo => EntryData::SessionInfo {
            name: name_of(value),
        },
        EntryKind::ContextEdit => EntryData::ContextEdit {
            target_id: text("targetId"),
            replacement: value
                .at(&["replacement", "content"])
                .map(|content| Content::of(Some(content))),
        },
        EntryKind::Other => EntryData::Other {
            type_name: text("type"),
        },
    }
}

/// The name that a `session_info` entry gives, if it is not blank.
pub(crate) fn name_of(value: Value<'_>) -> Option<String> {
    let name = string_of(value, "name")?;
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

/// A moment as an agent notes it: a date, with or without a time, or milliseconds.
pub(crate) fn millis_of(value: Value<'_>) -> Option<i64> {
    if let Some(text) = value.str() {
        let moment = text.parse::<Moment>().ok();
        return moment
            .or_else(|| format!("{}T00:00:00Z", text.trim()).parse().ok())
            .map(Moment::millis);
    }
    value.i64()
}
