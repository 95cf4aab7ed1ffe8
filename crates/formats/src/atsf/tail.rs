//! What to do about a last line that somebody did not finish, before the next one is written.

use std::io::Read;

use rethread_disk::{Created, DiskError, LockedLog, Mode, Tail, create_with, ensure_folder};
use rethread_model::Note;

use crate::session_log::torn_line;
use crate::{WriteError, Writing};

/// Makes the log end in whole lines. A complete last value needs only its line break, which the
/// next append writes; a fragment is moved into the data folder, where nothing of it is lost.
pub(crate) fn settle_tail(w: &Writing<'_>, log: &mut LockedLog) -> Result<Vec<Note>, WriteError> {
    match torn_line(log)? {
        Some(line) => move_out(w, log, line.start, line.end - line.start),
        None => Ok(Vec::new()),
    }
}

fn move_out(
    w: &Writing<'_>,
    log: &mut LockedLog,
    start: u64,
    len: u64,
) -> Result<Vec<Note>, WriteError> {
    let folder = w.env.data.join("salvage");
    ensure_folder(&folder, &Mode::Private, w.durability)?;
    let thread = log
        .path()
        .parent()
        .and_then(|p| p.file_name())
        .unwrap_or_default();
    // The fragment leaves the log only once a new file holds it.
    let path = loop {
        let unique = w.env.uuid(&start.to_le_bytes());
        let path = folder.join(format!("{}-{unique}.fragment", thread.to_string_lossy()));
        let made = create_with(&path, Mode::Private, w.durability, |out| {
            std::io::copy(&mut log.reader(start).take(len), out).map(drop)
        })?;
        if made == Created::New {
            break path;
        }
    };
    log.cut(start)?;
    let shown = path.display();
    Ok(vec![
        Note::remark(format!(
            "an unfinished last line of {len} bytes was moved to `{shown}`"
        ))
        .at(log.path())
        .offset(start),
    ])
}

/// The bytes of the last finished line, if there is one that can be held in memory.
pub(crate) fn last_line(log: &LockedLog) -> Result<Option<Vec<u8>>, DiskError> {
    let (Tail::Ended | Tail::Empty) = log.tail()? else {
        return Ok(None);
    };
    let Some(range) = log.last_line()? else {
        return Ok(None);
    };
    let len = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
    if len > rethread_json::LINE_CAP {
        return Ok(None);
    }
    let mut bytes = vec![0; len];
    let n = log.read_at(range.start, &mut bytes)?;
    bytes.truncate(n);
    Ok(Some(bytes))
}
