//! The file that describes a sub-agent, beside its transcript.

use std::path::Path;

use rethread_disk::read_small;
use rethread_json::{Tree, Value};
use rethread_model::{Head, Title, TitleSource};

use super::store::meta_file;
use crate::fields::string_of;

/// What is known of a sub-agent.
#[derive(Clone, Debug, Default)]
pub(super) struct AgentMeta {
    pub(super) agent_type: Option<String>,
    pub(super) description: Option<String>,
    /// The call that started it.
    pub(super) tool_call: Option<String>,
}

impl AgentMeta {
    /// What a file says; none if it is no JSON object.
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        let tree = Tree::parse(bytes).ok()?;
        let root: Value<'_> = tree.root(bytes);
        root.is_object().then(|| Self {
            agent_type: string_of(root, "agentType"),
            description: string_of(root, "description"),
            tool_call: string_of(root, "toolUseId"),
        })
    }

    /// What the file beside a transcript says, if it is there and can be read.
    pub(super) fn beside(transcript: &Path) -> Option<Self> {
        Self::of(&read_small(&meta_file(transcript)).ok()?)
    }

    /// Gives a session the name that its starter gave it.
    pub(super) fn name(&self, head: &mut Head) {
        let given = self.description.clone().filter(|d| !d.trim().is_empty());
        let is_better = head
            .title
            .as_ref()
            .is_none_or(|t| t.source < TitleSource::Model);
        if let Some(text) = given.filter(|_| is_better) {
            head.title = Some(Title {
                text,
                source: TitleSource::Model,
            });
        }
    }
}
