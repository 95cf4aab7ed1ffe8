//! Making one's own log shorter.
//!
//! Others of one's own processes, and other programs, may append to the log at any moment, and
//! take no lock. So the old file stays under a second name until all of it is in the new one:
//! first the new log is written and synced, then the old one gets its second name, then the new one
//! takes the first, then [`carry_over`] appends what the new one lacks, and at last the second name
//! goes. Whoever is killed in between leaves a file that the next one who writes [`absorb_retired`]es, and
//! that is read like a log until then. A message may be in the log twice because of that; it is
//! one message.
//!
//! Compactors keep each other out by a lock on the log itself, which whoever exchanges it hands on
//! to the new file before that has its name. There is nothing that could be left behind locked.

use std::{
    borrow::Cow,
    io::{self, Read, Write},
    thread::sleep,
    time::Duration,
};

use rethread_disk::{DiskError, Durability, LockedLog, Retired, retired_logs, sync_path};
use rethread_json::{LineBytes, Lines};

use crate::{
    alias::Alias,
    error::Error,
    folder::Folder,
    gather::Ids,
    id::Id,
    record::{LineReader, Record, StoredId},
};

/// How long one waits for another who compacts the same log.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a program may take from opening a log to writing to it: if nothing comes into the old
/// file for so long, nothing comes any more.
const GRACE: Duration = Duration::from_millis(100);

/// How often one looks. An old file that is still written to then stays for the next one.
const LOOKS: usize = 50;

/// How much is appended in one write call; a longer line is one of its own.
const BATCH: usize = 64 * 1024;

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
/// No other log is touched. What is appended meanwhile, by whomever, is in the new log as well.
/// Whatever `d` says, nothing is replaced before what replaces it is synced: the log holds what
/// was promised to last. With [`Durability::None`] a power cut may leave an old file to be
/// finished by the next one.
pub fn compact(folder: &Folder, me: &Alias, d: Durability) -> Result<Compacted, Error> {
    let path = folder.log_of(me);
    let mut log = match LockedLog::open(&path, PATIENCE) {
        Err(DiskError::NotFound { .. }) => return Ok(Compacted::default()),
        log => log?,
    };
    absorb_retired(&mut log)?;
    let mut counted = Compacted::default();
    let mut kept = KeptLines::default();
    let mut unneeded = false;
    let exchanged = log.exchange(|old, new| {
        copy_unique(old, new, &mut kept, &mut counted)?;
        unneeded = counted.is_as_it_was();
        if unneeded {
            // Leaves the log alone, down to its time.
            return Err(io::Error::other("nothing to do"));
        }
        Ok(())
    });
    match exchanged {
        Ok(retired) => {
            carry_over(&mut log, retired, kept)?;
            counted.is_rewritten = true;
            if d.syncs() {
                // The second name is gone for good.
                sync_path(&path)?;
            }
        }
        Err(_) if unneeded => {}
        Err(e) => return Err(e.into()),
    }
    Ok(counted)
}

/// Finishes what a compactor of this log left who was killed. Nothing is left to do if another is
/// at it now, or if it cannot be done: what is in the old file is read from there.
pub(crate) fn finish_if_left(folder: &Folder, me: &Alias) {
    let path = folder.log_of(me);
    if retired_logs(&path).is_ok_and(|retired| retired.is_empty()) {
        return;
    }
    let log = folder
        .log_mode()
        .map_err(Error::from)
        .and_then(|mode| Ok(LockedLog::open_or_create(&path, mode, Duration::ZERO)?));
    let _ = log.and_then(|mut log| absorb_retired(&mut log));
}

/// Takes from old files what the log lacks, and removes them; the lock says that nobody else does.
fn absorb_retired(log: &mut LockedLog) -> Result<(), Error> {
    for path in retired_logs(log.path())? {
        let retired = match Retired::open(&path) {
            // Nothing that we made.
            Err(DiskError::NotAFile { .. }) => continue,
            retired => retired?,
        };
        if retired.is_still(log)? {
            retired.remove()?;
            continue;
        }
        let mut kept = KeptLines::default();
        kept.read_log(log)?;
        carry_over(log, retired, kept)?;
    }
    Ok(())
}

/// Appends to the log what the old file has and `kept` has not; then the old file goes. If it is
/// still written to after some time, it stays for the next one.
///
/// The old file is read from its beginning each time: one who could not save a line may have taken
/// it back, so that another's is where that was.
fn carry_over(log: &mut LockedLog, retired: Retired, mut kept: KeptLines) -> Result<(), Error> {
    let mut seen = None;
    for _ in 0..LOOKS {
        let len = retired.len()?;
        if seen == Some(len) {
            // A line that nobody ends now will not be ended.
            append_missing(log, &retired, len, &mut kept, TornLine::Taken)?;
            // The content of the log, and its name: only then it has all that was promised.
            log.sync()?;
            // If another file has its name by now, that may lack what was carried over.
            if log.is_in_place()? {
                retired.remove()?;
            }
            return Ok(());
        }
        append_missing(log, &retired, len, &mut kept, TornLine::Left)?;
        seen = Some(len);
        sleep(GRACE);
    }
    Ok(log.sync()?)
}

