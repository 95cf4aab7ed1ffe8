//! The session object.

use rethread_model::{
    Counts, Head, Link, LinkKind, Moment, Provenance, State, Status, Summary, Usage,
};
use serde_json::{Map, Value, json};

use super::entry::title_word;
use crate::notice::model_name;
use crate::{SourceInfo, encode_workspace};

/// The session object of the unified vocabulary, as commands print it: the same fields everywhere,
/// and `null` where something is not known. `docs/json.md` says what each of them is.
///
/// The document's own fields come first, in its order. `source` is where the session was first found,
/// if it was imported and says so.
pub fn session_object(summary: &Summary, source: &SourceInfo) -> Map<String, Value> {
    let head = &summary.head;
    let mut object = own_fields(head, (head.created, head.updated), source);
    let title = head.title.as_ref();
    set_member(&mut object, "title", title.map(|t| t.text.as_str()));
    set_member(&mut object, "message_count", summary.counts.messages);
    set_member(&mut object, "updated_at", time_text(head.updated));
    add_counts(&mut object, &summary.counts, summary.size);
    let title_source = title.map(|t| title_word(t.source));
    set_member(&mut object, "title_source", title_source);
    let subagents = summary.subagents.as_ref().map(|all| {
        let mut object = Map::new();
        set_member(&mut object, "session_count", all.sessions);
        add_counts(&mut object, &all.counts, all.size);
        object
    });
    set_member(&mut object, "subagents", subagents);
    let home = head.provenance.as_ref().map(Provenance::home);
    let home = home.unwrap_or_else(|| source.kind.to_owned());
    set_member(&mut object, "home", home);
    add_known(&mut object, head);
    let (state, version) = match &summary.state {
        State::Ready => (None, None),
        State::Unsupported { version } => (Some("unsupported"), Some(version.as_str())),
        State::Damaged => (Some("damaged"), None),
        State::Unreadable => (Some("unreadable"), None),
        State::Empty => (Some("empty"), None),
        State::Gone => (Some("gone"), None),
    };
    let converted_from = head.converted_from.as_ref().map(|from| {
        let path = from.path.as_ref().map(|p| p.to_string_lossy());
        json!({ "agent": from.format, "id": from.id, "path": path })
    });
    set_member(&mut object, "converted_from", converted_from);
    set_member(&mut object, "state", state);
    set_member(&mut object, "unsupported_version", version);
    object
}

/// How much is in a session, or in several.
fn add_counts(object: &mut Map<String, Value>, counts: &Counts, size: u64) {
    set_member(object, "message_count", counts.messages);
    set_member(object, "size", size);
    set_member(object, "tool_call_count", counts.tool_calls);
    set_member(
        object,
        "token_usage",
        counts.usage.as_ref().map(tokens_json),
    );
    let cost = counts.usage.and_then(|u| u.cost);
    set_member(object, "cost_usd", cost.map(|cost| cost.usd));
}

fn tokens_json(u: &Usage) -> Value {
    json!({
        "input_tokens": u.input,
        "output_tokens": u.output,
        "cache_creation_tokens": u.cache_write.saturating_add(u.cache_write_1h),
        "cache_read_tokens": u.cache_read,
    })
}

fn own_fields(
    head: &Head,
    (start, end): (Option<Moment>, Option<Moment>),
    source: &SourceInfo,
) -> Map<String, Value> {
    let path = head.workspace.path.as_deref().unwrap_or_default();
    let encoded = match &head.workspace.encoded {
        Some(encoded) => encoded.clone(),
        None => encode_workspace(path),
    };
    let parent = head.links.iter().find(|l| l.kind == LinkKind::Parent);
    let mut object = Map::new();
    set_member(&mut object, "id", head.id.as_str());
    set_member(&mut object, "agent", head.held_by());
    set_member(&mut object, "workspace", path);
    set_member(&mut object, "workspace_encoded", encoded);
    set_member(&mut object, "started_at", time_text(start));
    set_member(&mut object, "ended_at", time_text(end));
    let source = match &head.provenance {
        Some(p) => json!({
            "type": p.kind,
            "host": p.host,
            "path": p.path.as_deref().unwrap_or(&source.path),
        }),
        None => json!({ "type": source.kind, "host": source.host, "path": source.path }),
    };
    set_member(&mut object, "source", source);
    set_member(&mut object, "is_agent_session", parent.is_some());
    set_member(
        &mut object,
        "parent_session_id",
        parent.map(|l| l.session.as_str()),
    );
    set_member(
        &mut object,
        "agent_id",
        parent.is_some().then(|| agent_id(head)),
    );
    object
}

