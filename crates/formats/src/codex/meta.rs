//! What a session says about itself: its `session_meta`, or the bare header of older files.

use std::io::Read;
use std::path::Path;

use rethread_disk::open_read;
use rethread_json::{Tree, Value, split_lines};
use rethread_model::{Agent, Head, Link, LinkKind, Moment, Workspace};

use super::packed::open_stream;
use super::record::{RolloutRecord, RolloutType};
use super::store::{RolloutName, is_archived};
use crate::fields::{filled_of, string_of};
use crate::kit::saved_struct;

/// How much of a file is looked at to know what it is; mostly the first line says it.
const FIRST: u64 = 32 * 1024;
const LOOK: u64 = 1024 * 1024;

/// The dialect of files with bare items.
const ITEMS: &str = "items";

/// How many values of it.
const VALUES: usize = 16;

/// The position in another session's file up to which a fork has its history from there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Base {
    /// The file's id: that of its session, unless turns of that were taken back.
    pub(super) rollout: String,
    /// The first record that is not meant.
    pub(super) end_ordinal: Option<u64>,
    /// The byte behind the last one that is.
    pub(super) end_byte: Option<u64>,
}

impl Base {
    /// Whether a record is behind those that are meant. Numbers say it; bytes where there is none.
    pub(super) fn ends_before(&self, ordinal: Option<u64>, offset: u64) -> bool {
        match (ordinal, self.end_ordinal) {
            (Some(ordinal), Some(end)) => ordinal >= end,
            _ => self.end_byte.is_some_and(|end| offset >= end),
        }
    }
}

/// What a session says about itself.
#[derive(Clone, Debug, Default)]
pub(super) struct SessionMeta {
    pub(super) id: String,
    pub(super) created: Option<Moment>,
    pub(super) cwd: Option<String>,
    pub(super) provider: Option<String>,
    pub(super) base: Option<Base>,
    pub(super) forked_from: Option<String>,
    /// In a sub-agent that was given its parent's past, the first record of its own.
    pub(super) own_start: Option<u64>,
    dialect: Option<String>,
    originator: Option<String>,
    version: Option<String>,
    role: Option<String>,
    pub(super) parent: Option<String>,
    is_review: bool,
    hidden: bool,
    branch: Option<String>,
    commit: Option<String>,
    remote: Option<String>,
}

saved_struct!(Base {
    rollout,
    end_ordinal,
    end_byte,
});
saved_struct!(SessionMeta {
    id,
    created,
    cwd,
    provider,
    base,
    forked_from,
    own_start,
    dialect,
    originator,
    version,
    role,
    parent,
    is_review,
    hidden,
    branch,
    commit,
    remote,
});

impl SessionMeta {
    /// Reads the payload of a `session_meta`, or a bare header.
    pub(super) fn of(value: Value<'_>, is_bare: bool) -> Self {
        let of = |path: &[&str]| {
            let word = value.at(path)?.str()?.into_owned();
            Some(word).filter(|w| !w.is_empty())
        };
        let spawn = |key| of(&["source", "subagent", "thread_spawn", key]);
        let subagent = value.at(&["source", "subagent"]);
        let mode = filled_of(value, "history_mode");
        let base = value.get("history_base").filter(|b| b.is_object());
        Self {
            id: string_of(value, "id").unwrap_or_default(),
            created: string_of(value, "timestamp").and_then(|t| t.parse().ok()),
            cwd: filled_of(value, "cwd"),
            provider: filled_of(value, "model_provider"),
            base: base.and_then(|b| {
                Some(Base {
                    rollout: filled_of(b, "thread_id")?,
                    end_ordinal: b.get("end_ordinal_exclusive").and_then(Value::u64),
                    end_byte: b.get("end_byte_offset").and_then(Value::u64),
                })
            }),
            forked_from: filled_of(value, "forked_from_id"),
            own_start: value
                .get("subagent_history_start_ordinal")
                .and_then(Value::u64),
            dialect: Some(match mode {
                _ if is_bare => ITEMS.to_owned(),
                Some(mode) => mode,
                None => "legacy".to_owned(),
            }),
            originator: filled_of(value, "originator"),
            version: filled_of(value, "cli_version"),
            role: filled_of(value, "agent_role")
                .or_else(|| filled_of(value, "agent_type"))
                .or_else(|| spawn("agent_role"))
                .or_else(|| filled_of(value, "agent_nickname"))
                .or_else(|| spawn("agent_nickname"))
                .or_else(|| of(&["source", "subagent"])),
            parent: filled_of(value, "parent_thread_id").or_else(|| spawn("parent_thread_id")),
            is_review: subagent.is_some_and(|s| s.is_str("review")),
            hidden: subagent.is_some() || value.at(&["source", "internal"]).is_some(),
            branch: of(&["git", "branch"]),
            commit: of(&["git", "commit_hash"]),
            remote: of(&["git", "repository_url"]),
        }
    }

