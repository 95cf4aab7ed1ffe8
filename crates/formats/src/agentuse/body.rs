//! What an entry says, decoded from its records.

use memchr::memmem;
use rethread_json::{Tree, Value};
use rethread_model::{
    Block, Body, Compaction, EntryIx, Event, Json, Kept, Kind, Level, Message, ModelRef, RawRef,
    Role, Session, Usage, Visibility,
};

use super::AgentUse;
use super::blocks::{PartRecord, push_blocks};
use super::fields::{as_text, millis_between, model_ref, moment_at_path, read_usage};
use super::load::{MOST_PROMPTS, one_of};
use super::store::MESSAGE_JSON;
use crate::few::{MOST, Rest, few_items, more_records};
use crate::fields::{other_members, string_of, text_of};
use crate::{BodyReader, Native, PartKind, RecordKind};

impl BodyReader for AgentUse {
    /// What an entry says.
    fn body(&self, native: &Native, session: &Session, ix: EntryIx) -> Body {
        let origin = session.origin(ix);
        let first = origin.first().copied();
        let record = first.and_then(|raw| parsed(native, raw));
        match (session.entry(ix).kind, record) {
            (Kind::Message(Role::Assistant), record) => {
                Body::Message(answer(native, session, ix, record))
            }
            (_, None) => Body::Unknown(None),
            (Kind::Message(role), Some((bytes, tree))) => {
                let root = tree.root(&bytes);
                Body::Message(Message::new(
                    role,
                    match role {
                        Role::System => system(root, session, ix),
                        _ => prompt(root, native, session, ix),
                    },
                ))
            }
            (Kind::Compaction, Some((bytes, tree))) => compaction(tree.root(&bytes)),
            (Kind::Event, Some((bytes, tree))) => Body::Event(event(tree.root(&bytes))),
            (_, Some((bytes, tree))) => Body::Unknown(string_of(tree.root(&bytes), "type")),
        }
    }
}

/// A record as JSON; none where it cannot be read any more.
fn parsed(native: &Native, raw: RawRef) -> Option<(Vec<u8>, Tree)> {
    if native.record_kind(raw) != Some(RecordKind::Value) {
        return None;
    }
    let bytes = native.read(raw).ok()?;
    let tree = Tree::parse(&bytes).ok()?;
    Some((bytes, tree))
}

/// What the person said: the task and what was added to it, or a text among the parts. The program
/// repeats the task in every exchange; where more was said, that is only a reminder. A task that was
/// not there before is something new.
fn prompt(root: Value<'_>, native: &Native, session: &Session, ix: EntryIx) -> Vec<Block> {
    let Some(prompt) = root.at(&["user", "prompt"]) else {
        return text_of(root, "text").map(Block::Text).into_iter().collect();
    };
    let said = |key| text_of(prompt, key).filter(|t| !t.value.is_empty());
    let (task, more) = (said("task"), said("user"));
    let is_reminder = more.is_some()
        && task.as_ref().is_some_and(|task| {
            let mut before = exchanges_before(native, session, ix);
            before.any(|raw| is_task(native, raw, &task.value))
        });
    let task = task.map(|text| {
        if !is_reminder {
            return Block::Text(text);
        }
        let visibility = Visibility::Injected;
        Block::Aside { text, visibility }
    });
    task.into_iter().chain(more.map(Block::Text)).collect()
}

/// The messages of the first exchange and of the one before an entry: what is repeated is in one of
/// them, and no more than two files are read for it.
fn exchanges_before(
    native: &Native,
    session: &Session,
    ix: EntryIx,
) -> impl Iterator<Item = RawRef> {
    let asked = |entry: usize| {
        let entry = EntryIx::new(entry)?;
        let raw = *session.origin(entry).first()?;
        let is_prompt = session.entry(entry).kind == Kind::Message(Role::User);
        (is_prompt && is_message(native, raw)).then_some(raw)
    };
    let before = (0..ix.get()).rev().find_map(asked);
    let first = (0..ix.get()).find_map(asked);
    before.into_iter().chain(first)
}

