//! What a list shows of a thread: from its description, and from the log only where that is stale.

use rethread_model::{Head, Note, State, Summary};

use super::SLUG;
use super::manifest::{Manifest, is_missing};
use super::store::MANIFEST;
use super::version::Version;
use crate::unusable::cannot_be_opened;
use crate::{OpenError, Source};

/// The version of the thread or of its store, if it must be refused.
pub(super) fn refusal_of(source: &Source, manifest: &Manifest) -> Option<String> {
    match manifest.version() {
        Version::TooNew(version) => Some(version),
        _ => source.refused_store.clone(),
    }
}

/// A thread that is known by its folder alone.
pub(super) fn damaged_summary(source: &Source, e: &OpenError) -> Summary {
    let head = Head {
        id: source.id.clone(),
        format: SLUG,
        ..Head::default()
    };
    let mut summary = Summary {
        head,
        path: source.path.clone(),
        ..Summary::default()
    };
    if is_missing(e) {
        let note = Note::damage(format!("no `{MANIFEST}`")).at(&source.path);
        summary.state = State::Damaged;
        summary.notes.push(note);
    } else {
        cannot_be_opened(&mut summary, e);
    }
    summary
}
