//! A session as one file that `opencode export` wrote: `{info, messages: [{info, parts}]}`.
//!
//! The file is taken apart member by member, so that one that was cut off is read up to there.

use std::ops::Range;
use std::path::Path;

use rethread_disk::read_small;
use rethread_json::{Skim, Tree};
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
    let info = Outline::of(&bytes).info?;
    parsed(bytes.get(info)?, Facts::of_info)?.id
}

/// Reads an export.
pub(super) fn gather(path: &Path) -> Result<Gathered, OpenError> {
    let bytes = read_small(path)?;
    let outline = Outline::of(&bytes);
    let info = outline.info.and_then(|range| bytes.get(range));
    let facts = info.and_then(|info| parsed(info, Facts::of_info));
    let mut gathered = Gathered {
        facts: facts.ok_or_else(|| OpenError::NotOurs {
            path: path.to_owned(),
            format: SLUG,
        })?,
        ..Gathered::default()
    };
    if let Some((at, why)) = outline.torn {
        let message = format!("the file breaks off or is damaged: {why}; read up to there");
        let line = memchr::memchr_iter(b'\n', &bytes[..at]).count() as u64 + 1;
        let note = Note::damage(message).at(path);
        gathered.notes.push(note.line(line).offset(at as u64));
    }
    let mut marks = Marks::default();
    let mut end = 0;
    let framing = |marks: &mut Marks, gathered: &mut Gathered, from: usize, to: usize| {
        if from < to
            && let Some(record) = marks.add(from as u64, RecordKind::Junk)
        {
            gathered.unclaimed.push(RawRef { part: 0, record });
        }
    };
    for range in outline.messages {
        framing(&mut marks, &mut gathered, end, range.start);
        end = range.end;
        let Some(record) = marks.add(range.start as u64, RecordKind::Value) else {
            break;
        };
        let raw = RawRef { part: 0, record };
        let value = &bytes[range];
        match split(&mut Skim::trusting(value), false) {
            Ok(message) => gathered.exported(path, raw, &message),
            Err(_) => gathered.unclaimed.push(raw),
        }
    }
    framing(&mut marks, &mut gathered, end, bytes.len());
    sort(&mut gathered.said, false);
    gathered
        .parts
        .push(Part::document_of(path.to_owned(), bytes, marks));
    Ok(gathered)
}

impl Gathered {
    fn exported(&mut self, path: &Path, raw: RawRef, inside: &Split<'_>) {
        let info = inside.info.as_ref();
        let id = string(info.and_then(|i| i.get("id")));
        let mut said = Said::of(raw, id.unwrap_or_default(), info);
        if !said.is_message() {
            let message = format!("the message `{}` names no role; kept unread", said.id);
            self.notes.push(Note::damage(message).at(path));
        }
        if info.is_some() {
            said.parts.extend(inside.parts.iter().map(|part| {
                let id = string(part.get("id")).unwrap_or_default();
                Piece::of(raw, id, Some(part))
            }));
        }
        self.said.push(said);
    }
}

/// Where the parts of an export are.
#[derive(Debug, Default)]
struct Outline {
    info: Option<Range<usize>>,
    messages: Vec<Range<usize>>,
    /// Where it is no JSON any more, and why.
    torn: Option<(usize, String)>,
}

impl Outline {
    fn of(bytes: &[u8]) -> Self {
        let mut outline = Self::default();
        let mut walk = Walk {
            bytes,
            at: if bytes.starts_with(b"\xef\xbb\xbf") {
                3
            } else {
                0
            },
            tree: Tree::default(),
        };
        if let Err(why) = outline.fill(&mut walk) {
            outline.torn = Some((walk.at, why));
        }
        outline
    }

    fn fill(&mut self, walk: &mut Walk<'_>) -> Result<(), String> {
        walk.sign(b'{')?;
        while walk.peek() != Some(b'}') {
            let key = walk.value()?;
            walk.sign(b':')?;
            let is = |name: &[u8]| walk.bytes.get(key.clone()) == Some(name);
            if is(b"\"messages\"") && walk.peek() == Some(b'[') {
                walk.sign(b'[')?;
                while walk.peek() != Some(b']') {
                    self.messages.push(walk.value()?);
                    walk.comma(b']')?;
                }
                walk.sign(b']')?;
            } else {
                let is_info = is(b"\"info\"");
                let value = walk.value()?;
                if is_info {
                    self.info = Some(value);
                }
            }
            walk.comma(b'}')?;
        }
        walk.sign(b'}')?;
        match walk.peek() {
            None => Ok(()),
            Some(_) => Err("there is more behind the end".to_owned()),
        }
    }
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    tree: Tree,
}

impl Walk<'_> {
    /// The next sign that is no white space.
    fn peek(&mut self) -> Option<u8> {
        let rest = self.bytes.get(self.at..)?;
        self.at += rest.len() - rest.trim_ascii_start().len();
        self.bytes.get(self.at).copied()
    }

    fn sign(&mut self, sign: u8) -> Result<(), String> {
        match self.peek() {
            Some(found) if found == sign => {
                self.at += 1;
                Ok(())
            }
            Some(_) => Err(format!("`{}` is missing", char::from(sign))),
            None => Err("it ends too early".to_owned()),
        }
    }

    /// A comma, unless the end follows.
    fn comma(&mut self, end: u8) -> Result<(), String> {
        if self.peek() == Some(end) {
            return Ok(());
        }
        self.sign(b',')
    }

    fn value(&mut self) -> Result<Range<usize>, String> {
        let Some(_) = self.peek() else {
            return Err("it ends too early".to_owned());
        };
        let start = self.at;
        let end = self.tree.parse_prefix(self.bytes, start);
        self.at = end.map_err(|e| e.kind.to_string())?;
        Ok(start..self.at)
    }
}
