//! A session as one file that `opencode export` wrote: `{info, messages: [{info, parts}]}`.
//!
//! The file is taken apart member by member, so that one that was cut off is read up to there.

use std::path::Path;

use rethread_disk::read_small;
use rethread_json::{Passed, Skim, Strayed, Tree};
use rethread_model::{Note, RawRef};

use super::SLUG;
use super::facts::{Facts, parsed};
use super::read::Gathered;
use super::said::{Piece, Said, Split, sort, split};
use crate::passed::string;
use crate::{Marks, OpenError, Part, RecordKind};

/// The id that the file itself says.
pub(super) fn id(path: &Path) -> Option<String> {
    let bytes = read_small(path).ok()?;
    let mut skim = Skim::trusting(&bytes);
    skim.enter_object();
    while let Some(key) = skim.next_key().ok()? {
        let value = skim.pass().ok()?;
        if *key.bytes() == *b"info" {
            return parsed(value.raw(), Facts::of_info)?.id;
        }
    }
    None
}

/// Reads an export.
pub(super) fn gather(path: &Path) -> Result<Gathered, OpenError> {
    let bytes = read_small(path)?;
    let mut gathered = Gathered::default();
    let mut marks = Marks::default();
    let mut end = 0;
    let framing = |marks: &mut Marks, gathered: &mut Gathered, from: usize, to: usize| {
        if from < to
            && let Some(record) = marks.add(from as u64, RecordKind::Junk)
        {
            gathered.unclaimed.push(RawRef { part: 0, record });
        }
    };
    let outline = Outline::of(&bytes, Skim::checking(&bytes), &mut |skim| {
        let start = skim.offset();
        let message = split(skim, false)?;
        framing(&mut marks, &mut gathered, end, start);
        end = skim.position();
        if let Some(record) = marks.add(start as u64, RecordKind::Value) {
            gathered.exported(path, RawRef { part: 0, record }, &message);
        }
        Ok(())
    });
    gathered.facts = outline.facts(path)?;
    gathered.notes.extend(outline.note(path, &bytes));
    framing(&mut marks, &mut gathered, end, bytes.len());
    sort(&mut gathered.said, false);
    gathered
        .parts
        .push(Part::document_of(path.to_owned(), bytes, marks));
    Ok(gathered)
}

/// Says that a message does not say whose it is.
pub(super) fn nobodys(path: &Path, id: &str) -> Note {
    Note::damage(format!("the message `{id}` names no role; kept unread")).at(path)
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
pub(super) struct Outline<'a> {
    info: Option<Passed<'a>>,
    /// Where it is no JSON any more, and why.
    torn: Option<(usize, String)>,
}

impl<'a> Outline<'a> {
    /// Goes through an export. Somebody goes through each of its messages.
    pub(super) fn of(
        bytes: &'a [u8],
        mut skim: Skim<'a>,
        message: &mut dyn FnMut(&mut Skim<'a>) -> Result<(), Strayed>,
    ) -> Self {
        let mut outline = Self::default();
        // Where the value begins that is gone through, or the last one ended.
        let mut at = skim.offset();
        if outline.fill(&mut skim, &mut at, message).is_err() {
            outline.torn = Some((at, why(bytes, at)));
        } else if !skim.is_done() {
            let more = "there is more behind the end".to_owned();
            outline.torn = Some((skim.offset(), more));
        }
        outline
    }

    fn fill(
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
            if *key.bytes() == *b"messages" && skim.enter_array() {
                while skim.next_item()? {
                    *at = skim.offset();
                    message(skim)?;
                    *at = skim.position();
                }
            } else {
                let value = skim.pass()?;
                if *key.bytes() == *b"info" {
                    self.info = Some(value);
                }
            }
            *at = skim.position();
        }
        Ok(())
    }

    /// The facts about the session.
    pub(super) fn facts(&self, path: &Path) -> Result<Facts, OpenError> {
        let facts = self
            .info
            .and_then(|info| parsed(info.raw(), Facts::of_info));
        facts.ok_or_else(|| OpenError::NotOurs {
            path: path.to_owned(),
            format: SLUG,
        })
    }

    /// Says where it breaks off, if it does.
    pub(super) fn note(&self, path: &Path, bytes: &[u8]) -> Option<Note> {
        let (at, why) = self.torn.as_ref()?;
        let message = format!("the file breaks off or is damaged: {why}; read up to there");
        let before = bytes.get(..*at).unwrap_or_default();
        let line = memchr::memchr_iter(b'\n', before).count() as u64 + 1;
        Some(Note::damage(message).at(path).line(line).offset(*at as u64))
    }
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