/// The id of the agent that did a task: its own where the source gives it one, else that of its
/// session, by which the session that started it knows it. The program that ran it is no agent.
fn agent_id(head: &Head) -> &str {
    let own = head.agent.id.as_deref();
    own.filter(|id| *id != head.held_by()).unwrap_or(&head.id)
}

/// The path of a session's workspace in the unified vocabulary, where one must be named: `[hash:…]`
/// where only a hash of it is known, and empty where nothing is.
pub fn workspace_path(head: &Head) -> String {
    let hashed = || head.workspace.encoded.as_deref().and_then(known_by_hash);
    let path = head.workspace.path.clone();
    path.or_else(hashed).unwrap_or_default()
}

/// What a workspace is called of which only a hash of its path is known.
fn known_by_hash(encoded: &str) -> Option<String> {
    let is_hash = encoded.len() == 64 && encoded.bytes().all(|b| b.is_ascii_hexdigit());
    is_hash.then(|| format!("[hash:{}]", &encoded[..8]))
}

/// The session object of an export: the document's fields, and nothing else.
pub(super) fn exported_object(
    head: &Head,
    (start, end): (Moment, Moment),
    source: &SourceInfo,
) -> Map<String, Value> {
    let mut object = own_fields(head, (Some(start), Some(end)), source);
    set_member(&mut object, "workspace", workspace_path(head));
    object
}

fn add_known(object: &mut Map<String, Value>, head: &Head) {
    let agent = head.agent.name.as_ref().or(head.agent.id.as_ref());
    let model = head.model.as_ref().map(model_name);
    let (status, error) = match head.status.as_ref().map(status_words) {
        Some((word, error)) => (Some(word), error),
        None => (None, None),
    };
    for (key, value) in [
        ("agent_name", agent.map(String::as_str)),
        ("agent_version", head.agent.version.as_deref()),
        ("agent_role", head.agent.role.as_deref()),
        ("model", model.as_deref()),
        ("git_branch", head.workspace.branch.as_deref()),
        ("format_version", head.dialect.as_deref()),
        ("status", status),
        ("status_error", error),
    ] {
        set_member(object, key, value);
    }
    set_member(object, "duration_ms", head.duration_ms);
    set_member(object, "archived", head.archived);
    set_member(object, "hidden", head.hidden);
    let links: Vec<Value> = head.links.iter().map(link_json).collect();
    set_member(object, "links", links);
}

/// How far the work got, and what went wrong.
pub(super) fn status_words(status: &Status) -> (&str, Option<&str>) {
    match status {
        Status::Running => ("running", None),
        Status::Completed => ("completed", None),
        Status::Failed(error) => ("failed", error.as_deref()),
        Status::Suspended => ("suspended", None),
        Status::Other(word) => (word, None),
    }
}

fn link_json(link: &Link) -> Value {
    let mut object = Map::new();
    set_member(&mut object, "kind", link_word(link.kind));
    set_member(&mut object, "session_id", link.session.as_str());
    set_member(&mut object, "entry_id", link.entry.as_deref());
    // Its name in the unified vocabulary.
    set_member(&mut object, "uuid", link.entry.as_deref());
    set_member(&mut object, "tool_id", link.tool_call.as_deref());
    Value::Object(object)
}

pub(super) fn link_word(kind: LinkKind) -> &'static str {
    match kind {
        LinkKind::Parent => "parent",
        LinkKind::SubAgent => "sub_agent",
        LinkKind::ForkOf => "fork_of",
        LinkKind::Continues => "continues",
        LinkKind::ContinuedIn => "continued_in",
        LinkKind::Review => "review",
    }
}

fn time_text(moment: Option<Moment>) -> Option<String> {
    moment.map(|m| m.to_string())
}

fn set_member(object: &mut Map<String, Value>, key: &str, value: impl Into<Value>) {
    object.insert(key.to_owned(), value.into());
}
