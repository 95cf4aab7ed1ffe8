//! What a list shows of a thread: from its description, and from the log only where that is stale.

use rethread_disk::open_read;
use rethread_model::{Head, Note, State, Summary};

use super::SLUG;
use super::config::Config;
use super::layout::{LOG, MANIFEST, project_of};
use super::manifest::{Manifest, is_missing};
use super::tally::Tally;
use super::version::Version;
use crate::{OpenError, Source, Want};

/// What a list shows of a thread.
pub(crate) fn summarize(source: &Source, want: Want) -> Summary {
    let manifest = match Manifest::read_any_version(&source.path) {
        Ok(manifest) => manifest,
        Err(e) => return damaged(source, &e),
    };
    let head = manifest.head(&source.id);
    let mut summary = Summary {
        head,
        path: source.path.clone(),
        counts: manifest.counts(),
        size: manifest.bytes().len() as u64,
        ..Summary::default()
    };
    if let Some(version) = refused(source, &manifest) {
        summary.state = State::Unsupported { version };
        return summary;
    }
    let Ok(log) = open_read(&source.path.join(LOG)) else {
        return summary;
    };
    let Ok(len) = log.metadata().map(|m| m.len()) else {
        return summary;
    };
    summary.size += len;
    let stale = manifest.noted_log_len().is_some_and(|noted| noted != len);
    if stale || want.usage {
        match Tally::of(log, want.usage) {
            Ok(tally) => {
                summary.counts = tally.counts;
                let last = tally.last_time.and_then(|t| t.parse().ok());
                summary.head.updated = last.or(summary.head.created).or(summary.head.updated);
            }
            Err(e) => summary
                .notes
                .push(Note::damage(e.to_string()).at(source.path.join(LOG))),
        }
    }
    summary
}

/// The version of the thread or of its store, if it must be refused.
fn refused(source: &Source, manifest: &Manifest) -> Option<String> {
    if let Version::TooNew(version) = manifest.version() {
        return Some(version);
    }
    match Config::read(project_of(&source.path)?) {
        Err(OpenError::Unsupported { version, .. }) => Some(version),
        _ => None,
    }
}

/// A thread that is known by its folder alone.
fn damaged(source: &Source, e: &OpenError) -> Summary {
    let note = if is_missing(e) {
        Note::damage(format!("no `{MANIFEST}`")).at(&source.path)
    } else {
        Note::damage(e.to_string())
    };
    let head = Head {
        id: source.id.clone(),
        format: SLUG,
        ..Head::default()
    };
    Summary {
        head,
        path: source.path.clone(),
        state: State::Damaged,
        notes: vec![note],
        ..Summary::default()
    }
}
