//! `rm`: into the trash, or for good.

use std::path::PathBuf;

use rethread_disk::{TrashedBy, remove_file, remove_folder, trash};
use rethread_formats::Source;

use crate::Error;

/// What became of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Removed {
    /// It is in the trash.
    Trashed {
        /// Where it was.
        path: PathBuf,
        /// What took it.
        by: TrashedBy,
    },
    /// It is gone.
    Deleted {
        /// Where it was.
        path: PathBuf,
    },
}

/// Removes a session: into the trash, or for good with `force`.
pub fn remove(source: &Source, force: bool) -> Result<Removed, Error> {
    let path = source.path.clone();
    if !force {
        let by = trash(&path)?;
        return Ok(Removed::Trashed { path, by });
    }
    if path.is_dir() {
        remove_folder(&path)?;
    } else {
        remove_file(&path)?;
    }
    Ok(Removed::Deleted { path })
}
