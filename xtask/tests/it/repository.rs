//! The files of the repository.

use std::fs;
use std::path::{Path, PathBuf};

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap().to_owned()
}

/// The folders that hold the project's own files.
const FOLDERS: [&str; 8] = [
    ".cargo", ".ci", ".github", "crates", "docs", "fixtures", "fuzz", "xtask",
];

/// The project's own files, as paths from the root with `/` between their parts, in order. Files
/// that a user may have beside them are not among them.
pub(crate) fn files(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = FOLDERS.iter().map(|f| root.join(f)).collect();
    for entry in entries(root) {
        if entry.is_file() {
            found.push(entry);
        }
    }
    while let Some(folder) = folders.pop() {
        for entry in entries(&folder) {
            if entry.is_file() {
                found.push(entry);
            } else if !entry.ends_with("target") {
                folders.push(entry);
            }
        }
    }
    let mut names: Vec<String> = found.iter().map(|path| name(root, path)).collect();
    names.sort();
    names
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.map(|e| e.unwrap().path()).collect()
}

fn name(root: &Path, path: &Path) -> String {
    let parts = path.strip_prefix(root).unwrap().components();
    let parts: Vec<_> = parts.map(|p| p.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

/// The folders in a folder, by their names, in order.
pub(crate) fn folders(of: &Path) -> Vec<String> {
    let mut names: Vec<String> = entries(of)
        .iter()
        .filter(|path| path.is_dir())
        .map(|path| name(of, path))
        .collect();
    names.sort();
    names
}

/// A file's text; empty if it is not there.
pub(crate) fn text(path: &Path) -> String {
    let bytes = fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Fails with a list of what is wrong.
#[track_caller]
pub(crate) fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

/// Writes a file of a made-up repository.
pub(crate) fn put(root: &Path, name: &str, text: &str) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
