//! The files that a fork goes on from: it names one and a place in it, and that one may be a fork
//! itself.

use std::path::{Path, PathBuf};

use rethread_model::Note;

use super::meta::{Base, Beginning, read_beginning};
use super::store::find_rollout;

/// No chain of forks is followed further than this.
const LONGEST: usize = 64;

/// The files that a session goes on from.
pub(super) struct Bases {
    /// The nearest first, each with how much of it is meant.
    pub(super) parts: Vec<(PathBuf, Base)>,
    /// What to say when one is not there.
    pub(super) missing: Option<Note>,
}

/// Finds the files that a session goes on from.
pub(super) fn find_bases(path: &Path, base: Option<Base>) -> Bases {
    let mut found = Bases {
        parts: Vec::new(),
        missing: None,
    };
    let mut from = path.to_owned();
    let mut next = base;
    while let Some(base) = next.take() {
        let Some(file) = find_rollout(&from, &base.rollout) else {
            let message = format!(
                "what it was forked from is missing: no file of session `{}` is there",
                base.rollout
            );
            found.missing = Some(Note::damage(message).at(&from));
            break;
        };
        let is_known = file == path || found.parts.iter().any(|(known, _)| *known == file);
        if is_known || found.parts.len() == LONGEST {
            let note = Note::damage("the sessions it was forked from form a circle");
            found.missing = Some(note.at(&from));
            break;
        }
        if let Beginning::Session(meta) = read_beginning(&file) {
            next = meta.base;
        }
        from.clone_from(&file);
        found.parts.push((file, base));
    }
    found
}
