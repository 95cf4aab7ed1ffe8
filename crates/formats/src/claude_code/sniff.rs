//! Whether a file is a transcript, from its beginning.

use std::io::Read;
use std::path::Path;

use rethread_disk::open_read;
use rethread_json::{Tree, Value, split_lines};

use super::record::TranscriptRecord;
use super::types::is_known;

/// How much of a file is looked at.
const LOOK: u64 = 1024 * 1024;

/// Whether the beginning of a file holds records of the client.
pub(super) fn is_session(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = open_read(path).map(|file| file.take(LOOK).read_to_end(&mut start));
    if !matches!(read, Ok(Ok(_))) {
        return false;
    }
    let mut tree = Tree::default();
    for (_, line) in split_lines(&start) {
        if tree.parse_into(line).is_err() {
            continue;
        }
        if let Some(answer) = is_ours(tree.root(line)) {
            return answer;
        }
    }
    false
}

/// Whether a value is a record of the client; none where it could be anybody's.
pub(super) fn is_ours(value: Value<'_>) -> Option<bool> {
    let record = TranscriptRecord::of(value);
    let type_name = record.type_name()?;
    match type_name.as_ref() {
        "user" | "assistant" => {
            let message = record.message.filter(|m| m.is_object())?;
            // Qwen Code writes alike, but its messages are made of parts.
            Some(message.get("parts").is_none())
        }
        "summary" => record.leaf.or(value.get("summary")).map(|_| true),
        // The only one of its own records that names no session.
        "file-history-snapshot" => value.get("snapshot").map(|_| true),
        "system" | "attachment" | "progress" => {
            let said = record.subtype.or(record.attachment).or(record.data);
            said.filter(|_| record.uuid.is_some() && value.get("systemPayload").is_none())
                .map(|_| true)
        }
        other => (record.session.is_some() && is_known(other)).then_some(true),
    }
}

/// Whether a value that was found in a damaged line is a record, and not a piece of a torn one.
pub(super) fn is_record(value: Value<'_>) -> bool {
    let record = TranscriptRecord::of(value);
    is_ours(value) == Some(true) || record.type_name().is_some() && record.session.is_some()
}
