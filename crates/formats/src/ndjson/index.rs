//! Which sessions a file holds, and where.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use rethread_json::{Event, Line, LineBytes, LineSpan, Lines, Pull, PullError, Tree, Value};
use rethread_model::Note;

use super::packed::OpenedExport;
use crate::fields::string_of;
use crate::file_range::FileRange;

/// Of a longer line only the beginning is looked at first.
const SHORT: usize = 1024 * 1024;

/// What a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FileShape {
    /// A line for each session.
    Records {
        /// The version that the header names.
        version: Option<String>,
    },
    /// A line for each message of one session, as the upstream program writes it.
    Flat {
        /// The version that the header names.
        version: String,
    },
    /// A version that must be refused.
    Refused {
        /// The version.
        version: String,
    },
}

/// One line that holds a session.
#[derive(Clone, Debug)]
pub(super) struct SessionLine {
    /// The session's id.
    pub(super) id: String,
    pub(super) span: LineSpan,
    /// Where the lines begin that go with it: lines of types that we do not know, before the first
    /// session.
    pub(super) from: u64,
    /// Where they end: also those behind it, up to the next session.
    pub(super) to: u64,
    /// Lines among them that are no JSON.
    pub(super) notes: Vec<Note>,
}

/// What a file holds.
#[derive(Debug)]
pub(super) struct FileIndex {
    pub(super) shape: FileShape,
    /// Its sessions in the order of the file; none if it has no such lines.
    pub(super) sessions: Vec<SessionLine>,
}

/// The index that was made last, so that reading the sessions of a file one by one makes it once.
static LAST: Mutex<Option<LastIndex>> = Mutex::new(None);

struct LastIndex {
    path: PathBuf,
    facts: (u64, Option<SystemTime>),
    index: Arc<FileIndex>,
}

/// What a file holds; nothing if it is no file of ours.
pub(super) fn file_index(path: &Path, opened: &OpenedExport) -> io::Result<Option<Arc<FileIndex>>> {
    let facts = (opened.len, opened.changed);
    let last = || LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(last) = last().as_ref()
        && last.path == path
        && last.facts == facts
    {
        return Ok(Some(Arc::clone(&last.index)));
    }
    let Some(shape) = file_shape(opened)? else {
        return Ok(None);
    };
    let sessions = match shape {
        FileShape::Records { .. } => session_lines(path, opened)?,
        FileShape::Flat { .. } | FileShape::Refused { .. } => Vec::new(),
    };
    let index = Arc::new(FileIndex { shape, sessions });
    *last() = Some(LastIndex {
        path: path.to_owned(),
        facts,
        index: Arc::clone(&index),
    });
    Ok(Some(index))
}

/// What the first line says a file is; nothing if it is no file of ours.
pub(super) fn file_shape(opened: &OpenedExport) -> io::Result<Option<FileShape>> {
    let mut lines = all_lines(opened);
    let first = loop {
        match lines.next_line()? {
            None => return Ok(None),
            Some(line) if line.head().trim_ascii().is_empty() => {}
            Some(line) => break line,
        }
    };
    if let LineBytes::Whole(bytes) = first.bytes
        && bytes.len() < 1 << 20
        && let Ok(tree) = Tree::parse(bytes)
        && is_header(tree.root(bytes))
    {
        let header = tree.root(bytes);
        let version = string_of(header, "schema_version");
        return match version {
            None => Ok(has_header_fields(header).then_some(FileShape::Records { version: None })),
            Some(version) => of_version(version, &mut lines).map(Some),
        };
    }
    let is_session = session_id(first.head()).is_some();
    Ok(is_session.then_some(FileShape::Records { version: None }))
}

fn has_header_fields(header: Value<'_>) -> bool {
    header.get("export_timestamp").is_some() && header.get("session_count").is_some()
}

fn of_version<R: io::Read>(version: String, lines: &mut Lines<R>) -> io::Result<FileShape> {
    match version.split('.').next() {
        Some("1") => Ok(FileShape::Records {
            version: Some(version),
        }),
        Some("2") => {
            // The document's own 2.0 has session records; what its program writes has none.
            let mut is_record = false;
            while let Some(line) = lines.next_line()? {
                if !line.head().trim_ascii().is_empty() {
                    is_record = session_id(line.head()).is_some();
                    break;
                }
            }
            Ok(if is_record {
                FileShape::Records {
                    version: Some(version),
                }
            } else {
                FileShape::Flat { version }
            })
        }
        _ => Ok(FileShape::Refused { version }),
    }
}

/// All lines of a file.
pub(super) fn all_lines(opened: &OpenedExport) -> Lines<FileRange<'_>> {
    Lines::new(FileRange {
        file: &opened.file,
        at: 0,
        end: opened.len,
    })
}

