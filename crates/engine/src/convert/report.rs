//! What became of everything that a session holds: measured on what was written, not promised.

use std::collections::BTreeMap;

use rethread_formats::carry::Scope;
use rethread_formats::{Conversation, FormatRef};
use rethread_model::{Block, Bodies, Body, Kind, Message, Role, Visibility};

use super::marks;
use super::said::{client_of, may_be_said, told, way_to};

/// What became of one kind of thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fate {
    /// What it is.
    pub what: &'static str,
    /// How many of them there are in the source.
    pub count: usize,
    /// How many of them the target's own reader finds in what was written.
    pub native: usize,
}

impl Fate {
    /// Whether all of them are what they were.
    pub fn is_native(&self) -> bool {
        self.native == self.count
    }

    /// How many of a hundred are what they were.
    pub fn percent(&self) -> usize {
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
pub(super) fn compare(
    source: &Conversation,
    made: &Conversation,
    (agents, native_agents): (usize, usize),
) -> Vec<Fate> {
    let (source, made) = (Inventory::of(source), Inventory::of(made));
    let fate = |what: &'static str| {
        if what == AGENTS {
            return (agents > 0).then_some(Fate {
                what,
                count: agents,
                native: native_agents,
            });
        }
        let list = source.0.get(what)?;
        let count: usize = list.values().sum();
        let found = made.0.get(what);
        let there = |mark: &u64| found.and_then(|f| f.get(mark)).copied().unwrap_or(0);
        let native = list.iter().map(|(mark, n)| there(mark).min(*n)).sum();
        Some(Fate {
            what,
            count,
            native,
        })
    };
    KINDS.into_iter().filter_map(fate).collect()
}

/// Whether what was made of a session holds all of its words.
pub(super) fn says_the_same(source: &Conversation, made: &Conversation) -> bool {
    let fates = compare(source, made, (0, 0));
    let words = fates.iter().find(|fate| fate.what == "text");
    words.is_none_or(Fate::is_native)
}

/// What is said in a message that a model sees, what its client told it included; none if nothing of it
/// counts as said, but each client tells such things by itself.
fn said_in(message: &Message, seen: Visibility, client: FormatRef) -> Option<Vec<Block>> {
    let as_told = |block: &Block| told(block, message.role, (client, Scope::Told));
    if seen == Visibility::Injected || message.role == Role::System {
        let said: Vec<Block> = message.blocks.iter().filter_map(as_told).collect();
        return (!said.is_empty()).then_some(said);
    }
    let said = |block: &Block| match block {
        Block::Aside { .. } => as_told(block).unwrap_or_else(|| block.clone()),
        _ => block.clone(),
    };
    Some(message.blocks.iter().map(said).collect())
}

/// How many there are of each thing.
#[derive(Default)]
struct Inventory(BTreeMap<&'static str, BTreeMap<u64, usize>>);

impl Inventory {
    fn of(conversation: &Conversation) -> Self {
        let mut all = Self::default();
        let session = &conversation.session;
        if let Some(title) = &session.head.title {
            all.add("title", marks::words(&[&title.text]));
        }
        let client = client_of(conversation);
        let mut on_path = vec![false; session.entries().len()];
        for ix in session
            .leaf()
            .map(|leaf| way_to(session, leaf))
            .unwrap_or_default()
        {
            on_path[ix.get()] = true;
        }
        for (ix, entry) in session.indexed() {
            if entry.beside || entry.side {
                continue;
            }
            let body = conversation.body(ix);
            let told = match &body {
                Body::Message(message) if may_be_said(entry, Scope::Told) => {
                    said_in(message, entry.visibility, client)
                }
                _ => None,
            };
            if !on_path[ix.get()] && may_be_said(entry, Scope::Told) {
                let said = told.iter().flatten().map(|b| marks::block(conversation, b));
                said.for_each(|mark| all.add("branches", mark));
                continue;
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
                        all.block(conversation, thought);
                    }
                }
                Body::Message(message) if told.is_some() => {
                    if let Some(time) = entry.time {
                        all.add("times", marks::words(&[&time.millis().to_string()]));
                    }
                    if let Some(model) = &message.model {
                        all.add("models", marks::words(&[&model.id]));
                    }
                    if let Some(usage) = &message.usage {
                        let sums = [
                            usage.input,
                            usage.output,
                            usage.cache_read,
                            usage.cache_write,
                        ];
                        let sums = sums.map(|n| n.to_string());
                        all.add("usage", marks::words(&[&sums.join("/")]));
                    }
                    for block in told.iter().flatten() {
                        all.block(conversation, block);
                    }
                }
                Body::Compaction(compaction) => {
                    let summary = compaction.summary.map(|text| text.value);
                    all.add("compactions", marks::words(&[&summary.unwrap_or_default()]));
                }
                Body::Label(label) => {
                    all.add(
                        "labels",
                        marks::words(&[label.label.as_deref().unwrap_or("")]),
                    );
                }
                _ => {
                    if !matches!(
                        entry.kind,
                        Kind::Title | Kind::ModelChange | Kind::ThinkingChange
                    ) {
                        all.add("other records", marks::words(&[session.id(ix)]));
                    }
                }
            }
        }
        all
    }

    fn add(&mut self, what: &'static str, mark: u64) {
        *self.0.entry(what).or_default().entry(mark).or_default() += 1;
    }

    fn block(&mut self, bodies: &dyn Bodies, block: &Block) {
        match block {
            Block::Text(text) if text.value.trim().is_empty() => {}
            Block::Text(_) => self.add("text", marks::block(bodies, block)),
            Block::Thinking(thought) if thought.text.value.trim().is_empty() => {}
            Block::Thinking(_) => self.add("thinking", marks::block(bodies, block)),
            Block::ToolCall(_) => self.add("tool calls", marks::block(bodies, block)),
            Block::ToolResult(result) => {
                self.add("tool results", marks::block(bodies, block));
                for inner in &result.blocks {
                    if matches!(inner, Block::Image(_) | Block::File(_)) {
                        self.block(bodies, inner);
                    }
                }
            }
            Block::Image(_) => self.add("images", marks::block(bodies, block)),
            Block::File(_) => self.add("files", marks::block(bodies, block)),
            Block::Aside { .. } | Block::Unknown { .. } => {
                self.add("other records", marks::block(bodies, block));
            }
        }
    }
}
