//! What `rethread-disk` promises, tried out on a real disk.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "these are tests: they make the files that they try things on, and may panic"
)]

mod append;
#[cfg(unix)]
mod child;
#[cfg(unix)]
mod crowd;
mod every_byte;
#[cfg(target_os = "linux")]
mod every_call;
#[cfg(target_os = "linux")]
mod every_folder_call;
mod exchange;
mod files;
#[cfg(target_os = "linux")]
mod full_disk;
mod leftovers;
mod log;
#[cfg(unix)]
mod modes;
mod names;
mod read;
#[cfg(target_os = "linux")]
mod strace;
#[cfg(target_os = "linux")]
mod trash;
mod tree;

use std::path::{Path, PathBuf};

use rethread_disk::is_temporary;
use tempfile::TempDir;

/// A folder of one's own, and the path of a log in it.
fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    (folder, path)
}

/// The names in a folder, without what killed processes left behind.
fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| !is_temporary(name))
        .map(|name| name.into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// The names in a folder that killed processes left behind.
fn leftovers_in(folder: &Path) -> usize {
    std::fs::read_dir(folder)
        .unwrap()
        .filter(|entry| is_temporary(&entry.as_ref().unwrap().file_name()))
        .count()
}

#[cfg(unix)]
fn mode_of(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::symlink_metadata(path)
        .unwrap()
        .permissions()
        .mode()
        & 0o7777
}
