//! Session files that the client compressed with zstd, because nobody touched them for a week.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use rethread_disk::{DiskError, open_read, scratch};
use rethread_model::Note;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::{OpenError, Part};

/// More than this is not unpacked: a small file can claim to hold any amount.
const MOST: u64 = 16 * 1024 * 1024 * 1024;

/// Whether a file is compressed, by its name.
pub(super) fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "zst")
}

/// A log, unpacked where it is compressed. A compressed one that is damaged gives what comes before
/// the damage, and a note.
pub(super) fn open(path: &Path) -> Result<(Part, Option<Note>), OpenError> {
    let unreadable = |cause| DiskError::Read {
        path: path.to_owned(),
        cause,
    };
    let file = open_read(path)?;
    if !is_packed(path) {
        let len = file.metadata().map_err(unreadable)?.len();
        return Ok((Part::lines(path.to_owned(), file, len), None));
    }
    let mut unpacked = scratch()?;
    let mut frames = Unpacked::new(&file).take(MOST);
    let copied = io::copy(&mut frames, &mut unpacked);
    let len = unpacked.stream_position().map_err(unreadable)?;
    let note = copied.err().map(|e| damaged(path, &e));
    let mut original = file;
    original.seek(SeekFrom::Start(0)).map_err(unreadable)?;
    Ok((Part::packed(path.to_owned(), original, unpacked, len), note))
}

/// A reader over a log's content, without keeping it.
pub(super) fn stream<'a>(file: &'a File, path: &Path) -> Box<dyn Read + 'a> {
    if is_packed(path) {
        Box::new(Unpacked::new(file).take(MOST))
    } else {
        Box::new(file)
    }
}

/// What to say of a compressed file that breaks off.
pub(super) fn damaged(path: &Path, error: &io::Error) -> Note {
    Note::damage(format!("the compressed file is damaged: {error}")).at(path)
}

/// The content of a compressed file, frame after frame.
struct Unpacked<R> {
    packed: BufReader<R>,
    frame: FrameDecoder,
    /// Whether a frame was begun.
    inside: bool,
}

impl<R: Read> Unpacked<R> {
    fn new(packed: R) -> Self {
        Self {
            packed: BufReader::new(packed),
            frame: FrameDecoder::new(),
            inside: false,
        }
    }

    /// Begins the next frame; whether there is one.
    fn next_frame(&mut self) -> io::Result<bool> {
        while !self.packed.fill_buf()?.is_empty() {
            match self.frame.init(&mut self.packed) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let mut skipped = (&mut self.packed).take(u64::from(length));
                    io::copy(&mut skipped, &mut io::sink())?;
                }
                Err(e) => return Err(io::Error::other(e)),
            }
        }
        Ok(false)
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while !buf.is_empty() {
            if !self.inside && !self.next_frame()? {
                return Ok(0);
            }
            self.inside = true;
            match self.frame.read(buf)? {
                0 if self.frame.is_finished() => self.inside = false,
                0 => {
                    let one = BlockDecodingStrategy::UptoBlocks(1);
                    let decoded = self.frame.decode_blocks(&mut self.packed, one);
                    decoded.map_err(io::Error::other)?;
                }
                n => return Ok(n),
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    #[test]
    fn several_frames_and_what_stands_between_them() {
        let frame = |text: &[u8]| compress_to_vec(text, CompressionLevel::Fastest);
        let mut packed = frame(b"one\n");
        packed.extend(*b"\x50\x2A\x4D\x18\x03\0\0\0abc");
        packed.extend(frame(b"two\n"));
        let mut text = String::new();
        let read = Unpacked::new(packed.as_slice()).read_to_string(&mut text);
        assert!(read.is_ok(), "{read:?}");
        assert_eq!(text, "one\ntwo\n");
        packed.truncate(packed.len() - 3);
        let read = Unpacked::new(packed.as_slice()).read_to_end(&mut Vec::new());
        assert!(read.is_err());
    }
}
