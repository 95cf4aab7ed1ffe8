//! Packed files as one JSON value:
//! `{"folder":…,"files":[{"path":…,"zstd_base64":[…],"size":…,"sha256":…}]}`.
//!
//! It is written and read as a stream: no file is ever in memory as a whole.

use std::io::{self, Read, Write};
use std::ops::Range;

use rethread_json::{Event, Pull, PullError, quote};
use rethread_model::Note;

use super::files::OriginalFile;
use super::pack::{Seal, pack_content};
use super::unpack::Unpack;
use crate::Part;

/// Writes files as one value. One that cannot be read to its end comes along as far as it can, and
/// that is noted. `passed` is told how many bytes were read so far.
pub fn write_object(
    out: &mut dyn Write,
    files: &[OriginalFile<'_>],
    note: &mut dyn FnMut(Note),
    passed: &dyn Fn(u64),
) -> io::Result<()> {
    let mut read = 0;
    let folder = files.first().map_or("", |file| file.folder.as_str());
    out.write_all(b"{\"folder\":")?;
    out.write_all(&quote(folder))?;
    out.write_all(b",\"files\":[")?;
    let mut comma: &[u8] = b"";
    for file in files {
        let mut reader = match file.content_reader() {
            Ok(reader) => reader,
            Err(e) => {
                let what = format!("cannot be read: {e}; it does not come along");
                note(Note::damage(what).at(&file.name));
                continue;
            }
        };
        out.write_all(comma)?;
        comma = b",";
        out.write_all(b"{\"path\":")?;
        out.write_all(&quote(&file.name))?;
        out.write_all(b",\"zstd_base64\":[")?;
        let mut between: &[u8] = b"\"";
        let mut reader = CountedReader {
            from: &mut reader,
            read: &mut read,
            passed,
        };
        let packed = pack_content(&mut reader, &mut |piece| {
            out.write_all(between)?;
            between = b",\"";
            out.write_all(piece.as_bytes())?;
            out.write_all(b"\"")
        })?;
        let Seal { size, sha256 } = packed.seal;
        write!(out, "],\"size\":{size},\"sha256\":\"{sha256}\"}}")?;
        if let Some(e) = packed.torn {
            let what = format!("cannot be read: {e}; not all of it comes along");
            note(Note::damage(what).at(&file.name));
        }
    }
    out.write_all(b"]}")
}

/// Tells how much was read.
struct CountedReader<'a> {
    from: &'a mut dyn Read,
    read: &'a mut u64,
    passed: &'a dyn Fn(u64),
}

impl Read for CountedReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(buffer)?;
        *self.read += n as u64;
        (self.passed)(*self.read);
        Ok(n)
    }
}

/// A file that a session had where it was first found.
#[derive(Debug)]
pub struct CarriedFile<'a> {
    /// Its path, with `/` between names, below the folder that held the session. From a file, so it
    /// is checked before it is used.
    pub path: String,
    /// That folder, as it was called there; from a file, too.
    pub folder: String,
    /// What must come out of it.
    pub seal: Seal,
    part: &'a Part,
    /// Where its pieces are: an array of strings.
    pieces: Range<u64>,
}

impl CarriedFile<'_> {
    /// Its content. Reading fails at the end if that is not what was packed.
    pub fn content_reader(&self) -> io::Result<impl Read + '_> {
        let text = PieceReader {
            pull: Pull::new(self.part.range(self.pieces.clone())),
            left: Vec::new(),
            at: 0,
        };
        Unpack::new(text, self.seal.clone())
    }
}

/// The files in a value that [`write_object`] wrote, which is at these bytes of a part. What is not
/// in it as it should be is left out.
pub(crate) fn carried_files(part: &Part, value: Range<u64>) -> io::Result<Vec<CarriedFile<'_>>> {
    let mut pull = Pull::new(part.range(value.clone()));
    let mut found = Vec::new();
    let mut folder = String::new();
    let mut file = FileDraft::default();
    // Depth 1 is the value itself, 2 the list, 3 a file.
    let mut key = String::new();
    loop {
        let depth = pull.depth();
        match pull.next_event().map_err(as_io)? {
            Event::End => break,
            Event::Key(chunk) => {
                key = String::from_utf8_lossy(&chunk.bytes).into_owned();
            }
            Event::String(chunk) => {
                let text = String::from_utf8_lossy(&chunk.bytes).into_owned();
                let is_whole = chunk.last;
                match (depth, key.as_str()) {
                    (1, "folder") => folder = text,
                    (3, "path") => file.path = Some(text),
                    (3, "sha256") => file.sha256 = Some(text),
                    _ => {}
                }
                if !is_whole {
                    pull.skip_value().map_err(as_io)?;
                }
            }
            Event::Number(digits) if (depth, key.as_str()) == (3, "size") => {
                let digits = std::str::from_utf8(digits).ok();
                file.size = digits.and_then(|n| n.parse().ok());
            }
            Event::BeginArray if (depth, key.as_str()) == (3, "zstd_base64") => {
                let start = pull.offset() - 1;
                pull.skip_container().map_err(as_io)?;
                file.pieces = Some(start..pull.offset());
            }
            Event::BeginArray if (depth, key.as_str()) == (1, "files") => {}
            Event::BeginObject if depth == 0 || depth == 2 => file = FileDraft::default(),
            Event::BeginArray | Event::BeginObject => pull.skip_container().map_err(as_io)?,
            Event::EndObject if depth == 3 => {
                let draft = std::mem::take(&mut file);
                found.extend(draft.finish_file(part, &folder, value.start));
            }
            _ => {}
        }
    }
    Ok(found)
}

/// What was read of a file so far.
#[derive(Default)]
struct FileDraft {
    path: Option<String>,
    pieces: Option<Range<u64>>,
    size: Option<u64>,
    sha256: Option<String>,
}

impl FileDraft {
    fn finish_file<'a>(self, part: &'a Part, folder: &str, start: u64) -> Option<CarriedFile<'a>> {
        let pieces = self.pieces?;
        Some(CarriedFile {
            path: self.path?,
            folder: folder.to_owned(),
            seal: Seal {
                size: self.size?,
                sha256: self.sha256?,
            },
            part,
            pieces: start + pieces.start..start + pieces.end,
        })
    }
}

/// The text of all strings of an array, one behind the other.
struct PieceReader<R> {
    pull: Pull<R>,
    left: Vec<u8>,
    at: usize,
}

impl<R: Read> Read for PieceReader<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while self.at >= self.left.len() {
            self.left.clear();
            self.at = 0;
            match self.pull.next_event().map_err(as_io)? {
                Event::End => return Ok(0),
                Event::String(chunk) => self.left.extend_from_slice(&chunk.bytes),
                _ => {}
            }
        }
        let rest = self.left.get(self.at..).unwrap_or_default();
        let n = rest.len().min(buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        self.at += n;
        Ok(n)
    }
}

fn as_io(e: PullError) -> io::Error {
    match e {
        PullError::Io(e) => e,
        syntax @ PullError::Syntax { .. } => {
            io::Error::new(io::ErrorKind::InvalidData, syntax.to_string())
        }
    }
}
