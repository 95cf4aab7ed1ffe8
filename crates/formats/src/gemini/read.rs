//! Reading a session.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use rethread_model::{Moment, Note, SessionBuilder};

use super::facts::head;
use super::layout;
use super::scan::{Scanned, scan};
use super::sniff::{What, what};
use super::weave::weave;
use crate::kit::ScanDepth;
use crate::{Conversation, Native, OpenError, Part, PartKind, Source};

/// Reads a session.
pub(super) fn read(source: &Source) -> Result<Conversation, OpenError> {
    let path = &source.path;
    let found = scan(path, ScanDepth::Whole)?;
    let mut head = head(path, &layout::named_id(path), &found);
    let Scanned {
        part,
        what,
        meta,
        replay,
        unclaimed,
        mut notes,
    } = found;
    head.hidden |= what == What::Prompts;
    let outputs = layout::outputs(path, &head.id);
    notes.extend(same_session_elsewhere(path, &head.id));
    let mut builder = SessionBuilder::new(head);
    for raw in unclaimed {
        builder.unclaimed(raw);
    }
    let names: Vec<String> = outputs.iter().map(|p| stem(p)).collect();
    let inherited = meta.fork.as_ref().map_or(0, |fork| fork.copied);
    let session = weave(builder, replay, inherited, &names);
    let mut parts = vec![part];
    parts.extend(outputs.into_iter().map(|path| {
        let len = std::fs::metadata(&path).map_or(0, |m| m.len());
        Part::closed(path, PartKind::Opaque, len)
    }));
    Ok(Conversation {
        source: source.clone(),
        native: Native { parts },
        session,
        notes,
    })
}

fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// Other files that say they are this session.
fn copies(path: &Path, id: &str) -> Vec<PathBuf> {
    let source = Source::new(super::FORMAT, id.to_owned(), path.to_owned());
    let mut files = layout::namesakes(&source);
    files.retain(|file| what(file).and_then(|(_, id)| id).as_deref() == Some(id));
    files
}

fn same_session_elsewhere(path: &Path, id: &str) -> Vec<Note> {
    let note = |file: &PathBuf| {
        let what = format!("the same session is in `{}`, too", file.display());
        Note::remark(what).at(path)
    };
    copies(path, id).iter().map(note).collect()
}

/// Whether this is the file that the client would resume, of all that say they are the same
/// session: the one that was changed last.
pub(super) fn is_resumed(source: &Source) -> bool {
    let copies = copies(&source.path, &source.id);
    let mine = rank(&source.path);
    copies.iter().all(|file| rank(file) < mine)
}

fn rank(path: &Path) -> (Option<Moment>, bool, Reverse<&Path>) {
    let updated = scan(path, ScanDepth::Quick)
        .ok()
        .and_then(|s| s.meta.updated);
    (updated, !layout::is_in_hash_folder(path), Reverse(path))
}
