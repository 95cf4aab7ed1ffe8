//! The entries in order, and the results of calls taken from the messages ahead: a call is shown
//! together with what came of it.

use std::collections::{BTreeMap, BTreeSet};

use rethread_model::{Block, Body, EntryIx, Kind, Message, Role, ToolResult};

use crate::View;

/// How many messages that still hold something are kept in memory ahead of a call.
const MESSAGES: usize = 8;

/// How many entries are looked at ahead of a call.
const ENTRIES: usize = 256;

/// Walks over entries, and looks ahead.
pub(crate) struct LookAhead<'v> {
    view: &'v View<'v>,
    entries: Vec<EntryIx>,
    next: usize,
    /// Messages ahead that were looked at, by their places.
    kept: BTreeMap<usize, Message>,
    /// Places of messages that something was taken from.
    taken: BTreeSet<usize>,
    /// Places of messages that all was taken from.
    emptied: BTreeMap<usize, Role>,
}

/// What comes next.
pub(crate) struct EntryStep {
    pub(crate) ix: EntryIx,
    pub(crate) body: Body,
    /// Whether results of this message were shown with their calls.
    pub(crate) taken: bool,
}

impl<'v> LookAhead<'v> {
    pub(crate) fn new(view: &'v View<'v>, entries: Vec<EntryIx>) -> Self {
        Self {
            view,
            entries,
            next: 0,
            kept: BTreeMap::new(),
            taken: BTreeSet::new(),
            emptied: BTreeMap::new(),
        }
    }

    /// How many entries were passed.
    pub(crate) fn position(&self) -> usize {
        self.next
    }

    pub(crate) fn next_step(&mut self) -> Option<EntryStep> {
        let at = self.next;
        let ix = *self.entries.get(at)?;
        self.next += 1;
        let body = match (self.kept.remove(&at), self.emptied.remove(&at)) {
            (Some(message), _) => Body::Message(message),
            (None, Some(role)) => Body::Message(Message::new(role, Vec::new())),
            (None, None) => self.view.bodies.body(ix),
        };
        let taken = self.taken.remove(&at);
        Some(EntryStep { ix, body, taken })
    }

    /// Takes the result of a call out of the messages ahead. It is looked for only as far as the next
    /// thing that the person says.
    pub(crate) fn take_result(&mut self, call: &str) -> Option<ToolResult> {
        let end = self.entries.len().min(self.next.saturating_add(ENTRIES));
        for at in self.next..end {
            let ix = *self.entries.get(at)?;
            let kind = self.view.session.entry(ix).kind;
            if self.emptied.contains_key(&at)
                || !matches!(kind, Kind::Message(Role::User | Role::Tool))
            {
                continue;
            }
            if !self.kept.contains_key(&at) {
                if self.kept.len() == MESSAGES {
                    return None;
                }
                let Body::Message(message) = self.view.bodies.body(ix) else {
                    continue;
                };
                self.kept.insert(at, message);
            }
            let message = self.kept.get_mut(&at)?;
            let is_it = |b: &Block| matches!(b, Block::ToolResult(r) if r.call_id == call);
            if let Some(found) = message.blocks.iter().position(is_it)
                && let Block::ToolResult(result) = message.blocks.remove(found)
            {
                self.taken.insert(at);
                if message.blocks.is_empty() && message.error.is_none() {
                    self.emptied.insert(at, message.role);
                    self.kept.remove(&at);
                }
                return Some(result);
            }
            let is_result = |b: &Block| matches!(b, Block::ToolResult(_));
            let is_prompt = kind == Kind::Message(Role::User);
            if is_prompt && !self.taken.contains(&at) && !message.blocks.iter().any(is_result) {
                return None;
            }
        }
        None
    }
}
