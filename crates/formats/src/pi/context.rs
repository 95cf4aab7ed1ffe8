//! What the model is shown: the messages on the way from the root to the leaf.

use std::collections::HashMap;

use rethread_json::{Array, Object, Patch, Tree, Value};

use super::entry::{EntryKind, SessionEntry, owned};

/// What the model is shown, and with which settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionContext {
    /// The messages as JSON, in their order.
    pub messages: Vec<Vec<u8>>,
    /// The thinking level; `off` where nothing set one.
    pub thinking_level: String,
    /// The model, if one was chosen or answered.
    pub model: Option<ModelRef>,
}

/// A model of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelRef {
    /// Who offers it.
    pub provider: String,
    /// Which one it is.
    pub model_id: String,
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
    index: &HashMap<Box<str>, usize>,
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

/// What the model is shown at the end of a way from the root.
pub(crate) fn build(path: &[&SessionEntry]) -> SessionContext {
    let mut context = SessionContext::default();
    let mut edits = Edits::new();
    let mut compaction = None;
    for (at, entry) in path.iter().enumerate() {
        match entry.kind() {
            EntryKind::Compaction => compaction = Some((at, *entry)),
            EntryKind::ContextEdit => note_edit(entry, &mut edits),
            _ => entry.look(|value| context.settings(entry.kind(), value)),
        }
    }
    let Some((at, entry)) = compaction else {
        for entry in path {
            context.entry(entry, &edits, false);
        }
        return context;
    };
    context.messages.extend(compaction_messages(entry));
    let kept = entry.string("firstKeptEntryId");
    let (before, rest) = path.split_at(at);
    let from = before
        .iter()
        .position(|e| kept.as_deref().is_some_and(|kept| e.id() == kept));
    for entry in from.map_or(&[][..], |from| &before[from..]) {
        context.entry(entry, &edits, true);
    }
    for entry in rest {
        context.entry(entry, &edits, false);
    }
    context
}

/// What messages say instead, by entry: new content, or nothing at all.
type Edits = HashMap<String, Option<Vec<u8>>>;

fn note_edit(entry: &SessionEntry, edits: &mut Edits) {
    entry.look(|value| {
        let (Some(target), Some(new)) = (owned(value, "targetId"), value.get("replacement")) else {
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
    /// Takes over what an entry sets.
    fn settings(&mut self, kind: EntryKind, value: Value<'_>) {
        match kind {
            EntryKind::ThinkingLevelChange => {
                if let Some(level) = owned(value, "thinkingLevel") {
                    self.thinking_level = level;
                }
            }
            EntryKind::ModelChange => self.choose(value, "modelId"),
            EntryKind::Message => {
                let message = value.get("message");
                let answer =
                    message.filter(|m| m.get("role").is_some_and(|r| r.is_str("assistant")));
                if let Some(message) = answer {
                    self.choose(message, "model");
                }
            }
            _ => {}
        }
    }

    fn choose(&mut self, value: Value<'_>, model: &str) {
        if let (Some(provider), Some(model_id)) = (owned(value, "provider"), owned(value, model)) {
            self.model = Some(ModelRef { provider, model_id });
        }
    }

    /// Adds what the model is shown of an entry.
    fn entry(&mut self, entry: &SessionEntry, edits: &Edits, is_kept: bool) {
        let edit = edits.get(entry.id());
        if edit.is_some_and(Option::is_none) {
            return;
        }
        let content = edit.and_then(Option::as_deref);
        let message = entry.look(|value| match entry.kind() {
            EntryKind::Message => {
                let message = value.get("message").filter(|m| m.is_object())?;
                let is_system = message.get("role").is_some_and(|r| r.is_str("system"));
                (!is_kept || !is_system).then(|| stored(message, content))
            }
            EntryKind::CustomMessage => Some(custom(entry, value, content)),
            EntryKind::BranchSummary => branch_summary(entry, value),
            _ => None,
        });
        self.messages.extend(message);
    }
}

/// A message as it is stored, with a list where content is missing.
fn stored(message: Value<'_>, content: Option<&[u8]>) -> Vec<u8> {
    let is = |roles: &[&str]| {
        let role = message.get("role");
        role.is_some_and(|role| roles.iter().any(|r| role.is_str(r)))
    };
    let content = match content {
        Some(text) if text.starts_with(b"\"") && is(&["assistant", "toolResult"]) => {
            let block = Object::new().str("type", "text").raw("text", text).finish();
            Some(Array::new().raw(&block).finish())
        }
        Some(content) => Some(content.to_vec()),
        None => {
            let is_missing = message.get("content").is_none_or(Value::is_null);
            let needs_some = is(&["user", "assistant", "toolResult"]);
            (is_missing && needs_some).then(|| b"[]".to_vec())
        }
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
    let message = Object::new()
        .str("role", "custom")
        .opt_raw("customType", raw("customType"))
        .opt_raw("content", content.or(raw("content")))
        .opt_raw("display", raw("display"))
        .opt_raw("details", raw("details"))
        .opt_raw("excludeFromContext", raw("excludeFromContext"));
    timed(message, entry)
}

fn branch_summary(entry: &SessionEntry, value: Value<'_>) -> Option<Vec<u8>> {
    let summary = value.get("summary")?;
    if summary.content().is_none_or(<[u8]>::is_empty) {
        return None;
    }
    let message = Object::new()
        .str("role", "branchSummary")
        .raw("summary", summary.raw())
        .opt_raw("fromId", value.get("fromId").map(Value::raw));
    Some(timed(message, entry))
}

/// The instructions that hold from there on, if it has some, and the summary.
fn compaction_messages(entry: &SessionEntry) -> Vec<Vec<u8>> {
    entry.look(|value| {
        let raw = |key| value.get(key).map(Value::raw);
        let system = value.get("systemMessage").filter(|m| m.is_object());
        let summary = Object::new()
            .str("role", "compactionSummary")
            .opt_raw("summary", raw("summary"))
            .opt_raw("tokensBefore", raw("tokensBefore"));
        let summary = timed(summary, entry);
        let system = system.map(|system| system.raw().to_vec());
        system.into_iter().chain([summary]).collect()
    })
}

/// Ends a message with the time of its entry; `null` if that cannot be read.
fn timed(message: Object, entry: &SessionEntry) -> Vec<u8> {
    match entry.millis() {
        Some(millis) => message.i64("timestamp", millis),
        None => message.null("timestamp"),
    }
    .finish()
}
