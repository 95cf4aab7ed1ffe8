//! A session as one file that `opencode export` wrote: `{info, messages: [{info, parts}]}`.
//!
//! The file is taken apart member by member, so that one that was cut off is read up to there. Of a
//! long one, one message at a time is held.

use std::fs::File;
use std::io::Read as _;
use std::ops::Range;
use std::path::Path;

use rethread_disk::{open_sized, read_at, read_next};
use rethread_json::{LINE_CAP, Skim, Strayed, Tree};
use rethread_model::{Note, RawRef};

use super::SLUG;
use super::facts::{Facts, parsed};
use super::read::Gathered;
use super::said::{Piece, Said, Split, sort, split};
use crate::error::unreadable;
use crate::outline::{WHOLE, outline};
use crate::passed::string;
use crate::{Marks, OpenError, Part, RecordKind};

/// The list of messages.
const MESSAGES: &str = "messages";

/// What an export says of the session.
const INFO: &str = "info";

/// How much of a file is looked at first to find its id.
const LOOK: usize = 16 * 1024;

/// The id that the file itself says. It stands in the beginning, so only that is read.
pub(super) fn id(path: &Path) -> Option<String> {
    let (file, _) = open_sized(path).ok()?;
    let mut bytes = Vec::new();
    let mut room = LOOK;
    while room <= LINE_CAP {
        let filled = bytes.len();
        bytes.resize(room, 0);
        let read = read_at(&file, filled as u64, bytes.get_mut(filled..)?).ok()?;
        bytes.truncate(filled + read);
        if let Ok(info) = info(&bytes) {
            return parsed(info?, Facts::of_info)?.id;
        }
        if bytes.len() < room {
            return None;
        }
        room *= 16;
    }
    None
}

