//! Which files are exports, and what is in them.

use std::path::Path;

use super::SLUG;
use super::index::{Found, Shape, index};
use super::packed::open;
use crate::Source;

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
        return vec![Source::new(SLUG, stem(path), path.to_owned())];
    }
    let source = |found: &Found| Source {
        place: Some(found.span.offset),
        ..Source::new(SLUG, found.id.clone(), path.to_owned())
    };
    index.sessions.iter().map(source).collect()
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
