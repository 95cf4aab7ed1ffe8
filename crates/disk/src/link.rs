//! Links to files and folders.

use std::{io, path::Path};

use crate::{
    create::{Created, is_taken},
    error::DiskError,
};

/// Makes a link at `at` that leads to `to`, which must be there. It never replaces anything.
///
/// On Windows a link to a folder is a junction, which needs no special rights.
///
/// ```
/// use rethread_disk::{Created, link};
///
/// let folder = tempfile::tempdir()?;
/// let (at, to) = (folder.path().join("link"), folder.path().join("file"));
/// std::fs::write(&to, "x")?;
/// assert_eq!(link(&at, &to)?, Created::New);
/// assert_eq!(link(&at, &to)?, Created::Existed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn link(at: &Path, to: &Path) -> Result<Created, DiskError> {
    if is_taken(at)? {
        return Ok(Created::Existed);
    }
    match make_link(at, to) {
        Ok(()) => Ok(Created::New),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(Created::Existed),
        Err(e) => Err(DiskError::while_writing(at, e)),
    }
}

#[cfg(unix)]
fn make_link(at: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(to, at)
}

#[cfg(windows)]
fn make_link(at: &Path, to: &Path) -> io::Result<()> {
    if to.is_dir() {
        junction::create(to, at)
    } else {
        std::os::windows::fs::symlink_file(to, at)
    }
}
