//! Conversions that were made before, so that resuming again goes on with the same session.

use std::path::PathBuf;

use rethread_disk::{Mode, append_line, ensure_folder, read_small};
use rethread_formats::{Conversation, Format, Source, Writing};
use rethread_json::{Object, Tree, Value, split_lines};
use rethread_model::Note;

use super::spoken::Spoken;
use super::{Trim, back, marks};
use crate::show::open;

const FILE: &str = "conversions.jsonl";

/// What identifies a conversion: what was converted, as it was then, how much of it, and into what.
pub(super) fn key(from: &Conversation, to: &dyn Format, trim: &Trim<'_>) -> String {
    let source = &from.source;
    let path = source.path.to_string_lossy();
    let marks = Spoken::of(from).marks();
    let marks: Vec<String> = marks.iter().map(u64::to_string).collect();
    let last = trim.last.map(|n| n.to_string()).unwrap_or_default();
    let mark = marks::words(&[
        source.format,
        &source.id,
        &path,
        &marks.join(" "),
        to.about().slug,
        &last,
        trim.from.unwrap_or_default(),
        trim.summary.unwrap_or_default(),
    ]);
    format!("{mark:016x}")
}

/// The session that was made before, if it still is what was made.
pub(super) fn find(w: &Writing<'_>, key: &str, from: &Source, to: &dyn Format) -> Option<Source> {
    let bytes = read_small(&w.env.data.join(FILE)).ok()?;
    let mut tree = Tree::default();
    let mut found = None;
    for (_, line) in split_lines(&bytes) {
        if tree.parse_into(line).is_err() {
            continue;
        }
        let value = tree.root(line);
        let text = |key| Some(value.get(key).and_then(Value::str)?.into_owned());
        if text("key").as_deref() == Some(key) {
            found = text("id").zip(text("path"));
        }
    }
    let (id, path) = found?;
    let source = Source::new(to.about().slug, id, PathBuf::from(path));
    let conversation = open(&source).ok()?;
    let luggage = back::luggage(&conversation).ok()??;
    let is_it = luggage.from == from.format && luggage.id == from.id;
    let goes_on = Spoken::of(&conversation)
        .marks()
        .starts_with(&luggage.marks);
    (is_it && goes_on).then_some(source)
}

/// Notes a conversion. What was made is there either way, so trouble with that is a note.
pub(super) fn note(w: &Writing<'_>, key: &str, made: &Source) -> Option<Note> {
    let path = made.path.to_str()?;
    let line = Object::new()
        .str("key", key)
        .str("id", &made.id)
        .str("path", path)
        .finish();
    let noted = ensure_folder(&w.env.data, &Mode::Private, w.durability).and_then(|()| {
        append_line(&w.env.data.join(FILE), &line, Mode::Private, w.durability).map(drop)
    });
    let failed = noted.err()?;
    let what = format!("the conversion was not remembered: {failed}");
    Some(Note::remark(what))
}
