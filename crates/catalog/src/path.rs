//! Paths as users type them.

use std::path::{Component, Path, PathBuf};

use rethread_project::is_visible;

/// The whole path of what a user named from a folder, without `.` and `..`. Links are resolved, as far
/// as it is there: what is gone is where it was.
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
    let real = |above: &Path| is_visible(above).then(|| std::fs::canonicalize(above).ok())?;
    let mut above = out.ancestors().skip(1);
    let found = above.find_map(|above| Some((above, real(above)?)));
    match found.and_then(|(above, real)| Some(real.join(out.strip_prefix(above).ok()?))) {
        Some(whole) => whole,
        None => out,
    }
}

/// Sorts paths by their bytes, each once. To compare them part by part takes many times as long, and there may
/// be thousands.
pub(crate) fn sort_paths(paths: &mut Vec<PathBuf>) {
    paths.sort_unstable_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    paths.dedup_by(|a, b| a.as_os_str() == b.as_os_str());
}
