//! Which files are exports, and what is in them.

use std::path::{Path, PathBuf};

use rethread_model::Note;

use super::index::{FileShape, SessionLine, file_index};
use super::packed::open_export;
use super::{FORMAT, Ndjson};
use crate::{Env, OpenError, Root, Source, Store};

/// The names that an export can have.
const SUFFIXES: [&str; 5] = [".ndjson", ".gz", ".zst", ".jsonl", ".json"];

impl Store for Ndjson {
    fn locate(&self, _: &Env, _known: &[PathBuf]) -> Vec<Root> {
        Vec::new()
    }

    fn list(&self, root: &Root, out: &mut dyn FnMut(Result<Source, Note>)) {
        for source in self.at_path(&root.path) {
            out(Ok(source));
        }
    }

    /// The sessions in a file; none if it is no export.
    fn at_path(&self, path: &Path) -> Vec<Source> {
        if !has_its_name(path) || !path.is_file() {
            return Vec::new();
        }
        let Ok(opened) = open_export(path) else {
            return Vec::new();
        };
        let Ok(Some(index)) = file_index(path, &opened) else {
            return Vec::new();
        };
        if !matches!(index.shape, FileShape::Records { .. }) {
            return vec![Source::new(FORMAT, file_stem(path), path.to_owned())];
        }
        let source = |found: &SessionLine| Source {
            place: Some(found.span.offset),
            ..Source::new(FORMAT, found.id.clone(), path.to_owned())
        };
        index.sessions.iter().map(source).collect()
    }

    fn files(&self, source: &Source) -> Result<Vec<PathBuf>, OpenError> {
        Ok(vec![source.path.clone()])
    }
}

/// Whether a file is named as an export may be.
pub(super) fn has_its_name(path: &Path) -> bool {
    let name = path.file_name().map(|n| n.to_string_lossy().to_lowercase());
    name.is_some_and(|name| SUFFIXES.iter().any(|suffix| name.ends_with(suffix)))
}

/// The name of a file without what says how it is written.
pub(super) fn file_stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut name = name.as_ref();
    for suffix in [".gz", ".zst", ".ndjson"] {
        name = name.strip_suffix(suffix).unwrap_or(name);
    }
    name.to_owned()
}
