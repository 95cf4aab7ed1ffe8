//! The folder outside of which nothing is looked at, if there is one.
//!
//! Conversations name folders, and projects are looked for upward from a folder: both may lead
//! anywhere on the machine. A program that must not depend on what is there, such as a test, says
//! once how far it may look, and whatever is outside is as if it were not there.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

static BOUNDARY: OnceLock<PathBuf> = OnceLock::new();

/// Confines this process to a folder: what is outside is not looked at from now on. Only the first
/// call counts.
///
/// ```no_run
/// use std::path::Path;
/// use rethread_project::{confine_to, is_folder};
///
/// confine_to(Path::new("/tmp/scratch"));
/// assert!(!is_folder(Path::new("/home/me/shop")));
/// ```
pub fn confine_to(folder: &Path) {
    let real = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let _ = BOUNDARY.set(real);
}

/// Whether a path may be looked at.
pub fn is_visible(path: &Path) -> bool {
    BOUNDARY.get().is_none_or(|within| path.starts_with(within))
}

/// Whether there is a folder at a path that may be looked at.
pub fn is_folder(path: &Path) -> bool {
    is_visible(path) && path.is_dir()
}

/// A folder and those above it, as far as they may be looked at.
///
/// ```
/// use std::path::Path;
/// use rethread_project::upward;
///
/// let folders: Vec<&Path> = upward(Path::new("/home/me")).collect();
/// assert_eq!(folders, [Path::new("/home/me"), Path::new("/home"), Path::new("/")]);
/// ```
pub fn upward(folder: &Path) -> impl Iterator<Item = &Path> {
    folder.ancestors().take_while(|folder| is_visible(folder))
}
