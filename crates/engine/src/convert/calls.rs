//! Calls and their results, as other agents take them: each with an id of its own.

use std::collections::{HashMap, HashSet, VecDeque};

/// Calls that wait for their results. Some agents use an id again, or give none: each call gets one
/// of its own.
#[derive(Default)]
pub(super) struct PendingCalls {
    /// The ids that are in use.
    used: HashSet<String>,
    /// What is left of those that end in `_` and a number, without that: some clients take both for
    /// the same.
    shortened: HashSet<String>,
    /// The calls without a result, by the id that the source gave them.
    pub(super) waiting: WaitingCalls,
}

/// Calls without a result, by the id that the source gave them: their own ids, and the tools.
pub(super) type WaitingCalls = HashMap<String, VecDeque<(String, String)>>;

impl PendingCalls {
    /// Notes a call, and gives its id.
    pub(super) fn note_call(&mut self, given: &str, name: &str) -> String {
        let mut id = given.to_owned();
        let mut number = self.used.len();
        while id.is_empty() || self.is_taken(&id) {
            number += 1;
            id = match given {
                "" => format!("call-{number}"),
                given => format!("{given}-{number}"),
            };
        }
        self.shortened
            .extend(without_number(&id).map(str::to_owned));
        self.used.insert(id.clone());
        let waiting = self.waiting.entry(given.to_owned()).or_default();
        waiting.push_back((id.clone(), name.to_owned()));
        id
    }

    fn is_taken(&self, id: &str) -> bool {
        let is_other = without_number(id).is_some_and(|short| self.used.contains(short));
        is_other || self.used.contains(id) || self.shortened.contains(id)
    }

    pub(super) fn is_waiting(&self, given: &str) -> bool {
        self.waiting
            .get(given)
            .is_some_and(|calls| !calls.is_empty())
    }

    /// The call that a result belongs to: its id, and the tool's name.
    pub(super) fn resolve_result(&mut self, given: &str) -> (String, Option<String>) {
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

/// An id without the `_` and the number that it ends in.
fn without_number(id: &str) -> Option<&str> {
    let (short, number) = id.rsplit_once('_')?;
    let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    is_number.then_some(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_id_is_another_without_its_number() {
        let mut calls = PendingCalls::default();
        let given = ["a", "a", "a_2", "b_7", "b", "", ""];
        let ids = given.map(|id| calls.note_call(id, "tool"));
        for (at, id) in ids.iter().enumerate() {
            let others = || ids.iter().enumerate().filter(|(n, _)| *n != at);
            assert!(others().all(|(_, other)| other != id), "{ids:?}");
            assert!(
                others().all(|(_, o)| without_number(o) != Some(id)),
                "{ids:?}"
            );
        }
        assert_eq!((ids[0].as_str(), ids[3].as_str()), ("a", "b_7"));
    }
}
