//! Which files are exports, and what is in them.

use std::path::{Path, PathBuf};

use rethread_model::LinkKind;

use super::FORMAT;
use super::index::{Found, Shape, index};
use super::packed::open;
use super::summary::summarize;
use crate::{Conversation, Source, Want};

/// The names that an export can have.
const SUFFIXES: [&str; 5] = [".ndjson", ".gz", ".zst", ".jsonl", ".json"];

/// Whether a file is named as an export may be.
pub(super) fn has_its_name(path: &Path) -> bool {
    let name = path.file_name().map(|n| n.to_string_lossy().to_lowercase());
    name.is_some_and(|name| SUFFIXES.iter().any(|suffix| name.ends_with(suffix)))
}

/// The sessions in a file; none if it is no export.
pub(super) fn at_path(path: &Path) -> Vec<Source> {
    if !has_its_name(path) || !path.is_file() {
        return Vec::new();
    }
    let Ok(opened) = open(path) else {
        return Vec::new();
    };
    let Ok(Some(index)) = index(path, &opened) else {
        return Vec::new();
    };
    if !matches!(index.shape, Shape::Records { .. }) {
        return vec![Source::new(FORMAT, stem(path), path.to_owned())];
    }
    let source = |found: &Found| Source {
        place: Some(found.span.offset),
        ..Source::new(FORMAT, found.id.clone(), path.to_owned())
    };
    index.sessions.iter().map(source).collect()
}

/// Whether a file is an export in which there is no session. One that could be unpacked only in part
/// may have had some.
pub fn has_no_sessions(path: &Path) -> bool {
    if !has_its_name(path) || !path.is_file() {
        return false;
    }
    let whole = open(path).ok().filter(|opened| opened.damage.is_none());
    let found = whole.and_then(|opened| index(path, &opened).ok());
    found.flatten().is_some_and(|index| {
        matches!(index.shape, Shape::Records { .. }) && index.sessions.is_empty()
    })
}

/// Why a packed file that is named as an export may be could be unpacked only in part.
pub fn unpacking_damage(path: &Path) -> Option<String> {
    if !has_its_name(path) || !path.is_file() {
        return None;
    }
    open(path).ok()?.damage
}

/// The sub-agents of a session: in the same file, and in files beside it whose names go on from its own.
pub(super) fn agents(session: &Conversation) -> Vec<Source> {
    let path = &session.source.path;
    let head = &session.session.head;
    let is_named = |id: &str| {
        let mut links = head.links.iter();
        links.any(|l| l.kind == LinkKind::SubAgent && l.session == id)
    };
    let parent = |source: &Source| {
        let links = summarize(source, Want::default()).head.links;
        let link = links.into_iter().find(|l| l.kind == LinkKind::Parent);
        link.map(|link| link.session)
    };
    let mut found = at_path(path);
    found.retain(|s| s.id != head.id && is_named(&s.id) && parent(s).as_ref() == Some(&head.id));
    let start = format!("{}.", stem(path));
    let beside = path
        .parent()
        .and_then(|folder| std::fs::read_dir(folder).ok());
    let beside = beside.into_iter().flatten().flatten();
    let mut beside: Vec<PathBuf> = beside
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&start))
        .map(|entry| entry.path())
        .collect();
    beside.sort();
    beside.retain(|file| file != path);
    let beside = beside.iter().flat_map(|file| at_path(file));
    found.extend(beside.filter(|source| parent(source).is_some()));
    found
}

/// The name of a file without what says how it is written.
pub(super) fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut name = name.as_ref();
    for suffix in [".gz", ".zst", ".ndjson"] {
        name = name.strip_suffix(suffix).unwrap_or(name);
    }
    name.to_owned()
}
