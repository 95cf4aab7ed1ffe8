//! Parts of lines that may be too long to be held as a whole.

use std::fs::File;
use std::io;
use std::ops::Range;

use rethread_json::{Event, Pull, PullError};

use super::index::next_key;
use crate::outline::{bytes_at, gap_before};

/// Passes over a value; gives where the object in it is that this path leads to.
pub(super) fn pass_value<R: io::Read>(
    pull: &mut Pull<R>,
    path: &[&str],
) -> Result<Option<Range<u64>>, PullError> {
    let depth = pull.depth();
    let mut found = None;
    // How far down the path the object is whose members come next.
    let mut level = 0_usize;
    if !enter_object(pull)? {
        return Ok(None);
    }
    while pull.depth() > depth {
        match next_key(pull)? {
            None => level = level.saturating_sub(1),
            Some(name) if path.get(level) == Some(&name.as_str()) => {
                if !enter_object(pull)? {
                    continue;
                }
                if level + 1 < path.len() {
                    level += 1;
                    continue;
                }
                let start = pull.offset() - 1;
                pull.skip_container()?;
                found = Some(start..pull.offset());
            }
            Some(_) => pull.skip_value()?,
        }
    }
    Ok(found)
}

/// Enters the object that comes next; any other value is passed over.
fn enter_object<R: io::Read>(pull: &mut Pull<R>) -> Result<bool, PullError> {
    let depth = pull.depth();
    let is_torn = match pull.next_event()? {
        Event::BeginObject => return Ok(true),
        Event::String(chunk) => !chunk.last,
        _ => false,
    };
    if is_torn {
        pull.skip_value()?;
    }
    while pull.depth() > depth {
        pull.next_event()?;
    }
    Ok(false)
}

/// What stands in the place of an original where the rest is read.
pub(super) const NOTHING: &[u8] = b"null";

/// The bytes of a value, without what stands between it and the one before it, and without an
/// original in it.
pub(super) fn value_bytes(
    file: &File,
    range: Range<u64>,
    original: Option<Range<u64>>,
) -> io::Result<Vec<u8>> {
    let mut bytes = match original {
        None => bytes_at(file, range)?,
        Some(original) => {
            let mut bytes = bytes_at(file, range.start..original.start)?;
            bytes.extend_from_slice(NOTHING);
            bytes.extend(bytes_at(file, original.end..range.end)?);
            bytes
        }
    };
    let skip = gap_before(&bytes);
    bytes.drain(..skip);
    Ok(bytes)
}
