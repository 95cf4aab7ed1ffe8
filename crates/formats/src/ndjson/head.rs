//! The session object, as facts about a session.

use rethread_json::Value;
use rethread_model::{
    Head, Link, LinkKind, Provenance, Status, Title, TitleSource, UsageRecord, WorktreeRef,
};

use super::fields::read_usage;
use crate::fields::{count_of, filled, is_true, model_of, moment_of, string};

/// Fills in what the document's own fields say.
pub(super) fn read_head(session: Value<'_>, head: &mut Head) {
    head.id = string(session, "id").unwrap_or_default();
    let path = filled(session, "workspace").filter(|path| !path.starts_with("[hash:"));
    head.workspace.path = path;
    head.workspace.encoded = filled(session, "workspace_encoded");
    head.created = moment_of(session, "started_at");
    head.updated = moment_of(session, "ended_at");
    let source = |key| session.get("source").and_then(|s| filled(s, key));
    head.provenance = Some(Provenance {
        kind: source("type").unwrap_or_else(|| "local".to_owned()),
        host: source("host"),
        path: source("path"),
        agent: string(session, "agent").unwrap_or_default(),
        file_time: None,
    });
    head.agent.id = filled(session, "agent_id");
    if let Some(parent) = filled(session, "parent_session_id") {
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
    head.title = string(facts, "title").map(|text| Title {
        text,
        source: title_source(string(facts, "title_source").as_deref()),
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
        head.agent.id = string(agent, "id");
        head.agent.name = string(agent, "name");
        head.agent.version = string(agent, "version");
        head.agent.role = string(agent, "role");
        head.agent.protocol = string(agent, "protocol");
        head.agent.protocol_version = string(agent, "protocol_version");
    }
    head.dialect = string(facts, "format_version");
    head.model = model_of(facts, "model");
    let workspace = &mut head.workspace;
    workspace.root = string(facts, "project_root");
    workspace.relative = string(facts, "relative_path");
    workspace.branch = string(facts, "git_branch");
    workspace.commit = string(facts, "git_commit");
    workspace.remote = string(facts, "git_remote");
    workspace.worktree = string(facts, "worktree").map(|path| WorktreeRef {
        path,
        branch: string(facts, "worktree_branch"),
    });
    head.status = string(facts, "status").map(|word| match word.as_str() {
        "running" => Status::Running,
        "completed" => Status::Completed,
        "failed" => Status::Failed(string(facts, "status_error")),
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
            purpose: string(value, "purpose"),
        };
        head.recorded_usage = all.items().map(record).collect();
    }
}

fn one_link(value: Value<'_>) -> Option<Link> {
    let kind = match string(value, "kind")?.as_str() {
        "parent" => LinkKind::Parent,
        "sub_agent" => LinkKind::SubAgent,
        "fork_of" => LinkKind::ForkOf,
        "continues" => LinkKind::Continues,
        "continued_in" => LinkKind::ContinuedIn,
        "review" => LinkKind::Review,
        _ => return None,
    };
    Some(Link {
        entry: string(value, "uuid"),
        tool_call: string(value, "tool_id"),
        ..session_link(kind, string(value, "session_id")?)
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
