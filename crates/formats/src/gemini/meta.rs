//! What a session says of itself: its first line, and every `$set` after it.

use std::path::Path;

use rethread_json::Value;
use rethread_model::{Agent, ConvertedFrom, Head, Link, LinkKind, Moment};

use super::{AGENT, SLUG, store};
use crate::fields::string_of;

/// The kind of a session that was started by another one.
const SUB_AGENT: &str = "subagent";

/// What is said of the whole so far; what is said later wins.
#[derive(Clone, Debug, Default)]
pub(super) struct LogMeta {
    pub(super) id: Option<String>,
    pub(super) project_hash: Option<String>,
    pub(super) started: Option<Moment>,
    pub(super) updated: Option<Moment>,
    pub(super) summary: Option<String>,
    kind: Option<String>,
    pub(super) directories: Vec<String>,
    pub(super) fork: Option<ForkOrigin>,
    /// The session that this one was converted from.
    pub(super) converted_from: Option<ConvertedFrom>,
}

/// What a session that we forked notes of the one it came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ForkOrigin {
    pub(super) session: String,
    pub(super) entry: Option<String>,
    /// How many of its first messages are copies.
    pub(super) copied: usize,
}

/// The key under which we note things of our own.
pub(super) const OWN: &str = "rethread";

/// Whether an object that is no message says something of the whole.
pub(super) fn is_meta(value: Value<'_>) -> bool {
    let has = |key| value.get(key).is_some_and(|v| v.str().is_some());
    has("sessionId") && (has("projectHash") || has("startTime") || value.get("messages").is_some())
}

impl LogMeta {
    /// Takes what an object says into account.
    pub(super) fn merge(&mut self, object: Value<'_>) {
        for (key, value) in object.members() {
            if let Some(key) = key.str() {
                self.set(&key, value);
            }
        }
    }

    /// Takes one member into account.
    pub(super) fn set(&mut self, key: &str, value: Value<'_>) {
        let text = || value.str().map(std::borrow::Cow::into_owned);
        let time = || value.str().and_then(|t| t.parse().ok());
        match key {
            "sessionId" => self.id = text().filter(|id| !id.is_empty()),
            "projectHash" => self.project_hash = text(),
            "startTime" | "start_time" => self.started = time(),
            "lastUpdated" => self.updated = time(),
            "summary" => self.summary = text().filter(|s| !s.trim().is_empty()),
            "kind" => self.kind = text(),
            "directories" => {
                let named = value.items().filter_map(Value::str);
                self.directories = named.map(std::borrow::Cow::into_owned).collect();
            }
            OWN => self.fork = fork_note(value),
            _ => {}
        }
    }

    pub(super) fn is_sub_agent(&self) -> bool {
        self.kind.as_deref() == Some(SUB_AGENT)
    }

    /// The facts about the whole session that it says itself, and that its place tells.
    pub(super) fn head(&self, path: &Path, id: &str) -> Head {
        let parent = store::parent_session(path).filter(|_| self.is_sub_agent());
        let link = |kind, session, entry| Link {
            kind,
            session,
            entry,
            tool_call: None,
        };
        let parent = parent.map(|parent| link(LinkKind::Parent, parent, None));
        let fork = self.fork.clone();
        let fork = fork.map(|from| link(LinkKind::ForkOf, from.session, from.entry));
        Head {
            id: self.id.clone().unwrap_or_else(|| id.to_owned()),
            format: SLUG,
            agent: Agent {
                id: Some(SLUG.to_owned()),
                name: Some(AGENT.to_owned()),
                ..Agent::default()
            },
            created: self.started,
            updated: self.updated.or(self.started),
            links: parent.into_iter().chain(fork).collect(),
            hidden: self.is_sub_agent(),
            converted_from: self.converted_from.clone(),
            ..Head::default()
        }
    }
}

fn fork_note(value: Value<'_>) -> Option<ForkOrigin> {
    let copied = value.get("copied").and_then(Value::u64).unwrap_or(0);
    Some(ForkOrigin {
        session: string_of(value, "forkOf")?,
        entry: string_of(value, "entry"),
        copied: usize::try_from(copied).unwrap_or(usize::MAX),
    })
}
