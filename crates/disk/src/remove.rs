//! Removing for good.

use std::path::Path;

use crate::{
    error::{DiskError, FileKind},
    open::regular,
};

/// Removes one regular file. Links and everything else are refused.
pub fn remove_file(path: &Path) -> Result<(), DiskError> {
    if regular(path)?.is_none() {
        return Err(DiskError::NotFound {
            path: path.to_owned(),
        });
    }
    std::fs::remove_file(path).map_err(|e| DiskError::remove(path, e))
}

/// Removes a folder with all that is in it. Links inside are removed, never followed; a link in
/// the place of the folder is refused.
pub fn remove_folder(path: &Path) -> Result<(), DiskError> {
    let meta = std::fs::symlink_metadata(path).map_err(|e| DiskError::read(path, e))?;
    if !meta.is_dir() {
        let (path, found) = (path.to_owned(), FileKind::of(meta.file_type()));
        return Err(DiskError::NotAFolder { path, found });
    }
    std::fs::remove_dir_all(path).map_err(|e| DiskError::remove(path, e))
}
