//! Bringing the two streams of a file together: what the model saw, and what people saw.
//!
//! An event may come before or after the item that it repeats. Texts are compared by marks of a few
//! bytes, calls by their ids.

use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use rethread_model::RawRef;

/// How many items and events wait for their counterparts.
const WAITING: usize = 64;

/// Items and events of one kind that wait for each other.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    items: VecDeque<(u64, usize)>,
    events: VecDeque<(u64, usize)>,
}

impl Pairs {
    /// Notes an item with these marks, of this entry; gives the entry of an event that waited for
    /// it, where there was one.
    pub(super) fn item(&mut self, marks: &[u64], entry: usize) -> Option<usize> {
        let found = newest(&self.events, marks);
        if let Some(event) = found {
            self.events.retain(|(_, e)| *e != event);
        } else {
            wait(&mut self.items, marks, entry);
        }
        found
    }

    /// The entry of the item that an event with these marks repeats.
    pub(super) fn event(&mut self, marks: &[u64]) -> Option<usize> {
        let entry = newest(&self.items, marks)?;
        self.items
            .retain(|(mark, e)| *e != entry || !marks.contains(mark));
        Some(entry)
    }

    /// Notes an event that has no item yet, with an entry of its own.
    pub(super) fn wait(&mut self, marks: &[u64], entry: usize) {
        wait(&mut self.events, marks, entry);
    }
}

fn newest(waiting: &VecDeque<(u64, usize)>, marks: &[u64]) -> Option<usize> {
    let found = waiting.iter().rev().find(|(mark, _)| marks.contains(mark));
    found.map(|(_, entry)| *entry)
}

fn wait(waiting: &mut VecDeque<(u64, usize)>, marks: &[u64], entry: usize) {
    for mark in marks {
        if waiting.len() == WAITING {
            waiting.pop_front();
        }
        waiting.push_back((*mark, entry));
    }
}

/// So many calls are remembered.
const CALLS: usize = 8192;

/// The calls of a session, by their ids; the last ones.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: HashMap<Rc<str>, JoinedCall>,
    order: VecDeque<Rc<str>>,
}

/// What belongs to one call.
#[derive(Debug, Default)]
pub(super) struct JoinedCall {
    /// The entry with the call.
    pub(super) asked: Option<usize>,
    /// The record of the call.
    pub(super) item: Option<RawRef>,
    /// The entry with its result.
    pub(super) answered: Option<usize>,
    /// Events about it.
    pub(super) events: Vec<RawRef>,
    /// The entry that holds those events while there is neither call nor result.
    pub(super) alone: Option<usize>,
    /// Whether it starts a sub-agent.
    pub(super) spawns: bool,
}

impl Calls {
    /// The call with this id.
    pub(super) fn get(&mut self, id: &str) -> &mut JoinedCall {
        let id: Rc<str> = id.into();
        if !self.calls.contains_key(&id) {
            if self.order.len() == CALLS
                && let Some(oldest) = self.order.pop_front()
            {
                self.calls.remove(&oldest);
            }
            self.order.push_back(id.clone());
        }
        self.calls.entry(id).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_may_come_first() {
        let mut pairs = Pairs::default();
        assert_eq!(pairs.item(&[1, 2], 7), None);
        assert_eq!(pairs.event(&[2]), Some(7));
        assert_eq!(pairs.event(&[2]), None, "once");
        pairs.wait(&[3], 8);
        assert_eq!(pairs.item(&[3, 4], 9), Some(8));
        assert_eq!(pairs.item(&[3], 10), None, "once");
    }

    #[test]
    fn of_equal_texts_the_newest_is_meant() {
        let mut pairs = Pairs::default();
        pairs.item(&[1], 1);
        pairs.item(&[1], 2);
        assert_eq!(pairs.event(&[1]), Some(2));
        assert_eq!(pairs.event(&[1]), Some(1));
    }
}
