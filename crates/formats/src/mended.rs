//! Documents with damage in them: what is wrong is named, and the rest is read.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read};
use std::ops::Range;
use std::path::Path;

use rethread_disk::read_at;
use rethread_json::{Damaged, find_damaged, mask_damaged, mend};
use rethread_model::Note;

use crate::Part;
use crate::outline::{Outline, read_outline};

/// The values of a document that are damaged, in whose place `null` is read.
#[derive(Default)]
pub(crate) struct DamagedValues {
    values: Vec<Damaged>,
    /// What is wrong with them.
    pub(crate) notes: Vec<Note>,
}

impl DamagedValues {
    /// Looks for damage in a document of whatever size that has its messages under one of these keys.
    /// There are none where what stands behind the damage cannot be read.
    fn in_file(path: &Path, file: &File, len: u64, lists: &[&str]) -> io::Result<Self> {
        let values = find_damaged(|at, out: &mut [u8]| read_at(file, at, out), len, lists)?;
        let mut lines = LineCount::default();
        let mut notes = Vec::new();
        for damaged in &values {
            let line = lines.line_of(file, damaged.offset)?;
            notes.push(value_skipped(path, damaged).line(line));
        }
        Ok(Self { values, notes })
    }

    /// Whether nothing is damaged.
    fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Whether a value that begins here is damaged.
    pub(crate) fn is_damaged(&self, start: u64) -> bool {
        self.value_at(start).is_some()
    }

    /// Where the damaged value stands that begins here.
    pub(crate) fn value_at(&self, start: u64) -> Option<Range<u64>> {
        let at = self.values.binary_search_by_key(&start, |d| d.range.start);
        Some(self.values.get(at.ok()?)?.range.clone())
    }

    /// Where the first damaged value stands that begins in here.
    pub(crate) fn first_within(&self, place: &Range<u64>) -> Option<Range<u64>> {
        let next = self.values.partition_point(|d| d.range.start < place.start);
        let damaged = self.values.get(next)?;
        (damaged.range.start < place.end).then(|| damaged.range.clone())
    }

    /// Puts `null` in the place of damaged values, in bytes that begin at a place.
    pub(crate) fn mask(&self, start: u64, bytes: &mut [u8]) {
        mask_damaged(&self.values, start, bytes);
    }

    /// The document with `null` in the place of what is damaged.
    fn masked<'a>(&'a self, reader: impl Read + 'a) -> impl Read + 'a {
        MaskedReader {
            reader,
            at: 0,
            damaged: self,
        }
    }
}

/// Reads a document with `null` in the place of what is damaged.
struct MaskedReader<'a, R> {
    reader: R,
    at: u64,
    damaged: &'a DamagedValues,
}

impl<R: Read> Read for MaskedReader<'_, R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buf)?;
        let bytes = buf.get_mut(..read).unwrap_or_default();
        self.damaged.mask(self.at, bytes);
        self.at += read as u64;
        Ok(read)
    }
}

/// Where things are in a long document, with `null` in the place of what is damaged: more may be found
/// behind the damage.
pub(crate) fn outline_of(
    part: &Part,
    file: &File,
    lists: &[&str],
) -> io::Result<(Outline, DamagedValues)> {
    let found = read_outline(part.reader(), lists)?;
    if found.fault.is_none() {
        return Ok((found, DamagedValues::default()));
    }
    let damaged = DamagedValues::in_file(&part.path, file, part.len(), lists)?;
    if damaged.is_empty() {
        return Ok((found, damaged));
    }
    let found = read_outline(damaged.masked(part.reader()), lists)?;
    Ok((found, damaged))
}

/// Says that a value is skipped, and at which byte it is wrong.
fn value_skipped(path: &Path, damaged: &Damaged) -> Note {
    let what = format!(
        "not JSON: {}; the value that it is in is skipped",
        damaged.kind
    );
    Note::damage(what).at(path).offset(damaged.offset)
}

/// Counts the lines of a file from its beginning on.
#[derive(Default)]
struct LineCount {
    at: u64,
    ended: u64,
}

impl LineCount {
    /// The line, from 1, in which a byte stands that is not before the last one that was asked for.
    fn line_of(&mut self, file: &File, offset: u64) -> io::Result<u64> {
        let mut bytes = vec![0; CHUNK];
        while self.at < offset {
            let left = usize::try_from(offset - self.at).unwrap_or(CHUNK);
            let wanted = bytes.get_mut(..left.min(CHUNK)).unwrap_or_default();
            let read = read_at(file, self.at, wanted)?;
            if read == 0 {
                break;
            }
            let there = bytes.get(..read).unwrap_or_default();
            self.ended += memchr::memchr_iter(b'\n', there).count() as u64;
            self.at += read as u64;
        }
        Ok(self.ended + 1)
    }
}

/// A document that is held, whose damaged values are `null`.
pub(crate) struct Readable {
    bytes: Vec<u8>,
    pub(crate) damaged: DamagedValues,
}

