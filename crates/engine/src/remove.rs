//! `rm`: into the trash, or for good.

use std::path::PathBuf;

use rethread_disk::{TrashedBy, remove_file, remove_folder, trash};
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

/// Removes a session: into the trash, or for good with `force`.
pub fn remove(source: &Source, force: bool) -> Result<Removed, Error> {
    let path = source.path.clone();
    let format = by_name(source.format)
        .ok_or_else(|| Error::usage(format!("`{}` is no format", source.format)))?;
    let Removal::Files(files) = format.remove(source, force)? else {
        return Ok(Removed::Deleted { path });
    };
    let mut by = None;
    for file in files {
        if !force {
            by = Some(trash(&file)?);
        } else if file.is_dir() {
            remove_folder(&file)?;
        } else {
            remove_file(&file)?;
        }
    }
    Ok(match by {
        Some(by) => Removed::Trashed { path, by },
        None => Removed::Deleted { path },
    })
}
