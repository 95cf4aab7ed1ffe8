//! What somebody changed in a session that carries its original: single blocks of what is said, and
//! what was said since.

use std::collections::HashMap;

use rethread_formats::carry::{CarriedAgent, MessageTree, Scope};
use rethread_formats::{Conversation, MessageInput};
use rethread_model::{Block, EntryIx};

use super::additions::{AddedMessages, Continuation, ContinuesFrom, added_messages};
use super::history::{HistoryMessage, MessageHistory};
use super::original::{BlockWords, OriginalBlock, OriginalBlocks, ToolLink};

/// What was said in a session when it was written, block by block.
pub(super) struct WrittenBlocks {
    /// What counted as said.
    pub(super) scope: Scope,
    pub(super) marks: Vec<u64>,
    pub(super) shape: MessageTree,
}

impl WrittenBlocks {
    /// Of a sub-agent.
    pub(super) fn of_agent(carried: &CarriedAgent, scope: Scope) -> Self {
        Self {
            scope,
            marks: carried.marks.clone(),
            shape: carried.shape.clone(),
        }
    }
}

/// What is different from what was written.
pub(super) struct SessionChanges {
    /// The blocks that say something else now.
    pub(super) blocks: Vec<BlockChange>,
    /// What was said since.
    pub(super) since: AddedMessages,
    /// What each block that is still there has to do with tools, by its place among all.
    tools: HashMap<usize, ToolLink>,
}

/// A block that says something else now.
pub(super) struct BlockChange {
    /// Its place among all.
    pub(super) place: usize,
    /// What it means now.
    pub(super) mark: u64,
    /// What it says, as it is written.
    block: Block,
}

impl SessionChanges {
    /// Compares what is said with what was; none if something is missing.
    pub(super) fn since_written(here: &Conversation, before: &WrittenBlocks) -> Option<Self> {
        let spoken = MessageHistory::of_conversation(here, before.scope);
        let all = Self::in_all(&spoken, before);
        // Something new may stand where something stood that was taken back.
        let is_new = all.as_ref().is_none_or(|all| {
            let changed = all.blocks.iter().map(|change| &change.place);
            let way = before.shape.active_path(before.marks.len());
            all.since.went_back && changed.clone().any(|place| !way.contains(place))
        });
        let on_the_way = is_new
            .then(|| Self::on_active_path(&spoken, before))
            .flatten();
        let changes = on_the_way
            .or(all)
            .map(|changes| changes.without_masks(here));
        let is_straight = |changes: &Self| changes.since.straight_messages().is_some();
        match changes {
            Some(changes) if is_straight(&changes) => Some(changes),
            changes => Self::of_masked_copy(&spoken, here, before).or(changes),
        }
    }

    /// The same changes without what only the client did, to save room.
    fn without_masks(mut self, here: &Conversation) -> Self {
        self.blocks.retain(|change| !is_masked(here, change));
        self
    }

    /// The client wrote the way to where the conversation was once more, with some outputs masked, and
    /// went on from there. None if anything else is different.
    fn of_masked_copy(
        spoken: &MessageHistory,
        here: &Conversation,
        before: &WrittenBlocks,
    ) -> Option<Self> {
        let was = before.shape.active_path(before.marks.len());
        let mut seen = ComparedBlocks::default();
        let mut at = 0;
        let mut way = spoken
            .active_path()
            .into_iter()
            .filter_map(|at| spoken.lines.get(at));
        while let Some(rest) = was.get(at..).filter(|rest| !rest.is_empty()) {
            let line = way.next()?;
            let places = rest.get(..line.said.marks.len())?;
            seen.compare_message(line, places.to_vec(), &before.marks)?;
            at += places.len();
        }
        let messages: Vec<MessageInput> = way
            .filter_map(|line| line.said.message.clone())
            .map(MessageInput::Message)
            .collect();
        let is_mask = |change: &BlockChange| is_masked(here, change);
        if seen.changed.is_empty() || !seen.changed.iter().all(is_mask) {
            return None;
        }
        seen.changed.clear();
        let from = ContinuesFrom::End;
        let onward = (!messages.is_empty()).then_some(Continuation { from, messages });
        Some(seen.into_changes(AddedMessages {
            ways: onward.into_iter().collect(),
            went_back: false,
        }))
    }

