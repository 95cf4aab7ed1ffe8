//! What stores have in common: where they are, what is in their folders, and files that are absent or
//! unreadable.

use std::io;
use std::path::{Path, PathBuf};

use rethread_disk::DiskError;
use rethread_model::Note;

use crate::{Env, FormatRef, OpenError, Root, Source};

/// Takes sessions that were found, and notes on what could not be looked at.
pub(crate) type SourceSink<'a> = dyn FnMut(Result<Source, Note>) + 'a;

/// The folders of an agent: the one that a variable names, else one in each home.
pub(crate) fn agent_folders(env: &Env, variable: &str, in_home: &str) -> Vec<PathBuf> {
    match env.agent_variable(variable) {
        Some(folder) => vec![env.cwd.join(folder)],
        None => env.homes.iter().map(|home| home.join(in_home)).collect(),
    }
}

/// The stores in these folders, each once.
pub(crate) fn known_roots(
    format: FormatRef,
    folders: impl IntoIterator<Item = PathBuf>,
) -> Vec<Root> {
    let mut roots: Vec<Root> = Vec::new();
    for path in folders {
        if roots.iter().all(|root| root.path != path) {
            roots.push(Root::known(format, path));
        }
    }
    roots
}

/// The paths in a folder, in their order. An absent folder has none; what cannot be read is noted.
pub(crate) fn folder_entries(folder: &Path, out: &mut SourceSink<'_>) -> Vec<PathBuf> {
    let unreadable = |e: &io::Error| Note::damage(format!("cannot be read: {e}")).at(folder);
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if is_absent(&e) => return Vec::new(),
        Err(e) => {
            out(Err(unreadable(&e)));
            return Vec::new();
        }
    };
    let mut paths = Vec::new();
    for entry in entries {
        match entry {
            Ok(entry) => paths.push(entry.path()),
            Err(e) => out(Err(unreadable(&e))),
        }
    }
    paths.sort();
    paths
}

/// Whether an error says that there is nothing.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Says why a session whose main file is a file has none.
pub(crate) fn require_file(source: &Source) -> Result<(), OpenError> {
    let path = source.path.clone();
    match std::fs::metadata(&path) {
        Ok(meta) if meta.is_file() => Ok(()),
        Ok(_) => Err(OpenError::NotOurs {
            path,
            format: source.format.slug(),
        }),
        Err(e) if is_absent(&e) => Err(DiskError::NotFound { path }.into()),
        Err(cause) => Err(DiskError::Read { path, cause }.into()),
    }
}
