//! Session files that the client compressed with zstd, because nobody touched them for a week.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use rethread_disk::open_sized;
use rethread_model::Note;

use crate::error::read_failed;
use crate::packed::{Packing, Unpacked, damage_reason, unpack_file};
use crate::{LogWindow, OpenError, Part};

/// How the names of compressed files end.
pub(super) const PACKED: &str = ".zst";

/// Whether a file is compressed, by its name.
pub(super) fn is_packed(path: &Path) -> bool {
    path.to_str().is_some_and(|path| path.ends_with(PACKED))
}

/// A log that was opened, and what is wrong with a compressed one.
pub(super) struct OpenedRollout {
    pub(super) part: Part,
    pub(super) damage: Option<Note>,
}

/// A log, unpacked where it is compressed. A compressed one that is damaged gives what comes before
/// the damage, and a note.
pub(super) fn open_rollout(path: &Path) -> Result<OpenedRollout, OpenError> {
    open_in(path, None)
}

/// As [`open`], of which only a window is meant where it is not compressed.
pub(super) fn open_in(path: &Path, window: Option<LogWindow>) -> Result<OpenedRollout, OpenError> {
    let (file, len) = open_sized(path)?;
    if !is_packed(path) {
        let part = Part::lines_in(window, path.to_owned(), file, len);
        return Ok(OpenedRollout { part, damage: None });
    }
    let original = file.try_clone().map_err(read_failed(path))?;
    let content = unpack_file(path, file, Packing::Zstd)?;
    let damage = content.damage.map(|why| Note::damage(why).at(path));
    let part = Part::packed(path.to_owned(), original, content.file, content.len);
    Ok(OpenedRollout { part, damage })
}

/// A reader over a log's content, without keeping it.
pub(super) fn open_stream<'a>(file: &'a File, path: &Path) -> io::Result<Box<dyn Read + 'a>> {
    Ok(if is_packed(path) {
        Box::new(Unpacked::lines(BufReader::new(file), Packing::Zstd)?)
    } else {
        Box::new(file)
    })
}

/// What to say of a log that [`stream`] did not read to its end.
pub(super) fn cut_short(path: &Path, error: &io::Error) -> Note {
    let message = if is_packed(path) {
        damage_reason(error)
    } else {
        format!("cannot be read: {error}")
    };
    Note::damage(message).at(path)
}
