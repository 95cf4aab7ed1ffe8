//! What is known about a session as a whole, from its row or from its JSON.

use rethread_json::{Passed, Tree, Value};
use rethread_model::{
    Agent, ConvertedFrom, Cost, Head, Link, LinkKind, ModelRef, Moment, Title, TitleSource, Usage,
    UsageRecord, UsageScope, Workspace,
};

use super::SLUG;
use super::carrier::OURS;
use super::members::Members;
use crate::carry::converted_from;
use crate::fields::{millis_moment, string_of};
use crate::first_prompt::FirstPrompt;

/// The facts about a session, whichever way they are stored.
#[derive(Clone, Debug, Default)]
pub(super) struct SessionFacts {
    pub(super) id: Option<String>,
    pub(super) parent: Option<String>,
    pub(super) project: Option<String>,
    title: Option<String>,
    pub(super) directory: Option<String>,
    relative: Option<String>,
    /// The root of the project.
    pub(super) root: Option<String>,
    /// The name of the folder that an old store keeps the project in.
    pub(super) encoded: Option<String>,
    version: Option<String>,
    pub(super) agent: Option<String>,
    model: Option<ModelRef>,
    created: Option<Moment>,
    updated: Option<Moment>,
    archived: bool,
    usage: Option<Usage>,
    pub(super) revert: Option<Revert>,
    pub(super) fork: Option<ForkNote>,
    /// The session that this one was converted from.
    converted_from: Option<ConvertedFrom>,
}

/// The message from which on the user took everything back.
#[derive(Clone, Debug)]
pub(super) struct Revert {
    pub(super) message: String,
    /// The part from which on, where the message itself stays.
    pub(super) part: Option<String>,
}

/// What we note in a session that we copied from another.
#[derive(Clone, Debug)]
pub(super) struct ForkNote {
    pub(super) session: String,
    entry: Option<String>,
    /// How many messages were copied.
    pub(super) messages: u64,
}

impl SessionFacts {
    /// The facts in a row of the table `session`.
    pub(super) fn of_row(row: Value<'_>) -> Self {
        let count = |key| row.get(key).and_then(Value::u64);
        let usage = count("tokens_input").map(|input| {
            let reasoning = count("tokens_reasoning").unwrap_or(0);
            Usage {
                input,
                cache_read: count("tokens_cache_read").unwrap_or(0),
                cache_write: count("tokens_cache_write").unwrap_or(0),
                output: count("tokens_output")
                    .unwrap_or(0)
                    .saturating_add(reasoning),
                reasoning,
                cost: cost(row),
                scope: UsageScope::Cumulative,
                ..Usage::default()
            }
        });
        Self {
            project: string_of(row, "project_id"),
            parent: string_of(row, "parent_id"),
            relative: string_of(row, "path"),
            created: millis(row.get("time_created")),
            updated: millis(row.get("time_updated")),
            archived: row.get("time_archived").is_some_and(|v| !v.is_null()),
            usage,
            ..Self::of_both(row)
        }
    }

    /// The facts in a JSON object of an old store or an export.
    pub(super) fn of_info(info: Value<'_>) -> Self {
        let usage = Members::parse(info.raw()).as_ref().and_then(read_usage);
        let usage = usage.map(|usage| Usage {
            scope: UsageScope::Cumulative,
            ..usage
        });
        Self {
            project: string_of(info, "projectID"),
            parent: string_of(info, "parentID"),
            relative: string_of(info, "path"),
            created: millis(info.at(&["time", "created"])),
            updated: millis(info.at(&["time", "updated"])),
            archived: info.at(&["time", "archived"]).is_some_and(|v| !v.is_null()),
            usage,
            ..Self::of_both(info)
        }
    }

    /// What has the same name in both.
    fn of_both(value: Value<'_>) -> Self {
        let model = value.get("model").and_then(|model| {
            Some(ModelRef {
                provider: string_of(model, "providerID"),
                id: string_of(model, "id").or_else(|| string_of(model, "modelID"))?,
            })
        });
        let revert = value.get("revert").and_then(|revert| {
            Some(Revert {
                message: string_of(revert, "messageID")?,
                part: string_of(revert, "partID"),
            })
        });
        let fork = value.at(&["metadata", "rethread"]).and_then(|note| {
            Some(ForkNote {
                session: string_of(note, "forkOf")?,
                entry: string_of(note, "at"),
                messages: note.get("messages").and_then(Value::u64).unwrap_or(0),
            })
        });
        let carried = value.at(&["metadata", OURS]);
        let first = carried.and_then(|list| list.items().next());
        Self {
            converted_from: first.and_then(converted_from),
            id: string_of(value, "id"),
            title: string_of(value, "title"),
            directory: string_of(value, "directory"),
            version: string_of(value, "version"),
            agent: string_of(value, "agent"),
            model,
            revert,
            fork,
            ..Self::default()
        }
    }

