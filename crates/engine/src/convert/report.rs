//! What became of everything that a session holds: measured on what was written, not promised.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rethread_formats::carry::Scope;
use rethread_formats::{Conversation, FormatRef};
use rethread_model::{Block, Body, EntryIx, Kind, Message, Role, Visibility};

use super::counting::CountingBodies;
use super::digests;
use super::messages::{client_of, injected_block, may_be_said, path_to};

/// What became of one kind of thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemFate {
    /// What it is.
    pub what: &'static str,
    /// How many of them there are in the source.
    pub count: usize,
    /// How many of them the target's own reader finds in what was written.
    pub native: usize,
}

impl ItemFate {
    /// Whether all of them are what they were.
    pub fn is_native(&self) -> bool {
        self.native == self.count
    }

    /// How many of a hundred are what they were.
    pub fn kept_percent(&self) -> usize {
        (self.native * 100).checked_div(self.count).unwrap_or(100)
    }
}

/// The kinds of things that are told apart, in the order of a report.
pub const KINDS: [&str; 15] = [
    "title",
    "text",
    "thinking",
    "tool calls",
    "tool results",
    "images",
    "files",
    "models",
    "usage",
    "times",
    "branches",
    "compactions",
    "labels",
    AGENTS,
    "other records",
];

/// The kind of things that sub-agents are.
pub const AGENTS: &str = "sub-agents";

/// Compares what a source holds with what was made of it. Sub-agents are sessions of their own: how
/// many there are, and how many of them are the target's.
pub(super) fn compare_sessions(
    source: &Conversation,
    made: &Conversation,
    agents: (usize, usize),
) -> Vec<ItemFate> {
    compare_counted(
        &Inventory::of_conversation(source),
        &Inventory::of_conversation(made),
        agents,
    )
}

/// As [`compare_sessions`], where both are counted.
pub(super) fn compare_counted(
    source: &Inventory<'_>,
    made: &Inventory<'_>,
    (agents, native_agents): (usize, usize),
) -> Vec<ItemFate> {
    let fate = |what: &'static str| {
        if what == AGENTS {
            return (agents > 0).then_some(ItemFate {
                what,
                count: agents,
                native: native_agents,
            });
        }
        let list = source.counts.get(what)?;
        let count: usize = list.values().sum();
        let found = made.counts.get(what);
        let there = |mark: &u64| found.and_then(|f| f.get(mark)).copied().unwrap_or(0);
        let native = list.iter().map(|(mark, n)| there(mark).min(*n)).sum();
        Some(ItemFate {
            what,
            count,
            native,
        })
    };
    KINDS.into_iter().filter_map(fate).collect()
}

/// Whether what was made of a session holds all of its words.
pub(super) fn says_the_same(source: &Conversation, made: &Conversation) -> bool {
    let fates = compare_sessions(source, made, (0, 0));
    let words = fates.iter().find(|fate| fate.what == "text");
    words.is_none_or(ItemFate::is_native)
}

/// What is said in a message that a model sees, what its client told it included; none if nothing of it
/// counts as said, but each client tells such things by itself.
fn said_in<'a>(
    message: &'a Message,
    seen: Visibility,
    client: FormatRef,
) -> Option<Vec<Cow<'a, Block>>> {
    let as_told = |block: &Block| injected_block(block, message.role, (client, Scope::Told));
    if seen == Visibility::Injected || message.role == Role::System {
        let said = message.blocks.iter().filter_map(as_told).map(Cow::Owned);
        let said: Vec<Cow<'_, Block>> = said.collect();
        return (!said.is_empty()).then_some(said);
    }
    let said = |block: &'a Block| match block {
        Block::Aside { .. } => as_told(block).map_or(Cow::Borrowed(block), Cow::Owned),
        _ => Cow::Borrowed(block),
    };
    Some(message.blocks.iter().map(said).collect())
}

/// How many there are of each thing in a session.
pub(super) struct Inventory<'a> {
    conversation: &'a Conversation,
    client: FormatRef,
    /// Which entries are on the way to where the session is.
    on_path: Vec<bool>,
    counts: BTreeMap<&'static str, BTreeMap<u64, usize>>,
}

