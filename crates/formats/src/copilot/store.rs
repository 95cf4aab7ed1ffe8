//! Where sessions live, and what their files are called.

use std::path::{Path, PathBuf};

use rethread_model::{Note, Summary};

use super::workspace::WORKSPACE;
use super::{Copilot, FORMAT};
use crate::kit::{LogFolders, begins_with, folder_entries, require_file};
use crate::{Dependencies, Env, OpenError, Removal, Root, Source, Store, WriteError};

/// A folder a session; before version 1.0 a file.
pub(super) const FOLDERS: LogFolders = LogFolders {
    format: FORMAT,
    variable: "COPILOT_HOME",
    in_home: ".copilot",
    sessions: "session-state",
    log: "events.jsonl",
    is_log: |path| {
        begins_with(path, |first| {
            let type_name = first.get("type");
            type_name.is_some_and(|name| name.is_str("session.start"))
                && first.at(&["data", "copilotVersion"]).is_some()
        })
    },
};

impl Store for Copilot {
    fn locate(&self, env: &Env, _known: &[PathBuf]) -> Vec<Root> {
        FOLDERS.locate(env)
    }

    fn list(&self, root: &Root, out: &mut dyn FnMut(Result<Source, Note>)) {
        FOLDERS.list(&root.path, out);
    }

    fn at_path(&self, path: &Path) -> Vec<Source> {
        FOLDERS.at_path(path)
    }

    /// The log, and what the client keeps of the conversation beside it.
    fn files(&self, source: &Source) -> Result<Vec<PathBuf>, OpenError> {
        require_file(source)?;
        let mut files = vec![source.path.clone()];
        if let Some(folder) = FOLDERS.own_folder(&source.path) {
            files.extend([WORKSPACE, "plan.md"].map(|name| folder.join(name)));
            files.extend(folder_entries(&folder.join("checkpoints"), &mut |_| {}));
        }
        files.retain(|path| std::fs::symlink_metadata(path).is_ok_and(|m| m.is_file()));
        Ok(files)
    }

    /// The log, and what names the session.
    fn dependencies(&self, source: &Source, _: &Summary) -> Dependencies {
        let named = FOLDERS.own_folder(&source.path);
        let named = named.map(|folder| folder.join(WORKSPACE));
        let own = std::iter::once(source.path.clone()).chain(named);
        Dependencies::on(own.collect())
    }

    fn base_folder(&self, source: &Source) -> PathBuf {
        FOLDERS.base_folder(&source.path)
    }

    fn remove(&self, source: &Source, _for_good: bool) -> Result<Removal, WriteError> {
        Ok(FOLDERS.removal(&source.path))
    }
}
