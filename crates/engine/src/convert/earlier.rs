//! Conversions that were made before: resuming again goes on with the same session, and what was
//! converted is not converted again.

use std::path::{Path, PathBuf};

use rethread_catalog::sources_at;
use rethread_disk::{Mode, append_line, ensure_folder, read_small};
use rethread_formats::carry::{Scope, Seal};
use rethread_formats::{Conversation, FormatRef, Source, Writing};
use rethread_json::{Object, Tree, Value, split_lines};
use rethread_model::Note;

use super::history::MessageHistory;
use super::{ConvertOptions, Trim, digests, recovery};
use crate::show::open;

const FILE: &str = "conversions.jsonl";

/// What identifies a conversion: what was converted, as it was then, how much of it, and into what.
pub(super) fn conversion_key(
    from: &Conversation,
    to: FormatRef,
    trim: &Trim<'_>,
    cwd: Option<&Path>,
) -> String {
    let source = &from.source;
    let path = source.path.to_string_lossy();
    let marks = MessageHistory::only_digests(from, from, Scope::Told).block_digests();
    let marks: Vec<String> = marks.iter().map(u64::to_string).collect();
    let last = trim.last.map(|n| n.to_string()).unwrap_or_default();
    let marks = marks.join(" ");
    let mut words = vec![
        source.format.slug(),
        &source.id,
        &path,
        &marks,
        to.slug(),
        &last,
        trim.from.unwrap_or_default(),
        trim.summary.unwrap_or_default(),
    ];
    let cwd = cwd.map(Path::to_string_lossy);
    words.extend(cwd.as_deref());
    format!("{:016x}", digests::digest_of(&words))
}

/// The lines of a conversion, the last one first: ids, and paths where they are noted.
fn noted_conversions(w: &Writing<'_>, key: &str) -> Vec<(String, Option<String>)> {
    let bytes = read_small(&w.env.data.join(FILE)).unwrap_or_default();
    let mut tree = Tree::default();
    let mut found = Vec::new();
    for (_, line) in split_lines(&bytes) {
        if tree.parse_into(line).is_err() {
            continue;
        }
        let value = tree.root(line);
        let text = |key| Some(value.get(key).and_then(Value::str)?.into_owned());
        if text("key").as_deref() == Some(key) {
            found.extend(text("id").map(|id| (id, text("path"))));
        }
    }
    found.reverse();
    found
}

/// A conversion of a whole session into a store.
pub(super) struct WholeConversion {
    key: String,
    /// What the files are that it came from, the main one first.
    seals: Vec<Seal>,
}

impl WholeConversion {
    /// Of a session whose files are these now.
    pub(super) fn of_session(
        from: &Conversation,
        seals: Vec<Seal>,
        ask: &ConvertOptions<'_>,
    ) -> Self {
        let source = &from.source;
        let digests: Vec<&str> = seals.iter().map(|seal| seal.sha256.as_str()).collect();
        let root = ask.root.map(Path::to_string_lossy).unwrap_or_default();
        let (path, digests) = (source.path.to_string_lossy(), digests.join(" "));
        let mut words = vec![
            source.format.slug(),
            &source.id,
            &path,
            &digests,
            ask.to.slug(),
            &root,
            if ask.lean { "lean" } else { "whole" },
            if ask.agents { "agents" } else { "alone" },
        ];
        let cwd = ask.cwd.map(Path::to_string_lossy);
        words.extend(cwd.as_deref());
        let key = format!("{:016x}", digests::digest_of(&words));
        Self { key, seals }
    }

    /// Notes what is about to be put into the store. So whoever is killed right behind that finds it
    /// the next time; an id that is not there means nothing.
    pub(super) fn note_begin(&self, w: &Writing<'_>, id: &str) -> Option<Note> {
        write_note(w, Object::new().str("key", &self.key).str("id", id))
    }

    /// The session that was made before, if it is in the store and still carries what it is made of.
    pub(super) fn find_made(
        &self,
        w: &Writing<'_>,
        ask: &ConvertOptions<'_>,
        cwd: &Path,
    ) -> Option<Conversation> {
        let ids: Vec<String> = noted_conversions(w, &self.key)
            .into_iter()
            .map(|(id, _)| id)
            .collect();
        if ids.is_empty() {
            return None;
        }
        let mut found = None;
        let mut look = |source: Source| {
            if found.is_none() && ids.contains(&source.id) {
                let made = open(&source).ok();
                found = made.filter(|made| ask.lean || self.is_in(made));
            }
        };
        match ask.root {
            // Formats that look alike are told apart by the names of their folders.
            Some(root) => sources_at(root)
                .into_iter()
                .map(|there| Source::new(ask.to, there.id, there.path))
                .for_each(look),
            None => {
                for root in ask.to.store().locate(w.env, &[cwd.to_owned()]) {
                    ask.to.store().list(&root, &mut |source| {
                        if let Ok(source) = source {
                            look(source);
                        }
                    });
                }
            }
        }
        found
    }

    fn is_in(&self, made: &Conversation) -> bool {
        let luggage = recovery::carried_original(made).ok().flatten();
        luggage.is_some_and(|luggage| luggage.file_seals().eq(&self.seals))
    }
}

/// The session that was made before, if it still is what was made.
pub(super) fn find_earlier(
    w: &Writing<'_>,
    key: &str,
    from: &Source,
    to: FormatRef,
) -> Option<Source> {
    let mut noted = noted_conversions(w, key).into_iter();
    let (id, path) = noted.find_map(|(id, path)| Some((id, path?)))?;
    let source = Source::new(to, id, PathBuf::from(path));
    let conversation = open(&source).ok()?;
    let luggage = recovery::carried_original(&conversation).ok()??;
    let is_it = luggage.from == from.format.slug() && luggage.id == from.id;
    let goes_on = MessageHistory::only_digests(&conversation, &conversation, luggage.scope)
        .block_digests()
        .starts_with(&luggage.marks);
    (is_it && goes_on).then_some(source)
}

/// Notes a conversion. What was made is there either way, so trouble with that is a note.
pub(super) fn note_conversion(w: &Writing<'_>, key: &str, made: &Source) -> Option<Note> {
    let path = made.path.to_str()?;
    let line = Object::new().str("key", key).str("id", &made.id);
    write_note(w, line.str("path", path))
}

fn write_note(w: &Writing<'_>, line: Object) -> Option<Note> {
    let noted = ensure_folder(&w.env.data, &Mode::Private, w.durability).and_then(|()| {
        let file = w.env.data.join(FILE);
        append_line(&file, &line.finish(), Mode::Private, w.durability).map(drop)
    });
    let failed = noted.err()?;
    let what = format!("the conversion was not remembered: {failed}");
    Some(Note::remark(what))
}