impl Readable {
    /// What can be read of a damaged document that has its messages under one of these keys. None
    /// where that is no more than what stands before the damage.
    pub(crate) fn of(path: &Path, bytes: &[u8], lists: &[&str]) -> Option<Self> {
        let mended = mend(bytes, lists)?;
        let note = |damaged: &Damaged| {
            let offset = usize::try_from(damaged.offset).unwrap_or(usize::MAX);
            place(value_skipped(path, damaged), bytes, offset)
        };
        let notes = mended.damaged.iter().map(note).collect();
        Some(Self {
            bytes: mended.bytes,
            damaged: DamagedValues {
                values: mended.damaged,
                notes,
            },
        })
    }

    /// As long as the original, and equal to it but for what is damaged.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What is wrong with it.
    pub(crate) fn notes(&self) -> &[Note] {
        &self.damaged.notes
    }

    /// Whether a value that begins here was damaged.
    pub(crate) fn is_damaged(&self, start: usize) -> bool {
        self.damaged.is_damaged(start as u64)
    }

    /// The damaged value that begins here, as it stands in the original.
    pub(crate) fn value_at<'a>(&self, original: &'a [u8], start: usize) -> Option<&'a [u8]> {
        let place = self.damaged.value_at(start as u64)?;
        let at = |place| usize::try_from(place).ok();
        original.get(at(place.start)?..at(place.end)?)
    }
}

/// A damaged object with what can be read of its own members; nothing where that is none.
pub(crate) fn members_of_damaged(object: &[u8]) -> Option<Vec<u8>> {
    Some(mend(object, &[])?.bytes)
}

/// Names text that is not UTF-8: where it is first, and how often.
pub(crate) fn not_utf8(path: &Path, bytes: &[u8]) -> Option<Note> {
    let first = std::str::from_utf8(bytes).err()?;
    // A file that was cut in the midst of a character is cut, and nothing more.
    first.error_len()?;
    let offset = first.valid_up_to();
    let wrong = bytes.utf8_chunks().filter(|c| !c.invalid().is_empty());
    let note = Note::damage(shown_instead(wrong.count())).at(path);
    Some(place(note, bytes, offset))
}

/// As [`not_utf8`], of a document that is too long to be held.
pub(crate) fn not_utf8_in(path: &Path, reader: impl Read) -> io::Result<Option<Note>> {
    let mut reader = BufReader::with_capacity(CHUNK, reader);
    let (mut offset, mut lines, mut count, mut first) = (0, 1, 0, None);
    // The beginning of a character whose end is to come.
    let mut begun: Vec<u8> = Vec::new();
    loop {
        let read = reader.fill_buf()?;
        if read.is_empty() {
            break;
        }
        let len = read.len();
        let mut bytes = std::mem::take(&mut begun);
        bytes.extend_from_slice(read);
        reader.consume(len);
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            let (valid, invalid) = (chunk.valid().as_bytes(), chunk.invalid());
            lines += memchr::memchr_iter(b'\n', valid).count() as u64;
            offset += valid.len() as u64;
            let is_last = chunks.peek().is_none();
            let is_begun = std::str::from_utf8(invalid).is_err_and(|e| e.error_len().is_none());
            if is_last && is_begun {
                begun = invalid.to_vec();
            } else if !invalid.is_empty() {
                count += 1;
                first.get_or_insert((lines, offset));
                offset += invalid.len() as u64;
            }
        }
    }
    // Cut in the midst of a character: that counts only where there is more.
    count += usize::from(!begun.is_empty());
    Ok(first.map(|(line, offset)| {
        let note = Note::damage(shown_instead(count)).at(path);
        note.line(line).offset(offset)
    }))
}

/// How much of a long document is looked at at a time.
const CHUNK: usize = 256 * 1024;

/// Says what is shown in so many places in which text is not UTF-8.
fn shown_instead(places: usize) -> String {
    match places {
        1 => "text that is not UTF-8 is shown with `\u{FFFD}` in its place".to_owned(),
        n => format!("text that is not UTF-8, in {n} places, is shown with `\u{FFFD}` there"),
    }
}

fn place(note: Note, bytes: &[u8], offset: usize) -> Note {
    let before = bytes.get(..offset).unwrap_or(bytes);
    let line = memchr::memchr_iter(b'\n', before).count() as u64 + 1;
    note.line(line).offset(offset as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a byte at a time, so that characters are cut everywhere.
    struct ByteByByte<'a>(&'a [u8]);

    impl Read for ByteByByte<'_> {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            let take = buf.len().min(1);
            self.0.read(&mut buf[..take])
        }
    }

    #[test]
    fn long_documents_are_named_like_others() {
        let path = Path::new("a.json");
        for bytes in [
            &b"{\"a\":\n\"x\xFFy\"}"[..],
            "{\"a\":\"h\u{e4}\u{20ac}\u{1f600}\"}".as_bytes(),
            b"\n\xC3(\n\xE2\x82 \xF0\x9F\x98",
            b"cut in a character \xE2\x82",
            b"",
        ] {
            let held = not_utf8(path, bytes);
            let in_pieces = not_utf8_in(path, ByteByByte(bytes)).unwrap();
            assert_eq!(in_pieces, held, "{bytes:?}");
        }
    }
}
