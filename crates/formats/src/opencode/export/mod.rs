//! A session as one file that `opencode export` wrote: `{info, messages: [{info, parts}]}`.
//!
//! The file is taken apart member by member, so that one that was cut off is read up to there. Of a
//! long one, one message at a time is held.

mod long;
mod outline;

use std::fs::File;
use std::ops::Range;
use std::path::Path;

use rethread_disk::{read_at, read_next};
use rethread_json::{LINE_CAP, Skim, Strayed};
use rethread_model::{Note, RawRef};

use super::facts::{SessionFacts, parsed};
use super::reader::Gathered;
use super::said::{Piece, PlacedMessage, Split, sort_messages, split};
use crate::error::unreadable_file;
use crate::mended::{Readable, not_utf8, not_utf8_in};
use crate::outline::WHOLE;
use crate::passed::passed_string;
use crate::{OpenError, Part, RecordKind, RecordTable};

pub(super) use long::{Long, LongMessage};
pub(super) use outline::ExportOutline;

/// The list of messages.
const MESSAGES: &str = "messages";

/// What an export says of the session.
const INFO: &str = "info";

/// How much of a file is looked at first to find its id.
const LOOK: usize = 16 * 1024;

/// The id that the file itself says. It stands in the beginning, so only that is read.
pub(super) fn id(file: &File) -> Option<String> {
    let mut bytes = Vec::new();
    let mut room = LOOK;
    while room <= LINE_CAP {
        let filled = bytes.len();
        bytes.resize(room, 0);
        let read = read_at(file, filled as u64, bytes.get_mut(filled..)?).ok()?;
        bytes.truncate(filled + read);
        if let Ok(info) = info(&bytes) {
            return parsed(info?, SessionFacts::of_info)?.id;
        }
        if bytes.len() < room {
            break;
        }
        room *= 16;
    }
    // It is damaged, or too long.
    let readable = Readable::of(Path::new(""), &bytes, &[MESSAGES])?;
    let mended = readable.bytes();
    let mut outline = ExportOutline::of(mended, Skim::trusting(mended), &mut |skim| {
        skim.pass().map(drop)
    });
    outline.mend_facts(&bytes, &readable);
    outline.facts?.id
}

/// What an export says of the session, if it has such a member.
pub(super) fn info(bytes: &[u8]) -> Result<Option<&[u8]>, Strayed> {
    let mut skim = Skim::trusting(bytes);
    skim.enter_object();
    while let Some(key) = skim.next_key()? {
        let value = skim.pass()?;
        if *key.bytes() == *INFO.as_bytes() {
            return Ok(Some(value.raw()));
        }
    }
    Ok(None)
}

/// Reads an export.
pub(super) fn gather_export(path: &Path, file: File, len: u64) -> Result<Gathered, OpenError> {
    if len <= WHOLE {
        return gather_whole(path, &file, len);
    }
    let long = Long::of(path, file, len)?;
    let not_utf8 = not_utf8_in(path, long.part.reader());
    let not_utf8 = not_utf8.map_err(|e| unreadable_file(path, e))?;
    let mut gathered = gather_long(long)?;
    gathered.notes.extend(not_utf8);
    Ok(gathered)
}

fn gather_whole(path: &Path, file: &File, len: u64) -> Result<Gathered, OpenError> {
    let mut bytes = Vec::new();
    read_next(file, len, &mut bytes).map_err(|e| unreadable_file(path, e))?;
    let mut gathering = Gathering::default();
    let mut outline = ExportOutline::of(&bytes, Skim::checking(&bytes), &mut |skim| {
        gathering.message(path, 0, skim)
    });
    if outline.torn.is_some()
        && let Some(readable) = readable(path, &bytes)
    {
        (outline, gathering) = gather_readable(path, &bytes, &readable);
    } else {
        gathering.gathered.notes.extend(not_utf8(path, &bytes));
    }
    let part = Part::document_of(path.to_owned(), bytes, RecordTable::default());
    gathering.finish(&outline, part)
}

