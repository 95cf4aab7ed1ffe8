//! The line of a session as it is, and the files that came along in it.

use std::io::{self, Read};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rethread_json::{Tree, Value};
use rethread_model::RawRef;

use super::body::session_object;
use super::fields::{extensions, string};
use super::index::session_id;
use super::read::{FILE, OTHERS, between, unreadable};
use crate::{Conversation, OpenError, RecordKind};

/// The records that together are a session record of the unified vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnifiedRecord {
    /// The part.
    pub part: u32,
    /// The first record.
    pub first: u32,
    /// The last record.
    pub last: u32,
}

/// A file that a session had where it was first found.
#[derive(Debug)]
pub struct CarriedFile {
    /// Its path, with `/` between names, below the folder that held the session. From a file, so it
    /// is checked before it is used.
    pub path: String,
    /// That folder, as it was called there; from a file, too.
    pub folder: String,
    packed: Vec<u8>,
}

impl CarriedFile {
    /// Its content.
    pub fn reader(&self) -> io::Result<impl Read + '_> {
        zstd::stream::read::Decoder::with_buffer(self.packed.as_slice())
    }
}

/// The records of the session's line; none of a file that has no such lines, and of a damaged one.
/// Other lines of the file are one record before it and one behind it.
pub(super) fn unified_record(conversation: &Conversation) -> Option<UnifiedRecord> {
    let part = conversation.native.parts.first()?;
    let kind = |record| part.record_kind(record);
    let count = u32::try_from(part.record_count()).ok()?;
    let first = u32::from(kind(0)? == OTHERS);
    let behind = u32::from(kind(count.checked_sub(1)?)? == OTHERS);
    let last = count.checked_sub(1 + behind)?;
    if first > last || (first..=last).any(|record| kind(record) == Some(RecordKind::Junk)) {
        return None;
    }
    session_id(&part.read(first).ok()?)?;
    Some(UnifiedRecord {
        part: FILE,
        first,
        last,
    })
}

/// The files that came along; none if there are none.
pub(super) fn carried(conversation: &Conversation) -> Result<Vec<CarriedFile>, OpenError> {
    let path = &conversation.source.path;
    let failed = |e| unreadable(path, e);
    let Some(bytes) = first_record(conversation).map_err(failed)? else {
        return Ok(Vec::new());
    };
    let start = between(&bytes);
    let object = bytes.get(start..).unwrap_or_default();
    if let Ok(tree) = Tree::parse(object) {
        let original = extensions(tree.root(object)).and_then(|e| e.get("original"));
        return original.map_or(Ok(Vec::new()), |o| files(o).map_err(failed));
    }
    let mut tree = Tree::default();
    let original =
        session_object(&bytes, &mut tree).and_then(|s| s.at(&["extensions", "original"]));
    original.map_or(Ok(Vec::new()), |o| files(o).map_err(failed))
}

/// The first message, or the beginning of the line where there is none.
fn first_record(conversation: &Conversation) -> io::Result<Option<Vec<u8>>> {
    let session = &conversation.session;
    let message = session.indexed().find(|(_, e)| e.kind.is_message());
    let raw = match message {
        Some((ix, _)) => session.origin(ix).first().copied(),
        None => unified_record(conversation).map(|line| RawRef {
            part: line.part,
            record: line.first,
        }),
    };
    raw.map(|raw| conversation.native.read(raw)).transpose()
}

fn files(original: Value<'_>) -> io::Result<Vec<CarriedFile>> {
    let list = original.get("files").map(Value::items);
    let folder = string(original, "folder").unwrap_or_default();
    let mut files = Vec::new();
    for file in list.into_iter().flatten() {
        let (Some(path), Some(data)) = (string(file, "path"), string(file, "zstd_base64")) else {
            continue;
        };
        let packed = STANDARD.decode(data.as_bytes()).map_err(io::Error::other)?;
        files.push(CarriedFile {
            path,
            folder: folder.clone(),
            packed,
        });
    }
    Ok(files)
}
