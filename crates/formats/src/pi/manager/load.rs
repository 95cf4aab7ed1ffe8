//! Reading a session file. Nothing is written.

use std::io;
use std::path::Path;

use rethread_disk::{DiskError, open_read, open_sized};
use rethread_json::{LINE_CAP, LineBytes, LineSpan, Lines, SyntaxError, Tree, Value};
use rethread_model::Note;

use super::giant::facts;
use super::header::SessionHeader;
use crate::Part;
use crate::pi::entry::{CURRENT_VERSION, SessionEntry};
use crate::pi::migrate::{self, Migration};

/// The longest line that a tree can be made of.
pub(crate) const LONGEST: usize = u32::MAX as usize - 1;

/// How far into a file its header is looked for.
const HEADER_WITHIN: u64 = 1024 * 1024;

/// What is in a file.
#[derive(Debug)]
pub(crate) enum LoadedFile {
    /// No byte at all.
    Empty,
    /// Something else.
    Foreign,
    /// A session.
    Session(Box<SessionLines>),
}

/// A session as it would be written today.
#[derive(Debug)]
pub(crate) struct SessionLines {
    pub(crate) header: SessionHeader,
    /// The entries, if they are held.
    pub(crate) entries: Vec<SessionEntry>,
    /// How long the file is if it is of an older version.
    pub(crate) old: Option<u64>,
    /// Lines that are no JSON objects: damage that is in no entry.
    pub(crate) passed_over: Vec<Note>,
}

/// An entry while a file is read.
pub(crate) struct LoadedEntry<'a> {
    /// The entry as it would be written today; of one that is too long to be held, what can be said
    /// in a few words.
    pub(crate) value: Value<'a>,
    /// Its line.
    pub(crate) line: LineSpan,
    /// Whether all of it is there.
    pub(crate) is_whole: bool,
}

impl LoadedEntry<'_> {
    /// The bytes of its line, as they are in the file.
    pub(crate) fn bytes<'p>(&self, part: &'p Part) -> impl io::Read + 'p {
        part.range(self.line.offset..self.line.offset + self.line.len)
    }
}

/// A session's file, for [`scan`].
pub(crate) fn part_of(path: &Path) -> Result<Part, DiskError> {
    let (file, len) = open_sized(path)?;
    Ok(Part::lines(path.to_owned(), file, len))
}

/// Reads all lines, and holds all entries.
pub(crate) fn load(path: &Path) -> Result<LoadedFile, DiskError> {
    let part = part_of(path)?;
    let mut entries = Vec::new();
    let loaded = read_all(&part, LONGEST, |found| {
        entries.push(SessionEntry::of(found.value));
        Ok(())
    });
    let mut loaded = loaded.map_err(|e| read_failed(path, e))?;
    if let LoadedFile::Session(lines) = &mut loaded {
        lines.entries = entries;
    }
    Ok(loaded)
}

