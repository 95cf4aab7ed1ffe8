//! Scans of logs for lists, which can be stopped and gone on with: of a log that grew, only what was
//! appended is read.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

use super::log::{LogPoint, LogVisitor, scan_log_from};
use super::state::SavedState;
use crate::file_range::FileRange;
use crate::{Source, Want};

/// How closely a log is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScanDepth {
    /// Only at what a list without usage shows.
    Quick,
    /// Only at what a list shows. Whether all that is passed over is JSON is not asked.
    Usage,
    /// At everything.
    Whole,
}

impl ScanDepth {
    /// How closely a list must look.
    pub(crate) fn of_list(usage: bool) -> Self {
        if usage { Self::Usage } else { Self::Quick }
    }

    /// Whether somebody asks for tokens.
    pub(crate) fn with_usage(self) -> bool {
        self != Self::Quick
    }
}

/// How far a log was scanned, and what is known from there on. It may be kept in a cache, and is
/// good for the same log and the same question only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedScan {
    /// The byte up to which the log need not be read again: the end of its last finished line.
    pub read_upto: u64,
    /// What the lines before it say.
    pub state: Vec<u8>,
}

/// The version of what is saved. It changes with every struct that is a part of a scan's state.
pub(super) const STATE_VERSION: u32 = 2;

/// So many of the bytes before the end are compared, so that a log that was written anew is not gone
/// on with.
const TAIL: u64 = 64;

/// What is saved beside the state of the format's scan.
struct ScanHeader {
    version: u32,
    /// What the scan was asked.
    question: String,
    point: LogPoint,
    /// The last bytes before the point.
    tail: Vec<u8>,
}

super::state::saved_enum!(ScanDepth { Quick = 0, Usage = 1, Whole = 2 });
super::state::saved_struct!(LogPoint { offset, number });
super::state::saved_struct!(ScanHeader {
    version,
    question,
    point,
    tail
});

/// What a list asks of a session's log: the answer is good only for the same.
pub(crate) fn scan_question(format: &str, source: &Source, want: Want) -> String {
    let path = source.path.display();
    format!("{format} usage={} {path}", want.usage)
}

/// Whether the state of a scan is wanted beside its result.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SaveScan {
    /// It is not.
    Never,
    /// It is.
    Always,
}

/// Scans a log from its beginning, or from where a saved scan ended, if that is one of this log and of
/// the same `question`: then `scan` becomes that one. A last line that nobody finished is taken into
/// account, but not saved, because it may become another one. Nothing is saved where the log turns out
/// to be none of the format's.
pub(crate) fn scan_resumably<'p, S: LogVisitor<'p> + SavedState>(
    mut file: &File,
    question: &str,
    scan: &mut S,
    from: Option<&SavedScan>,
    save: SaveScan,
) -> io::Result<Option<SavedScan>> {
    let mut start = LogPoint::START;
    if let Some((resumed, point)) = from.and_then(|saved| resume(file, question, saved)) {
        *scan = resumed;
        start = point;
    }
    file.seek(SeekFrom::Start(start.offset))?;
    let mut saved = None;
    let end = scan_log_from(file, start, scan, |scan, point| {
        if let SaveScan::Always = save {
            saved = Some(save_scan(file, question, scan, point));
        }
    })?;
    match saved {
        Some(saved) if !end.is_stopped => saved.map(Some),
        _ => Ok(None),
    }
}

fn save_scan(
    file: &File,
    question: &str,
    scan: &impl SavedState,
    point: LogPoint,
) -> io::Result<SavedScan> {
    let mut state = Vec::new();
    let header = ScanHeader {
        version: STATE_VERSION,
        question: question.to_owned(),
        point,
        tail: tail_before(file, point.offset)?,
    };
    header.save(&mut state);
    scan.save(&mut state);
    Ok(SavedScan {
        read_upto: point.offset,
        state,
    })
}

fn resume<S: SavedState>(file: &File, question: &str, saved: &SavedScan) -> Option<(S, LogPoint)> {
    let mut bytes = saved.state.as_slice();
    // Nothing is loaded of what another version saved.
    let mut version = bytes;
    if u32::load(&mut version)? != STATE_VERSION {
        return None;
    }
    let header = ScanHeader::load(&mut bytes)?;
    let is_same = header.question == question && header.point.offset == saved.read_upto;
    let has_tail = || tail_before(file, header.point.offset).ok();
    if !is_same || has_tail()? != header.tail {
        return None;
    }
    let scan = S::load(&mut bytes)?;
    bytes.is_empty().then_some((scan, header.point))
}

/// The last bytes before a byte of a log; fewer where the log is shorter.
fn tail_before(file: &File, end: u64) -> io::Result<Vec<u8>> {
    let start = end.saturating_sub(TAIL);
    let mut tail = Vec::new();
    let at = start;
    FileRange { file, at, end }.read_to_end(&mut tail)?;
    Ok(tail)
}