/// Appends the lines of the old file, up to byte `end`, that are not among those that are kept.
fn append_missing(
    log: &mut LockedLog,
    retired: &Retired,
    end: u64,
    kept: &mut KeptLines,
    torn: TornLine,
) -> Result<(), Error> {
    let mut batch = Vec::new();
    let mut refused = None;
    let read = kept.for_each_line(&mut retired.reader(end), torn, &mut |line| {
        if !line.is_new {
            return Ok(());
        }
        if !batch.is_empty() && batch.len() + line.text.len() > BATCH {
            log.append(&batch).map_err(|e| {
                refused = Some(e);
                io::Error::other("not appended")
            })?;
            batch.clear();
        }
        batch.extend_from_slice(&line.text);
        batch.push(b'\n');
        Ok(())
    });
    if let Some(e) = refused {
        return Err(e.into());
    }
    read.map_err(|cause| DiskError::Read {
        path: log.path().to_owned(),
        cause,
    })?;
    if !batch.is_empty() {
        log.append(&batch)?;
    }
    Ok(())
}

impl Compacted {
    fn is_as_it_was(&self) -> bool {
        self.before == self.after && self.filled == 0
    }
}

fn copy_unique(
    old: &mut dyn Read,
    new: &mut dyn Write,
    kept: &mut KeptLines,
    counted: &mut Compacted,
) -> io::Result<()> {
    // Somebody may be writing the last line now: it is carried over when it is whole.
    kept.for_each_line(old, TornLine::Left, &mut |line| {
        counted.before += 1;
        counted.unreadable += u64::from(!line.is_record);
        // What cannot be understood is not known to be a repetition.
        let is_kept = line.is_new || !line.is_record;
        counted.after += u64::from(is_kept || line.is_left);
        if !is_kept || line.is_left {
            return Ok(());
        }
        counted.filled += u64::from(matches!(line.text, Cow::Owned(_)));
        new.write_all(&line.text)?;
        new.write_all(b"\n")
    })
}

/// What is to be done with a last line that was not ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TornLine {
    /// It is left for later.
    Left,
    /// It is a line like others.
    Taken,
}

/// Which lines were met.
#[derive(Default)]
struct KeptLines {
    /// The ids of records, and the hashes of what must be the same byte for byte to be the same.
    met: Ids,
    reader: LineReader,
}

/// A line that is not blank.
struct MetLine<'a> {
    /// What is to stand in a log for it; owned, if that is not what stands there now.
    text: Cow<'a, [u8]>,
    is_record: bool,
    /// Whether the log has nothing yet that says the same.
    is_new: bool,
    /// Whether it was left for later, and not met.
    is_left: bool,
}

impl KeptLines {
    /// Meets what is in a log.
    fn read_log(&mut self, log: &LockedLog) -> Result<(), DiskError> {
        let met = self.for_each_line(&mut log.reader(0), TornLine::Taken, &mut |_| Ok(()));
        met.map_err(|cause| DiskError::Read {
            path: log.path().to_owned(),
            cause,
        })
    }

    fn for_each_line(
        &mut self,
        source: &mut dyn Read,
        torn: TornLine,
        out: &mut dyn FnMut(MetLine<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut lines = Lines::new(source);
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
            let is_left = !line.span.terminated && torn == TornLine::Left;
            out(self.classify_line(bytes, is_left))?;
        }
        Ok(())
    }

    fn classify_line<'a>(&mut self, bytes: &'a [u8], is_left: bool) -> MetLine<'a> {
        let Ok(record) = self.reader.read(bytes) else {
            return MetLine {
                text: Cow::Borrowed(bytes),
                is_record: false,
                is_new: !is_left && self.met.insert(hash_line(bytes)),
                is_left,
            };
        };
        let id = record.id();
        let is_old = record.stored_id() == StoredId::Missing && record.field("id").is_none();
        let text = if is_old {
            Cow::Owned(with_id(&record, id))
        } else {
            Cow::Borrowed(bytes)
        };
        // Members of its own are not in a message that only has the same id.
        let mut is_new = false;
        if !is_left {
            is_new = self.met.insert(id.bits());
            is_new |= record.has_more() && self.met.insert(hash_line(&text));
        }
        MetLine {
            text,
            is_record: true,
            is_new,
            is_left,
        }
    }
}

fn hash_line(bytes: &[u8]) -> u64 {
    Id::of_canonical(bytes).bits()
}

/// The line with the id before the first member, and the rest as it is spelled.
fn with_id(record: &Record<'_>, id: Id) -> Vec<u8> {
    let line = record.raw();
    let brace = line.iter().position(|b| *b == b'{').unwrap_or_default();
    let (head, rest) = line.split_at(brace + 1);
    let rest = rest.trim_ascii_start();
    let comma = if rest.starts_with(b"}") { "" } else { ", " };
    let id = format!("\"id\": \"{id}\"{comma}");
    [head, id.as_bytes(), rest].concat()
}
