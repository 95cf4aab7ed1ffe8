//! Removing for good.

use std::path::Path;

use crate::{
    error::{DiskError, FileKind},
    leftover::remove_leftovers_once,
    open::regular_metadata,
    sync::folder_of,
    temp::TempFolder,
};

/// Removes one regular file. Links and everything else are refused.
pub fn remove_file(path: &Path) -> Result<(), DiskError> {
    if regular_metadata(path)?.is_none() {
        return Err(DiskError::NotFound {
            path: path.to_owned(),
        });
    }
    std::fs::remove_file(path).map_err(|e| DiskError::while_removing(path, e))
}

/// Removes one symbolic link, wherever it leads. Everything else is refused.
pub fn remove_link(path: &Path) -> Result<(), DiskError> {
    let meta = std::fs::symlink_metadata(path).map_err(|e| DiskError::while_reading(path, e))?;
    if !meta.is_symlink() {
        let (path, found) = (path.to_owned(), FileKind::from_type(meta.file_type()));
        return Err(DiskError::NotALink { path, found });
    }
    std::fs::remove_file(path).map_err(|e| DiskError::while_removing(path, e))
}

/// Removes a folder with all that is in it. Links inside are removed, never followed; a link in
/// the place of the folder is refused.
///
/// It loses its name first, so that nobody ever finds half of it there: what a process killed in
/// between leaves has a name for which [`is_temporary`](crate::is_temporary) is true.
pub fn remove_folder(path: &Path) -> Result<(), DiskError> {
    let meta = std::fs::symlink_metadata(path).map_err(|e| DiskError::while_reading(path, e))?;
    if !meta.is_dir() {
        let (path, found) = (path.to_owned(), FileKind::from_type(meta.file_type()));
        return Err(DiskError::NotAFolder { path, found });
    }
    remove_leftovers_once(&folder_of(path));
    let failed = |e| DiskError::while_removing(path, e);
    let mut aside = TempFolder::rename_away(path).map_err(failed)?;
    let before = count_entries(aside.path());
    let mut removed = std::fs::remove_dir_all(aside.path());
    if removed.is_err() && before.is_some() && count_entries(aside.path()) == before {
        // Nothing is gone yet: it gets its name back, and all is as it was.
        let back = aside.put_in_place(|aside| std::fs::rename(aside, path));
        removed = back.and(removed);
    }
    aside.leave_behind();
    removed.map_err(failed)
}

/// Gives a folder another name beside it, in the place of whatever folder had that before. Programs that
/// have files of it open go on with them.
pub fn set_folder_aside(path: &Path, aside: &Path) -> Result<(), DiskError> {
    match remove_folder(aside) {
        Ok(()) | Err(DiskError::NotFound { .. }) => {}
        Err(e) => return Err(e),
    }
    std::fs::rename(path, aside).map_err(|e| DiskError::while_writing(path, e))
}

/// Removes a folder that nothing is in. A link in its place is refused.
pub fn remove_empty_folder(path: &Path) -> Result<(), DiskError> {
    std::fs::remove_dir(path).map_err(|e| DiskError::while_removing(path, e))
}

/// How many things are in a folder, at any depth; none if that cannot be told.
fn count_entries(folder: &Path) -> Option<usize> {
    let mut found = 0;
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in std::fs::read_dir(at).ok()? {
            let entry = entry.ok()?;
            found += 1;
            if entry.file_type().ok()?.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    Some(found)
}
