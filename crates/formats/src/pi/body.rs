//! What an entry says, decoded from its line.

use rethread_json::Value;
use rethread_model::{
    Block, Body, BranchSummary, Compaction, ContextEdit, EntryIx, Event, Kept, Kind, LabelChange,
    Level, Message, RawRef, Role, Session, Text, TitleChange, TitleSource, UsageRecord,
};

use super::Flavour;
use super::blocks::{bash_blocks, not_carried_out, read_blocks, tool_result};
use super::context::{is_verbatim, keeps_nothing};
use super::fields::read_usage;
use super::links::made_up_id;
use crate::fields::{is_true, json_of, model_of, other_members, string_of, text_from, text_of};
use crate::kit::decode_record;
use crate::{BodyReader, Native};

impl BodyReader for Flavour {
    /// What an entry says.
    fn body(&self, native: &Native, session: &Session, entry: EntryIx) -> Body {
        decode_record(native, session, entry, "entry", |value, raw| {
            decoded(value, session, entry, raw)
        })
    }
}

fn decoded(value: Value<'_>, session: &Session, entry: EntryIx, raw: RawRef) -> Body {
    let id = session.id(entry);
    let type_name = string_of(value, "type");
    match session.entry(entry).kind {
        Kind::Message(role) => Body::Message(match value.get("message") {
            Some(said) if said.is_object() => message(said, role, id, raw),
            _ => custom(value, raw),
        }),
        Kind::ModelChange => Body::ModelChange(model_of(value, "modelId").unwrap_or_default()),
        Kind::ThinkingChange => {
            Body::ThinkingChange(string_of(value, "thinkingLevel").unwrap_or_default())
        }
        Kind::Compaction => Body::Compaction(compaction(value, session, entry)),
        Kind::BranchSummary => Body::BranchSummary(BranchSummary {
            from: string_of(value, "fromId"),
            summary: text_of(value, "summary").unwrap_or_default(),
            from_hook: is_true(value, "fromHook"),
            usage: read_usage(value),
            details: json_of(value, "details"),
        }),
        Kind::Label => Body::Label(LabelChange {
            target: string_of(value, "targetId").unwrap_or_default(),
            label: string_of(value, "label").filter(|l| !l.is_empty()),
        }),
        Kind::Title => Body::Title(TitleChange {
            text: string_of(value, "name")
                .map(|name| name.trim().to_owned())
                .filter(|name| !name.is_empty()),
            source: TitleSource::User,
        }),
        Kind::ContextEdit => Body::ContextEdit(context_edit(value, raw)),
        Kind::Usage => Body::Usage(UsageRecord {
            usage: read_usage(value).unwrap_or_default(),
            model: model_of(value, "model"),
            purpose: string_of(value, "kind").or(type_name),
        }),
        Kind::Event => Body::Event(event(value, type_name)),
        Kind::Unknown => Body::Unknown(type_name),
    }
}

/// What extensions keep for themselves, and summaries that are only shown.
fn event(value: Value<'_>, type_name: Option<String>) -> Event {
    let is_custom = type_name.as_deref() == Some("custom");
    let name = string_of(value, "customType").filter(|_| is_custom);
    let details = if is_custom {
        json_of(value, "data")
    } else {
        other_members(
            value,
            &["type", "id", "parentId", "timestamp", "summary", "usage"],
        )
    };
    Event {
        name: name.or(type_name).unwrap_or_default(),
        text: text_of(value, "summary").filter(|_| !is_custom),
        level: Level::Info,
        details,
    }
}

