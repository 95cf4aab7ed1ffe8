//! What can be saved of a damaged line.

use std::ops::Range;

use crate::error::{Fault, SyntaxErrorKind};
use crate::scan;
use crate::tree::{Node, Tag, Tree};

/// A part of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A JSON value.
    Value(Range<usize>),
    /// What is no value: white space, NUL bytes, byte order marks (each run of
    /// these a piece of its own) or garbage.
    Junk(Range<usize>),
}

impl Piece {
    /// Where the piece is in the line.
    pub fn range(&self) -> Range<usize> {
        match self {
            Self::Value(range) | Self::Junk(range) => range.clone(),
        }
    }
}

/// What a line is, at a glance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LineKind {
    /// Nothing but white space.
    Blank,
    /// One value.
    Value,
    /// Several values.
    Several,
    /// The beginning of one value, as after a crash.
    Torn,
    /// Anything else; [`salvage`] says what is in it.
    Damaged,
}

/// Says what a line is.
///
/// ```
/// use rethread_json::{LineKind, classify};
/// assert_eq!(classify(b"{\"a\": 1}\r"), LineKind::Value);
/// assert_eq!(classify(b"{}{}"), LineKind::Several);
/// assert_eq!(classify(b"{\"a\": "), LineKind::Torn);
/// assert_eq!(classify(b"\0\0{}"), LineKind::Damaged);
/// ```
pub fn classify(line: &[u8]) -> LineKind {
    let mut tree = Tree::default();
    let mut pos = scan::skip_space(line, scan::bom_len(line));
    if pos == line.len() {
        return LineKind::Blank;
    }
    let mut values = 0;
    while pos < line.len() {
        match next_value(&mut tree, line, pos) {
            Ok(end) => pos = scan::skip_space(line, end),
            Err(fault) if values == 0 && fault.kind == SyntaxErrorKind::UnexpectedEnd => {
                return LineKind::Torn;
            }
            Err(_) => return LineKind::Damaged,
        }
        values += 1;
    }
    if values == 1 {
        LineKind::Value
    } else {
        LineKind::Several
    }
}

/// Cuts a line into values and junk, in order and covering every byte.
///
/// Where the line stops being JSON, the values go on at the next object that
/// is whole: one that begins inside what would be a string, or after the place
/// of the error. An object inside a torn one is a part of it and not a value,
/// unless it reaches to the end of the line, as a record does that was appended
/// after a crash. Once there was garbage, only objects count. The work is
/// limited: of a line made to waste time, the rest is junk.
///
/// ```
/// use rethread_json::{Piece, salvage};
/// let line = br#"{"a":"torn{"b":1}"#;
/// assert_eq!(salvage(line), [Piece::Junk(0..10), Piece::Value(10..17)]);
/// ```
pub fn salvage(line: &[u8]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut tree = Tree::default();
    let mut budget = 8 * line.len() + 4096;
    let mut damaged = false;
    let mut pos = 0;
    while pos < line.len() {
        let begin = filler(line, pos);
        if begin > pos {
            pieces.push(Piece::Junk(pos..begin));
            pos = begin;
            continue;
        }
        if damaged && budget == 0 {
            pieces.push(Piece::Junk(pos..line.len()));
            break;
        }
        if !damaged || line[pos] == b'{' {
            let parsed = next_value(&mut tree, line, pos);
            let reached = parsed.unwrap_or_else(|fault| fault.offset);
            budget = budget.saturating_sub(reached.saturating_sub(pos));
            if let Ok(end) = parsed {
                pieces.push(Piece::Value(pos..end));
                pos = end;
                continue;
            }
        } else {
            tree.nodes.clear();
        }
        damaged = true;
        let found = resync(&mut tree, line, pos + 1, &mut budget);
        pieces.push(Piece::Junk(pos..found.start));
        if found.start < found.end {
            pieces.push(Piece::Value(found.clone()));
        }
        pos = found.end;
    }
    pieces
}

/// The next whole object at or after `from`; an empty range at the end of the
/// line if there is none. The tree holds what was met before the last error.
fn resync(tree: &mut Tree, line: &[u8], from: usize, budget: &mut usize) -> Range<usize> {
    let mut search = from;
    while let Some(found) = memchr::memchr(b'{', &line[search..]) {
        let begin = search + found;
        search = begin + 1;
        if !matches!(line.get(search), Some(b'"' | b'}')) {
            continue;
        }
        if let Some(node) = object_at(&tree.nodes, begin) {
            let end = node.end as usize;
            if end > 0 && filler(line, end) == line.len() {
                return begin..end;
            }
            continue;
        }
        if *budget == 0 {
            break;
        }
        let parsed = next_value(tree, line, begin);
        let reached = parsed.unwrap_or_else(|fault| fault.offset);
        *budget = budget.saturating_sub(reached.saturating_sub(begin));
        if let Ok(end) = parsed {
            return begin..end;
        }
    }
    line.len()..line.len()
}

/// The object that the last attempt saw begin at `start`. While it is open its
/// end is 0, and parsing from there would meet the same error.
fn object_at(nodes: &[Node], start: usize) -> Option<Node> {
    let at = nodes
        .binary_search_by_key(&start, |node| node.start as usize)
        .ok()?;
    (nodes[at].tag == Tag::Object).then_some(nodes[at])
}

/// One value at `pos`; a number or word must not run into something else.
fn next_value(tree: &mut Tree, line: &[u8], pos: usize) -> Result<usize, Fault> {
    let end = tree.parse_part(line, pos)?;
    let is_container = matches!(line[end - 1], b'}' | b']' | b'"');
    if !is_container && line.get(end).is_some_and(u8::is_ascii_alphanumeric) {
        return Err(Fault::new(end, SyntaxErrorKind::TrailingData));
    }
    Ok(end)
}

/// The end of a run of white space, NUL bytes and byte order marks.
fn filler(line: &[u8], mut pos: usize) -> usize {
    loop {
        match line.get(pos) {
            Some(&byte) if byte == 0 || scan::is_space(byte) => pos += 1,
            Some(0xEF) if line[pos..].starts_with(scan::BOM) => pos += scan::BOM.len(),
            _ => return pos,
        }
    }
}
