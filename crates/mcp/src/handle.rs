//! What conversations are called, and which names are taken.

use rethread_lib::engine::{Env, SessionNames, agent_name};
use rethread_lib::model::{Head, Summary};
use rethread_lib::render::one_line;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::ToolError;

/// The longest name that is looked for.
const LONGEST: usize = 512;

/// A conversation, as every tool describes it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ConversationRow {
    /// Names it in every tool.
    pub(crate) id: String,
    /// The agent that held it.
    pub(crate) agent: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    /// The folder in which the agent worked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) workspace: Option<String>,
    /// When something was last said (UTC).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) updated_at: Option<String>,
    /// How many messages it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) messages: Option<u64>,
}

impl ConversationRow {
    pub(crate) fn of_summary(names: &SessionNames, summary: &Summary) -> Self {
        Self {
            messages: Some(summary.counts.messages),
            ..Self::of_head(&summary.head, handle(names, summary))
        }
    }

    pub(crate) fn of_head(head: &Head, id: String) -> Self {
        let text = |text: &str| one_line(text).into_owned();
        Self {
            id,
            agent: agent_name(head).unwrap_or(head.held_by()).to_owned(),
            title: head.title.as_ref().map(|title| text(&title.text)),
            workspace: head.workspace.path.as_deref().map(text),
            updated_at: head.updated.map(|time| time.to_string()),
            messages: None,
        }
    }

    /// `Fix the redirect · Claude Code · /home/me/shop · 2026-11-17T16:27:00Z`
    pub(crate) fn line(&self) -> String {
        let title = self.title.as_deref().unwrap_or("(no title)");
        let mut line = format!("{title} · {}", self.agent);
        for fact in [&self.workspace, &self.updated_at].into_iter().flatten() {
            line.push_str(" · ");
            line.push_str(fact);
        }
        line
    }
}

/// A name that stays the same whatever else appears: the whole id, where that is the session's alone.
pub(crate) fn handle(names: &SessionNames, summary: &Summary) -> String {
    let id = &summary.head.id;
    let name = names.name_of(summary);
    if id.starts_with(&name) && is_name(id) {
        id.clone()
    } else if is_name(&name) {
        name
    } else {
        format!("{}:{id}", summary.head.format)
    }
}

/// A name that a client sent, if it is one of a conversation. Paths are not: a client must not make
/// Rethread read any file that it names.
pub(crate) fn checked_name<'a>(env: &Env, name: &'a str) -> Result<&'a str, ToolError> {
    if is_name(name) && !env.cwd.join(name).exists() {
        Ok(name)
    } else {
        Err(ToolError::new("`id` is not the id of a conversation").hint(
            "send an id as search_conversations or list_conversations give it; paths are not taken",
        ))
    }
}

/// Whether something can be the id of a conversation, and not its path.
fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= LONGEST
        && !name.starts_with(['.', '-', '~'])
        && !name.contains(['/', '\\', '\0'])
        && !name.chars().any(char::is_control)
}
