//! How far somebody has read, by bytes: for each log the file, the offset, and how it read before.

use std::{
    collections::BTreeMap,
    fs::File,
    path::{Path, PathBuf},
};

use rethread_disk::{DiskError, Durability, Mode, ensure_folder, read_at, read_small, replace};
use rethread_json::{Array, Object, Tree, Value};
use sha2::{Digest as _, Sha256};

use crate::{
    alias::Alias,
    folder::{Folder, Log},
    id::Id,
    scan::{LogPosition, ReadTo},
    seen::Watermark,
};

const FILE: &str = "cursor.json";
const VERSION: u64 = 1;

/// How many bytes before the offset must be what they were.
const TAIL: u64 = 256;

/// How far a reader has read. It lives in a cache, not in the message folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// Grows whenever somebody deletes the watermark to read all again.
    pub(crate) epoch: u64,
    /// The watermark as it was last written or accepted; none if there was none.
    pub(crate) watermark: Option<Watermark>,
    /// For each log, by name.
    pub(crate) logs: BTreeMap<String, LogCursor>,
}

/// How far one log was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogCursor {
    file: (u64, u64),
    len: u64,
    nanos: i128,
    place: LogPosition,
    tail: u64,
}

/// What there is to read in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnreadPart {
    /// Nothing was written since.
    Nothing,
    /// Perhaps only what comes after the mark.
    After(LogPosition),
    /// All of it.
    All,
}

impl LogCursor {
    pub(crate) fn new(log: &Log, file: &File, read: ReadTo) -> Self {
        Self {
            file: log.id.numbers(),
            // If its end was met before that, there is something to read.
            len: log.len.min(read.end),
            nanos: log.modified_nanos(),
            place: read.place,
            tail: tail_hash(file, read.place.offset),
        }
    }

    /// The same mark at an earlier place.
    pub(crate) fn back_at(self, file: &File, place: LogPosition) -> Self {
        Self {
            // Not as long as the log is: so there is something to read.
            len: place.offset,
            place,
            tail: tail_hash(file, place.offset),
            ..self
        }
    }

    /// What there is to read, as far as the folder tells.
    pub(crate) fn unread_part(&self, log: &Log) -> UnreadPart {
        if self.file != log.id.numbers() || log.len < self.place.offset {
            return UnreadPart::All;
        }
        match (self.len == log.len, self.nanos == log.modified_nanos()) {
            (true, true) => UnreadPart::Nothing,
            // As long as before, but written to: not by an append.
            (true, false) => UnreadPart::All,
            (false, _) => UnreadPart::After(self.place),
        }
    }

    /// Whether what comes before the mark is still what it was.
    pub(crate) fn fits_file(&self, file: &File) -> bool {
        self.tail == tail_hash(file, self.place.offset)
    }
}

/// The hash of what comes right before an offset.
fn tail_hash(file: &File, offset: u64) -> u64 {
    let start = offset.saturating_sub(TAIL);
    let len = usize::try_from(offset - start).unwrap_or_default();
    let mut bytes = vec![0; len];
    let read = read_at(file, start, &mut bytes).unwrap_or(0);
    bytes.truncate(read);
    Id::of_canonical(&bytes).bits()
}

/// Where the cursor of a reader of a message folder lives in a cache.
///
/// ```
/// use rethread_samp::{Alias, Folder, cursor_folder};
///
/// let folder = cursor_folder("/c".as_ref(), &Folder::new("/messages"), &Alias::new("bob")?);
/// assert!(folder.starts_with("/c"));
/// # Ok::<(), rethread_samp::InvalidAlias>(())
/// ```
pub fn cursor_folder(cache: &Path, folder: &Folder, me: &Alias) -> PathBuf {
    let path = std::fs::canonicalize(folder.path()).unwrap_or_else(|_| folder.path().to_owned());
    let digest = Sha256::new()
        .chain_update(path.as_os_str().as_encoded_bytes())
        .chain_update([0])
        .chain_update(me.as_str())
        .finalize();
    let key = digest.first_chunk().copied().unwrap_or_default();
    cache.join(format!("{me}-{:016x}", u64::from_be_bytes(key)))
}

impl Cursor {
    /// Reads a cursor; what cannot be read is none.
    pub(crate) fn read(folder: &Path) -> Option<Self> {
        let bytes = read_small(&folder.join(FILE)).ok()?;
        let tree = Tree::parse(&bytes).ok()?;
        let root = tree.root(&bytes);
        if root.get("version")?.u64()? != VERSION {
            return None;
        }
        let mut cursor = Self {
            epoch: root.get("epoch")?.u64()?,
            watermark: root.get("watermark").and_then(Watermark::parse),
            logs: BTreeMap::new(),
        };
        for log in root.get("logs")?.items() {
            let name = log.get("owner")?.str()?.into_owned();
            cursor.logs.insert(name, parse_log_cursor(log)?);
        }
        Some(cursor)
    }

    pub(crate) fn write(&self, folder: &Path) -> Result<(), DiskError> {
        ensure_folder(folder, &Mode::Private, Durability::None)?;
        let logs = self.logs.iter().fold(Array::new(), |array, (name, m)| {
            let log = Object::new()
                .str("owner", name)
                .u64("device", m.file.0)
                .u64("file", m.file.1)
                .u64("len", m.len)
                .str("nanos", &m.nanos.to_string())
                .u64("offset", m.place.offset)
                .u64("lines", m.place.lines)
                .str("tail", &Id::from_bits(m.tail).to_string());
            array.raw(&log.finish())
        });
        let watermark = self.watermark.as_ref().map(Watermark::to_json);
        let json = Object::new()
            .u64("version", VERSION)
            .u64("epoch", self.epoch)
            .opt_raw("watermark", watermark.as_ref().map(String::as_bytes))
            .raw("logs", &logs.finish())
            .finish();
        replace(&folder.join(FILE), &json, Mode::Private, Durability::None)
    }
}

fn parse_log_cursor(log: Value<'_>) -> Option<LogCursor> {
    let number = |key| log.get(key)?.u64();
    Some(LogCursor {
        file: (number("device")?, number("file")?),
        len: number("len")?,
        nanos: log.get("nanos")?.str()?.parse().ok()?,
        place: LogPosition {
            offset: number("offset")?,
            lines: number("lines")?,
        },
        tail: log.get("tail")?.str()?.parse::<Id>().ok()?.bits(),
    })
}
