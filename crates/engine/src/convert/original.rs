//! What an original says, block by block, as it was told to the format that carries it.

use std::collections::HashMap;

use rethread_formats::carry::Scope;
use rethread_formats::{Conversation, NewMessage, StepKind};
use rethread_model::{Block, Bodies as _, Body, EntryIx};

use super::history::{HistoryMessage, MessageHistory};
use super::{digests, messages, transcript};

/// What a block has to do with tools: the id of the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ToolLink {
    Call(String),
    Result(String),
}

impl ToolLink {
    pub(super) fn of_block(block: &Block) -> Option<Self> {
        match block {
            Block::ToolCall(call) => Some(Self::Call(call.id.clone())),
            Block::ToolResult(result) => Some(Self::Result(result.call_id.clone())),
            _ => None,
        }
    }
}

/// What a block says, as far as it can be said differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BlockWords {
    /// A text, or a thought.
    Text(String),
    /// What a tool is given, as JSON.
    Input(Vec<u8>),
    /// What a tool gave, and whether it failed.
    Output(String, bool),
}

impl BlockWords {
    pub(super) fn of_block(block: &Block) -> Option<Self> {
        Some(match block {
            Block::Text(text) => Self::Text(text.value.clone()),
            Block::Thinking(thought) => Self::Text(thought.text.value.clone()),
            Block::ToolCall(call) => Self::Input(messages::input_line(call)),
            Block::ToolResult(result) => {
                Self::Output(messages::output_text(result), result.is_error)
            }
            _ => return None,
        })
    }

    /// Whether one can take the place of the other. Not every format can say that a tool failed.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(_), Self::Text(_)) | (Self::Input(_), Self::Input(_)) => true,
            (Self::Output(_, was), Self::Output(_, is)) => was == is,
            _ => false,
        }
    }
}

/// All that is said in an original, as it was told to the format that carries it.
pub(super) struct OriginalBlocks {
    pub(super) blocks: Vec<OriginalBlock>,
}

/// A block that is said in an original.
pub(super) struct OriginalBlock {
    /// The entry that says it.
    pub(super) from: Option<EntryIx>,
    /// The role of who says it, in the unified vocabulary.
    role: &'static str,
    /// What it says, as it is written.
    pub(super) block: Block,
}

impl OriginalBlocks {
    pub(super) fn of_original(
        original: &Conversation,
        carrier: &Conversation,
        scope: Scope,
    ) -> Self {
        let mut all = Vec::new();
        let mut add = |from: Option<EntryIx>, new: NewMessage| {
            let role = new.message.role.unified();
            let blocks = new.message.blocks.into_iter();
            all.extend(blocks.map(|block| OriginalBlock { from, role, block }));
        };
        if carrier.source.format.is_for_exports() {
            for HistoryMessage { said, .. } in
                MessageHistory::of_conversation(original, scope).lines
            {
                if let Some(message) = said.message {
                    add(said.from, *message);
                }
            }
        } else {
            let all = transcript::transcript_steps(original, carrier.source.format, scope);
            for (from, step) in all.into_steps() {
                match step {
                    StepKind::Message(message) => add(from, *message),
                    StepKind::Compaction { summary, .. } | StepKind::BranchSummary(summary) => {
                        if let Some(message) = messages::summary_message(original, &summary).message
                        {
                            add(from, *message);
                        }
                    }
                    StepKind::Label { .. } | StepKind::Back => {}
                }
            }
        }
        Self { blocks: all }
    }

    /// Where each block that the carrier had is among these. It may have put things in other words, left
    /// some out, or have results in another order: a result is where its call is.
    pub(super) fn match_blocks(
        &self,
        carried: &[u64],
        tools: &HashMap<usize, ToolLink>,
    ) -> Vec<Option<usize>> {
        let own: Vec<Option<ToolLink>> = self
            .blocks
            .iter()
            .map(|b| ToolLink::of_block(&b.block))
            .collect();
        let is_result = |tool: Option<&ToolLink>| matches!(tool, Some(ToolLink::Result(_)));
        let mut others = OrderedPlaces::default();
        let mut results = OrderedPlaces::default();
        let mut calls: HashMap<&str, usize> = HashMap::new();
        for (place, (block, tool)) in self.blocks.iter().zip(&own).enumerate() {
            let list = match tool {
                Some(ToolLink::Result(_)) => &mut results,
                _ => &mut others,
            };
            list.add_place(block.possible_digests(), place);
            if let Some(ToolLink::Result(call)) = tool {
                calls.insert(call, place);
            }
        }
        let mut found: Vec<Option<usize>> = vec![None; carried.len()];
        // The original's ids of the carrier's calls.
        let mut called: HashMap<&str, &str> = HashMap::new();
        for (at, mark) in carried.iter().enumerate() {
            let tool = tools.get(&at);
            if is_result(tool) {
                continue;
            }
            let place = others.next_place(*mark);
            found[at] = place;
            let own = place.and_then(|place| own.get(place)?.as_ref());
            if let (Some(ToolLink::Call(there)), Some(ToolLink::Call(here))) = (tool, own) {
                called.insert(there, here);
            }
        }
        for (at, mark) in carried.iter().enumerate() {
            let Some(ToolLink::Result(id)) = tools.get(&at) else {
                continue;
            };
            let by_call = called.get(id.as_str()).and_then(|call| calls.get(*call));
            let place = by_call.or_else(|| calls.get(id.as_str())).copied();
            let says = |place: &usize| {
                let block = self.blocks.get(*place);
                block.is_some_and(|block| block.possible_digests().contains(mark))
            };
            found[at] = match place {
                Some(_) => place.filter(says),
                None => results.next_place(*mark),
            };
        }
        found
    }

    /// The id that an entry gives the call whose result a block is.
    pub(super) fn call_id(&self, original: &Conversation, place: usize) -> Option<String> {
        let block = self.blocks.get(place)?;
        let Some(ToolLink::Result(_)) = ToolLink::of_block(&block.block) else {
            return None;
        };
        let is_result = |other: &&OriginalBlock| {
            let tool = ToolLink::of_block(&other.block);
            other.from == block.from && matches!(tool, Some(ToolLink::Result(_)))
        };
        let before = self.blocks.get(..place)?.iter().filter(is_result).count();
        let Body::Message(message) = original.body(block.from?) else {
            return None;
        };
        let mut results = message.blocks.into_iter().filter_map(|block| match block {
            Block::ToolResult(result) => Some(result.call_id),
            _ => None,
        });
        results.nth(before)
    }
}

impl OriginalBlock {
    /// What it may mean where it was told.
    pub(super) fn possible_digests(&self) -> Vec<u64> {
        digests::possible_digests(self.role, &self.block)
    }
}

/// Places by what stands there, each behind the one that was found before.
#[derive(Default)]
struct OrderedPlaces {
    marked: HashMap<u64, Vec<usize>>,
    next: usize,
}

impl OrderedPlaces {
    fn add_place(&mut self, marks: Vec<u64>, place: usize) {
        for mark in marks {
            self.marked.entry(mark).or_default().push(place);
        }
    }

    fn next_place(&mut self, mark: u64) -> Option<usize> {
        let places = self.marked.get(&mark)?;
        let at = places.partition_point(|place| *place < self.next);
        let found = *places.get(at)?;
        self.next = found + 1;
        Some(found)
    }
}