    /// What is known of a file that does not say anything: what its name tells.
    pub(super) fn unsaid(path: &Path) -> Self {
        let named = RolloutName::of(path);
        let stem = || {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.split('.').next().unwrap_or_default().to_owned()
        };
        Self {
            id: named.map_or_else(stem, |n| n.thread),
            ..Self::default()
        }
    }

    /// Whether records have numbers.
    pub(super) fn is_paginated(&self) -> bool {
        self.dialect.as_deref() == Some("paginated")
    }

    /// Whether items stand in the file without a wrapper.
    pub(super) fn is_bare(&self) -> bool {
        self.dialect.as_deref() == Some(ITEMS)
    }

    /// The facts about the whole session.
    pub(super) fn head(&self, path: &Path) -> Head {
        let link = |kind, session: &String| Link {
            kind,
            session: session.clone(),
            entry: None,
            tool_call: None,
        };
        let parent = if self.is_review {
            LinkKind::Review
        } else {
            LinkKind::Parent
        };
        let mut links: Vec<Link> = self.parent.iter().map(|id| link(parent, id)).collect();
        links.extend(self.forked_from.iter().map(|id| link(LinkKind::ForkOf, id)));
        Head {
            id: self.id.clone(),
            format: super::SLUG,
            dialect: self.dialect.clone(),
            agent: Agent {
                id: Some(super::SLUG.to_owned()),
                name: self.originator.clone().or(Some("Codex".to_owned())),
                version: self.version.clone(),
                role: self.role.clone(),
                ..Agent::default()
            },
            workspace: Workspace {
                path: self.cwd.clone(),
                branch: self.branch.clone(),
                commit: self.commit.clone(),
                remote: self.remote.clone(),
                ..Workspace::default()
            },
            created: self.created,
            archived: is_archived(path),
            links,
            hidden: self.hidden,
            ..Head::default()
        }
    }
}

/// What the beginning of a file tells.
#[derive(Debug)]
pub(super) enum Beginning {
    /// It is a session, and says this about itself.
    Session(Box<SessionMeta>),
    /// It is a session that says nothing about itself.
    Nameless,
    /// It is something else.
    Other,
}

/// Looks at the beginning of a log.
pub(super) fn read_beginning(path: &Path) -> Beginning {
    let Ok(file) = open_read(path) else {
        return Beginning::Other;
    };
    open_stream(&file, path).map_or(Beginning::Other, beginning_of)
}

/// Looks at the beginning of a log's content.
pub(super) fn beginning_of(mut content: impl Read) -> Beginning {
    let mut start = Vec::new();
    let mut found = Beginning::Other;
    for more in [FIRST, LOOK] {
        // What a damaged compressed file gives before the damage is enough.
        let _ = content.by_ref().take(more).read_to_end(&mut start);
        found = told_by(&start);
        if matches!(found, Beginning::Session(_)) {
            break;
        }
    }
    found
}

fn told_by(start: &[u8]) -> Beginning {
    let mut tree = Tree::default();
    let mut found = Beginning::Other;
    let mut values = 0;
    for (_, line) in split_lines(start) {
        if tree.parse_into(line).is_err() || !tree.root(line).is_object() {
            continue;
        }
        let record = RolloutRecord::of(tree.root(line));
        if record.what == RolloutType::Meta {
            let is_bare = record.name() == "bare/header";
            return Beginning::Session(Box::new(SessionMeta::of(record.payload, is_bare)));
        }
        if record.is_ours() {
            found = Beginning::Nameless;
        }
        values += 1;
        if values == VALUES {
            break;
        }
    }
    found
}
