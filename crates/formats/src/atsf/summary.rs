//! What a list shows of a thread: from its description, and from the log only where that is stale.

use std::fs::Metadata;
use std::path::Path;

use rethread_disk::open_read;
use rethread_model::{Head, Note, State, Summary};

use super::SLUG;
use super::layout::{LOG, MANIFEST};
use super::manifest::{Manifest, is_missing};
use super::tally::Tally;
use super::version::Version;
use crate::unusable::cannot_be_opened;
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
    let path = source.path.join(LOG);
    let Some(len) = std::fs::metadata(&path)
        .ok()
        .filter(Metadata::is_file)
        .map(|m| m.len())
    else {
        return summary;
    };
    summary.size += len;
    let stale = manifest.noted_log_len().is_some_and(|noted| noted != len);
    // Messages that are older than the thread were brought along: only they say when it began.
    let is_copied = summary.head.created > summary.head.updated;
    if stale || want.usage || is_copied {
        let counted = open_read(&path)
            .map_err(|e| e.to_string())
            .and_then(|log| Tally::of(log, want.usage).map_err(|e| e.to_string()));
        match counted {
            Ok(tally) => {
                summary.counts = tally.counts;
                let last = tally.last_time.and_then(|t| t.parse().ok());
                summary.head.updated = last.or(summary.head.created).or(summary.head.updated);
                if summary.head.created > summary.head.updated {
                    summary.head.made = summary.head.created;
                    summary.head.created = tally.first_time;
                }
            }
            Err(e) => summary.notes.push(Note::damage(e).at(path)),
        }
    }
    summary
}

/// What a list shows of a thread whose folder is gone, from a copy of its description.
pub fn described(folder: &Path, description: Vec<u8>) -> Option<Summary> {
    let manifest = Manifest::parse(folder.join(MANIFEST), description).ok()?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    Some(Summary {
        head: manifest.head(&name),
        path: folder.to_owned(),
        counts: manifest.counts(),
        state: State::Gone,
        ..Summary::default()
    })
}

/// The version of the thread or of its store, if it must be refused.
fn refused(source: &Source, manifest: &Manifest) -> Option<String> {
    match manifest.version() {
        Version::TooNew(version) => Some(version),
        _ => source.refused_store.clone(),
    }
}

/// A thread that is known by its folder alone.
fn damaged(source: &Source, e: &OpenError) -> Summary {
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
