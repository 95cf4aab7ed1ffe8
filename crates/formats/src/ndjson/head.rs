//! The session object, as facts about a session.

use rethread_json::Value;
use rethread_model::{
    Head, Link, LinkKind, Provenance, Status, Title, TitleSource, UsageRecord, WorktreeRef,
};

use super::fields::read_usage;
use crate::fields::{count_of, filled_of, is_true, model_of, moment_of, string_of};

/// Fills in what the document's own fields say.
pub(super) fn read_head(session: Value<'_>, head: &mut Head) {
    head.id = string_of(session, "id").unwrap_or_default();
    let path = filled_of(session, "workspace").filter(|path| !path.starts_with("[hash:"));
    head.workspace.path = path;
    head.workspace.encoded = filled_of(session, "workspace_encoded");
    head.created = moment_of(session, "started_at");
    head.updated = moment_of(session, "ended_at");
    let source = |key| session.get("source").and_then(|s| filled_of(s, key));
    head.provenance = Some(Provenance {
        kind: source("type").unwrap_or_else(|| "local".to_owned()),
        host: source("host"),
        path: source("path"),
        agent: string_of(session, "agent").unwrap_or_default(),
        file_time: None,
    });
    head.agent.id = filled_of(session, "agent_id");
    if let Some(parent) = filled_of(session, "parent_session_id") {
        head.links.push(session_link(LinkKind::Parent, parent));
    } else if is_true(session, "is_agent_session") {
        head.links
            .push(session_link(LinkKind::Parent, String::new()));
    }
}

fn session_link(kind: LinkKind, session: String) -> Link {
    Link {
        kind,
        session,
        entry: None,
        tool_call: None,
    }
}

/// Fills in what an export of ours says beside these.
pub(super) fn read_facts(facts: Value<'_>, head: &mut Head) {
    head.title = string_of(facts, "title").map(|text| Title {
        text,
        source: title_source(string_of(facts, "title_source").as_deref()),
    });
    let (no_start, no_end) = (
        is_true(facts, "start_unknown"),
        is_true(facts, "end_unknown"),
    );
    if let (true, true, Some(provenance)) = (no_start, no_end, &mut head.provenance) {
        provenance.file_time = head.created;
    }
    head.created = head.created.filter(|_| !no_start);
    head.updated = head.updated.filter(|_| !no_end);
    if let Some(agent) = facts.get("agent") {
        head.agent.id = string_of(agent, "id");
        head.agent.name = string_of(agent, "name");
        head.agent.version = string_of(agent, "version");
        head.agent.role = string_of(agent, "role");
        head.agent.protocol = string_of(agent, "protocol");
        head.agent.protocol_version = string_of(agent, "protocol_version");
    }
    head.dialect = string_of(facts, "format_version");
    head.model = model_of(facts, "model");
    let workspace = &mut head.workspace;
    workspace.root = string_of(facts, "project_root");
    workspace.relative = string_of(facts, "relative_path");
    workspace.branch = string_of(facts, "git_branch");
    workspace.commit = string_of(facts, "git_commit");
    workspace.remote = string_of(facts, "git_remote");
    workspace.worktree = string_of(facts, "worktree").map(|path| WorktreeRef {
        path,
        branch: string_of(facts, "worktree_branch"),
    });
    head.status = string_of(facts, "status").map(|word| match word.as_str() {
        "running" => Status::Running,
        "completed" => Status::Completed,
        "failed" => Status::Failed(string_of(facts, "status_error")),
        "suspended" => Status::Suspended,
        _ => Status::Other(word),
    });
    head.duration_ms = count_of(facts, "duration_ms");
    head.archived = is_true(facts, "archived");
    head.hidden = is_true(facts, "hidden");
    if let Some(links) = facts.get("links") {
        head.links = links.items().filter_map(one_link).collect();
    }
    if let Some(all) = facts.get("recorded_usage") {
        let record = |value: Value<'_>| UsageRecord {
            usage: read_usage(value.get("token_usage"), value.get("usage")).unwrap_or_default(),
            model: model_of(value, "model"),
            purpose: string_of(value, "purpose"),
        };
        head.recorded_usage = all.items().map(record).collect();
    }
}

fn one_link(value: Value<'_>) -> Option<Link> {
    let kind = match string_of(value, "kind")?.as_str() {
        "parent" => LinkKind::Parent,
        "sub_agent" => LinkKind::SubAgent,
        "fork_of" => LinkKind::ForkOf,
        "continues" => LinkKind::Continues,
        "continued_in" => LinkKind::ContinuedIn,
        "review" => LinkKind::Review,
        _ => return None,
    };
    Some(Link {
        entry: string_of(value, "uuid"),
        tool_call: string_of(value, "tool_id"),
        ..session_link(kind, string_of(value, "session_id")?)
    })
}

pub(super) fn title_source(word: Option<&str>) -> TitleSource {
    match word {
        Some("last_prompt") => TitleSource::LastPrompt,
        Some("summary") => TitleSource::Summary,
        Some("model") => TitleSource::Model,
        Some("stored") => TitleSource::Stored,
        Some("user") => TitleSource::User,
        _ => TitleSource::FirstPrompt,
    }
}
