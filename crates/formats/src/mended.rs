//! Documents with damage in them: what is wrong is named, and the rest is read.

use std::io::{self, BufRead as _, BufReader, Read};
use std::path::Path;

use rethread_json::{Mended, mend};
use rethread_model::Note;

/// A document whose damaged values are `null`, and what was wrong with them.
pub(crate) struct Readable {
    mended: Mended,
    pub(crate) notes: Vec<Note>,
}

impl Readable {
    /// What can be read of a damaged document that has its messages under one of these keys. None
    /// where that is no more than what stands before the damage.
    pub(crate) fn of(path: &Path, bytes: &[u8], lists: &[&str]) -> Option<Self> {
        let mended = mend(bytes, lists)?;
        let note = |damaged: &rethread_json::Damaged| {
            let what = format!(
                "not JSON: {}; the value that it is in is skipped",
                damaged.kind
            );
            place(Note::damage(what).at(path), bytes, damaged.offset)
        };
        let notes = mended.damaged.iter().map(note).collect();
        Some(Self { mended, notes })
    }

    /// As long as the original, and equal to it but for what is damaged.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.mended.bytes
    }

    /// Whether a value that begins here was damaged.
    pub(crate) fn is_damaged(&self, start: usize) -> bool {
        let all = &self.mended.damaged;
        all.binary_search_by_key(&start, |d| d.range.start).is_ok()
    }
}

impl Readable {
    /// The object that begins here and was damaged, with what can be read of its own members; nothing
    /// where that is none.
    pub(crate) fn members_at(&self, original: &[u8], start: usize) -> Option<Vec<u8>> {
        let all = &self.mended.damaged;
        let at = all.binary_search_by_key(&start, |d| d.range.start).ok()?;
        let object = original.get(all.get(at)?.range.clone())?;
        Some(mend(object, &[])?.bytes)
    }
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
