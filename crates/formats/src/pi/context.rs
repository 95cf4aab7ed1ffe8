//! What the model is shown: the messages on the way from the root to the leaf.

use std::collections::HashMap;

use rethread_json::{Array, Object, Patch, Tree, Value};

use super::entry::{EntryKind, SessionEntry};
use super::id::Id;
use super::manager::Agent;
use super::role::Role;
use crate::RawJson;
use crate::fields::string_of;

/// What the model is shown, and with which settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionContext {
    /// The messages as JSON, in their order.
    pub messages: Vec<RawJson>,
    /// The thinking level; `off` where nothing set one.
    pub thinking_level: String,
    /// The model, if one was chosen or answered.
    pub model: Option<ModelRef>,
}

/// A model of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelRef {
    /// Who offers it; empty where nobody says.
    pub provider: String,
    /// Which one it is; empty where nobody says.
    pub model_id: String,
    raw: Vec<u8>,
}

impl ModelRef {
    /// As JSON, with what was said and as it was said.
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }
}

/// Where a walk to the root begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaf<'a> {
    /// At the last entry of the file.
    Last,
    /// Before all entries: the way is empty.
    Root,
    /// At the entry with this id; at the last one if there is none.
    At(&'a str),
}

impl Default for SessionContext {
    fn default() -> Self {
        Self {
            messages: Vec::new(),
            thinking_level: "off".to_owned(),
            model: None,
        }
    }
}

/// The way from the root to the entry at `from`. A circle of parents is walked once.
pub(crate) fn path<'e>(
    entries: &'e [SessionEntry],
    index: &HashMap<Id, usize>,
    from: usize,
) -> Vec<&'e SessionEntry> {
    let mut seen = vec![false; entries.len()];
    let mut path = Vec::new();
    let mut next = Some(from);
    while let Some(at) = next {
        let (Some(entry), Some(seen)) = (entries.get(at), seen.get_mut(at)) else {
            break;
        };
        if std::mem::replace(seen, true) {
            break;
        }
        path.push(entry);
        next = entry.parent_id().and_then(|id| index.get(id).copied());
    }
    path.reverse();
    path
}

/// What the model is shown at the end of a way from the root, by that program.
pub(crate) fn build_context(path: &[&SessionEntry], program: Agent) -> SessionContext {
    let mut context = SessionContext::settings(path);
    let is_compaction = |e: &&SessionEntry| e.kind() == EntryKind::Compaction;
    let (compaction, shown) = match path.iter().rposition(is_compaction) {
        Some(at) => (path.get(at).copied(), after_compaction(path, at)),
        None => (None, path.to_vec()),
    };
    let mut edits = Edits::new();
    for entry in &shown {
        if entry.kind() == EntryKind::ContextEdit {
            note_edit(entry, &mut edits);
        }
    }
    let is_left_out = |id: &str| edits.get(id).is_some_and(Option::is_none);
    if let Some(entry) = compaction.filter(|entry| !is_left_out(entry.id())) {
        context.messages.extend(compaction_messages(entry, program));
    }
    context.messages.reserve(shown.len());
    for entry in shown {
        if !is_left_out(entry.id()) {
            context.entry(entry, &edits);
        }
    }
    context
}

/// The entries of a way that count beside the compaction at that place: those that it keeps, but
/// no instructions among them, and those that come after it.
fn after_compaction<'e>(path: &[&'e SessionEntry], at: usize) -> Vec<&'e SessionEntry> {
    let (before, rest) = path.split_at(at);
    let compaction = rest.first().filter(|e| !e.look(keeps_nothing));
    let first = compaction.and_then(|e| e.string("firstKeptEntryId"));
    let from = before
        .iter()
        .position(|e| first.as_deref() == Some(e.id()))
        .unwrap_or(before.len());
    let kept = before.iter().skip(from);
    let kept = kept.filter(|e| e.said_by() != Role::System);
    kept.chain(rest.iter().skip(1)).copied().collect()
}