    /// Nothing, where all that is said is said as it was and in the same order, whatever it hangs from:
    /// what an export says of that is as good as the version that wrote it.
    pub(super) fn none_in_words(here: &Conversation, before: &WrittenBlocks) -> Option<Self> {
        let spoken = MessageHistory::only_digests(here, here, before.scope);
        let is_same = spoken.block_digests() == before.marks;
        is_same.then(|| ComparedBlocks::default().into_changes(AddedMessages::default()))
    }

    /// Everything is where it was.
    fn in_all(spoken: &MessageHistory, before: &WrittenBlocks) -> Option<Self> {
        let places = spoken.block_places();
        let last = |line: Option<usize>| Some(places.get(line?)?.end.saturating_sub(1));
        let mut seen = ComparedBlocks::default();
        let mut known = 0_usize;
        for (line, place) in spoken.lines.iter().zip(&places) {
            if place.start >= before.marks.len() {
                break;
            }
            if last(line.after) != before.shape.parent_of(place.start) {
                return None;
            }
            seen.compare_message(line, place.clone().collect(), &before.marks)?;
            known += 1;
        }
        let count = before.marks.len();
        if last(known.checked_sub(1)) != count.checked_sub(1) {
            return None;
        }
        let end = before.shape.end.or_else(|| count.checked_sub(1));
        let since = added_messages(spoken, known, |line| last(Some(line)), end);
        Some(seen.into_changes(since))
    }

    /// Only the way to where the conversation is was left: some clients delete what was taken back
    /// when they go on.
    fn on_active_path(spoken: &MessageHistory, before: &WrittenBlocks) -> Option<Self> {
        let way = before.shape.active_path(before.marks.len());
        let is_cut = way.len() < before.marks.len();
        let is_straight = spoken.shape() == MessageTree::default();
        if !is_cut || !is_straight {
            return None;
        }
        let mut seen = ComparedBlocks::default();
        let (mut at, mut known) = (0, 0);
        for line in &spoken.lines {
            let Some(rest) = way.get(at..).filter(|rest| !rest.is_empty()) else {
                break;
            };
            let places = rest.get(..line.said.marks.len())?;
            seen.compare_message(line, places.to_vec(), &before.marks)?;
            at += places.len();
            known += 1;
        }
        let end = *way.last().filter(|_| at == way.len())?;
        let since = added_messages(
            spoken,
            known,
            |line| (line + 1 == known).then_some(end),
            Some(end),
        );
        Some(seen.into_changes(since))
    }

    /// The same changes to the original; none if it cannot be told what they are changes of.
    pub(super) fn edits_to_original(
        &self,
        here: &Conversation,
        original: &Conversation,
        before: &WrittenBlocks,
    ) -> Option<OriginalEdits> {
        let said = OriginalBlocks::of_original(original, here, before.scope);
        let places = said.match_blocks(&before.marks, &self.tools);
        let edits = self.blocks.iter().map(|change| {
            let place = places.get(change.place).copied().flatten()?;
            let block = said.blocks.get(place)?;
            let was = BlockWords::of_block(&block.block)?;
            let same = |other: &&OriginalBlock| {
                other.from == block.from
                    && BlockWords::of_block(&other.block).as_ref() == Some(&was)
            };
            Some(BlockEdit {
                place,
                entry: block.from?,
                now: BlockWords::of_block(&change.block)?,
                same: said.blocks.iter().filter(same).count(),
                before: said.blocks.get(..place)?.iter().filter(same).count(),
                call: said.call_id(original, place),
                was,
            })
        });
        let edits: Vec<BlockEdit> = edits.collect::<Option<_>>()?;
        let fit = edits.iter().all(|edit| edit.was.is_like(&edit.now));
        fit.then_some(OriginalEdits {
            list: edits,
            scope: before.scope,
        })
    }

