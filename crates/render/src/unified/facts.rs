//! What is known of a session as a whole and has no field in the document: the member `session` in
//! the `extensions` of its first message, or of the session object where there is no message.

use std::io;

use rethread_model::{Head, Link, Session, Usage};

use super::entry::{more_usage, title_word, token_usage};
use super::session::{link_word, status_words};
use crate::json::JsonWriter;

/// What an export says about a session beside what is in the document's own fields.
pub(super) struct SessionFacts<'a> {
    pub(super) session: &'a Session,
    /// How many entries are written.
    pub(super) entries: usize,
    /// Whether somebody noted when it began, and when it ended.
    pub(super) has_times: (bool, bool),
    /// The number of the entry that the agent would go on from, where it is not the last one.
    pub(super) leaf_entry: Option<u64>,
}

/// Writes the member `session`, if there is something to say.
pub(super) fn write_session_facts(
    w: &mut JsonWriter<'_>,
    facts: &SessionFacts<'_>,
) -> io::Result<()> {
    let head = &facts.session.head;
    w.open_if_used("session", "{");
    if let Some(title) = &head.title {
        w.write_member("title", &title.text)?;
        w.write_member("title_source", title_word(title.source))?;
    }
    w.number_if("entries", Some(facts.entries as u64))?;
    w.flag_if("start_unknown", !facts.has_times.0)?;
    w.flag_if("end_unknown", !facts.has_times.1)?;
    w.number_if("leaf_entry", facts.leaf_entry)?;
    write_agent(w, head)?;
    write_workspace(w, head)?;
    if let Some(status) = &head.status {
        let (word, error) = status_words(status);
        w.write_member("status", word)?;
        w.member_if("status_error", error)?;
    }
    w.number_if("duration_ms", head.duration_ms)?;
    w.flag_if("archived", head.archived)?;
    w.flag_if("hidden", head.hidden)?;
    w.open_if_used("links", "[");
    for one in &head.links {
        write_link(w, one)?;
    }
    w.close_if_used("]")?;
    w.open_if_used("recorded_usage", "[");
    for record in &head.recorded_usage {
        w.begin_element()?;
        w.open("{")?;
        if let Some(model) = &record.model {
            w.member_if("provider", model.provider.as_deref())?;
            w.write_member("model", &model.id)?;
        }
        w.member_if("purpose", record.purpose.as_deref())?;
        write_usage(w, &record.usage)?;
        w.close("}")?;
    }
    w.close_if_used("]")?;
    w.close_if_used("}")
}

fn write_usage(w: &mut JsonWriter<'_>, usage: &Usage) -> io::Result<()> {
    token_usage(w, usage)?;
    more_usage(w, usage)
}

fn write_agent(w: &mut JsonWriter<'_>, head: &Head) -> io::Result<()> {
    w.open_if_used("agent", "{");
    let agent = &head.agent;
    for (key, value) in [
        ("id", &agent.id),
        ("name", &agent.name),
        ("version", &agent.version),
        ("role", &agent.role),
        ("protocol", &agent.protocol),
        ("protocol_version", &agent.protocol_version),
    ] {
        w.member_if(key, value.as_deref())?;
    }
    w.close_if_used("}")?;
    w.member_if("format_version", head.dialect.as_deref())?;
    if let Some(model) = &head.model {
        w.member_if("provider", model.provider.as_deref())?;
        w.write_member("model", &model.id)?;
    }
    Ok(())
}

fn write_workspace(w: &mut JsonWriter<'_>, head: &Head) -> io::Result<()> {
    let workspace = &head.workspace;
    for (key, value) in [
        ("project_root", &workspace.root),
        ("relative_path", &workspace.relative),
        ("git_branch", &workspace.branch),
        ("git_commit", &workspace.commit),
        ("git_remote", &workspace.remote),
    ] {
        w.member_if(key, value.as_deref())?;
    }
    if let Some(worktree) = &workspace.worktree {
        w.write_member("worktree", &worktree.path)?;
        w.member_if("worktree_branch", worktree.branch.as_deref())?;
    }
    Ok(())
}

fn write_link(w: &mut JsonWriter<'_>, link: &Link) -> io::Result<()> {
    w.begin_element()?;
    w.open("{")?;
    w.write_member("kind", link_word(link.kind))?;
    w.write_member("session_id", &link.session)?;
    w.member_if("uuid", link.entry.as_deref())?;
    w.member_if("tool_id", link.tool_call.as_deref())?;
    w.close("}")
}
