//! Documents with damage in them: what is wrong is named, and the rest is read.

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

/// Names text that is not UTF-8: where it is first, and how often.
pub(crate) fn not_utf8(path: &Path, bytes: &[u8]) -> Option<Note> {
    let first = std::str::from_utf8(bytes).err()?;
    // A file that was cut in the midst of a character is cut, and nothing more.
    first.error_len()?;
    let offset = first.valid_up_to();
    let wrong = bytes.utf8_chunks().filter(|c| !c.invalid().is_empty());
    let what = match wrong.count() {
        1 => "text that is not UTF-8 is shown with `\u{FFFD}` in its place".to_owned(),
        n => format!("text that is not UTF-8, in {n} places, is shown with `\u{FFFD}` there"),
    };
    Some(place(Note::damage(what).at(path), bytes, offset))
}

fn place(note: Note, bytes: &[u8], offset: usize) -> Note {
    let before = bytes.get(..offset).unwrap_or(bytes);
    let line = memchr::memchr_iter(b'\n', before).count() as u64 + 1;
    note.line(line).offset(offset as u64)
}
