//! The line of a session as it is, and the files that came along in it.

use super::index::session_id;
use super::read::{AROUND, FILE, OTHERS};
use crate::carry::{CarriedFile, carried_files};
use crate::error::unreadable;
use crate::{Conversation, OpenError, Part, RecordKind};

/// The records that together are a session record of the unified vocabulary.
///
/// A record of the kind [`Carried`](RecordKind::Carried) among them is a piece out of the one before
/// it, which the one behind it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnifiedRecord {
    /// The part.
    pub part: u32,
    /// The first record.
    pub first: u32,
    /// The last record.
    pub last: u32,
    /// Lines of unknown types before it, which go with it.
    pub before: Option<u32>,
    /// The same behind it.
    pub behind: Option<u32>,
}

/// The records of the session's line; none of a file that has no such lines, and of a damaged one.
pub(super) fn unified_record(conversation: &Conversation) -> Option<UnifiedRecord> {
    let part = conversation.native.parts.first()?;
    let kind = |record: u32| part.record_kind(record);
    let is = |record: Option<u32>, wanted| record.filter(|r| kind(*r) == Some(wanted));
    let count = u32::try_from(part.record_count()).ok()?;
    let mut first = u32::from(kind(0)? == OTHERS);
    let before = is(Some(first), AROUND);
    first += u32::from(before.is_some());
    let mut last = count.checked_sub(1)?;
    if kind(last)? == OTHERS {
        last = last.checked_sub(1)?;
    }
    let behind = is(Some(last), AROUND);
    if behind.is_some() {
        last = last.checked_sub(1)?;
    }
    if first > last || (first..=last).any(|record| kind(record) == Some(RecordKind::Junk)) {
        return None;
    }
    session_id(part.read(first).ok()?.as_slice())?;
    Some(UnifiedRecord {
        part: FILE,
        first,
        last,
        before,
        behind,
    })
}

/// The files that came along; none if there are none.
pub(super) fn carried(conversation: &Conversation) -> Result<Vec<CarriedFile<'_>>, OpenError> {
    let Some(part) = conversation.native.parts.first() else {
        return Ok(Vec::new());
    };
    let Some(value) = carried_at(part).and_then(|record| part.span(record)) else {
        return Ok(Vec::new());
    };
    carried_files(part, value).map_err(|e| unreadable(&conversation.source.path, e))
}

/// The record that came along.
fn carried_at(part: &Part) -> Option<u32> {
    let count = u32::try_from(part.record_count()).ok()?;
    (0..count).find(|record| part.record_kind(*record) == Some(RecordKind::Carried))
}
