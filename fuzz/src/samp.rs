//! The canonical form of messages.

use rethread_samp::{LineReader, Record, StoredId};

/// What is canonical stays so, is JSON, and has the id of what it was made of.
pub fn samp(data: &[u8]) {
    let mut reader = LineReader::default();
    let Ok(record) = reader.read(data) else {
        return;
    };
    // All that can be asked of a record has an answer.
    let said = (record.from(), record.to(), record.thread(), record.body());
    let (id, canonical) = (record.id(), record.canonical());
    let _ = (record.ts(), record.has_more(), record.is_text(), said);
    let is_right = record.stored_id() == StoredId::Right;
    assert_eq!(
        is_right,
        stored(&record).as_deref() == Some(&*id.to_string())
    );
    let mut reader = LineReader::default();
    let again = reader.read(&canonical);
    let again =
        again.unwrap_or_else(|e| panic!("{e:?}: {:?}", String::from_utf8_lossy(&canonical)));
    assert_eq!(again.canonical(), canonical);
    assert_eq!(again.id(), id);
}

/// The id that is written in a record.
fn stored(record: &Record<'_>) -> Option<String> {
    Some(record.field("id")?.str()?.into_owned())
}