/// Reads an export that is damaged, but for the values that are.
fn gather_readable(
    path: &Path,
    original: &[u8],
    readable: &Readable,
) -> (ExportOutline, Gathering) {
    let mut gathering = Gathering::default();
    let bytes = readable.bytes();
    let mut outline = ExportOutline::of(bytes, Skim::checking(bytes), &mut |skim| {
        let start = skim.offset();
        if readable.is_damaged(start) {
            skim.pass()?;
            gathering.skip(&(start as u64..skim.position() as u64), RecordKind::Junk);
            return Ok(());
        }
        gathering.message(path, 0, skim)
    });
    outline.mend_facts(original, readable);
    let notes = &mut gathering.gathered.notes;
    notes.extend_from_slice(readable.notes());
    notes.extend(not_utf8(path, original));
    (outline, gathering)
}

/// What can be read of an export that is damaged, if that is more than its beginning.
pub(super) fn readable(path: &Path, bytes: &[u8]) -> Option<Readable> {
    Readable::of(path, bytes, &[MESSAGES])
}

fn gather_long(long: Long) -> Result<Gathered, OpenError> {
    let path = &long.part.path;
    let mut gathering = Gathering::default();
    long.each(|place, message| {
        let unread = match message {
            LongMessage::Read(bytes) => {
                let skim = &mut Skim::checking(bytes);
                match gathering.message(path, place.start, skim) {
                    Ok(()) => return,
                    Err(Strayed) => RecordKind::Junk,
                }
            }
            LongMessage::TooLong => RecordKind::Giant,
            LongMessage::Damaged => {
                gathering.skip(place, RecordKind::Junk);
                return;
            }
        };
        gathering.skip(place, unread);
        gathering.gathered.notes.push(unshown(path, place));
    })?;
    gathering.gathered.notes.extend(long.damaged.notes);
    gathering.finish(&long.outline, long.part)
}

/// Says that a message does not say whose it is.
pub(super) fn nobodys(path: &Path, id: &str) -> Note {
    Note::damage(format!("the message `{id}` names no role; kept unread")).at(path)
}

/// Says that a message of a long export is not shown: it is longer than what we hold in memory, or
/// not what it was when we found it.
pub(super) fn unshown(path: &Path, place: &Range<u64>) -> Note {
    let len = place.end - place.start;
    let what = if len > LINE_CAP as u64 {
        format!("a message of {len} bytes, too long to be shown")
    } else {
        "a message that cannot be gone through; skipped".to_owned()
    };
    Note::damage(what).at(path).offset(place.start)
}

/// What was read of an export so far.
#[derive(Default)]
struct Gathering {
    gathered: Gathered,
    marks: RecordTable,
    /// Where the last message ended.
    end: u64,
}

impl Gathering {
    /// The message that is next, in bytes that begin at a place in the file.
    fn message(&mut self, path: &Path, at: u64, skim: &mut Skim<'_>) -> Result<(), Strayed> {
        let start = at + skim.offset() as u64;
        let message = split(skim, false)?;
        self.skip(&(self.end..start), RecordKind::Junk);
        self.end = at + skim.position() as u64;
        if let Some(record) = self.marks.add(start, RecordKind::Value) {
            let raw = RawRef { part: 0, record };
            self.gathered.exported(path, raw, &message);
        }
        Ok(())
    }

    /// Bytes that are no message, or none that is read, and what stands before them.
    fn skip(&mut self, place: &Range<u64>, kind: RecordKind) {
        let before = (self.end..place.start, RecordKind::Junk);
        for (skipped, kind) in [before, (place.clone(), kind)] {
            if !skipped.is_empty()
                && let Some(record) = self.marks.add(skipped.start, kind)
            {
                self.gathered.unclaimed.push(RawRef { part: 0, record });
            }
        }
        self.end = place.end;
    }