/// What an export says of the session, if it has such a member.
fn info(bytes: &[u8]) -> Result<Option<&[u8]>, Strayed> {
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
pub(super) fn gather(path: &Path) -> Result<Gathered, OpenError> {
    let (file, len) = open_sized(path)?;
    if len <= WHOLE {
        gather_whole(path, &file, len)
    } else {
        gather_long(Long::of(path, file, len)?)
    }
}

fn gather_whole(path: &Path, file: &File, len: u64) -> Result<Gathered, OpenError> {
    let mut bytes = Vec::new();
    read_next(file, len, &mut bytes).map_err(|e| unreadable(path, e))?;
    let mut gathering = Gathering::default();
    let outline = Outline::of(&bytes, Skim::checking(&bytes), &mut |skim| {
        gathering.message(path, 0, skim)
    });
    let part = Part::document_of(path.to_owned(), bytes, Marks::default());
    gathering.finish(&outline, part)
}

fn gather_long(long: Long) -> Result<Gathered, OpenError> {
    let path = &long.part.path;
    let mut gathering = Gathering::default();
    long.each(|place, message| {
        let read = message.and_then(|bytes| {
            let skim = &mut Skim::checking(bytes);
            gathering.message(path, place.start, skim).ok()
        });
        if read.is_none() {
            gathering.skip(place, RecordKind::Giant);
            gathering.gathered.notes.push(too_long(path, place));
        }
    })?;
    gathering.finish(&long.outline, long.part)
}

/// Says that a message does not say whose it is.
pub(super) fn nobodys(path: &Path, id: &str) -> Note {
    Note::damage(format!("the message `{id}` names no role; kept unread")).at(path)
}

/// Says that a message is longer than what we hold in memory.
pub(super) fn too_long(path: &Path, place: &Range<u64>) -> Note {
    let len = place.end - place.start;
    let what = format!("a message of {len} bytes, too long to be shown");
    Note::damage(what).at(path).offset(place.start)
}

/// What was read of an export so far.
#[derive(Default)]
struct Gathering {
    gathered: Gathered,
    marks: Marks,
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

    fn finish(mut self, outline: &Outline, part: Part) -> Result<Gathered, OpenError> {
        self.skip(&(self.end..part.len()), RecordKind::Junk);
        let mut gathered = self.gathered;
        gathered.facts = outline.facts(&part.path)?;
        gathered.notes.extend(outline.note(&part.path));
        sort(&mut gathered.said, false);
        gathered.parts.push(part.with_records(self.marks));
        Ok(gathered)
    }
}

impl Gathered {
    fn exported(&mut self, path: &Path, raw: RawRef, inside: &Split<'_>) {
        let info = inside.info.as_ref();
        let id = string(info.and_then(|i| i.get("id")));
        let mut said = Said::of(raw, &id.unwrap_or_default(), info);
        if !said.is_message() {
            self.notes.push(nobodys(path, &said.id));
        }
        if info.is_some() {
            said.parts.extend(inside.parts.iter().map(|part| {
                let id = string(part.get("id")).unwrap_or_default();
                Piece::of(raw, &id, Some(part), true)
            }));
        }
        self.said.push(said);
    }
}

/// What an export is, but for its messages.
#[derive(Debug, Default)]
pub(super) struct Outline {
    facts: Option<Facts>,
    torn: Option<Torn>,
}

/// Where an export is no JSON any more.
#[derive(Debug)]
struct Torn {
    offset: u64,
    line: u64,
    why: String,
}

impl Outline {
    /// Goes through an export. Somebody goes through each of its messages.
    pub(super) fn of<'a>(
        bytes: &'a [u8],
        mut skim: Skim<'a>,
        message: &mut dyn FnMut(&mut Skim<'a>) -> Result<(), Strayed>,
    ) -> Self {
        let mut outline = Self::default();
        // Where the value begins that is gone through, or the last one ended.
        let mut at = skim.offset();
        let torn = if outline.fill(&mut skim, &mut at, message).is_err() {
            Some((at, why(bytes, at)))
        } else if skim.is_done() {
            None
        } else {
            Some((skim.offset(), "there is more behind the end".to_owned()))
        };
        outline.torn = torn.map(|(at, why)| Torn {
            offset: at as u64,
            line: newlines(bytes.get(..at).unwrap_or_default()) + 1,
            why,
        });
        outline
    }

    fn fill<'a>(
        &mut self,
        skim: &mut Skim<'a>,
        at: &mut usize,
        message: &mut dyn FnMut(&mut Skim<'a>) -> Result<(), Strayed>,
    ) -> Result<(), Strayed> {
        if !skim.enter_object() {
            return Err(Strayed);
        }
        while let Some(key) = skim.next_key()? {
            *at = skim.offset();
            if *key.bytes() == *MESSAGES.as_bytes() && skim.enter_array() {
                while skim.next_item()? {
                    *at = skim.offset();
                    message(skim)?;
                    *at = skim.position();
                }
            } else {
                let value = skim.pass()?;
                if *key.bytes() == *INFO.as_bytes() {
                    self.facts = parsed(value.raw(), Facts::of_info);
                }
            }
            *at = skim.position();
        }
        Ok(())
    }

    /// The facts about the session.
    pub(super) fn facts(&self, path: &Path) -> Result<Facts, OpenError> {
        self.facts.clone().ok_or_else(|| OpenError::NotOurs {
            path: path.to_owned(),
            format: SLUG,
        })
    }

    /// Says where it breaks off, if it does.
    pub(super) fn note(&self, path: &Path) -> Option<Note> {
        let Torn { offset, line, why } = self.torn.as_ref()?;
        let message = format!("the file breaks off or is damaged: {why}; read up to there");
        Some(Note::damage(message).at(path).line(*line).offset(*offset))
    }
}

/// An export that is too long to be held as a whole.
pub(super) struct Long {
    part: Part,
    pub(super) outline: Outline,
    /// Where its messages are.
    messages: Vec<Range<u64>>,
}

impl Long {
    /// Goes through an export.
    pub(super) fn of(path: &Path, file: File, len: u64) -> Result<Self, OpenError> {
        let failed = |e| unreadable(path, e);
        let part = Part::long_document(path.to_owned(), file, len);
        let found = outline(part.reader(), &[MESSAGES]).map_err(failed)?;
        let mut outline = Outline::default();
        let mut bytes = Vec::new();
        for (key, place) in found.members {
            if key == INFO && place.end - place.start <= LINE_CAP as u64 {
                take(&part, &place, &mut bytes).map_err(failed)?;
                let value = bytes.trim_ascii_start();
                let value = value.strip_prefix(b":").unwrap_or(value);
                outline.facts = parsed(value.trim_ascii_start(), Facts::of_info);
            }
        }
        if let Some((offset, why)) = found.fault {
            let line = 1 + lines(&part, offset).map_err(failed)?;
            outline.torn = Some(Torn { offset, line, why });
        }
        let (_, messages) = found.list.unwrap_or_default();
        Ok(Self {
            part,
            outline,
            messages,
        })
    }

    /// Goes through its messages: where each is, and its bytes, if they are not too many.
    pub(super) fn each(
        &self,
        mut message: impl FnMut(&Range<u64>, Option<&[u8]>),
    ) -> Result<(), OpenError> {
        let mut bytes = Vec::new();
        for place in &self.messages {
            if place.end - place.start > LINE_CAP as u64 {
                message(place, None);
                continue;
            }
            self.read(place, &mut bytes)?;
            // What is no object is only known with what stands before it.
            let is_before = |b: &&u8| b.is_ascii_whitespace() || **b == b',';
            let before = bytes.iter().take_while(is_before).count();
            let place = place.start + before as u64..place.end;
            message(&place, bytes.get(before..));
        }
        Ok(())
    }

    /// Reads a message.
    pub(super) fn read(&self, place: &Range<u64>, bytes: &mut Vec<u8>) -> Result<(), OpenError> {
        take(&self.part, place, bytes).map_err(|e| unreadable(&self.part.path, e))
    }

    /// How long it is.
    pub(super) fn len(&self) -> u64 {
        self.part.len()
    }
}

/// Reads some bytes of a file in place of others.
fn take(part: &Part, place: &Range<u64>, bytes: &mut Vec<u8>) -> std::io::Result<()> {
    bytes.clear();
    part.range(place.clone()).read_to_end(bytes).map(drop)
}

/// How many lines end in the first bytes of a file.
fn lines(part: &Part, len: u64) -> std::io::Result<u64> {
    let mut reader = part.range(0..len);
    let mut bytes = vec![0; 64 * 1024];
    let mut lines = 0;
    loop {
        match reader.read(&mut bytes)? {
            0 => return Ok(lines),
            n => lines += newlines(bytes.get(..n).unwrap_or_default()),
        }
    }
}

fn newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// Why what follows cannot be gone through.
fn why(bytes: &[u8], at: usize) -> String {
    let rest = bytes.get(at..).unwrap_or_default();
    if rest.trim_ascii().is_empty() {
        return "it ends too early".to_owned();
    }
    match Tree::default().parse_prefix(bytes, at) {
        Err(e) => e.kind.to_string(),
        Ok(_) => "a comma is missing".to_owned(),
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "files are laid out for the test")]
mod tests {
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
        for end in 0..=whole.len() {
            std::fs::write(&path, &whole[..end]).unwrap();
            let open = || open_sized(&path).unwrap();
            let (file, len) = open();
            let held = told(gather_whole(&path, &file, len));
            let (file, len) = open();
            let in_pieces = told(Long::of(&path, file, len).and_then(gather_long));
            assert_eq!(in_pieces, held, "{}", &whole[..end]);
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
            assert_eq!(id(&path).as_deref(), Some("ses_1"));
            std::fs::write(&path, &json[..json.len() - 20]).unwrap();
            assert_eq!(id(&path), None);
        }
    }
}
