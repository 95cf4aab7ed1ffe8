//! The two files of a reader that the document knows: watermark and cache of file times.

use std::path::Path;

use rethread_disk::{DiskError, Durability, Mode, read_small, replace};
use rethread_json::{Tree, Value};

use crate::{folder::Log, id::Id, number::python_float};

/// How far somebody has read, by time: everything before `ts`, and of that second these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watermark {
    /// Seconds since 1970.
    pub ts: i64,
    /// The messages of that second that were shown.
    pub ids: Vec<Id>,
}

/// What was found where a watermark may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FoundWatermark {
    Nothing,
    /// Something that is no watermark.
    Senseless,
    Watermark(Watermark),
}

impl Watermark {
    /// Whether a message was shown before, as far as this says.
    pub fn covers(&self, ts: i64, id: Id) -> bool {
        ts < self.ts || (ts == self.ts && self.ids.contains(&id))
    }

    /// Whether both say the same, in whatever order.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let sorted = |of: &Self| {
            let mut ids = of.ids.clone();
            ids.sort_unstable();
            ids.dedup();
            ids
        };
        self.ts == other.ts && sorted(self) == sorted(other)
    }

    /// The watermark after these were shown, oldest first; what is later than `horizon` does not
    /// count.
    pub(crate) fn advanced_by(&self, shown: impl Iterator<Item = (i64, Id)>, horizon: i64) -> Self {
        let mut next = Self {
            ts: self.ts,
            ids: Vec::new(),
        };
        for (ts, id) in shown.filter(|(ts, _)| *ts <= horizon) {
            if ts > next.ts {
                next = Self {
                    ts,
                    ids: Vec::new(),
                };
            }
            if ts == next.ts {
                next.ids.push(id);
            }
        }
        if next.ts == self.ts {
            next.ids.extend_from_slice(&self.ids);
            next.ids.sort_unstable();
            next.ids.dedup();
        }
        next
    }

    /// Reads a `.seen` file.
    pub(crate) fn read(path: &Path) -> Result<FoundWatermark, DiskError> {
        let bytes = match read_small(path) {
            Err(DiskError::NotFound { .. }) => return Ok(FoundWatermark::Nothing),
            bytes => bytes?,
        };
        let tree = Tree::parse(&bytes).ok();
        let found = tree.and_then(|tree| Self::parse(tree.root(&bytes)));
        Ok(found.map_or(FoundWatermark::Senseless, FoundWatermark::Watermark))
    }

    pub(crate) fn parse(value: Value<'_>) -> Option<Self> {
        let ts = value.get("ts")?;
        let ids = value.get("ids").map(Value::items).into_iter().flatten();
        // Later versions of the other program put the sender and a colon before the id.
        let id = |text: &str| text.rsplit(':').next()?.parse().ok();
        Some(Self {
            ts: ts
                .i64()
                .or_else(|| ts.f64().map(|_| crate::number::unix_seconds(ts)))?,
            ids: ids.filter_map(|text| id(&text.str()?)).collect(),
        })
    }

    /// As the document's own language writes it.
    pub(crate) fn to_json(&self) -> String {
        let ids: Vec<String> = self.ids.iter().map(|id| format!("\"{id}\"")).collect();
        format!("{{\"ts\": {}, \"ids\": [{}]}}", self.ts, ids.join(", "))
    }
}

/// Newest time and number of all logs: while both stay, the document allows to read none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LogTimes {
    newest: f64,
    files: usize,
}

impl LogTimes {
    pub(crate) fn of_logs(logs: &[Log]) -> Self {
        let newest = logs.iter().map(Log::modified_nanos).max().unwrap_or(0);
        Self {
            newest: to_seconds(newest),
            files: logs.len(),
        }
    }

    pub(crate) fn read(path: &Path) -> Option<Self> {
        let bytes = read_small(path).ok()?;
        let tree = Tree::parse(&bytes).ok()?;
        let root = tree.root(&bytes);
        Some(Self {
            newest: root.get("max_mtime")?.f64()?,
            files: usize::try_from(root.get("files")?.u64()?).ok()?,
        })
    }

    pub(crate) fn to_json(self) -> String {
        format!(
            "{{\"max_mtime\": {}, \"files\": {}}}",
            python_float(self.newest),
            self.files
        )
    }
}

/// Nanoseconds as Python has them: two sums of floats.
#[allow(
    clippy::cast_precision_loss,
    reason = "the other program loses the same digits"
)]
fn to_seconds(nanos: i128) -> f64 {
    let (whole, rest) = (
        nanos.div_euclid(1_000_000_000),
        nanos.rem_euclid(1_000_000_000),
    );
    whole as f64 + 1e-9 * rest as f64
}

/// Writes a reader's file, all at once, unless it says so already.
pub(crate) fn write_state(path: &Path, text: &str) -> Result<(), DiskError> {
    if read_small(path).is_ok_and(|there| there == text.as_bytes()) {
        return Ok(());
    }
    replace(path, text.as_bytes(), Mode::Private, Durability::None)
}
