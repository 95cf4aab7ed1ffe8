//! A whole conversation, with ways that it left again, and with what was summed up on the way.

use std::ops::Range;

use rethread_json::{Tree, Value, split_lines};
use rethread_model::Moment;

use super::append::{refuse_old, writer};
use super::fresh_id;
use super::message::{Given, is_turn};
use crate::session_log::SessionLog;
use crate::telling::{left, sums_up, way};
use crate::{
    Attachments, Branches, Files, Keeps, NewMessage, Source, Step, Told, WriteError, Writing,
};

/// Turns can be taken back, and there are records for summaries.
pub(crate) const KEEPS: Keeps = Keeps {
    branches: Branches::Plain,
    compactions: true,
    labels: false,
    agents: true,
    attachments: Attachments {
        in_prompts: Files::Pictures,
        in_answers: Files::Nothing,
        in_results: Files::Pictures,
        addresses: true,
    },
};

/// Ways that do not begin with a turn: the client takes back nothing else. Nor does it know what was
/// before a summary that is taken back, or one that follows at once.
pub(crate) fn leaves_out(told: &[Told]) -> Vec<Range<usize>> {
    let is_out = |way: &Range<usize>| {
        let steps = told.get(way.clone()).unwrap_or_default();
        let rest = told.get(way.end..).unwrap_or_default();
        let next = rest.iter().position(begins_turn).unwrap_or(rest.len());
        let follows = rest.get(..next).unwrap_or_default();
        !steps.first().is_some_and(begins_turn) || sums_up(steps) || sums_up(follows)
    };
    left(told).into_iter().filter(is_out).collect()
}

/// Whether a turn of the person begins with a step.
fn begins_turn(one: &Told) -> bool {
    match &one.step {
        Step::Message(message) => is_turn(&message.message),
        _ => false,
    }
}

/// Writes a conversation into a session that was just made.
pub(crate) fn tell(w: &Writing<'_>, source: &Source, told: &[Told]) -> Result<(), WriteError> {
    refuse_old(&source.path)?;
    let mut log = SessionLog::open(w, &source.path)?;
    let mut writer = writer(w, source, &log)?;
    // The lines of each step, and how many turns there are on the way to it.
    let mut lines: Vec<Range<usize>> = Vec::with_capacity(told.len());
    let mut turns: Vec<u64> = Vec::with_capacity(told.len());
    let mut time: Option<Moment> = None;
    // Where turns are taken back, the client wants to know where each of them ends.
    let has_ends = !left(told).is_empty();
    let mut turn: Option<String> = None;
    for (at, one) in told.iter().enumerate() {
        time = one.time.or(time);
        let now = time.unwrap_or_else(|| w.env.now());
        let before = |step: Option<usize>| step.and_then(|s| turns.get(s)).copied().unwrap_or(0);
        let (here, there) = (before(at.checked_sub(1)), before(one.after));
        let message = match &one.step {
            Step::Message(message) => Some(Given::of(NewMessage::clone(message))),
            _ => None,
        };
        let is_turn = message.as_ref().is_some_and(Given::is_turn);
        let back = here.saturating_sub(there);
        let is_over = is_turn || back > 0 || sums_up(std::slice::from_ref(one));
        if let Some(turn) = turn.take_if(|_| is_over) {
            writer.records.complete(now, &turn);
        }
        if back > 0 {
            writer.records.rolled_back(now, back);
        }
        if is_turn && has_ends {
            let id = fresh_id(w.env, &(at as u64).to_le_bytes());
            writer.records.started(now, &id);
            turn = Some(id);
        }
        turns.push(there + u64::from(is_turn));
        let start = writer.records.lines().len();
        match &one.step {
            Step::Message(_) => {
                if let Some(message) = message {
                    writer.write(&message);
                }
            }
            Step::Compaction { summary, kept, .. } => {
                let way = way(told, *kept, one.after);
                let kept = way.into_iter().filter_map(|step| lines.get(step));
                let all = writer.records.lines();
                let kept = kept.filter_map(|range| all.get(range.clone()));
                let kept: Vec<Vec<u8>> = kept.flat_map(items).collect();
                writer.compacted(now, summary, &kept);
            }
            Step::BranchSummary(_) | Step::Label { .. } => {
                return Err(super::unsupported("summaries of branches, or labels"));
            }
            Step::Back => {}
        }
        lines.push(start..writer.records.lines().len());
    }
    if let Some(turn) = turn {
        let now = time.unwrap_or_else(|| w.env.now());
        writer.records.complete(now, &turn);
    }
    log.append(&writer.records.into_bytes())?;
    Ok(())
}

/// What the model sees of lines that we wrote.
fn items(lines: &[u8]) -> Vec<Vec<u8>> {
    let mut tree = Tree::default();
    let mut items = Vec::new();
    for (_, line) in split_lines(lines) {
        if tree.parse_into(line).is_err() {
            continue;
        }
        let record: Value<'_> = tree.root(line);
        let is_item = record
            .get("type")
            .is_some_and(|t| t.is_str("response_item"));
        items.extend(
            record
                .get("payload")
                .filter(|_| is_item)
                .map(|p| p.raw().to_vec()),
        );
    }
    items
}
