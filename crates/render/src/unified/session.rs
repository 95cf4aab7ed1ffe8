//! The session object.

use rethread_model::{Head, Link, LinkKind, Moment, State, Status, Summary, Usage};
use serde_json::{Map, Value, json};

use crate::notice::model_name;
use crate::sums::recorded;
use crate::{SourceInfo, encode_workspace};

/// The session object of the unified vocabulary, as a list shows it.
///
/// Its own fields come first, in the document's order. Behind them are `title`, `message_count`,
/// `updated_at`, `size` and `tool_call_count`; then what is known of `agent_name`, `agent_version`,
/// `model`, `git_branch`, `format_version`, `agent_role`, `status` with its `status_error`, `archived`,
/// `hidden`, `links`, `token_usage` with `cost_usd`, and `duration_ms`; of an imported one also its
/// `home`; last `state`, unless the session is ready. `source` is where the session was
/// first found, if it was imported and says so. Times that are not known are `null`: a caller that knows the file's time can put it
/// into the head.
pub fn session_object(summary: &Summary, source: &SourceInfo) -> Map<String, Value> {
    let head = &summary.head;
    let mut object = own_fields(head, (head.created, head.updated), source);
    set_title(&mut object, head);
    set(&mut object, "message_count", summary.counts.messages);
    set(&mut object, "updated_at", time(head.updated));
    set(&mut object, "size", summary.size);
    set(&mut object, "tool_call_count", summary.counts.tool_calls);
    if let Some(provenance) = &head.provenance {
        set(&mut object, "home", provenance.home());
    }
    add_known(&mut object, head);
    add_sums(&mut object, head, summary.counts.usage);
    match &summary.state {
        State::Ready => {}
        State::Unsupported { version } => {
            set(&mut object, "state", "unsupported");
            set(&mut object, "unsupported_version", version.as_str());
        }
        State::Damaged => set(&mut object, "state", "damaged"),
        State::Gone => set(&mut object, "state", "gone"),
    }
    object
}

/// The session object of a session that was read.
pub(super) fn opened_object(
    head: &Head,
    span: (Option<Moment>, Option<Moment>),
    message_count: usize,
    source: &SourceInfo,
) -> Map<String, Value> {
    let mut object = own_fields(head, span, source);
    set_title(&mut object, head);
    set(&mut object, "message_count", message_count);
    set(&mut object, "updated_at", time(span.1));
    add_known(&mut object, head);
    add_sums(&mut object, head, recorded(head));
    object
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
    set(&mut object, "id", head.id.as_str());
    set(&mut object, "agent", head.held_by());
    set(&mut object, "workspace", path);
    set(&mut object, "workspace_encoded", encoded);
    set(&mut object, "started_at", time(start));
    set(&mut object, "ended_at", time(end));
    let source = match &head.provenance {
        Some(p) => json!({
            "type": p.kind,
            "host": p.host,
            "path": p.path.as_deref().unwrap_or(&source.path),
        }),
        None => json!({ "type": source.kind, "host": source.host, "path": source.path }),
    };
    set(&mut object, "source", source);
    set(&mut object, "is_agent_session", parent.is_some());
    set(
        &mut object,
        "parent_session_id",
        parent.map(|l| l.session.as_str()),
    );
    set(
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

fn set_title(object: &mut Map<String, Value>, head: &Head) {
    let title = head.title.as_ref().map(|t| t.text.as_str());
    set(object, "title", title);
}

/// The session object of an export: the document's fields, and nothing else.
pub(super) fn exported_object(
    head: &Head,
    (start, end): (Moment, Moment),
    source: &SourceInfo,
) -> Map<String, Value> {
    let mut object = own_fields(head, (Some(start), Some(end)), source);
    set(&mut object, "workspace", workspace_path(head));
    object
}

fn add_known(object: &mut Map<String, Value>, head: &Head) {
    let agent = head.agent.name.as_ref().or(head.agent.id.as_ref());
    let model = head.model.as_ref().map(model_name);
    for (key, value) in [
        ("agent_name", agent),
        ("agent_version", head.agent.version.as_ref()),
        ("model", model.as_ref()),
        ("git_branch", head.workspace.branch.as_ref()),
        ("format_version", head.dialect.as_ref()),
        ("agent_role", head.agent.role.as_ref()),
    ] {
        if let Some(value) = value {
            set(object, key, value.as_str());
        }
    }
    if let Some(status) = &head.status {
        let (word, error) = status_words(status);
        set(object, "status", word);
        if let Some(error) = error {
            set(object, "status_error", error);
        }
    }
    if head.archived {
        set(object, "archived", true);
    }
    if head.hidden {
        set(object, "hidden", true);
    }
    if !head.links.is_empty() {
        let links: Vec<Value> = head.links.iter().map(link).collect();
        set(object, "links", links);
    }
}

/// What all of the session used, as far as it was added up.
fn add_sums(object: &mut Map<String, Value>, head: &Head, usage: Option<Usage>) {
    if let Some(u) = usage {
        let tokens = json!({
            "input_tokens": u.input,
            "output_tokens": u.output,
            "cache_creation_tokens": u.cache_write.saturating_add(u.cache_write_1h),
            "cache_read_tokens": u.cache_read,
        });
        set(object, "token_usage", tokens);
        if let Some(cost) = u.cost {
            set(object, "cost_usd", cost.usd);
        }
    }
    if let Some(ms) = head.duration_ms {
        set(object, "duration_ms", ms);
    }
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

fn link(link: &Link) -> Value {
    let mut object = Map::new();
    set(&mut object, "kind", link_word(link.kind));
    set(&mut object, "session_id", link.session.as_str());
    if let Some(entry) = &link.entry {
        set(&mut object, "uuid", entry.as_str());
    }
    if let Some(call) = &link.tool_call {
        set(&mut object, "tool_id", call.as_str());
    }
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

fn time(moment: Option<Moment>) -> Option<String> {
    moment.map(|m| m.to_string())
}

fn set(object: &mut Map<String, Value>, key: &str, value: impl Into<Value>) {
    object.insert(key.to_owned(), value.into());
}
