//! What was said in a session since it was converted.

use std::collections::HashMap;
use std::iter::successors;

use rethread_formats::MessageInput;

use super::history::{HistoryMessage, MessageHistory};

/// What was said since.
#[derive(Default)]
pub(super) struct AddedMessages {
    /// The ways that it went on, the active one last.
    pub(super) ways: Vec<Continuation>,
    /// Whether the conversation is at a place now that is neither where it was, nor where one of
    /// these ways ends.
    pub(super) went_back: bool,
}

/// A way that a conversation went on.
pub(super) struct Continuation {
    pub(super) from: ContinuesFrom,
    pub(super) messages: Vec<MessageInput>,
}

/// Where a way begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContinuesFrom {
    /// Where the conversation was.
    End,
    /// Behind a block of what was said before, by its place; none at the beginning.
    Earlier(Option<usize>),
    /// Behind a message of another of these ways, both by their places.
    Since(usize, usize),
}

impl AddedMessages {
    /// The messages, if they go on where the conversation was, and no other way.
    pub(super) fn straight_messages(&self) -> Option<Vec<MessageInput>> {
        match self.ways.as_slice() {
            [] => Some(Vec::new()),
            [one] if one.from == ContinuesFrom::End => Some(one.messages.clone()),
            _ => None,
        }
    }

    /// How many messages there are.
    pub(super) fn count(&self) -> usize {
        self.ways.iter().map(|way| way.messages.len()).sum()
    }
}

/// What was said behind the first `known` lines, which are those of before. `last` is the place of
/// the last block of such a line, and `end` the one where the conversation was.
pub(super) fn added_messages(
    spoken: &MessageHistory,
    known: usize,
    last: impl Fn(usize) -> Option<usize>,
    end: Option<usize>,
) -> AddedMessages {
    let is_again = said_again(spoken, known);
    let mut ways: Vec<Continuation> = Vec::new();
    // The way of each line since, and its place there.
    let mut places = vec![None; spoken.lines.len()];
    for line in new_lines(spoken, known, &is_again) {
        let Some(one) = spoken.lines.get(line) else {
            continue;
        };
        let from = match followed_line(spoken, one, &is_again) {
            Some(after) if after >= known => match places.get(after).copied().flatten() {
                Some((way, message)) => ContinuesFrom::Since(way, message),
                None => ContinuesFrom::Earlier(None),
            },
            after => match after.and_then(&last) {
                place if place == end => ContinuesFrom::End,
                place => ContinuesFrom::Earlier(place),
            },
        };
        let count = ways.len();
        let goes_on = match (from, ways.last()) {
            (ContinuesFrom::Since(way, message), Some(last)) => {
                way + 1 == count && message + 1 == last.messages.len()
            }
            _ => false,
        };
        if !goes_on {
            ways.push(Continuation {
                from,
                messages: Vec::new(),
            });
        }
        let way = ways.len() - 1;
        if let Some(last) = ways.last_mut() {
            places[line] = Some((way, last.messages.len()));
            let message = one.said.message.clone();
            last.messages.extend(message.map(MessageInput::Message));
        }
    }
    let is_at_end = match spoken.end {
        Some(line) if line >= known => true,
        Some(line) => last(line) == end,
        None => end.is_none(),
    };
    AddedMessages {
        ways,
        went_back: !is_at_end,
    }
}

/// Which lines behind the first `known` say nothing new: instructions, summaries, and what stands behind
/// one as it stood before it, because the client copies what it keeps.
fn said_again(spoken: &MessageHistory, known: usize) -> Vec<bool> {
    let lines = &spoken.lines;
    let mut is_again = vec![false; lines.len()];
    // Instructions are each client's own affair.
    for (line, one) in lines.iter().enumerate().skip(known) {
        is_again[line] = one.said.is_instructions;
    }
    let mut next: HashMap<usize, usize> = HashMap::new();
    for (line, one) in lines.iter().enumerate().skip(known).rev() {
        next.extend(one.after.map(|after| (after, line)));
    }
    let marks = |line: &usize| lines.get(*line).map(|line| &line.said.marks);
    for (summary, one) in lines.iter().enumerate().skip(known) {
        if !one.is_summary {
            continue;
        }
        is_again[summary] = true;
        if !spoken.has_copies {
            continue;
        }
        let follow = |line: &usize| next.get(line).copied();
        let behind: Vec<usize> = successors(follow(&summary), follow)
            .take(lines.len())
            .collect();
        let before = |line: &usize| lines.get(*line).and_then(|line| line.after);
        let before: Vec<usize> = successors(one.after, before).take(behind.len()).collect();
        let is_kept = |count: &usize| {
            let (kept, past) = (behind.iter().take(*count), before.iter().take(*count).rev());
            kept.map(marks).eq(past.map(marks))
        };
        let kept = (1..=before.len()).rev().find(is_kept).unwrap_or(0);
        for line in behind.into_iter().take(kept) {
            is_again[line] = true;
        }
    }
    is_again
}

/// What a line follows, but for what was said again.
fn followed_line(
    spoken: &MessageHistory,
    line: &HistoryMessage,
    is_again: &[bool],
) -> Option<usize> {
    let mut after = line.after;
    while let Some(line) = after.filter(|after| is_again.get(*after) == Some(&true)) {
        after = spoken.lines.get(line).and_then(|line| line.after);
    }
    after
}

/// The lines behind the first `known` that say something new, each behind the one that it follows, and
/// the active way last wherever they part.
fn new_lines(spoken: &MessageHistory, known: usize, is_again: &[bool]) -> Vec<usize> {
    let mut is_active = vec![false; spoken.lines.len()];
    for line in spoken.active_path() {
        is_active[line] = true;
    }
    let mut following: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut waiting = Vec::new();
    // In the order in which they are visited, from the end: the active one first.
    for (line, one) in spoken.lines.iter().enumerate().skip(known).rev() {
        if is_again.get(line) == Some(&true) {
            continue;
        }
        let list = match followed_line(spoken, one, is_again) {
            Some(after) if after >= known => following.entry(after).or_default(),
            _ => &mut waiting,
        };
        let at = if is_active[line] { 0 } else { list.len() };
        list.insert(at, line);
    }
    let mut order = Vec::new();
    while let Some(line) = waiting.pop() {
        order.push(line);
        waiting.append(&mut following.remove(&line).unwrap_or_default());
    }
    order
}
