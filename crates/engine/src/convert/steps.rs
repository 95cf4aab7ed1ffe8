//! The steps of a conversation, and what they come from.

use std::ops::Range;

use rethread_formats::{StepKind, TranscriptStep};
use rethread_model::EntryIx;

use super::messages::OutgoingMessage;

/// Steps, and what they come from.
#[derive(Default)]
pub(super) struct TranscriptSteps {
    pub(super) told: Vec<TranscriptStep>,
    /// The entry of the source that each step tells of; none for what we say ourselves.
    from: Vec<Option<EntryIx>>,
}

impl TranscriptSteps {
    /// The steps, each with the entry that it tells of.
    pub(super) fn into_steps(self) -> impl Iterator<Item = (Option<EntryIx>, StepKind)> {
        self.from
            .into_iter()
            .zip(self.told.into_iter().map(|told| told.step))
    }

    pub(super) fn push_step(&mut self, told: TranscriptStep, from: Option<EntryIx>) -> usize {
        self.told.push(told);
        self.from.push(from);
        self.told.len() - 1
    }
}

/// Steps without some ways that the conversation left again.
pub(super) fn without_paths(
    steps: impl Iterator<Item = (TranscriptStep, Option<EntryIx>)>,
    ways: &[Range<usize>],
) -> impl Iterator<Item = (TranscriptStep, Option<EntryIx>)> {
    let mut places = StepPlaces::without_paths(ways);
    let is_whole = ways.is_empty();
    steps.filter_map(move |(mut told, from)| {
        if is_whole || places.move_step(&mut told) {
            Some((told, from))
        } else {
            None
        }
    })
}

/// What is known of where a step stands.
pub(super) struct StepPosition {
    after: Option<usize>,
    is_back: bool,
    /// The step that a bookmark is on.
    on: Option<usize>,
}

impl StepPosition {
    pub(super) fn of_step(told: &TranscriptStep) -> Self {
        Self {
            after: told.after,
            is_back: matches!(told.step, StepKind::Back),
            on: match told.step {
                StepKind::Label { on, .. } => Some(on),
                _ => None,
            },
        }
    }
}

/// What each step follows when some ways are left out.
pub(super) fn followed_steps(steps: &[StepPosition], ways: &[Range<usize>]) -> Vec<Option<usize>> {
    let mut places = StepPlaces::without_paths(ways);
    let mut followed = Vec::with_capacity(steps.len());
    for step in steps {
        let after = step.after.and_then(|step| places.place_of(step));
        if places.add_step(step, after) {
            followed.push(after);
        }
    }
    followed
}

/// Where steps are when some are left out.
struct StepPlaces {
    is_gone: Vec<bool>,
    /// The place of each step so far, or of the one that it follows where it is left out.
    new: Vec<Option<usize>>,
    /// How many are left.
    count: usize,
}

impl StepPlaces {
    fn without_paths(ways: &[Range<usize>]) -> Self {
        let mut is_gone = vec![false; ways.iter().map(|way| way.end).max().unwrap_or(0)];
        for way in ways {
            if let Some(steps) = is_gone.get_mut(way.clone()) {
                steps.fill(true);
            }
        }
        Self {
            is_gone,
            new: Vec::new(),
            count: 0,
        }
    }

    /// Where a step is now, or the one that it follows.
    fn place_of(&self, step: usize) -> Option<usize> {
        self.new.get(step).copied().flatten()
    }

    /// Brings a step to its new place; whether it is left.
    fn move_step(&mut self, told: &mut TranscriptStep) -> bool {
        let position = StepPosition::of_step(told);
        told.after = told.after.and_then(|step| self.place_of(step));
        match &mut told.step {
            StepKind::Compaction { kept, .. } => *kept = kept.and_then(|step| self.place_of(step)),
            StepKind::Label { on, .. } => *on = self.place_of(*on).unwrap_or(*on),
            StepKind::Message(_) | StepKind::BranchSummary(_) | StepKind::Back => {}
        }
        self.add_step(&position, told.after)
    }

    /// Adds a step that follows `after` now; whether it is left.
    fn add_step(&mut self, step: &StepPosition, after: Option<usize>) -> bool {
        let is_gone = self.is_gone.get(self.new.len()) == Some(&true);
        // Nobody goes back to where the conversation is.
        let is_idle = step.is_back && after == self.count.checked_sub(1);
        let is_lost = step.on.is_some_and(|on| self.place_of(on).is_none());
        let is_left = !is_gone && !is_idle && !is_lost;
        self.new
            .push(if is_left { Some(self.count) } else { after });
        self.count += usize::from(is_left);
        is_left
    }
}

/// Messages one behind the other.
pub(super) fn in_a_row(messages: Vec<OutgoingMessage>) -> TranscriptSteps {
    let mut steps = TranscriptSteps::default();
    for said in messages {
        let Some(message) = said.message else {
            continue;
        };
        let told = TranscriptStep {
            after: steps.told.len().checked_sub(1),
            time: None,
            step: StepKind::Message(message),
        };
        steps.push_step(told, said.from);
    }
    steps
}
