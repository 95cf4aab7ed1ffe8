//! `rm`: into the trash, or for good.

use std::path::{Path, PathBuf};

use rethread_disk::{DiskError, TrashedBy, remove_file, remove_folder, trash};
use rethread_formats::{Removal, Source, by_name};

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

/// Removes a session: into the trash, or for good with `force`. What makes it a session goes last, so
/// where something stays, the session is still found, and the error says what went before.
pub fn remove(source: &Source, force: bool) -> Result<Removed, Error> {
    let path = source.path.clone();
    let format = by_name(source.format)
        .ok_or_else(|| Error::usage(format!("`{}` is no format", source.format)))?;
    let Removal::Files(files) = format.remove(source, force)? else {
        return Ok(Removed::Deleted { path });
    };
    let mut by = None;
    for (at, file) in files.iter().enumerate() {
        let done = if force {
            delete(file)
        } else {
            trash(file).map(|who| by = Some(who))
        };
        if let Err(cause) = done {
            return Err(match files.get(..at) {
                Some(gone) if !gone.is_empty() => Error::PartlyRemoved {
                    cause,
                    gone: gone.to_vec(),
                    left: files.get(at + 1..).unwrap_or_default().to_vec(),
                    trashed: !force,
                },
                _ => cause.into(),
            });
        }
    }
    Ok(match by {
        Some(by) => Removed::Trashed { path, by },
        None => Removed::Deleted { path },
    })
}

fn delete(path: &Path) -> Result<(), DiskError> {
    if path.is_dir() {
        remove_folder(path)
    } else {
        remove_file(path)
    }
}
