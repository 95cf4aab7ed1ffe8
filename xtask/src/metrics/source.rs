//! The source files of the crates.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// One file of a crate.
pub(super) struct SourceFile {
    /// Where it is.
    pub(super) path: PathBuf,
    /// What it says.
    pub(super) text: String,
}

impl SourceFile {
    /// How many lines of it are code: not blank, not only a comment, not of its tests.
    ///
    /// Tests stand at the end of a file, behind `#[cfg(test)]`, as everywhere in the project.
    pub(super) fn code_lines(&self) -> usize {
        let code = self.text.lines().map(str::trim);
        code.take_while(|line| *line != "#[cfg(test)]")
            .filter(|line| !line.is_empty() && !line.starts_with("//"))
            .count()
    }
}

/// The folders of the project's crates, in order.
pub(super) fn crate_folders(root: &Path) -> Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(root.join("crates"))? {
        let path = entry?.path();
        if path.join("Cargo.toml").is_file() {
            folders.push(path);
        }
    }
    folders.sort();
    Ok(folders)
}

/// All source files under a folder, in order, but for the files of tests.
pub(super) fn files_of(src: &Path) -> Result<Vec<SourceFile>> {
    let mut files = Vec::new();
    let mut folders = vec![src.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let is_test = path.file_stem().is_some_and(|name| name == "tests");
            if is_test {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = fs::read_to_string(&path)
                    .with_context(|| format!("`{}` cannot be read", path.display()))?;
                files.push(SourceFile { path, text });
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}
