//! A whole conversation, with what was summed up on the way.

use std::ops::Range;

use rethread_disk::LockedLog;
use rethread_json::{Tree, Value, split_lines};

use super::append::{refuse_old, write_all, writer};
use super::message::given;
use crate::{Attachments, Branches, Files, Keeps, Source, Step, Told, WriteError, Writing};

/// There are records for summaries.
pub(crate) const KEEPS: Keeps = Keeps {
    branches: Branches::None,
    compactions: true,
    labels: false,
    agents: false,
    attachments: Attachments {
        in_prompts: Files::Pictures,
        in_answers: Files::Nothing,
        in_results: Files::Pictures,
        addresses: true,
    },
};

/// Writes a conversation into a session that was just made.
pub(crate) fn tell(w: &Writing<'_>, source: &Source, told: &[Told]) -> Result<(), WriteError> {
    refuse_old(&source.path)?;
    let mut log = LockedLog::open(&source.path, w.lock_timeout)?;
    let mut writer = writer(w, source, &log)?;
    // The lines of each step.
    let mut lines: Vec<Range<usize>> = Vec::with_capacity(told.len());
    for one in told {
        let start = writer.records.lines().len();
        match &one.step {
            Step::Message(message) => {
                writer.write(&given(message)?);
            }
            Step::Compaction { summary, kept, .. } => {
                let from = kept
                    .and_then(|kept| lines.get(kept))
                    .map_or(start, |l| l.start);
                let kept = items(writer.records.lines().get(from..).unwrap_or_default());
                let time = one.time.unwrap_or_else(|| w.env.now());
                writer.compacted(time, summary, &kept);
            }
            Step::BranchSummary(_) | Step::Label { .. } => {
                return Err(super::unsupported("branches or labels"));
            }
        }
        lines.push(start..writer.records.lines().len());
    }
    write_all(w, &mut log, writer)
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
