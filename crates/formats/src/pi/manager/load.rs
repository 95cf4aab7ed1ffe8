//! Reading a session file. Nothing is written.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use rethread_disk::{DiskError, open_read};
use rethread_json::{Lines, Tree};
use rethread_model::Note;

use super::header::SessionHeader;
use crate::pi::entry::{CURRENT_VERSION, SessionEntry};
use crate::pi::migrate::{self, Migration};

/// The longest line that a tree can be made of.
const LONGEST: usize = u32::MAX as usize - 1;

/// How far into a file its header is looked for.
const HEADER_WITHIN: u64 = 1024 * 1024;

/// What is in a file.
#[derive(Debug)]
pub(crate) enum Loaded {
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
    pub(crate) entries: Vec<SessionEntry>,
    /// How long the file is if it is of an older version.
    pub(crate) old: Option<u64>,
    /// Lines that are no JSON objects: damage that is in no entry.
    pub(crate) passed_over: Vec<Note>,
}

/// Reads all lines. Blank lines, lines that are no JSON objects and later headers are passed over.
pub(crate) fn load(path: &Path) -> Result<Loaded, DiskError> {
    let mut lines = Lines::with_cap(open_read(path)?, LONGEST);
    let mut tree = Tree::default();
    let mut patched = Tree::default();
    let mut header = None;
    let mut entries = Vec::new();
    let mut migration = Migration::from(CURRENT_VERSION);
    let mut passed_over = Vec::new();
    while let Some(line) = lines.next_line().map_err(|e| failed(path, e))? {
        let span = line.span;
        let mut pass_over = |why: String| {
            let note = Note::damage(format!("{why}; skipped")).at(path);
            passed_over.push(note.line(span.number).offset(span.offset));
        };
        let Some(line) = line.whole() else {
            pass_over(format!("a line of {} bytes", span.len));
            continue;
        };
        if let Err(e) = tree.parse_into(line) {
            if !line.trim_ascii().is_empty() {
                pass_over(format!("not JSON: {}, at column {}", e.kind, e.column));
            }
            continue;
        }
        let value = tree.root(line);
        if header.is_none() {
            let Some(found) = SessionHeader::of(value) else {
                return Ok(Loaded::Foreign);
            };
            migration = Migration::from(found.version());
            migration.pass();
            header = Some(if migration.is_needed() {
                today(value.raw()).unwrap_or(found)
            } else {
                found
            });
        } else if !value.is_object() {
            pass_over("not a JSON object".to_owned());
            migration.pass();
        } else if value.get("type").is_some_and(|t| t.is_str("session")) {
            migration.pass();
        } else if migration.is_needed() {
            let raw = value.raw();
            if patched.parse_into(raw).is_ok() {
                let raw = migration.entry(patched.root(raw));
                entries.extend(SessionEntry::parse(&raw));
            }
        } else {
            entries.push(SessionEntry::of(value));
        }
    }
    Ok(match header {
        Some(header) => Loaded::Session(Box::new(SessionLines {
            header,
            entries,
            old: migration.is_needed().then(|| lines.offset()),
            passed_over,
        })),
        None if lines.offset() == 0 => Loaded::Empty,
        None => Loaded::Foreign,
    })
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

fn header_in(file: File) -> Option<SessionHeader> {
    let mut lines = Lines::new(file.take(HEADER_WITHIN));
    let mut tree = Tree::default();
    while let Some(line) = lines.next_line().ok()? {
        let line = line.whole()?;
        if tree.parse_into(line).is_ok() {
            return SessionHeader::of(tree.root(line));
        }
    }
    None
}

pub(crate) fn failed(path: &Path, cause: std::io::Error) -> DiskError {
    DiskError::Read {
        path: path.to_owned(),
        cause,
    }
}