/// The lines that hold sessions, each with the unknown lines around it.
fn session_lines(path: &Path, opened: &OpenedExport) -> io::Result<Vec<SessionLine>> {
    let whole = FileRange {
        file: &opened.file,
        at: 0,
        end: opened.len,
    };
    let mut lines = Lines::with_cap(whole, SHORT);
    let mut found: Vec<SessionLine> = Vec::new();
    let mut strays = StrayLines::default();
    while let Some(line) = lines.next_line()? {
        let span = line.span;
        let end = span.offset + span.len + u64::from(span.terminated);
        if let Some(id) = id_of(opened, &line) {
            let before = std::mem::take(&mut strays);
            found.push(SessionLine {
                id,
                span,
                from: before.from.unwrap_or(span.offset),
                to: end,
                notes: before.notes,
            });
            continue;
        }
        let note = match line.bytes {
            _ if line.head().trim_ascii().is_empty() => continue,
            LineBytes::Whole(bytes) => match Tree::parse(bytes) {
                Ok(tree) if is_header(tree.root(bytes)) => continue,
                Ok(_) => None,
                Err(e) => Some(format!("not JSON: {}; skipped", e.kind)),
            },
            LineBytes::Giant { .. } => None,
        };
        let note = note.map(|what| Note::damage(what).at(path).line(span.number));
        let note = note.map(|note| note.offset(span.offset));
        if let Some(last) = found.last_mut() {
            last.to = end;
            last.notes.extend(note);
        } else {
            strays.from.get_or_insert(span.offset);
            strays.notes.extend(note);
        }
    }
    Ok(found)
}

/// Lines of unknown types before the first session.
#[derive(Default)]
struct StrayLines {
    from: Option<u64>,
    notes: Vec<Note>,
}

fn is_header(value: Value<'_>) -> bool {
    value.get("type").is_some_and(|t| t.is_str("header"))
}

/// The id of the session in a line, however long the line is.
fn id_of(opened: &OpenedExport, line: &Line<'_>) -> Option<String> {
    let found = session_id(line.head());
    if found.is_some() || line.whole().is_some() {
        return found;
    }
    session_id(FileRange {
        file: &opened.file,
        at: line.span.offset,
        end: line.span.offset + line.span.len,
    })
}

/// The id of the session in a line, of which the beginning is enough; nothing if it is no session.
pub(super) fn session_id(line: impl io::Read) -> Option<String> {
    let mut pull = Pull::new(line);
    let mut is_session = false;
    let mut id = None;
    if pull.next_event().ok()? != Event::BeginObject {
        return None;
    }
    while !(is_session && id.is_some()) {
        // What lies beyond the beginning of a giant line is not known.
        let Ok(Some(key)) = next_key(&mut pull) else {
            break;
        };
        match key.as_str() {
            "type" => is_session = whole_string(&mut pull).ok()?.as_deref() == Some("session"),
            "session" => id = id_in(&mut pull).ok()?,
            _ => {
                if pull.skip_value().is_err() {
                    break;
                }
            }
        }
    }
    id.filter(|_| is_session)
}

/// The next key of an object; nothing at its end.
pub(super) fn next_key<R: io::Read>(pull: &mut Pull<R>) -> Result<Option<String>, PullError> {
    let mut name = Vec::new();
    loop {
        match pull.next_event()? {
            Event::Key(chunk) => {
                name.extend_from_slice(&chunk.bytes);
                if chunk.last {
                    return Ok(Some(String::from_utf8_lossy(&name).into_owned()));
                }
            }
            _ => return Ok(None),
        }
    }
}

/// The next value if it is a string; any other is passed over.
fn whole_string<R: io::Read>(pull: &mut Pull<R>) -> Result<Option<String>, PullError> {
    let depth = pull.depth();
    let mut text = Vec::new();
    loop {
        match pull.next_event()? {
            Event::String(chunk) => {
                text.extend_from_slice(&chunk.bytes);
                if chunk.last {
                    return Ok(Some(String::from_utf8_lossy(&text).into_owned()));
                }
            }
            Event::BeginObject | Event::BeginArray => {
                while pull.depth() > depth {
                    pull.next_event()?;
                }
                return Ok(None);
            }
            _ => return Ok(None),
        }
    }
}

/// The `id` of the object that comes next.
fn id_in<R: io::Read>(pull: &mut Pull<R>) -> Result<Option<String>, PullError> {
    let depth = pull.depth();
    if pull.next_event()? != Event::BeginObject {
        while pull.depth() > depth {
            pull.next_event()?;
        }
        return Ok(None);
    }
    while let Some(name) = next_key(pull)? {
        if name == "id" {
            let id = whole_string(pull)?;
            // The rest may be torn; the id is known all the same.
            while pull.depth() > depth && pull.next_event().is_ok() {}
            return Ok(id);
        }
        pull.skip_value()?;
    }
    Ok(None)
}
