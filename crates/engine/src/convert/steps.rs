//! The steps of a conversation, and what they come from.

use std::ops::Range;

use rethread_formats::{Step, Told};
use rethread_model::EntryIx;

use super::said::Said;

/// Steps, and what they come from.
#[derive(Default)]
pub(super) struct Steps {
    pub(super) told: Vec<Told>,
    /// The entry of the source that each step tells of; none for what we say ourselves.
    from: Vec<Option<EntryIx>>,
}

impl Steps {
    /// The steps, each with the entry that it tells of.
    pub(super) fn into_said(self) -> impl Iterator<Item = (Option<EntryIx>, Step)> {
        self.from
            .into_iter()
            .zip(self.told.into_iter().map(|told| told.step))
    }

    pub(super) fn push(&mut self, told: Told, from: Option<EntryIx>) -> usize {
        self.told.push(told);
        self.from.push(from);
        self.told.len() - 1
    }

    /// The same without some ways that the conversation left again.
    pub(super) fn without(self, ways: &[Range<usize>]) -> Self {
        let mut is_gone = vec![false; self.told.len()];
        for way in ways {
            if let Some(steps) = is_gone.get_mut(way.clone()) {
                steps.fill(true);
            }
        }
        let mut left = Self::default();
        let mut places: Vec<Option<usize>> = Vec::with_capacity(is_gone.len());
        let all = self.told.into_iter().zip(self.from).zip(is_gone);
        for ((mut told, from), is_gone) in all {
            let place = |step: usize| places.get(step).copied().flatten();
            told.after = told.after.and_then(place);
            let on = match &mut told.step {
                Step::Compaction { kept, .. } => {
                    *kept = kept.and_then(place);
                    Some(0)
                }
                Step::Label { on, .. } => place(*on).inspect(|new| *on = *new),
                _ => Some(0),
            };
            // Nobody goes back to where the conversation is.
            let is_there = told.after == left.told.len().checked_sub(1);
            let is_idle = matches!(told.step, Step::Back) && is_there;
            let is_told = !is_gone && !is_idle && on.is_some();
            let place = if is_told {
                Some(left.push(told, from))
            } else {
                told.after
            };
            places.push(place);
        }
        left
    }
}

/// Messages one behind the other.
pub(super) fn in_a_row(messages: Vec<Said>) -> Steps {
    let mut steps = Steps::default();
    for said in messages {
        let told = Told {
            after: steps.told.len().checked_sub(1),
            time: None,
            step: Step::Message(said.message),
        };
        steps.push(told, said.from);
    }
    steps
}
