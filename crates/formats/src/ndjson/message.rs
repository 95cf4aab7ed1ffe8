//! Message objects.

use rethread_json::Value;
use rethread_model::{Kind, Message, ModelRef, Place, Role, Visibility};

use super::blocks::{LaterResults, read_blocks};
use super::body;
use super::entry::UnifiedHead;
use super::fields::{message_extensions, read_usage, read_visibility};
use super::flat;
use crate::fields::{is_true, json_of, moment_of, string_of};

/// What is known of a message before its body is read.
pub(super) fn message_head(value: Value<'_>) -> UnifiedHead {
    let more = message_extensions(value);
    let flag = |key| more.is_some_and(|m| is_true(m, key));
    let is_meta = value.at(&["metadata", "is_meta"]).and_then(Value::bool) == Some(true);
    let seen = more.and_then(read_visibility);
    UnifiedHead {
        id: string_of(value, "uuid").unwrap_or_default(),
        kind: Kind::Message(read_role(value)),
        time: moment_of(value, "timestamp"),
        visibility: seen.unwrap_or(if is_meta {
            Visibility::Injected
        } else {
            Visibility::Visible
        }),
        inherited: flag("inherited"),
        side: flag("side"),
        beside: flag("beside"),
        usage_key: more.and_then(|m| string_of(m, "usage_key")),
    }
}

/// Who speaks. Tools answer in messages of the user.
fn read_role(value: Value<'_>) -> Role {
    let more = message_extensions(value);
    if more.is_some_and(|m| m.get("role").is_some_and(|r| r.is_str("tool"))) {
        return Role::Tool;
    }
    match string_of(value, "role").as_deref() {
        Some("user") if more.is_none() && only_results(value) => Role::Tool,
        Some("user") => Role::User,
        Some("assistant" | "agent") => Role::Assistant,
        Some("tool") => Role::Tool,
        _ => Role::System,
    }
}

/// Whether a message holds results of calls, and nothing else.
pub(super) fn only_results(value: Value<'_>) -> bool {
    let Some(content) = value.get("content") else {
        return false;
    };
    let is_result = |b: Value<'_>| b.get("type").is_some_and(|t| t.is_str("tool_result"));
    content.items().next().is_some() && content.items().all(is_result)
}

/// What the person said, if this is something of theirs.
pub(super) fn prompt_text(value: Value<'_>) -> Option<String> {
    if read_role(value) != Role::User || message_head(value).visibility != Visibility::Visible {
        return None;
    }
    let content = value.get("content")?;
    let is_text = |b: &Value<'_>| b.get("type").is_some_and(|t| t.is_str("text"));
    match content.str() {
        Some(text) => Some(text.into_owned()),
        None => string_of(content.items().find(is_text)?, "text"),
    }
}

/// Reads a message that came in one or several objects, each given with where it stands.
pub(super) fn read_message(objects: &[body::PlacedObject<'_>]) -> Message {
    let first = objects.first().map(|object| object.value);
    let mut message = Message::new(first.map_or(Role::System, read_role), Vec::new());
    let mut answers = LaterResults::default();
    for body::PlacedObject { place, value } in objects {
        read_blocks(*value, *place, &mut message.blocks, &mut answers);
        fill_message(&mut message, *value);
    }
    answers.put_behind_calls(&mut message.blocks);
    message
}

/// Takes over what an object says beside its blocks.
fn fill_message(message: &mut Message, value: Value<'_>) {
    let metadata = value.get("metadata");
    let more = message_extensions(value);
    // What is said of a model stands in `message_extensions` where it is not the assistant that speaks.
    let of = |value: Option<Value<'_>>, path: &[&str]| Some(value?.at(path)?.str()?.into_owned());
    let at = |path: &[&str]| of(metadata, path).or_else(|| of(more, path));
    let extra = |key: &str| more.and_then(|m| string_of(m, key));
    // Flat files have the model beside the text.
    if let Some(id) = at(&["model", "name"]).or_else(|| string_of(value, "model")) {
        let provider = extra("provider");
        message.model = Some(ModelRef { provider, id });
    }
    let keep = |slot: &mut Option<String>, found: Option<String>| {
        if found.is_some() {
            *slot = found;
        }
    };
    keep(&mut message.stop_reason, at(&["model", "stop_reason"]));
    keep(&mut message.stop_sequence, at(&["model", "stop_sequence"]));
    keep(&mut message.request_id, at(&["request_id"]));
    keep(&mut message.error, extra("error"));
    keep(&mut message.response_id, extra("response_id"));
    keep(&mut message.extension, extra("extension"));
    let tokens = metadata.and_then(|m| m.get("token_usage"));
    let used = read_usage(
        tokens.or_else(|| more?.get("token_usage")),
        more.and_then(|m| m.get("usage")),
    );
    message.usage = used.or_else(|| flat::flat_usage(value)).or(message.usage);
    let duration = more.and_then(|m| m.get("duration_ms")?.f64());
    message.duration_ms = duration.or(message.duration_ms);
    if let Some(details) = more.and_then(|m| json_of(m, "details")) {
        message.details = Some(details);
    }
    let place = Place {
        cwd: at(&["cwd"]),
        branch: at(&["git_branch"]),
        agent_version: at(&["agent_version"]),
        user_type: at(&["user_type"]),
    };
    if place != Place::default() && message.place.is_none() {
        message.place = Some(Box::new(place));
    }
}