    fn finish(mut self, outline: &ExportOutline, part: Part) -> Result<Gathered, OpenError> {
        self.skip(&(self.end..part.len()), RecordKind::Junk);
        let mut gathered = self.gathered;
        gathered.facts = outline.facts(&part.path)?;
        gathered.notes.extend(outline.note(&part.path));
        sort_messages(&mut gathered.said, false);
        gathered.parts.push(part.with_records(self.marks));
        Ok(gathered)
    }
}

impl Gathered {
    fn exported(&mut self, path: &Path, raw: RawRef, inside: &Split<'_>) {
        let info = inside.info.as_ref();
        let id = passed_string(info.and_then(|i| i.get("id")));
        let mut said = PlacedMessage::of(raw, &id.unwrap_or_default(), info);
        if !said.is_message() {
            self.notes.push(nobodys(path, &said.id));
        }
        if info.is_some() {
            said.parts.extend(inside.parts.iter().map(|part| {
                let id = passed_string(part.get("id")).unwrap_or_default();
                Piece::of(raw, &id, Some(part), true)
            }));
        }
        self.said.push(said);
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "files are laid out for the test")]
mod tests {
    use rethread_disk::{open_read, open_sized};

    use super::*;

    /// All that was read of an export, as a text.
    fn told(gathered: Result<Gathered, OpenError>) -> String {
        let Ok(gathered) = gathered else {
            return "none".to_owned();
        };
        let Gathered {
            parts,
            facts,
            said,
            unclaimed,
            notes,
            ..
        } = gathered;
        let [part] = parts.as_slice() else {
            panic!("not one part: {parts:?}")
        };
        let records = 0..u32::try_from(part.record_count()).unwrap();
        let records: Vec<_> = records
            .map(|n| (part.span(n), part.record_kind(n), part.read(n).unwrap()))
            .collect();
        // Where exactly it breaks off, and why, is told in other words.
        let notes = notes.len();
        format!("{facts:?}\n{said:?}\n{unclaimed:?}\n{records:?}\n{notes}")
    }

    /// What is read of an export does not depend on how much of it is held in memory.
    #[test]
    fn long_exports_are_read_like_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("export.json");
        let message = |n: u8| {
            format!(
                r#"{{"info":{{"id":"m{n}","role":"user","time":{{"created":{}}}}}, "parts":[{{"id":"p{n}","type":"text","text":"[{n}]"}}]}}"#,
                90 - n
            )
        };
        let messages = [message(1), "5".to_owned(), message(2), "\"x\"".to_owned()];
        let whole = format!(
            "{{\"info\": {{\"id\":\"ses_1\",\"title\":\"T\"}},\n\"more\":[1],\"messages\": [\n{}] }}\n",
            messages.join(" ,\n")
        );
        let cut = (0..=whole.len()).map(|end| whole.as_bytes()[..end].to_vec());
        let damaged = (0..whole.len()).flat_map(|at| {
            let whole = whole.as_bytes();
            [1, b'"', b' '].map(|byte| [&whole[..at], &[byte], &whole[at + 1..]].concat())
        });
        for export in cut.chain(damaged) {
            std::fs::write(&path, &export).unwrap();
            let open = || open_sized(&path).unwrap();
            let (file, len) = open();
            let held = told(gather_whole(&path, &file, len));
            let (file, len) = open();
            let in_pieces = told(Long::of(&path, file, len).and_then(gather_long));
            let export = String::from_utf8_lossy(&export);
            assert_eq!(in_pieces, held, "{export}");
        }
    }

    #[test]
    fn the_id_is_found_however_much_stands_before_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("export.json");
        for more in [0, LOOK, 20 * LOOK] {
            let more = "x".repeat(more);
            let json = format!(r#"{{"info":{{"more":"{more}","id":"ses_1"}},"messages":["#);
            std::fs::write(&path, &json).unwrap();
            let said = || id(&open_read(&path).unwrap());
            assert_eq!(said().as_deref(), Some("ses_1"));
            std::fs::write(&path, &json[..json.len() - 20]).unwrap();
            assert_eq!(said(), None);
        }
    }
}