/// Whether a compaction is one of today's Atomic: its summary is made of lines of the conversation.
pub(super) fn is_verbatim(compaction: Value<'_>) -> bool {
    let strategy = compaction.at(&["details", "strategy"]);
    strategy.is_some_and(|strategy| strategy.is_str("verbatim-lines"))
}

/// Whether a compaction of Atomic holds all that is left, whatever it names as kept.
pub(super) fn keeps_nothing(compaction: Value<'_>) -> bool {
    let format = compaction.at(&["details", "format"]);
    is_verbatim(compaction) && format.is_some_and(|format| format.is_str("full-collapse"))
}

/// What messages say instead, by entry: new content, or nothing at all.
type Edits = HashMap<String, Option<Vec<u8>>>;

fn note_edit(entry: &SessionEntry, edits: &mut Edits) {
    entry.look(|value| {
        let (Some(target), Some(new)) = (string_of(value, "targetId"), value.get("replacement"))
        else {
            return;
        };
        if new.is_null() {
            edits.insert(target, None);
        } else if let Some(content) = new.get("content") {
            edits.insert(target, Some(content.raw().to_vec()));
        }
    });
}

impl SessionContext {
    /// As JSON, as pi itself gives it: `messages`, `thinkingLevel` and `model`.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
    /// # let mut session = SessionManager::in_memory(&Host::pi(env), "/p");
    /// session.append_model_change("openai", "gpt")?;
    /// assert_eq!(
    ///     session.build_session_context().to_json(),
    ///     br#"{"messages":[],"thinkingLevel":"off","model":{"provider":"openai","modelId":"gpt"}}"#
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_json(&self) -> Vec<u8> {
        let add = |all: Array, message: &RawJson| all.raw(message);
        let messages = self.messages.iter().fold(Array::new(), add);
        let model = self.model.as_ref().map_or(&b"null"[..], ModelRef::raw);
        Object::new()
            .raw("messages", &messages.finish())
            .str("thinkingLevel", &self.thinking_level)
            .raw("model", model)
            .finish()
    }

    /// A context without messages. The last entry that sets something counts, so the walk is from
    /// the end.
    fn settings(path: &[&SessionEntry]) -> Self {
        let mut context = Self::default();
        let level = |e: &&SessionEntry| match e.kind() {
            EntryKind::ThinkingLevelChange => e.string("thinkingLevel"),
            _ => None,
        };
        if let Some(level) = path.iter().rev().find_map(level) {
            context.thinking_level = level;
        }
        context.model = path.iter().rev().find_map(|entry| match entry.kind() {
            EntryKind::ModelChange => entry.look(chosen_model),
            EntryKind::Message if entry.said_by() == Role::Assistant => entry.look(chosen_model),
            _ => None,
        });
        context
    }

    /// Adds what the model is shown of an entry.
    fn entry(&mut self, entry: &SessionEntry, edits: &Edits) {
        let content = edits.get(entry.id()).and_then(Option::as_deref);
        let message = match entry.kind() {
            EntryKind::Message if content.is_none() && !entry.lacks_content() => entry.message(),
            EntryKind::Message => entry.look(|value| {
                let message = value.get("message").filter(|m| m.is_object())?;
                Some(stored(message, content).into())
            }),
            EntryKind::CustomMessage => {
                entry.look(|value| Some(custom(entry, value, content).into()))
            }
            EntryKind::BranchSummary => entry.look(|value| branch_summary(entry, value)),
            _ => None,
        };
        self.messages.extend(message);
    }
}

/// The model that an entry chooses or that answers in it.
pub(crate) fn chosen_model(entry: Value<'_>) -> Option<ModelRef> {
    match EntryKind::of(entry.get("type")) {
        EntryKind::ModelChange => Some(model(entry, "modelId")),
        EntryKind::Message => {
            let message = entry.get("message").filter(|m| m.is_object())?;
            (Role::of(message) == Role::Assistant).then(|| model(message, "model"))
        }
        _ => None,
    }
}

