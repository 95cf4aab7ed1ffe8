//! Changing single lines of a log: every other byte is copied as it is.

use std::io::{self, Read};
use std::ops::Range;

use rethread_disk::{DiskError, LockedLog};
use rethread_json::LineSpan;

use crate::{WriteError, Writing};

/// A line of the log, and what is to stand in its place.
#[derive(Debug)]
pub(crate) struct LineChange {
    bytes: Range<u64>,
    /// The line without its line break.
    pub(crate) line: Vec<u8>,
}

impl LineChange {
    /// A line as it is, to be changed.
    pub(crate) fn of(log: &LockedLog, span: LineSpan) -> Result<Self, DiskError> {
        let bytes = span.offset..span.offset + span.len;
        let len = usize::try_from(span.len).unwrap_or(usize::MAX);
        let mut line = vec![0; len];
        let n = log.read_at(span.offset, &mut line)?;
        line.truncate(n);
        Ok(Self { bytes, line })
    }
}

/// Writes the log anew with these lines changed, which come in order. Memory does not follow the
/// length of the log.
pub(crate) fn splice_lines(
    w: &Writing<'_>,
    log: &mut LockedLog,
    changes: impl IntoIterator<Item = LineChange>,
) -> Result<(), WriteError> {
    log.rewrite(w.durability, |old, new| {
        let mut at = 0;
        for change in changes {
            let before = change.bytes.start - at;
            io::copy(&mut Read::take(&mut *old, before), new)?;
            let gone = change.bytes.end - change.bytes.start;
            io::copy(&mut Read::take(&mut *old, gone), &mut io::sink())?;
            new.write_all(&change.line)?;
            at = change.bytes.end;
        }
        io::copy(old, new).map(drop)
    })?;
    Ok(())
}
