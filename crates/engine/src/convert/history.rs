//! All that is said in a session, also on ways that it left again.

use std::collections::HashMap;

use rethread_formats::carry::{MessageTree, Scope};
use rethread_formats::{Attachments, Conversation};
use rethread_model::{Block, Bodies, Body, EntryIx, Kind, Message, Role, Visibility};

use super::calls::WaitingCalls;
use super::messages::{Followers, MessageBuilder, OutgoingMessage, may_be_said, preceding_entry};

/// All that people and models say in a session, in the order of its records.
pub(super) struct MessageHistory {
    pub(super) lines: Vec<HistoryMessage>,
    /// The last that is said on the way to where the session is.
    pub(super) end: Option<usize>,
    /// Whether what was kept of the past may stand behind a summary once more.
    pub(super) has_copies: bool,
}

/// Something that is said.
pub(super) struct HistoryMessage {
    pub(super) said: OutgoingMessage,
    /// What it follows, by its place in the list.
    pub(super) after: Option<usize>,
    /// Whether it sums up what others said.
    pub(super) is_summary: bool,
}

impl MessageHistory {
    /// All that counts as said, also before it was compacted. What sub-agents say in it, and what
    /// stands beside it, is not among it.
    ///
    /// Clients write the same in several ways, a call and its result in one message or in two: here
    /// it is always the same.
    pub(super) fn of_conversation(source: &Conversation, scope: Scope) -> Self {
        Self::read_messages(source, source, scope, true)
    }

    /// The same without the messages, only with the digests of what is said. The entries come from
    /// `bodies`, which are those of the session.
    pub(super) fn only_digests(source: &Conversation, bodies: &dyn Bodies, scope: Scope) -> Self {
        Self::read_messages(source, bodies, scope, false)
    }

    fn read_messages(
        source: &Conversation,
        bodies: &dyn Bodies,
        scope: Scope,
        wants_messages: bool,
    ) -> Self {
        let session = &source.session;
        let count = session.entries().len();
        let followers = Followers::new(session);
        let mut speech = MessageBuilder::new(source, bodies, Attachments::ALL, scope);
        speech.wants_messages = wants_messages;
        // What each entry says, and the entry that says the last that it follows.
        let mut said: Vec<Vec<OutgoingMessage>> = Vec::new();
        said.resize_with(count, Vec::new);
        let mut follows: Vec<Option<EntryIx>> = vec![None; count];
        let mut met = vec![false; count];
        let mut parted: HashMap<EntryIx, WaitingCalls> = HashMap::new();
        let mut last = None;
        // What nothing leads to is in a circle; it is said all the same.
        let all = session.indexed().filter(|(_, e)| !e.beside && !e.side);
        let roots = followers.first.iter().copied();
        for root in roots.chain(all.map(|(ix, _)| ix)) {
            let mut waiting = vec![root];
            while let Some(ix) = waiting.pop() {
                if std::mem::replace(&mut met[ix.get()], true) {
                    continue;
                }
                let entry = session.entry(ix);
                let parent = preceding_entry(entry);
                if parent != last {
                    let there = parent.and_then(|parent| parted.get(&parent));
                    speech.calls.waiting = there.cloned().unwrap_or_default();
                }
                last = Some(ix);
                follows[ix.get()] = parent.and_then(|parent| {
                    if said[parent.get()].is_empty() {
                        follows[parent.get()]
                    } else {
                        Some(parent)
                    }
                });
                if let Some(message) = entry_message(source, bodies, (ix, scope)) {
                    speech.speaker = Some(ix);
                    speech.begins = follows[ix.get()].is_none();
                    let is_told = entry.visibility == Visibility::Injected;
                    speech.add_message(&message, entry.time, is_told);
                    said[ix.get()] = std::mem::take(&mut speech.messages);
                }
                let next = &followers.of[ix.get()];
                if next.len() > 1 {
                    parted.insert(ix, speech.calls.waiting.clone());
                }
                waiting.extend(next.iter().rev());
            }
        }
        Self::in_order(source, said, &follows)
    }

    fn in_order(
        source: &Conversation,
        said: Vec<Vec<OutgoingMessage>>,
        follows: &[Option<EntryIx>],
    ) -> Self {
        let mut ends = Vec::with_capacity(said.len());
        let mut count = 0;
        for said in &said {
            count += said.len();
            ends.push(count);
        }
        let end_of = |ix: EntryIx| ends.get(ix.get()).and_then(|end| end.checked_sub(1));
        let leaf = source.session.leaf();
        let is_silent = leaf.is_some_and(|leaf| said[leaf.get()].is_empty());
        let end = match leaf {
            Some(leaf) if is_silent => follows[leaf.get()].and_then(end_of),
            Some(leaf) => end_of(leaf),
            None => None,
        };
        let mut lines = Vec::with_capacity(count);
        for (said, follows) in said.into_iter().zip(follows) {
            let mut after = follows.and_then(end_of);
            for said in said {
                let kind = said.from.map(|ix| source.session.entry(ix).kind);
                lines.push(HistoryMessage {
                    is_summary: !kind.is_some_and(Kind::is_message),
                    said,
                    after,
                });
                after = Some(lines.len() - 1);
            }
        }
        Self {
            lines,
            end,
            has_copies: source.source.format.reader().copies_what_it_keeps(),
        }
    }

    /// What each block of it means.
    pub(super) fn block_digests(&self) -> Vec<u64> {
        let marks = self.lines.iter().flat_map(|line| &line.said.marks);
        marks.copied().collect()
    }

    /// The places of the blocks of each line.
    pub(super) fn block_places(&self) -> Vec<std::ops::Range<usize>> {
        let mut start = 0;
        let place = |line: &HistoryMessage| {
            let place = start..start + line.said.marks.len();
            start = place.end;
            place
        };
        self.lines.iter().map(place).collect()
    }

    /// How its blocks follow each other.
    pub(super) fn shape(&self) -> MessageTree {
        let places = self.block_places();
        let last = |line: Option<usize>| Some(places.get(line?)?.end.saturating_sub(1));
        let mut parts = Vec::new();
        for (line, place) in self.lines.iter().zip(&places) {
            let after = last(line.after);
            if after != place.start.checked_sub(1) {
                parts.push((place.start, after));
            }
        }
        let end = last(self.end).filter(|end| Some(end + 1) != places.last().map(|p| p.end));
        MessageTree { parts, end }
    }

    /// The lines on the way to where the session is.
    pub(super) fn active_path(&self) -> Vec<usize> {
        let mut way = Vec::new();
        let mut met = vec![false; self.lines.len()];
        let mut at = self.end;
        while let Some(line) = at.filter(|at| !std::mem::replace(&mut met[*at], true)) {
            way.push(line);
            at = self.lines[line].after;
        }
        way.reverse();
        way
    }
}

/// What somebody says in an entry, or what sums up what was said.
fn entry_message(
    source: &Conversation,
    bodies: &dyn Bodies,
    (ix, scope): (EntryIx, Scope),
) -> Option<Message> {
    let entry = source.session.entry(ix);
    let sums_up = matches!(entry.kind, Kind::Compaction | Kind::BranchSummary);
    if !sums_up && !may_be_said(entry, scope) {
        return None;
    }
    let summary = match bodies.body(ix) {
        Body::Message(message) => return Some(message),
        Body::Compaction(compaction) => compaction.summary?,
        Body::BranchSummary(branch) => branch.summary,
        _ => return None,
    };
    Some(Message::new(Role::User, vec![Block::Text(summary)]))
}
