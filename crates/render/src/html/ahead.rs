//! The entries in order, and the results of calls taken from the messages ahead: a call is shown
//! together with what came of it.

use std::collections::{BTreeMap, BTreeSet};

use rethread_model::{Block, Body, EntryIx, Kind, Message, Role, ToolResult};

use crate::View;

/// How many messages with results are looked at ahead of a call, and kept in memory.
const MESSAGES: usize = 8;

/// How many entries are looked at ahead of a call.
const ENTRIES: usize = 64;

/// Walks over entries, and looks ahead.
pub(super) struct Ahead<'v> {
    view: &'v View<'v>,
    entries: Vec<EntryIx>,
    next: usize,
    /// Messages ahead that were looked at, by their places.
    kept: BTreeMap<usize, Message>,
    /// Places of messages that something was taken from.
    taken: BTreeSet<usize>,
}

/// What comes next.
pub(super) struct Step {
    pub(super) ix: EntryIx,
    pub(super) body: Body,
    /// Whether results of this message were shown with their calls.
    pub(super) taken: bool,
}

impl<'v> Ahead<'v> {
    pub(super) fn new(view: &'v View<'v>, entries: Vec<EntryIx>) -> Self {
        Self {
            view,
            entries,
            next: 0,
            kept: BTreeMap::new(),
            taken: BTreeSet::new(),
        }
    }

    pub(super) fn step(&mut self) -> Option<Step> {
        let at = self.next;
        let ix = *self.entries.get(at)?;
        self.next += 1;
        let body = match self.kept.remove(&at) {
            Some(message) => Body::Message(message),
            None => self.view.bodies.body(ix),
        };
        let taken = self.taken.remove(&at);
        Some(Step { ix, body, taken })
    }

    /// Takes the result of a call out of the messages ahead. It is looked for only as far as the next
    /// thing that the person says.
    pub(super) fn result(&mut self, call: &str) -> Option<ToolResult> {
        let mut looked = 0;
        for at in self.next..self.entries.len().min(self.next + ENTRIES) {
            let ix = *self.entries.get(at)?;
            let kind = self.view.session.entry(ix).kind;
            if !matches!(kind, Kind::Message(Role::User | Role::Tool)) {
                continue;
            }
            if !self.kept.contains_key(&at) {
                if looked == MESSAGES || self.kept.len() == MESSAGES {
                    return None;
                }
                let Body::Message(message) = self.view.bodies.body(ix) else {
                    continue;
                };
                self.kept.insert(at, message);
            }
            looked += 1;
            let message = self.kept.get_mut(&at)?;
            let is_it = |b: &Block| matches!(b, Block::ToolResult(r) if r.call_id == call);
            if let Some(found) = message.blocks.iter().position(is_it)
                && let Block::ToolResult(result) = message.blocks.remove(found)
            {
                self.taken.insert(at);
                return Some(result);
            }
            let is_result = |b: &Block| matches!(b, Block::ToolResult(_));
            if !self.taken.contains(&at) && !message.blocks.iter().any(is_result) {
                return None;
            }
        }
        None
    }
}