/// Reads all lines, and hands over each entry. A line that is too long is held by what can be said
/// of it in a few words, unless it must be brought to today's version.
pub(crate) fn scan(
    part: &Part,
    each: impl FnMut(LoadedEntry<'_>) -> io::Result<()>,
) -> io::Result<LoadedFile> {
    let header = header_in(part.reader());
    let is_old = header.is_some_and(|header| header.version() < CURRENT_VERSION);
    read_all(part, if is_old { LONGEST } else { LINE_CAP }, each)
}

/// Reads all lines. Blank lines, lines that are no JSON objects and later headers are passed over.
fn read_all(
    part: &Part,
    cap: usize,
    mut each: impl FnMut(LoadedEntry<'_>) -> io::Result<()>,
) -> io::Result<LoadedFile> {
    let mut lines = Lines::with_cap(part.reader(), cap);
    let mut tree = Tree::default();
    let mut patched = Tree::default();
    let mut today = Today::default();
    let mut header = None;
    let mut passed_over = Vec::new();
    while let Some(line) = lines.next_line()? {
        let span = line.span;
        let mut pass_over = |why: String| {
            let note = Note::damage(format!("{why}; skipped")).at(&part.path);
            passed_over.push(note.line(span.number).offset(span.offset));
        };
        let told;
        let (bytes, is_whole) = match line.bytes {
            LineBytes::Whole(bytes) => (bytes, true),
            LineBytes::Giant { .. } => {
                let range = span.offset..span.offset + span.len;
                let Some(facts) = facts(part.range(range))? else {
                    pass_over(format!(
                        "a line of {} bytes that is no JSON object",
                        span.len
                    ));
                    continue;
                };
                told = facts;
                (told.as_slice(), false)
            }
        };
        if let Err(e) = tree.parse_into(bytes) {
            if !bytes.trim_ascii().is_empty() {
                pass_over(not_json(&e));
            }
            continue;
        }
        let mut found = LoadedEntry {
            value: tree.root(bytes),
            line: span,
            is_whole,
        };
        match today.of(found.value) {
            LoadedValue::Header(first) => header = Some(first),
            LoadedValue::Foreign => return Ok(LoadedFile::Foreign),
            LoadedValue::LaterHeader => {}
            LoadedValue::NoObject => pass_over("not a JSON object".to_owned()),
            LoadedValue::Entry(None) => each(found)?,
            LoadedValue::Entry(Some(raw)) => {
                if patched.parse_into(&raw).is_ok() {
                    found.value = patched.root(&raw);
                    each(found)?;
                }
            }
        }
    }
    Ok(match header {
        Some(header) => LoadedFile::Session(Box::new(SessionLines {
            header,
            entries: Vec::new(),
            old: today.is_old().then(|| lines.offset()),
            passed_over,
        })),
        None if lines.offset() == 0 => LoadedFile::Empty,
        None => LoadedFile::Foreign,
    })
}

fn not_json(e: &SyntaxError) -> String {
    format!("not JSON: {}, at column {}", e.kind, e.column)
}

/// What a value of a file is.
pub(super) enum LoadedValue {
    /// The header, as it would be written today.
    Header(SessionHeader),
    /// The first value is no header.
    Foreign,
    /// What looks like a header, further behind.
    LaterHeader,
    /// No object.
    NoObject,
    /// An entry; its bytes as they would be written today, where those are others.
    Entry(Option<Vec<u8>>),
}

/// Brings the values of a file to today's version, one after the other.
#[derive(Default)]
pub(super) struct Today {
    migration: Option<Migration>,
    tree: Tree,
}

impl Today {
    /// What the next value is.
    pub(super) fn of(&mut self, value: Value<'_>) -> LoadedValue {
        let Some(migration) = &mut self.migration else {
            let Some(found) = SessionHeader::of(value) else {
                return LoadedValue::Foreign;
            };
            let mut migration = Migration::from(found.version());
            migration.pass();
            let is_old = migration.is_needed();
            self.migration = Some(migration);
            let today = is_old.then(|| today(value.raw())).flatten();
            return LoadedValue::Header(today.unwrap_or(found));
        };
        let is_object = value.is_object();
        if !is_object || value.get("type").is_some_and(|t| t.is_str("session")) {
            migration.pass();
            return if is_object {
                LoadedValue::LaterHeader
            } else {
                LoadedValue::NoObject
            };
        }
        // A patch is of the whole text that a value comes from.
        let raw = value.raw();
        if migration.is_needed() && self.tree.parse_into(raw).is_ok() {
            return LoadedValue::Entry(Some(migration.entry(self.tree.root(raw))));
        }
        LoadedValue::Entry(None)
    }

    /// Whether the file is of an older version.
    fn is_old(&self) -> bool {
        self.migration.as_ref().is_some_and(Migration::is_needed)
    }
}

/// The header as it would be written today.
fn today(raw: &[u8]) -> Option<SessionHeader> {
    let tree = Tree::parse(raw).ok()?;
    let raw = migrate::header(tree.root(raw));
    let tree = Tree::parse(&raw).ok()?;
    SessionHeader::of(tree.root(&raw))
}

/// The header of a session file, if it has one near its beginning.
pub(crate) fn header(path: &Path) -> Option<SessionHeader> {
    header_in(open_read(path).ok()?)
}

fn header_in(file: impl io::Read) -> Option<SessionHeader> {
    let mut lines = Lines::new(io::Read::take(file, HEADER_WITHIN));
    let mut tree = Tree::default();
    while let Some(line) = lines.next_line().ok()? {
        let line = line.whole()?;
        if tree.parse_into(line).is_ok() {
            return SessionHeader::of(tree.root(line));
        }
    }
    None
}

pub(crate) fn read_failed(path: &Path, cause: std::io::Error) -> DiskError {
    DiskError::Read {
        path: path.to_owned(),
        cause,
    }
}
