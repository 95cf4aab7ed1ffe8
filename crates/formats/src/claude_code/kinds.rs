//! What a record is in the conversation.

use rethread_model::{Kind, Role, TitleSource, Visibility};

use super::record::{GiantHead, TranscriptRecord};
use super::record_writer::OURS;
use super::said::content_is_for;
use super::types::is_bookkeeping;

/// What becomes of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordUse {
    /// A place in the chain of messages.
    Entry(Kind, Visibility),
    /// A part of a response of the model.
    Response(Visibility),
    /// The mark of a compaction.
    Boundary,
    /// The summary of a compaction.
    Summary,
    /// A name for the session.
    Title(TitleSource),
    /// Results of tools that the model sees otherwise from here on.
    Edits,
    /// Progress: no place in the chain, but others may hang from it.
    Bridge,
    /// Something that is known about the whole, or bookkeeping.
    Fact,
    /// A type that nobody knows.
    Unknown,
}

/// The model that the client itself is.
pub(super) const SYNTHETIC: &str = "<synthetic>";

/// What a record is.
pub(super) fn record_use(record: &TranscriptRecord<'_>) -> RecordUse {
    let Some(type_name) = record.type_name() else {
        return RecordUse::Unknown;
    };
    match type_name.as_ref() {
        "user" if record.compact_summary => RecordUse::Summary,
        "user" => user(record),
        "assistant" => {
            let model = record.message.and_then(|m| m.get("model"));
            let by_client = record.api_error || model.is_some_and(|m| m.is_str(SYNTHETIC));
            RecordUse::Response(if by_client {
                Visibility::UiOnly
            } else {
                Visibility::Visible
            })
        }
        "attachment" => attachment(record),
        "system" if is(record, "compact_boundary") => RecordUse::Boundary,
        "system" if is_command(record) => {
            RecordUse::Entry(Kind::Message(Role::User), Visibility::Injected)
        }
        "system" => RecordUse::Entry(Kind::Event, Visibility::UiOnly),
        "progress" => RecordUse::Bridge,
        "custom-title" => RecordUse::Title(TitleSource::User),
        "ai-title" => RecordUse::Title(TitleSource::Model),
        "content-replacement" => RecordUse::Edits,
        // Some programs put a summary into the chain, as a message.
        "summary" if record.message.is_some() && record.uuid.is_some() => RecordUse::Summary,
        "summary" | "last-prompt" | "cost-state" | "relocated" | "continued-in"
        | "derived-from" | OURS => RecordUse::Fact,
        other if is_bookkeeping(other) => RecordUse::Fact,
        _ => RecordUse::Unknown,
    }
}

/// Whether a record of the system is a command that the person gave to the client, or what that
/// printed: the model is told of both.
pub(super) fn is_command(record: &TranscriptRecord<'_>) -> bool {
    is(record, "local_command")
}

fn is(record: &TranscriptRecord<'_>, subtype: &str) -> bool {
    record.subtype.is_some_and(|s| s.is_str(subtype))
}

fn user(record: &TranscriptRecord<'_>) -> RecordUse {
    let content = record.content();
    let has_result = content.is_some_and(|c| {
        c.items()
            .any(|b| b.get("type").is_some_and(|t| t.is_str("tool_result")))
    });
    if has_result {
        return RecordUse::Entry(Kind::Message(Role::Tool), Visibility::Visible);
    }
    let visibility = match content_is_for(content) {
        Visibility::Visible if record.meta => Visibility::Injected,
        other => other,
    };
    RecordUse::Entry(Kind::Message(Role::User), visibility)
}

/// What was shown to the model is a message of the system; what the person typed while the model
/// was at work is a message of the person.
fn attachment(record: &TranscriptRecord<'_>) -> RecordUse {
    let inner = record.inner_type();
    if inner.as_deref() == Some("queued_command") {
        let prompt = record.attachment.and_then(|a| a.get("prompt"));
        let mode = record.attachment.and_then(|a| a.get("commandMode"));
        let by_person = mode.is_none_or(|m| m.is_str("prompt"));
        return RecordUse::Entry(
            Kind::Message(Role::User),
            match content_is_for(prompt) {
                Visibility::Visible if !by_person => Visibility::Injected,
                other => other,
            },
        );
    }
    if record.rendered.is_some_and(|r| r.items().next().is_some()) {
        RecordUse::Entry(Kind::Message(Role::System), Visibility::Injected)
    } else {
        RecordUse::Entry(Kind::Event, Visibility::Hidden)
    }
}

/// What a record is of which only the beginning is held; none if that cannot be told.
pub(super) fn giant_part(head: &GiantHead) -> Option<RecordUse> {
    let type_name = head.type_name.as_deref().or(head.role.as_deref())?;
    Some(match type_name {
        // What a person types is not that long; a result can be.
        "user" => RecordUse::Entry(Kind::Message(Role::User), Visibility::Visible),
        "assistant" => RecordUse::Response(Visibility::Visible),
        "system" => RecordUse::Entry(Kind::Event, Visibility::UiOnly),
        "attachment" => RecordUse::Entry(Kind::Event, Visibility::Hidden),
        "progress" => RecordUse::Bridge,
        other if is_bookkeeping(other) => RecordUse::Fact,
        _ => RecordUse::Unknown,
    })
}
