//! Session files that the client compressed with zstd, because nobody touched them for a week.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use rethread_disk::{DiskError, open_sized, scratch};
use rethread_model::Note;

use crate::{OpenError, Part};

/// More than this is not unpacked: a small file can claim to hold any amount.
const MOST: u64 = 16 * 1024 * 1024 * 1024;

/// How the names of compressed files end.
pub(super) const PACKED: &str = ".zst";

/// Whether a file is compressed, by its name.
pub(super) fn is_packed(path: &Path) -> bool {
    path.to_str().is_some_and(|path| path.ends_with(PACKED))
}

/// A log, unpacked where it is compressed. A compressed one that is damaged gives what comes before
/// the damage, and a note.
pub(super) fn open(path: &Path) -> Result<(Part, Option<Note>), OpenError> {
    let unreadable = |cause| DiskError::Read {
        path: path.to_owned(),
        cause,
    };
    let (file, len) = open_sized(path)?;
    if !is_packed(path) {
        return Ok((Part::lines(path.to_owned(), file, len), None));
    }
    let mut content = scratch()?;
    let copied = unpacked(&file).and_then(|mut frames| io::copy(&mut frames, &mut content));
    let len = content.stream_position().map_err(unreadable)?;
    let note = copied.err().map(|e| damaged(path, &e));
    let mut original = file;
    original.seek(SeekFrom::Start(0)).map_err(unreadable)?;
    Ok((Part::packed(path.to_owned(), original, content, len), note))
}

/// A reader over a log's content, without keeping it.
pub(super) fn stream<'a>(file: &'a File, path: &Path) -> io::Result<Box<dyn Read + 'a>> {
    Ok(if is_packed(path) {
        Box::new(unpacked(file)?)
    } else {
        Box::new(file)
    })
}

/// What to say of a compressed file that breaks off.
pub(super) fn damaged(path: &Path, error: &io::Error) -> Note {
    Note::damage(format!("the compressed file is damaged: {error}")).at(path)
}

/// The content of a compressed file, frame after frame.
fn unpacked<'a>(packed: impl Read + 'a) -> io::Result<impl Read + 'a> {
    Ok(zstd::Decoder::new(packed)?.take(MOST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_frames_and_what_stands_between_them() -> io::Result<()> {
        let frame = |text: &[u8]| zstd::encode_all(text, 1);
        let mut packed = frame(b"one\n")?;
        packed.extend(*b"\x50\x2A\x4D\x18\x03\0\0\0abc");
        packed.extend(frame(b"two\n")?);
        let mut text = String::new();
        unpacked(packed.as_slice())?.read_to_string(&mut text)?;
        assert_eq!(text, "one\ntwo\n");
        packed.truncate(packed.len() - 3);
        let read = unpacked(packed.as_slice())?.read_to_end(&mut Vec::new());
        assert!(read.is_err());
        Ok(())
    }
}
