//! What is known of the copy of a home: where it was, and which versions of its files are here.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use rethread_disk::{DiskError, Durability, Mode, open_read, replace_with};
use rethread_json::{Object, Tree};

use super::listed::{RemotePath, Version};

const FILE: &str = "state.jsonl";

/// What is known of a copy. If it is lost, everything is copied again.
#[derive(Debug, Default)]
pub(super) struct State {
    path: PathBuf,
    /// The home folder there.
    pub(super) there: Option<String>,
    files: BTreeMap<RemotePath, Version>,
}

impl State {
    /// What was known last.
    pub(super) fn load(folder: &Path) -> Self {
        let mut state = Self {
            path: folder.join(FILE),
            ..Self::default()
        };
        let Ok(file) = open_read(&state.path) else {
            return state;
        };
        let mut tree = Tree::default();
        for line in BufReader::new(file).split(b'\n').map_while(Result::ok) {
            if tree.parse_into(&line).is_err() {
                continue;
            }
            let value = tree.root(&line);
            let text = |key| value.get(key).and_then(rethread_json::Value::str);
            if let Some(home) = text("home") {
                state.there = Some(home.into_owned());
            }
            let size = value.get("size").and_then(rethread_json::Value::u64);
            let path = text("path").and_then(|p| RemotePath::new(&p).ok());
            if let (Some(path), Some(size), Some(tag)) = (path, size, text("tag")) {
                let tag = tag.into_owned();
                state.files.insert(path, Version { size, tag });
            }
        }
        state
    }

    /// Writes down what is known.
    pub(super) fn save(&self) -> Result<(), DiskError> {
        replace_with(&self.path, Mode::Private, Durability::None, |out| {
            if let Some(there) = &self.there {
                out.write_all(&Object::new().str("home", there).finish())?;
                out.write_all(b"\n")?;
            }
            for (path, version) in &self.files {
                let line = Object::new()
                    .str("path", path.as_str())
                    .u64("size", version.size)
                    .str("tag", &version.tag);
                out.write_all(&line.finish())?;
                out.write_all(b"\n")?;
            }
            Ok(())
        })
    }

    pub(super) fn version(&self, path: &RemotePath) -> Option<&Version> {
        self.files.get(path)
    }

    pub(super) fn set(&mut self, path: RemotePath, version: Version) {
        self.files.insert(path, version);
    }

    pub(super) fn forget(&mut self, path: &RemotePath) {
        self.files.remove(path);
    }
}