/// Whether the task of an exchange is this one.
fn is_task(native: &Native, message: RawRef, task: &str) -> bool {
    parsed(native, message).is_some_and(|(bytes, tree)| {
        let other = tree.root(&bytes).at(&["user", "prompt", "task"]);
        other.is_some_and(|other| other.is_str(task))
    })
}

/// One of the system prompts: those before it in the exchange are entries before this one.
fn system(root: Value<'_>, session: &Session, ix: EntryIx) -> Vec<Block> {
    let own = session.origin(ix);
    let is_before = |before: &usize| {
        EntryIx::new(ix.get() - before).is_some_and(|other| {
            session.entry(other).kind == Kind::Message(Role::System) && session.origin(other) == own
        })
    };
    let nth = (1..=ix.get().min(MOST_PROMPTS))
        .take_while(is_before)
        .count();
    let take = if nth + 1 == MOST_PROMPTS {
        usize::MAX
    } else {
        1
    };
    let (prompts, rest) = root.at(&["assistant", "system"]).map(few_items).unzip();
    let prompts = prompts.into_iter().flatten().skip(nth).take(take);
    let rest = rest.flatten().filter(|_| take > 1);
    prompts
        .map(|p| Block::Text(as_text(p)))
        .chain(rest.map(Rest::block))
        .collect()
}

/// What a model answered.
fn answer(
    native: &Native,
    session: &Session,
    ix: EntryIx,
    first: Option<(Vec<u8>, Tree)>,
) -> Message {
    let origin = session.origin(ix);
    let message = first.filter(|_| origin.first().is_some_and(|raw| is_message(native, *raw)));
    let parts = if message.is_some() {
        origin.get(1..)
    } else {
        Some(origin)
    };
    let mut blocks = Vec::new();
    let mut tree = Tree::default();
    let parts = parts.unwrap_or_default();
    for (at, raw) in parts.iter().enumerate() {
        if blocks.len() > MOST {
            blocks.push(more_records(parts.len() - at));
            break;
        }
        let part = native.parts.get(raw.part as usize);
        // What a call points at is shown by the call.
        let Some(part) = part.filter(|p| p.kind == PartKind::Document) else {
            continue;
        };
        let Ok(bytes) = part.whole() else {
            continue;
        };
        if tree.parse_into(&bytes).is_ok() {
            let record = PartRecord {
                native,
                origin,
                raw: *raw,
            };
            push_blocks(&mut blocks, tree.root(&bytes), &record);
        }
    }
    let mut said = Message::new(Role::Assistant, blocks);
    if let Some((bytes, tree)) = &message {
        let root = tree.root(bytes);
        let assistant = root.get("assistant");
        said.model = assistant.and_then(model_of);
        if is_first(session, ix) {
            let own = assistant.map(read_usage).unwrap_or_default();
            // Looked at only where the message counts nothing.
            let steps = std::iter::once_with(|| steps(native, origin.first().copied()));
            said.usage = Some(one_of(own, steps.flatten()));
            let (start, end) = (
                moment_at_path(root, &["time", "created"]),
                moment_at_path(root, &["time", "completed"]),
            );
            #[allow(clippy::cast_precision_loss, reason = "no answer takes so long")]
            let duration = millis_between(start, end).map(|ms| ms as f64);
            said.duration_ms = duration;
            said.details = assistant.and_then(|a| other_members(a, &SAID));
        }
    }
    said
}

/// Members of `assistant` that have a place in the model.
const SAID: [&str; 6] = ["system", "modelID", "providerID", "cost", "tokens", "error"];

fn is_message(native: &Native, raw: RawRef) -> bool {
    let part = native.parts.get(raw.part as usize);
    part.is_some_and(|p| p.path.file_name().is_some_and(|n| n == MESSAGE_JSON))
}

