//! Paths as users type them.

use std::path::{Component, Path, PathBuf};

use rethread_project::is_visible;

/// The whole path of what a user named from a folder: links resolved where it is there, else
/// without `.` and `..`.
pub fn absolute(from: &Path, named: &Path) -> PathBuf {
    let joined = from.join(named);
    if is_visible(&joined)
        && let Ok(real) = std::fs::canonicalize(&joined)
    {
        return real;
    }
    let mut out = PathBuf::new();
    for part in joined.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}