    /// Whether nothing else in the original says what any of the changed blocks said.
    pub(super) fn are_of_unique_words(
        &self,
        here: &Conversation,
        original: &Conversation,
        before: &WrittenBlocks,
    ) -> bool {
        let said = OriginalBlocks::of_original(original, here, before.scope);
        let marks: Vec<Vec<u64>> = said
            .blocks
            .iter()
            .map(OriginalBlock::possible_digests)
            .collect();
        self.blocks.iter().all(|change| {
            let was = before.marks.get(change.place);
            let says = |marks: &&Vec<u64>| was.is_some_and(|was| marks.contains(was));
            marks.iter().filter(says).count() == 1
        })
    }
}

/// Whether a block is the result of a tool of which the client only left a part in its file.
fn is_masked(here: &Conversation, change: &BlockChange) -> bool {
    match BlockWords::of_block(&change.block) {
        Some(BlockWords::Output(output, _)) => here.source.format.reader().is_masked(&output),
        _ => false,
    }
}

/// What was seen so far of what somebody changed.
#[derive(Default)]
struct ComparedBlocks {
    changed: Vec<BlockChange>,
    tools: HashMap<usize, ToolLink>,
}

impl ComparedBlocks {
    /// Notes the blocks of a line that were others; none if there were fewer.
    fn compare_message(
        &mut self,
        line: &HistoryMessage,
        places: Vec<usize>,
        before: &[u64],
    ) -> Option<()> {
        let was: Vec<u64> = places
            .iter()
            .map(|place| before.get(*place).copied())
            .collect::<Option<_>>()?;
        let message = line.said.message.as_ref();
        let blocks = message.into_iter().flat_map(|new| &new.message.blocks);
        let now = line.said.marks.iter().zip(blocks);
        for ((place, was), (mark, block)) in places.into_iter().zip(was).zip(now) {
            self.tools
                .extend(ToolLink::of_block(block).map(|tool| (place, tool)));
            if was != *mark {
                let mark = *mark;
                let block = block.clone();
                self.changed.push(BlockChange { place, mark, block });
            }
        }
        Some(())
    }

    fn into_changes(self, since: AddedMessages) -> SessionChanges {
        SessionChanges {
            blocks: self.changed,
            since,
            tools: self.tools,
        }
    }
}

/// The entry of an original that says the last of what was said up to a place, if it says nothing
/// more than that; none if that cannot be told.
pub(super) fn entry_at(
    (here, original): (&Conversation, &Conversation),
    before: &WrittenBlocks,
    place: usize,
) -> Option<EntryIx> {
    let said = OriginalBlocks::of_original(original, here, before.scope);
    let seen = SessionChanges::since_written(here, before)?;
    let places = said.match_blocks(&before.marks, &seen.tools);
    let found = places.get(place).copied().flatten()?;
    let entry = said.blocks.get(found)?.from?;
    let is_over = |rest: &[OriginalBlock]| rest.iter().all(|block| block.from != Some(entry));
    is_over(said.blocks.get(found + 1..)?).then_some(entry)
}

/// Changes to an original.
pub(super) struct OriginalEdits {
    pub(super) list: Vec<BlockEdit>,
    scope: Scope,
}

/// A change of one block of an original.
pub(super) struct BlockEdit {
    /// Its place among all that is said.
    place: usize,
    /// The entry that says it.
    pub(super) entry: EntryIx,
    /// What it said.
    pub(super) was: BlockWords,
    /// What it says now.
    pub(super) now: BlockWords,
    /// How many blocks of the entry said the same, and how many of them before this one.
    pub(super) same: usize,
    pub(super) before: usize,
    /// The call whose result it is, by the id that the entry gives it.
    pub(super) call: Option<String>,
}

impl OriginalEdits {
    /// Whether these changes, and no others, were made.
    pub(super) fn are_all_in(
        &self,
        here: &Conversation,
        original: &Conversation,
        changed: &Conversation,
    ) -> bool {
        let words = |conversation| {
            let said = OriginalBlocks::of_original(conversation, here, self.scope);
            let words = said
                .blocks
                .into_iter()
                .map(|b| BlockWords::of_block(&b.block).ok_or_else(|| Box::new(b.block)));
            words.collect::<Vec<_>>()
        };
        let mut wanted = words(original);
        for edit in &self.list {
            if let Some(words) = wanted.get_mut(edit.place) {
                *words = Ok(edit.now.clone());
            }
        }
        wanted == words(changed)
    }
}