/// Whether no answer of the same exchange stands before this one: the first tells what it cost.
fn is_first(session: &Session, ix: EntryIx) -> bool {
    let message = session.origin(ix).first();
    let mut before = (0..ix.get()).rev().filter_map(EntryIx::new);
    let shares = |ix: &EntryIx| session.origin(*ix).first() == message;
    let other = before.find(shares);
    other.is_none_or(|ix| session.entry(ix).kind != Kind::Message(Role::Assistant))
}

/// The model that answered; the program writes who serves it twice.
fn model_of(assistant: Value<'_>) -> Option<ModelRef> {
    let id = string_of(assistant, "modelID").filter(|id| !id.is_empty())?;
    let Some(provider) = string_of(assistant, "providerID").filter(|p| !p.is_empty()) else {
        return Some(model_ref(&id));
    };
    let inner = id
        .strip_prefix(provider.as_str())
        .and_then(|rest| rest.strip_prefix(':'));
    Some(ModelRef {
        id: inner.unwrap_or(&id).to_owned(),
        provider: Some(provider),
    })
}

/// What the steps of an exchange cost, in all parts behind its message.
fn steps(native: &Native, message: Option<RawRef>) -> Vec<Usage> {
    let Some(message) = message else {
        return Vec::new();
    };
    let at = message.part as usize;
    let folder = native.parts.get(at).and_then(|p| p.path.parent());
    let parts = native.parts.iter().skip(at + 1);
    let of_exchange = parts.take_while(|p| folder.is_some_and(|f| p.path.starts_with(f)));
    let mut tree = Tree::default();
    let mut steps = Vec::new();
    for part in of_exchange.filter(|p| p.kind == PartKind::Document) {
        let Ok(bytes) = part.whole() else { continue };
        if memmem::find(&bytes, b"step-finish").is_none() || tree.parse_into(&bytes).is_err() {
            continue;
        }
        let root = tree.root(&bytes);
        if root.get("type").is_some_and(|t| t.is_str("step-finish")) {
            steps.push(read_usage(root));
        }
    }
    steps
}

fn compaction(part: Value<'_>) -> Body {
    let count = |key| part.get(key).and_then(Value::u64);
    Body::Compaction(Compaction {
        kept: Kept::Nothing,
        trigger: string_of(part, "reason"),
        tokens_before: count("tokensBefore"),
        tokens_after: count("tokensAfter"),
        details: other_members(
            part,
            &[
                "type",
                "reason",
                "tokensBefore",
                "tokensAfter",
                "time",
                "id",
                "sessionID",
                "messageID",
            ],
        ),
        ..Compaction::default()
    })
}

/// Something that happened: a part of its own, or the error that ended an exchange.
fn event(root: Value<'_>) -> Event {
    if let Some(error) = root.at(&["assistant", "error"]) {
        return Event {
            name: string_of(error, "type").unwrap_or_else(|| "error".to_owned()),
            text: text_of(error, "message")
                .or_else(|| Some(as_text(error)).filter(|_| !error.is_object())),
            level: Level::Error,
            details: Some(Json::new(error.raw())),
        };
    }
    let name = string_of(root, "type").unwrap_or_default();
    let word = |key| string_of(root, key);
    let (level, said) = match name.as_str() {
        "error" => (Level::Error, text_of(root, "message")),
        "log" => {
            let level = match word("level").as_deref() {
                Some("error") => Level::Error,
                Some("warn") => Level::Warning,
                _ => Level::Info,
            };
            (level, text_of(root, "message"))
        }
        _ => {
            let failed = word("status").as_deref() == Some("failed");
            let level = if failed { Level::Warning } else { Level::Info };
            (
                level,
                text_of(root, "detail").or_else(|| text_of(root, "status")),
            )
        }
    };
    Event {
        name,
        text: said,
        level,
        details: other_members(
            root,
            &["type", "message", "time", "id", "sessionID", "messageID"],
        ),
    }
}
