//! Writing a log anew that takes no lock.

use std::{
    fs::File,
    io::{self, Read, Write},
    path::Path,
};

use crate::{
    append::append_whole,
    durability::Durability,
    error::DiskError,
    identity::{FileId, file_id},
    leftover::remove_leftovers_once,
    open::existing,
    scan::{self, CHUNK},
    sync::{Folder, folder_of},
    temp::Temp,
};

/// Replaces a whole log to which its owner appends without a lock, with
/// [`append_line_lasting`](crate::append_line_lasting): `write` reads the old log and writes the
/// new one, which keeps mode and owner.
///
/// If the log changed meanwhile, it is left as it is ([`DiskError::Changed`]). What was appended in
/// the very moment of the exchange is carried over; so nothing that was appended is lost.
pub fn rewrite(
    path: &Path,
    d: Durability,
    write: impl FnOnce(&mut dyn Read, &mut dyn Write) -> io::Result<()>,
) -> Result<(), DiskError> {
    let failed = |e| DiskError::write(path, e);
    let unread = |e| DiskError::read(path, e);
    remove_leftovers_once(&folder_of(path));
    let old = existing(path)?;
    let before = old.metadata().map_err(unread)?;
    let folder = Folder::of(path, d.syncs()).map_err(failed)?;
    let mut reader = Part {
        file: &old,
        at: 0,
        end: before.len(),
    };
    let temp = Temp::write(path, 0o600, Some(&before), d, |out| write(&mut reader, out))?;
    let id = FileId::of(&old).map_err(unread)?;
    let now = old.metadata().map_err(unread)?;
    if now.len() != before.len()
        || now.modified().map_err(unread)? != before.modified().map_err(unread)?
        || file_id(path)? != id
    {
        return Err(DiskError::Changed {
            path: path.to_owned(),
        });
    }
    temp.rename(path).map_err(failed)?;
    carry_over(path, &old, before.len())?;
    folder.map_or(Ok(()), |folder| folder.sync(path))
}

/// Appends to the new log what came into the old one after its last byte was read.
fn carry_over(path: &Path, old: &File, from: u64) -> Result<(), DiskError> {
    let unread = |e| DiskError::read(path, e);
    let len = old.metadata().map_err(unread)?.len();
    if len <= from {
        return Ok(());
    }
    let mut rest = Vec::new();
    let mut part = Part {
        file: old,
        at: from,
        end: len,
    };
    part.read_to_end(&mut rest).map_err(unread)?;
    if !rest.ends_with(b"\n") {
        rest.push(b'\n');
    }
    append_whole(path, &existing(path)?, &rest).map(drop)
}

/// A part of a file, whatever is appended to it meanwhile.
struct Part<'a> {
    file: &'a File,
    at: u64,
    end: u64,
}

impl Read for Part<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(CHUNK);
        let wanted = buf.len().min(left);
        let n = scan::read_at(self.file, self.at, &mut buf[..wanted])?;
        self.at += n as u64;
        Ok(n)
    }
}
