//! A whole conversation, with ways that it left again, and with what was summed up on the way.

use rethread_json::{Tree, Value, split_lines};

use crate::{Attachments, Branches, Files, Keeps};

/// Turns can be taken back, and there are records for summaries.
pub(crate) const KEEPS: Keeps = Keeps {
    branches: Branches::Plain,
    compactions: true,
    labels: false,
    attachments: Attachments {
        in_prompts: Files::Pictures,
        in_answers: Files::Nothing,
        in_results: Files::Pictures,
        addresses: true,
    },
};

/// What the model sees of lines that we wrote.
pub(in crate::codex) fn model_items(lines: &[u8]) -> Vec<Vec<u8>> {
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
