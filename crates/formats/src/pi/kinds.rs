//! What an entry is, from its type and role.

use rethread_json::Value;
use rethread_model::{Kind, Moment, Role, Visibility};

use super::fields::time;
use crate::fields::{is_true, string_of};
use crate::kit::{HeadField, HeadOwner, HeadValue, head_fields};

/// What is needed of an entry to give it its place.
#[derive(Clone, Debug, Default)]
pub(super) struct EntryHead {
    pub(super) id: Option<String>,
    pub(super) parent: ParentLink,
    pub(super) kind: Option<Kind>,
    pub(super) visibility: Visibility,
    pub(super) time: Option<Moment>,
    /// Whether it counts usage beside what it says.
    pub(super) has_usage: bool,
}

/// What an entry says of the one before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum ParentLink {
    /// Nothing.
    #[default]
    Unsaid,
    /// There is none.
    Root,
    /// The one with this id.
    Id(String),
}

/// Reads the head of an entry.
pub(super) fn entry_head(entry: Value<'_>) -> EntryHead {
    let type_name = entry.get("type").and_then(Value::str).unwrap_or_default();
    let message = entry.get("message").filter(|m| m.is_object());
    let role = message.and_then(|m| m.get("role")?.str());
    let (kind, visibility) = kind(&type_name, role.as_deref(), message.or(Some(entry)));
    EntryHead {
        id: string_of(entry, "id"),
        parent: match entry.get("parentId") {
            None => ParentLink::Unsaid,
            Some(id) => id
                .str()
                .map_or(ParentLink::Root, |id| ParentLink::Id(id.into())),
        },
        kind: Some(kind),
        visibility,
        time: time(entry),
        has_usage: type_name == "session_summary"
            && entry.get("usage").is_some_and(Value::is_object),
    }
}

/// What an entry of this type is. `said` holds what tells who is meant to see it.
fn kind(type_name: &str, role: Option<&str>, said: Option<Value<'_>>) -> (Kind, Visibility) {
    let visible = |kind| (kind, Visibility::Visible);
    match type_name {
        "message" => match role {
            None => visible(Kind::Unknown),
            Some("user" | "branchSummary" | "compactionSummary") => {
                visible(Kind::Message(Role::User))
            }
            Some("assistant") => visible(Kind::Message(Role::Assistant)),
            Some("toolResult") => visible(Kind::Message(Role::Tool)),
            Some("bashExecution") => (Kind::Message(Role::User), bash_is_for(said)),
            Some("custom" | "hookMessage") => (Kind::Message(Role::User), custom_is_for(said)),
            Some("system") => (Kind::Message(Role::System), Visibility::Injected),
            Some(_) => visible(Kind::Message(Role::System)),
        },
        "custom_message" => (Kind::Message(Role::User), custom_is_for(said)),
        "thinking_level_change" => visible(Kind::ThinkingChange),
        "model_change" => visible(Kind::ModelChange),
        "compaction" => visible(Kind::Compaction),
        "branch_summary" => visible(Kind::BranchSummary),
        "custom" => (Kind::Event, Visibility::Hidden),
        "label" => visible(Kind::Label),
        "session_info" => visible(Kind::Title),
        "usage" => visible(Kind::Usage),
        "context_edit" => visible(Kind::ContextEdit),
        "session_summary" => (Kind::Event, Visibility::UiOnly),
        _ => visible(Kind::Unknown),
    }
}

fn bash_is_for(said: Option<Value<'_>>) -> Visibility {
    if said.is_some_and(|s| is_true(s, "excludeFromContext")) {
        Visibility::UiOnly
    } else {
        Visibility::Visible
    }
}

fn custom_is_for(said: Option<Value<'_>>) -> Visibility {
    let shown = said.and_then(|s| s.get("display")?.bool()) != Some(false);
    let excluded = said.is_some_and(|s| is_true(s, "excludeFromContext"));
    match (shown, excluded) {
        (true, false) => Visibility::Visible,
        (false, false) => Visibility::Injected,
        (true, true) => Visibility::UiOnly,
        (false, true) => Visibility::Hidden,
    }
}

/// What can be known of an entry from the beginning of its line, when the line is too long to be
/// held in memory. Without a type it has no kind.
pub(super) fn giant_head(start: &[u8]) -> EntryHead {
    let mut head = EntryHead::default();
    let (mut type_name, mut role) = (None::<String>, None::<String>);
    // That the bytes end before the line does is why only they are looked at.
    let _ = head_fields(start, "message", usize::MAX, |field| {
        let HeadField { owner, key, value } = field;
        match (owner, key, value) {
            (HeadOwner::Record, "type", HeadValue::Text(text)) => type_name = Some(text.to_owned()),
            (HeadOwner::Record, "id", HeadValue::Text(text)) => head.id = Some(text.to_owned()),
            (HeadOwner::Record, "timestamp", HeadValue::Text(text)) => {
                head.time = text.parse().ok();
            }
            (HeadOwner::Record, "parentId", HeadValue::Text(text)) => {
                head.parent = ParentLink::Id(text.to_owned());
            }
            (HeadOwner::Record, "parentId", HeadValue::Bool(_) | HeadValue::Other) => {
                head.parent = ParentLink::Root;
            }
            (HeadOwner::Inner, "role", HeadValue::Text(text)) => role = Some(text.to_owned()),
            _ => {}
        }
    });
    if let Some(type_name) = type_name {
        let (kind, visibility) = kind(&type_name, role.as_deref(), None);
        (head.kind, head.visibility) = (Some(kind), visibility);
    }
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_of_a_giant_line() {
        let start = br#"{"type":"message","id":"g1","parentId":null,"timestamp":"2026-01-02T00:00:00Z","message":{"role":"assistant","content":[{"type":"text","role":"x","text":"aaaa"#;
        let head = giant_head(start);
        assert_eq!(head.id.as_deref(), Some("g1"));
        assert_eq!(head.parent, ParentLink::Root);
        assert_eq!(head.kind, Some(Kind::Message(Role::Assistant)));
        assert!(head.time.is_some());
        assert_eq!(giant_head(br#"{"data":"aaaa"#).kind, None);
    }
}
