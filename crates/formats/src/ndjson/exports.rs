//! The line of a session as it is, and the files that came along in it.

use std::path::Path;

use rethread_json::Tree;
use rethread_model::Json;

use super::field_tables::object_table;
use super::index::{FileShape, all_lines, file_index, session_id};
use super::packed::open_export;
use super::reader::{AROUND, FILE, OTHERS};
use super::store::has_its_name;
use super::{Ndjson, field_tables};
use crate::carry::{CarriedFile, carried_files};
use crate::error::unreadable_file;
use crate::{Conversation, ExportReader, OpenError, Part, RecordKind};

impl ExportReader for Ndjson {
    /// The records of the session's line; none of a file that has no such lines, and of a damaged one.
    fn unified_record(&self, conversation: &Conversation) -> Option<UnifiedRecord> {
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
    fn carried<'a>(
        &self,
        conversation: &'a Conversation,
    ) -> Result<Vec<CarriedFile<'a>>, OpenError> {
        let Some(part) = conversation.native.parts.first() else {
            return Ok(Vec::new());
        };
        let Some(value) = carried_at(part).and_then(|record| part.span(record)) else {
            return Ok(Vec::new());
        };
        carried_files(part, value).map_err(|e| unreadable_file(&conversation.source.path, e))
    }

    /// What the header of a file says beside the fields of the document.
    fn more_of_header(&self, path: &Path) -> Vec<(String, Json)> {
        let own = object_table(field_tables::Shape::Header).map_or(&[][..], |table| table.fields);
        let read = || {
            let opened = open_export(path).ok()?;
            let mut lines = all_lines(&opened);
            let first = lines.next_line().ok()??;
            let bytes = first.whole()?;
            let tree = Tree::parse(bytes).ok()?;
            let header = tree.root(bytes);
            let members = header.members().filter_map(|(key, value)| {
                let key = key.str()?;
                let is_own = own.iter().any(|field| field.key == key);
                (!is_own).then(|| (key.into_owned(), Json::new(value.raw())))
            });
            Some(members.collect())
        };
        read().unwrap_or_default()
    }

    /// Whether a file is an export in which there is no session. One that could be unpacked only in part
    /// may have had some.
    fn has_no_sessions(&self, path: &Path) -> bool {
        if !has_its_name(path) || !path.is_file() {
            return false;
        }
        let whole = open_export(path)
            .ok()
            .filter(|opened| opened.damage.is_none());
        let found = whole.and_then(|opened| file_index(path, &opened).ok());
        found.flatten().is_some_and(|index| {
            matches!(index.shape, FileShape::Records { .. }) && index.sessions.is_empty()
        })
    }

    /// Why a packed file that is named as an export may be could be unpacked only in part.
    fn unpacking_damage(&self, path: &Path) -> Option<String> {
        if !has_its_name(path) || !path.is_file() {
            return None;
        }
        open_export(path).ok()?.damage
    }
}

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

/// The record that came along.
fn carried_at(part: &Part) -> Option<u32> {
    let count = u32::try_from(part.record_count()).ok()?;
    (0..count).find(|record| part.record_kind(*record) == Some(RecordKind::Carried))
}