/// The model that an object names, with what was said and as it was said.
fn model(value: Value<'_>, key: &str) -> ModelRef {
    let raw = |key| value.get(key).map(Value::raw);
    ModelRef {
        provider: string_of(value, "provider").unwrap_or_default(),
        model_id: string_of(value, key).unwrap_or_default(),
        raw: Object::new()
            .opt_raw("provider", raw("provider"))
            .opt_raw("modelId", raw(key))
            .finish(),
    }
}

/// A message with other content than it is stored with, or with some where that is missing.
fn stored(message: Value<'_>, edit: Option<&[u8]>) -> Vec<u8> {
    let role = Role::of(message);
    let content = match edit.filter(|_| role.can_change()) {
        Some(text)
            if text.starts_with(b"\"") && matches!(role, Role::Assistant | Role::ToolResult) =>
        {
            let block = Object::new().str("type", "text").raw("text", text).finish();
            Some(Array::new().raw(&block).finish())
        }
        Some(content) => Some(content.to_vec()),
        None if !role.lacks_content(message) => None,
        None if role == Role::System => Some(b"\"\"".to_vec()),
        None => Some(b"[]".to_vec()),
    };
    let raw = message.raw();
    let Some(content) = content else {
        return raw.to_vec();
    };
    // The patch is of the whole text that a value comes from.
    let Ok(tree) = Tree::parse(raw) else {
        return raw.to_vec();
    };
    let mut patch = Patch::new(tree.root(raw));
    patch.set(tree.root(raw), "content", &content);
    patch.finish()
}

fn custom(entry: &SessionEntry, value: Value<'_>, content: Option<&[u8]>) -> Vec<u8> {
    let raw = |key| value.get(key).map(Value::raw);
    let stored = value.get("content").filter(|content| !content.is_null());
    let stored = stored.map_or(&b"[]"[..], Value::raw);
    let message = Object::new()
        .str("role", "custom")
        .opt_raw("customType", raw("customType"))
        .raw("content", content.unwrap_or(stored))
        .opt_raw("display", raw("display"))
        .opt_raw("details", raw("details"))
        .opt_raw("excludeFromContext", raw("excludeFromContext"));
    timed(message, entry)
}

fn branch_summary(entry: &SessionEntry, value: Value<'_>) -> Option<RawJson> {
    let summary = value.get("summary")?;
    if summary.content().is_none_or(<[u8]>::is_empty) {
        return None;
    }
    let message = Object::new()
        .str("role", "branchSummary")
        .raw("summary", summary.raw())
        .opt_raw("fromId", value.get("fromId").map(Value::raw));
    Some(timed(message, entry).into())
}

/// The instructions that hold from there on, if it has some, and the summary.
fn compaction_messages(entry: &SessionEntry, program: Agent) -> Vec<RawJson> {
    entry.look(|value| {
        let raw = |key| value.get(key).map(Value::raw);
        let system = value.get("systemMessage").filter(|m| m.is_object());
        let summary = if program == Agent::Atomic && is_verbatim(value) {
            let text = string_of(value, "summary").unwrap_or_default();
            let text = format!("{VERBATIM}{text}");
            let block = Object::new().str("type", "text").str("text", &text);
            Object::new()
                .str("role", "custom")
                .str("customType", "compaction")
                .raw("content", &Array::new().raw(&block.finish()).finish())
                .bool("display", true)
                .opt_raw("details", raw("details"))
        } else {
            Object::new()
                .str("role", "compactionSummary")
                .opt_raw("summary", raw("summary"))
                .opt_raw("tokensBefore", raw("tokensBefore"))
        };
        let summary = timed(summary, entry);
        let system = system.map(|system| system.raw().to_vec());
        let all = system.into_iter().chain([summary]);
        all.map(RawJson::from).collect()
    })
}

/// What Atomic says before the lines that it kept.
const VERBATIM: &str = "The earlier conversation was compacted. Below is the verbatim transcript of the retained lines; elided spans are marked \"(filtered N lines)\".\n\n";

/// Ends a message with the time of its entry; `null` if that cannot be read.
fn timed(message: Object, entry: &SessionEntry) -> Vec<u8> {
    match entry.millis() {
        Some(millis) => message.i64("timestamp", millis),
        None => message.null("timestamp"),
    }
    .finish()
}
