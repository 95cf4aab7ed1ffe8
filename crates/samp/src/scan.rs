//! Reading one log, from its beginning or from where one stopped.

use std::{
    fs::File,
    io::{Seek as _, SeekFrom},
};

use rethread_disk::{DiskError, FileId, FileKind, file_id, open_read};
use rethread_json::{LineBytes, LineSpan, Lines};

use crate::{
    folder::Log,
    record::{LineReader, Record},
    trouble::What,
};

/// A place in a log: where a line begins, and how many come before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogPosition {
    pub(crate) offset: u64,
    pub(crate) lines: u64,
}

/// How far a log was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadTo {
    /// The place behind the last line that was ended.
    pub(crate) place: LogPosition,
    /// The end of the log, as the reader met it.
    pub(crate) end: u64,
}

/// Opens a log, but never what a link leads to.
pub(crate) fn open_log(log: &Log) -> Result<File, DiskError> {
    let file = open_read(&log.path)?;
    let opened = FileId::of(&file).map_err(|cause| DiskError::Read {
        path: log.path.clone(),
        cause,
    })?;
    // Of a link, this is the link itself.
    if opened == log.id || opened == file_id(&log.path)? {
        Ok(file)
    } else {
        Err(DiskError::NotAFile {
            path: log.path.clone(),
            found: FileKind::Symlink,
        })
    }
}

/// Reads every line from a place on.
///
/// Blank lines are passed over. So is a last line that is no record and was not ended: somebody is
/// still writing it, or died. If it is a record, it is read, and will be read again.
pub(crate) fn read_lines(
    log: &Log,
    mut file: &File,
    from: LogPosition,
    reader: &mut LineReader,
    each: &mut dyn FnMut(LineSpan, Result<Record<'_>, What>),
) -> Result<ReadTo, DiskError> {
    let failed = |cause| DiskError::Read {
        path: log.path.clone(),
        cause,
    };
    file.seek(SeekFrom::Start(from.offset)).map_err(failed)?;
    let mut lines = Lines::starting_at(file, from.offset, from.lines + 1);
    let mut place = from;
    while let Some(line) = lines.next_line().map_err(failed)? {
        let span = line.span;
        if span.terminated {
            place = LogPosition {
                offset: span.offset + span.len + 1,
                lines: span.number,
            };
        }
        match line.bytes {
            LineBytes::Whole(bytes) if bytes.trim_ascii().is_empty() => {}
            LineBytes::Whole(bytes) => match reader.read(bytes) {
                Err(_) if !span.terminated => {}
                record => each(span, record.map_err(What::Unreadable)),
            },
            LineBytes::Giant { .. } if span.terminated => each(span, Err(What::TooLong(span.len))),
            LineBytes::Giant { .. } => {}
        }
    }
    Ok(ReadTo {
        place,
        end: lines.offset(),
    })
}
