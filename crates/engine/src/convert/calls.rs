//! Calls and their results, as other agents take them: each with an id of its own.

use std::collections::{HashMap, HashSet, VecDeque};

/// Calls that wait for their results. Some agents use an id again, or give none: each call gets one
/// of its own.
#[derive(Default)]
pub(super) struct Calls {
    /// The ids that are in use.
    used: HashSet<String>,
    /// The calls without a result, by the id that the source gave them.
    pub(super) waiting: Waiting,
}

/// Calls without a result, by the id that the source gave them: their own ids, and the tools.
pub(super) type Waiting = HashMap<String, VecDeque<(String, String)>>;

impl Calls {
    /// Notes a call, and gives its id.
    pub(super) fn called(&mut self, given: &str, name: &str) -> String {
        let mut id = given.to_owned();
        let mut number = self.used.len();
        while id.is_empty() || self.used.contains(&id) {
            number += 1;
            id = match given {
                "" => format!("call_{number}"),
                given => format!("{given}_{number}"),
            };
        }
        self.used.insert(id.clone());
        let waiting = self.waiting.entry(given.to_owned()).or_default();
        waiting.push_back((id.clone(), name.to_owned()));
        id
    }

    pub(super) fn waits(&self, given: &str) -> bool {
        self.waiting
            .get(given)
            .is_some_and(|calls| !calls.is_empty())
    }

    /// The call that a result belongs to: its id, and the tool's name.
    pub(super) fn answered(&mut self, given: &str) -> (String, Option<String>) {
        let Some(waiting) = self.waiting.get_mut(given) else {
            return (given.to_owned(), None);
        };
        let call = waiting.pop_front();
        if waiting.is_empty() {
            // What waits is copied wherever the conversation parts, so it holds nothing else.
            self.waiting.remove(given);
        }
        match call {
            Some((id, name)) => (id, Some(name)),
            None => (given.to_owned(), None),
        }
    }
}
