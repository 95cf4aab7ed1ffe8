//! Entries that are no messages, as an export has them in `message_extensions`.

use rethread_json::Value;
use rethread_model::{
    Block, Body, BranchSummary, Compaction, ContextEdit, Event, Kept, Kind, LabelChange, Level,
    ModelRef, Moment, TitleChange, UsageRecord, Visibility,
};

use super::fields::{read_usage, read_visibility};
use super::head::title_source;
use crate::fields::{count_of, is_true, json_of, model_of, moment_of, string_of, text_of};

/// What is known of an entry before its body is read.
pub(super) struct UnifiedHead {
    pub(super) id: String,
    pub(super) kind: Kind,
    pub(super) time: Option<Moment>,
    pub(super) visibility: Visibility,
    pub(super) inherited: bool,
    pub(super) side: bool,
    pub(super) beside: bool,
    pub(super) usage_key: Option<String>,
}

pub(super) fn entry_head(value: Value<'_>) -> UnifiedHead {
    UnifiedHead {
        id: string_of(value, "uuid").unwrap_or_default(),
        kind: kind_of_word(string_of(value, "type").as_deref().unwrap_or_default()),
        time: moment_of(value, "timestamp"),
        visibility: read_visibility(value).unwrap_or_default(),
        inherited: is_true(value, "inherited"),
        side: is_true(value, "side"),
        beside: is_true(value, "beside"),
        usage_key: string_of(value, "usage_key"),
    }
}

fn kind_of_word(word: &str) -> Kind {
    match word {
        "model_change" => Kind::ModelChange,
        "thinking_change" => Kind::ThinkingChange,
        "compaction" => Kind::Compaction,
        "branch_summary" => Kind::BranchSummary,
        "label" => Kind::Label,
        "title" => Kind::Title,
        "context_edit" => Kind::ContextEdit,
        "usage" => Kind::Usage,
        "event" => Kind::Event,
        _ => Kind::Unknown,
    }
}

/// What such an entry says.
pub(super) fn entry_body(value: Value<'_>) -> Body {
    let used = || read_usage(value.get("token_usage"), value.get("usage"));
    match kind_of_word(string_of(value, "type").as_deref().unwrap_or_default()) {
        Kind::ModelChange => Body::ModelChange(model_of(value, "model").unwrap_or_default()),
        Kind::ThinkingChange => Body::ThinkingChange(string_of(value, "level").unwrap_or_default()),
        Kind::Compaction => Body::Compaction(read_compaction(value)),
        Kind::BranchSummary => Body::BranchSummary(BranchSummary {
            from: string_of(value, "from"),
            summary: text_of(value, "summary").unwrap_or_default(),
            from_hook: is_true(value, "from_hook"),
            usage: used(),
            details: json_of(value, "details"),
        }),
        Kind::Label => Body::Label(LabelChange {
            target: string_of(value, "target").unwrap_or_default(),
            label: string_of(value, "label"),
        }),
        Kind::Title => Body::Title(TitleChange {
            text: string_of(value, "title"),
            source: title_source(string_of(value, "source").as_deref()),
        }),
        Kind::ContextEdit => Body::ContextEdit(ContextEdit {
            target: string_of(value, "target").unwrap_or_default(),
            tool_call: string_of(value, "tool_id"),
            replacement: text_of(value, "replacement").map(|text| vec![Block::Text(text)]),
        }),
        Kind::Usage => Body::Usage(UsageRecord {
            usage: used().unwrap_or_default(),
            model: model_of(value, "model").filter(|m: &ModelRef| !m.id.is_empty()),
            purpose: string_of(value, "purpose"),
        }),
        Kind::Event => Body::Event(Event {
            name: string_of(value, "name").unwrap_or_default(),
            text: text_of(value, "text"),
            level: match string_of(value, "level").as_deref() {
                Some("error") => Level::Error,
                Some("warning") => Level::Warning,
                _ => Level::Info,
            },
            details: json_of(value, "details"),
        }),
        Kind::Message(_) | Kind::Unknown => Body::Unknown(string_of(value, "name")),
    }
}

fn read_compaction(value: Value<'_>) -> Compaction {
    let ids = |list: Value<'_>| {
        let ids = list.items().filter_map(|id| Some(id.str()?.into_owned()));
        ids.collect()
    };
    let kept = match (string_of(value, "kept_from"), string_of(value, "kept_to")) {
        (Some(first), Some(last)) => Kept::Range { first, last },
        (Some(first), None) => Kept::From(first),
        (None, _) if is_true(value, "kept_user_messages") => Kept::UserMessages,
        (None, _) => value
            .get("kept")
            .map_or(Kept::Nothing, |list| Kept::Entries(ids(list))),
    };
    Compaction {
        question: text_of(value, "question"),
        summary: text_of(value, "summary"),
        kept,
        system: text_of(value, "system"),
        trigger: string_of(value, "trigger"),
        tokens_before: count_of(value, "tokens_before"),
        tokens_after: count_of(value, "tokens_after"),
        duration_ms: value.get("duration_ms").and_then(Value::f64),
        from_hook: is_true(value, "from_hook"),
        usage: read_usage(value.get("token_usage"), value.get("usage")),
        details: json_of(value, "details"),
    }
}