    /// Whether the user took back everything from this part on.
    pub(super) fn takes_back(&self, part: &str) -> bool {
        let from = self.revert.as_ref().and_then(|revert| revert.part.as_ref());
        from.is_some_and(|from| from == part)
    }

    /// Whether the title only says that there is none yet.
    pub(super) fn is_untitled(&self) -> bool {
        let title = self.title.as_deref().unwrap_or_default().trim();
        let made_up = ["New session - ", "Child session - "];
        let is_time = |rest: &str| rest.parse::<Moment>().is_ok();
        title.is_empty()
            || made_up
                .iter()
                .any(|s| title.strip_prefix(s).is_some_and(is_time))
    }

    /// The head of the session. `prompt` is the first thing that the person said, where it is known.
    pub(super) fn head(&self, id: &str, prompt: Option<&str>) -> Head {
        let stored = self.title.clone().filter(|t| !t.trim().is_empty());
        let stored = stored.map(|text| Title {
            text,
            source: TitleSource::Stored,
        });
        let mut first = FirstPrompt::default();
        first.add(prompt.unwrap_or_default());
        let made = first.title().filter(|_| self.is_untitled());
        let title = made.or(stored);
        let mut links = Vec::new();
        let mut link = |kind, session: &String, entry: Option<&String>| {
            links.push(Link {
                kind,
                session: session.clone(),
                entry: entry.cloned(),
                tool_call: None,
            });
        };
        if let Some(parent) = &self.parent {
            link(LinkKind::Parent, parent, None);
        }
        if let Some(fork) = &self.fork {
            link(LinkKind::ForkOf, &fork.session, fork.entry.as_ref());
        }
        Head {
            id: self.id.clone().unwrap_or_else(|| id.to_owned()),
            format: SLUG,
            dialect: self.version.clone(),
            title,
            agent: Agent {
                id: Some(SLUG.to_owned()),
                name: Some("OpenCode".to_owned()),
                version: self.version.clone(),
                role: self.agent.clone().filter(|_| self.parent.is_some()),
                ..Agent::default()
            },
            workspace: Workspace {
                path: self.directory.clone(),
                root: self.root.clone(),
                relative: self.relative.clone().filter(|p| !p.is_empty()),
                encoded: self.encoded.clone(),
                ..Workspace::default()
            },
            created: self.created,
            updated: self.updated.or(self.created),
            model: self.model.clone(),
            archived: self.archived,
            links,
            converted_from: self.converted_from.clone(),
            recorded_usage: self
                .usage
                .map(|usage| UsageRecord {
                    usage,
                    ..UsageRecord::default()
                })
                .into_iter()
                .collect(),
            ..Head::default()
        }
    }
}

/// The root of a project, from its row or its JSON. The root of the file system stands for none.
pub(super) fn project_root(project: Value<'_>) -> Option<String> {
    string_of(project, "worktree").filter(|root| root != "/")
}

/// Reads one line or document as facts, with how to take them.
pub(super) fn parsed(bytes: &[u8], of: impl Fn(Value<'_>) -> SessionFacts) -> Option<SessionFacts> {
    let tree = Tree::parse(bytes).ok()?;
    let root = tree.root(bytes);
    root.is_object().then(|| of(root))
}

/// A moment in milliseconds.
pub(super) fn millis(value: Option<Value<'_>>) -> Option<Moment> {
    value.and_then(millis_moment)
}

/// Tokens and cost of a message or a step. Reasoning is counted beside the output there.
pub(super) fn read_usage(said: &Members<'_>) -> Option<Usage> {
    let [tokens, cost] = said.pick(["tokens", "cost"]);
    let tokens = Members::of(tokens.filter(|t| t.is_object())?);
    let names = ["input", "output", "reasoning", "cache", "total"];
    let [input, output, reasoning, cache, total] = tokens.pick(names);
    let [read, write] = cache.map_or([None; 2], |cache| cache.pick(["read", "write"]));
    let count = |value: Option<Passed<'_>>| value.and_then(Passed::u64).unwrap_or(0);
    let reasoning = count(reasoning);
    Some(Usage {
        input: count(input),
        cache_read: count(read),
        cache_write: count(write),
        output: count(output).saturating_add(reasoning),
        reasoning,
        recorded_total: total.and_then(Passed::u64),
        cost: cost.and_then(Passed::f64).map(|usd| Cost { usd }),
        ..Usage::default()
    })
}

fn cost(value: Value<'_>) -> Option<Cost> {
    value
        .get("cost")
        .and_then(Value::f64)
        .map(|usd| Cost { usd })
}
