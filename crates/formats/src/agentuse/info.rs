//! `session.json`: what describes a session.

use std::path::Path;

use rethread_json::Value;
use rethread_model::{Agent, Head, Link, LinkKind, Status, Title, TitleSource, Workspace};

use super::SLUG;
use super::fields::{model_ref, moment_at_path};
use super::store::{parent_of, project_key, split_name};
use crate::fields::string_of;

/// The suffix of the files that describe agents.
const AGENT_FILE: &str = ".agentuse";

/// What is known of a session by the name and the place of its folder alone.
pub(super) fn head_by_name(folder: &Path, id: &str) -> Head {
    let agent = agent_by_name(folder);
    Head {
        id: id.to_owned(),
        format: SLUG,
        title: agent.clone().and_then(title),
        agent: Agent {
            name: agent,
            ..Agent::default()
        },
        workspace: Workspace {
            encoded: project_key(folder),
            ..Workspace::default()
        },
        links: links(parent_by_place(folder)),
        ..Head::default()
    }
}

fn agent_by_name(folder: &Path) -> Option<String> {
    let name = folder.file_name()?.to_string_lossy();
    split_name(&name).map(|(_, agent)| agent.to_owned())
}

fn parent_by_place(folder: &Path) -> Option<String> {
    parent_of(folder).and_then(folder_id)
}

fn links(parent: Option<String>) -> Vec<Link> {
    parent.map(link_to_parent).into_iter().collect()
}

/// What a description says, completed by what the folder tells.
pub(super) fn session_head(root: Value<'_>, folder: &Path, id: &str) -> Head {
    let agent = root.get("agent");
    let of_agent = |key| string_of(agent?, key).filter(|s| !s.is_empty());
    let name = of_agent("name").or_else(|| agent_by_name(folder));
    let project = root.get("project");
    let of_project = |key| string_of(project?, key);
    let parent = string_of(root, "parentSessionID").filter(|p| !p.is_empty());
    let links = links(parent.or_else(|| parent_by_place(folder)));
    let project_root = of_project("root");
    Head {
        format: SLUG,
        id: string_of(root, "id")
            .filter(|id| !id.is_empty())
            .unwrap_or_else(|| id.to_owned()),
        title: name.clone().and_then(title),
        agent: Agent {
            id: agent_id(root).or_else(|| name.clone()),
            role: name.clone().filter(|_| !links.is_empty()),
            name,
            version: string_of(root, "version"),
            ..Agent::default()
        },
        workspace: Workspace {
            path: of_project("cwd").or_else(|| project_root.clone()),
            root: project_root,
            encoded: project_key(folder),
            ..Workspace::default()
        },
        created: moment_at_path(root, &["time", "created"]),
        updated: moment_at_path(root, &["time", "updated"]),
        model: string_of(root, "model")
            .filter(|m| !m.is_empty())
            .map(|m| model_ref(&m)),
        status: status(root),
        links,
        ..Head::default()
    }
}

fn title(text: String) -> Option<Title> {
    let source = TitleSource::Stored;
    (!text.trim().is_empty()).then_some(Title { text, source })
}

/// The agent's identifier. Old files lack it: then it is the path of the agent's file in the
/// project, without its suffix.
pub(super) fn agent_id(root: Value<'_>) -> Option<String> {
    let agent = root.get("agent")?;
    if let Some(id) = string_of(agent, "id").filter(|id| !id.is_empty()) {
        return Some(id);
    }
    let file = string_of(agent, "filePath")?;
    let project = string_of(root.get("project")?, "root")?;
    let inner = Path::new(&file).strip_prefix(&project).ok()?;
    let inner = inner.to_str()?.replace('\\', "/");
    let id = inner.strip_suffix(AGENT_FILE).unwrap_or(&inner);
    (!id.is_empty()).then(|| id.to_owned())
}

fn status(root: Value<'_>) -> Option<Status> {
    let error = root.get("error").and_then(|e| string_of(e, "message"));
    match string_of(root, "status")?.as_str() {
        "running" => Some(Status::Running),
        "completed" => Some(Status::Completed),
        "error" => Some(Status::Failed(error)),
        "suspended" => Some(Status::Suspended),
        other => Some(Status::Other(other.to_owned())),
    }
}

fn link_to_parent(session: String) -> Link {
    Link {
        kind: LinkKind::Parent,
        session,
        entry: None,
        tool_call: None,
    }
}

/// The link to a sub-agent's session, by its folder.
pub(super) fn link_to_child(folder: &Path) -> Option<Link> {
    Some(Link {
        kind: LinkKind::SubAgent,
        session: folder_id(folder)?,
        entry: None,
        tool_call: None,
    })
}

/// The id in the name of a session's folder.
pub(super) fn folder_id(folder: &Path) -> Option<String> {
    let name = folder.file_name()?.to_string_lossy();
    Some(split_name(&name).map_or_else(|| name.to_string(), |(id, _)| id.to_owned()))
}
