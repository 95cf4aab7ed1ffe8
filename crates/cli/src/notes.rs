//! What was noticed, as people and scripts are told it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anstyle::AnsiColor;
use rethread_model::{Note, Severity};
use rethread_render::one_line;
use serde_json::{Map, json};

use crate::output::say_json;

/// So many notes are told one by one; more are told by their kinds.
const MOST: usize = 5;

/// One line for people, behind a word for what it is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) word: &'static str,
    pub(crate) text: String,
}

impl Line {
    /// The colour of the word.
    pub(crate) fn colour(&self) -> AnsiColor {
        match self.word {
            "hint" => AnsiColor::Cyan,
            _ => AnsiColor::Yellow,
        }
    }

    fn hint(text: &str) -> Self {
        Self {
            word: "hint",
            text: text.to_owned(),
        }
    }

    /// A note with something behind it.
    fn note(note: &Note, behind: &str) -> Self {
        Self {
            word: word(note.severity),
            text: format!("{}{behind}", one_line(&note.to_string())),
        }
    }
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Damage => "warning",
        Severity::Remark | Severity::Quiet | Severity::Detail => "note",
    }
}

/// All notes, each in full.
pub(crate) fn in_full<'a>(notes: impl IntoIterator<Item = &'a Note>) -> Vec<Line> {
    let mut lines = Vec::new();
    for note in notes {
        lines.push(Line::note(note, ""));
        lines.extend(note.hint.as_deref().map(Line::hint));
    }
    lines
}

/// A few lines, however many notes there are: what is alike is told once, what is damaged first, and
/// what nobody needs to know is only counted.
pub(crate) fn in_short(notes: &[Note]) -> Vec<Line> {
    let (quiet, loud): (Vec<&Note>, Vec<&Note>) =
        notes.iter().partition(|n| n.severity == Severity::Quiet);
    let mut lines = if loud.len() <= MOST {
        in_full(loud)
    } else {
        in_groups(&loud)
    };
    let text = match quiet.len() {
        0 => return lines,
        1 => "1 file holds no conversation (`--verbose` names it)".to_owned(),
        n => format!("{n} files hold no conversation (`--verbose` names them)"),
    };
    lines.push(Line { word: "note", text });
    lines
}

fn in_groups(notes: &[&Note]) -> Vec<Line> {
    let groups = NoteGroup::all(notes);
    // The last line is for one more kind, or for all that are left.
    let told = if groups.len() <= MOST {
        groups.len()
    } else {
        MOST - 1
    };
    let (told, left) = groups.split_at(told);
    let mut lines = Vec::new();
    for group in told {
        lines.push(Line::note(group.first, &group.others()));
        lines.extend(group.first.hint.as_deref().map(Line::hint));
    }
    if let Some(next) = left.first() {
        let count: usize = left.iter().map(|group| group.count).sum();
        lines.push(Line {
            word: word(next.first.severity),
            text: format!("and {count} more of other kinds"),
        });
    }
    if told.len() < notes.len() {
        lines.push(Line::hint(&format!(
            "`--verbose` tells all {}",
            notes.len()
        )));
    }
    lines
}

/// Notes that say the same of several places.
struct NoteGroup<'a> {
    first: &'a Note,
    count: usize,
    files: BTreeSet<&'a Path>,
}

impl<'a> NoteGroup<'a> {
    /// The groups of notes, those of damage first, in the order in which they were met.
    fn all(notes: &[&'a Note]) -> Vec<Self> {
        let mut places: BTreeMap<(Severity, String), usize> = BTreeMap::new();
        let mut groups: Vec<Self> = Vec::new();
        for note in notes {
            let key = (note.severity, kind(&note.message));
            let at = *places.entry(key).or_insert(groups.len());
            if at == groups.len() {
                groups.push(Self {
                    first: note,
                    count: 0,
                    files: BTreeSet::new(),
                });
            }
            if let Some(group) = groups.get_mut(at) {
                group.count += 1;
                group.files.extend(note.path.as_deref());
            }
        }
        groups.sort_by_key(|group| std::cmp::Reverse(group.first.severity));
        groups
    }

    /// What is told of the others behind the first.
    fn others(&self) -> String {
        match (self.count - 1, self.files.len()) {
            (0, _) => String::new(),
            (more, 0 | 1) => format!(" (and {more} more)"),
            (more, files) => format!(" (and {more} more, in {files} files)"),
        }
    }
}

/// What a message says, without the numbers and names that differ from place to place.
fn kind(message: &str) -> String {
    let mut kind = String::new();
    for (i, piece) in message.split('`').enumerate() {
        let is_name = i % 2 == 1;
        if !is_name {
            kind.extend(piece.chars().filter(|c| !c.is_ascii_digit()));
        }
        kind.push('`');
    }
    kind
}

/// Says a note as one JSON object.
pub(crate) fn say_note(note: &Note) {
    let mut object = Map::new();
    object.insert("message".to_owned(), json!(note.message));
    if let Some(path) = &note.path {
        object.insert("path".to_owned(), json!(path.to_string_lossy()));
    }
    for (key, value) in [("line", note.line), ("offset", note.offset)] {
        if let Some(value) = value {
            object.insert(key.to_owned(), json!(value));
        }
    }
    if let Some(hint) = &note.hint {
        object.insert("hint".to_owned(), json!(hint));
    }
    say_json(&json!({ word(note.severity): object }));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(lines: &[Line]) -> String {
        let line = |line: &Line| format!("{}: {}\n", line.word, line.text);
        lines.iter().map(line).collect()
    }

    #[test]
    fn many_notes_are_a_few_lines() {
        let mut notes: Vec<Note> = (1..=40)
            .map(|n| {
                let note = Note::damage(format!("not JSON, at column {n}; skipped"));
                note.at(format!("/a{}.jsonl", n % 4)).line(n)
            })
            .collect();
        notes.insert(0, Note::remark("an old version"));
        notes.extend((0..12).map(|n| Note::quiet("an empty file").at(format!("/e{n}"))));
        insta::assert_snapshot!(text(&in_short(&notes)), @"
        warning: /a1.jsonl:1: not JSON, at column 1; skipped (and 39 more, in 4 files)
        note: an old version
        hint: `--verbose` tells all 41
        note: 12 files hold no conversation (`--verbose` names them)
        ");
        assert_eq!(in_full(&notes).len(), notes.len());
    }

    #[test]
    fn many_kinds_are_a_few_lines() {
        let words = ["one", "two", "three", "four", "five", "six", "seven"];
        let notes: Vec<Note> = words.iter().map(|word| Note::damage(*word)).collect();
        insta::assert_snapshot!(text(&in_short(&notes)), @"
        warning: one
        warning: two
        warning: three
        warning: four
        warning: and 3 more of other kinds
        hint: `--verbose` tells all 7
        ");
        assert_eq!(in_short(&notes[..5]).len(), 5);
    }
}
