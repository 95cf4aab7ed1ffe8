//! Making one's own log shorter.

use std::io::{self, Read, Write};

use rethread_disk::{DiskError, Durability, rewrite};
use rethread_json::{LineBytes, Lines};

use crate::{
    alias::Alias,
    error::Error,
    folder::Folder,
    gather::Ids,
    record::{LineReader, Record, StoredId},
};

/// What became of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compacted {
    /// How many lines it had, blank ones aside.
    pub before: u64,
    /// How many it has.
    pub after: u64,
    /// How many records of old got their id.
    pub filled: u64,
    /// How many lines are no records; they stay.
    pub unreadable: u64,
    /// Whether it was written anew.
    pub is_rewritten: bool,
}

/// Takes repeated messages and blank lines out of one's own log, and gives records of old their
/// id. Every other byte stays: unknown members, spelling, and lines that are no records. A message
/// that is repeated with members of its own stays, too.
///
/// No other log is touched, and no lock is taken. If the log changes meanwhile, it is left as it
/// is.
pub fn compact(folder: &Folder, me: &Alias, d: Durability) -> Result<Compacted, Error> {
    let path = folder.log_of(me);
    let mut counted = Compacted::default();
    let mut unneeded = false;
    let done = rewrite(&path, d, |old, new| {
        copy(old, new, &mut counted)?;
        unneeded = counted.is_as_it_was();
        if unneeded {
            // Leaves the log alone, down to its time.
            return Err(io::Error::other("nothing to do"));
        }
        Ok(())
    });
    match done {
        Ok(()) => counted.is_rewritten = true,
        Err(DiskError::NotFound { .. }) => {}
        Err(_) if unneeded => {}
        Err(e) => return Err(e.into()),
    }
    Ok(counted)
}

impl Compacted {
    fn is_as_it_was(&self) -> bool {
        self.before == self.after && self.filled == 0
    }
}

fn copy(old: &mut dyn Read, new: &mut dyn Write, counted: &mut Compacted) -> io::Result<()> {
    let mut lines = Lines::new(old);
    let mut reader = LineReader::default();
    let mut met = Ids::default();
    while let Some(line) = lines.next_line()? {
        let LineBytes::Whole(bytes) = line.bytes else {
            return Err(io::Error::other(format!(
                "line {} has {} bytes, too many to copy",
                line.span.number, line.span.len
            )));
        };
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        counted.before += 1;
        let Ok(record) = reader.read(bytes) else {
            counted.unreadable += 1;
            counted.after += 1;
            new.write_all(bytes)?;
            new.write_all(b"\n")?;
            continue;
        };
        let id = record.id();
        if !met.insert(id.bits()) && !record.has_more() {
            continue;
        }
        counted.after += 1;
        if record.stored_id() == StoredId::Missing && record.field("id").is_none() {
            counted.filled += 1;
            write_with_id(&record, new)?;
        } else {
            new.write_all(bytes)?;
        }
        new.write_all(b"\n")?;
    }
    Ok(())
}

/// Puts the id before the first member, and leaves the rest as it is spelled.
fn write_with_id(record: &Record<'_>, out: &mut dyn Write) -> io::Result<()> {
    let line = record.raw();
    let brace = line.iter().position(|b| *b == b'{').unwrap_or_default();
    let (head, rest) = line.split_at(brace + 1);
    let is_empty = rest.trim_ascii_start().starts_with(b"}");
    let comma = if is_empty { "" } else { ", " };
    out.write_all(head)?;
    write!(out, "\"id\": \"{}\"{comma}", record.id())?;
    out.write_all(rest.trim_ascii_start())
}