fn message(said: Value<'_>, role: Role, id: &str, raw: RawRef) -> Message {
    let word = string_of(said, "role").unwrap_or_default();
    match word.as_str() {
        "custom" | "hookMessage" => return custom(said, raw),
        "toolResult" => {
            let mut message = Message::new(role, vec![tool_result(said, raw)]);
            message.usage = read_usage(said);
            message.duration_ms = said.get("durationMs").and_then(Value::f64);
            let known = [
                "role",
                "toolCallId",
                "toolName",
                "content",
                "details",
                "isError",
                "usage",
                "durationMs",
                "timestamp",
            ];
            message.details = other_members(said, &known);
            return message;
        }
        "bashExecution" => {
            let mut message = Message::new(role, bash_blocks(said, id));
            let known = [
                "role",
                "command",
                "output",
                "exitCode",
                "cancelled",
                "fullOutputPath",
                "excludeFromContext",
                "timestamp",
            ];
            message.details = other_members(said, &known);
            return message;
        }
        "branchSummary" | "compactionSummary" => {
            let summary = text_of(said, "summary").map(Block::Text);
            let mut message = Message::new(role, summary.into_iter().collect());
            message.extension = Some(word);
            message.details = other_members(said, &["role", "summary", "timestamp"]);
            return message;
        }
        _ => {}
    }
    let mut message = Message::new(role, read_blocks(said.get("content"), raw));
    message.model = model_of(said, "model");
    message.stop_reason = string_of(said, "stopReason");
    if matches!(message.stop_reason.as_deref(), Some("error" | "aborted")) {
        not_carried_out(&mut message.blocks);
    }
    message.usage = read_usage(said);
    message.duration_ms = said.get("durationMs").and_then(Value::f64);
    message.error = string_of(said, "errorMessage");
    message.response_id = string_of(said, "responseId");
    let known = [
        "role",
        "content",
        "provider",
        "model",
        "stopReason",
        "usage",
        "durationMs",
        "errorMessage",
        "responseId",
        "timestamp",
    ];
    message.details = other_members(said, &known);
    message
}

/// A message of an extension, as an entry of its own or inside of one.
fn custom(said: Value<'_>, raw: RawRef) -> Message {
    let mut message = Message::new(Role::User, read_blocks(said.get("content"), raw));
    message.extension = Some(string_of(said, "customType").unwrap_or_default());
    message.details = json_of(said, "details");
    message
}

fn compaction(value: Value<'_>, session: &Session, entry: EntryIx) -> Compaction {
    Compaction {
        summary: text_of(value, "summary"),
        kept: kept(value, session, entry),
        system: value.get("systemMessage").and_then(system_text),
        tokens_before: value.get("tokensBefore").and_then(Value::u64),
        tokens_after: value
            .at(&["details", "stats", "tokensAfter"])
            .filter(|_| is_verbatim(value))
            .and_then(Value::u64),
        from_hook: is_true(value, "fromHook"),
        usage: read_usage(value),
        details: json_of(value, "details"),
        ..Compaction::default()
    }
}

/// The first version counts the values of the file, the header being 0; an entry that comes later,
/// or is none, is not meant.
fn kept(value: Value<'_>, session: &Session, entry: EntryIx) -> Kept {
    if keeps_nothing(value) {
        return Kept::Nothing;
    }
    if let Some(first) = string_of(value, "firstKeptEntryId") {
        return if first == session.id(entry) {
            Kept::Nothing
        } else {
            Kept::From(first)
        };
    }
    let number = value.get("firstKeptEntryIndex").and_then(Value::u64);
    let id = number.and_then(|n| u32::try_from(n).ok()).map(made_up_id);
    id.filter(|id| session.find(id).is_some_and(|found| found < entry))
        .map_or(Kept::Nothing, Kept::From)
}

/// Instructions: a text, or a message that holds one.
fn system_text(value: Value<'_>) -> Option<Text> {
    let content = value.get("content").unwrap_or(value);
    if let Some(text) = text_from(content) {
        return Some(text);
    }
    let texts: Vec<Text> = content
        .items()
        .filter_map(|item| text_of(item, "text"))
        .collect();
    (!texts.is_empty()).then(|| Text::joined(&texts, "\n"))
}

fn context_edit(value: Value<'_>, raw: RawRef) -> ContextEdit {
    let replacement = value.get("replacement").filter(|r| !r.is_null());
    ContextEdit {
        target: string_of(value, "targetId").unwrap_or_default(),
        tool_call: None,
        replacement: replacement.map(|r| read_blocks(r.get("content").or(Some(r)), raw)),
    }
}