impl<'a> Inventory<'a> {
    fn of_conversation(conversation: &'a Conversation) -> Self {
        CountingBodies::of_conversation(conversation).into_all()
    }

    /// Of a session whose entries come one by one.
    pub(super) fn new(conversation: &'a Conversation) -> Self {
        let session = &conversation.session;
        let mut on_path = vec![false; session.entries().len()];
        for ix in session
            .leaf()
            .map(|leaf| path_to(session, leaf))
            .unwrap_or_default()
        {
            on_path[ix.get()] = true;
        }
        let mut all = Self {
            conversation,
            client: client_of(conversation),
            on_path,
            counts: BTreeMap::new(),
        };
        if let Some(title) = &session.head.title {
            all.add_item("title", digests::digest_of(&[&title.text]));
        }
        all
    }

    /// Counts what is in an entry.
    pub(super) fn count_entry(&mut self, ix: EntryIx, body: &Body) {
        let (conversation, client) = (self.conversation, self.client);
        let session = &conversation.session;
        let entry = session.entry(ix);
        if entry.beside || entry.side {
            return;
        }
        let told = match body {
            Body::Message(message) if may_be_said(entry, Scope::Told) => {
                said_in(message, entry.visibility, client)
            }
            _ => None,
        };
        if !self.on_path[ix.get()] && may_be_said(entry, Scope::Told) {
            for block in told.iter().flatten() {
                self.add_item("branches", digests::block_digest(conversation, block));
            }
            return;
        }
        match body {
            // Some clients show thoughts to the person, and give none to the model.
            Body::Message(message)
                if entry.visibility == Visibility::UiOnly
                    && message
                        .blocks
                        .iter()
                        .all(|b| matches!(b, Block::Thinking(_))) =>
            {
                for thought in &message.blocks {
                    self.count_block(thought);
                }
            }
            Body::Message(message) if told.is_some() => {
                if let Some(time) = entry.time {
                    self.add_item("times", digests::digest_of(&[&time.millis().to_string()]));
                }
                if let Some(model) = &message.model {
                    self.add_item("models", digests::digest_of(&[&model.id]));
                }
                if let Some(usage) = &message.usage {
                    let sums = [
                        usage.input,
                        usage.output,
                        usage.cache_read,
                        usage.cache_write,
                    ];
                    let sums = sums.map(|n| n.to_string());
                    self.add_item("usage", digests::digest_of(&[&sums.join("/")]));
                }
                for block in told.iter().flatten() {
                    self.count_block(block);
                }
            }
            Body::Compaction(compaction) => {
                let summary = compaction.summary.as_ref().map(|text| text.value.as_str());
                let mark = digests::digest_of(&[summary.unwrap_or_default()]);
                self.add_item("compactions", mark);
            }
            Body::Label(label) => {
                let mark = digests::digest_of(&[label.label.as_deref().unwrap_or("")]);
                self.add_item("labels", mark);
            }
            _ => {
                if !matches!(
                    entry.kind,
                    Kind::Title | Kind::ModelChange | Kind::ThinkingChange
                ) {
                    self.add_item("other records", digests::digest_of(&[session.id(ix)]));
                }
            }
        }
    }

    fn add_item(&mut self, what: &'static str, mark: u64) {
        let marks = self.counts.entry(what).or_default();
        *marks.entry(mark).or_default() += 1;
    }

    fn count_block(&mut self, block: &Block) {
        let what = match block {
            Block::Text(text) if text.value.trim().is_empty() => return,
            Block::Thinking(thought) if thought.text.value.trim().is_empty() => return,
            Block::Text(_) => "text",
            Block::Thinking(_) => "thinking",
            Block::ToolCall(_) => "tool calls",
            Block::ToolResult(_) => "tool results",
            Block::Image(_) => "images",
            Block::File(_) => "files",
            Block::Aside { .. } | Block::Unknown { .. } => "other records",
        };
        self.add_item(what, digests::block_digest(self.conversation, block));
        if let Block::ToolResult(result) = block {
            for inner in &result.blocks {
                if matches!(inner, Block::Image(_) | Block::File(_)) {
                    self.count_block(inner);
                }
            }
        }
    }
}
