//! The projects that we wrote to, remembered in the data folder.

use std::path::{Path, PathBuf};

use rethread_disk::{DiskError, Durability, Mode, append_line, ensure_folder, read_small};
use rethread_formats::Env;
use rethread_json::{Object, Tree, split_lines};

use crate::path::sort_paths;

const FILE: &str = "projects.jsonl";

/// The projects that we wrote to before, whether they are still there or not.
pub fn remembered(env: &Env) -> Vec<PathBuf> {
    let Ok(bytes) = read_small(&env.data.join(FILE)) else {
        return Vec::new();
    };
    let mut tree = Tree::default();
    let mut projects: Vec<PathBuf> = Vec::new();
    for (_, line) in split_lines(&bytes) {
        let path = tree
            .parse_into(line)
            .ok()
            .and_then(|()| tree.root(line).get("path")?.str());
        if let Some(path) = path {
            projects.push(PathBuf::from(path.into_owned()));
        }
    }
    sort_paths(&mut projects);
    projects
}

/// Remembers a project, unless it is known.
pub fn remember(env: &Env, project: &Path, d: Durability) -> Result<(), DiskError> {
    let Some(text) = project.to_str() else {
        return Ok(());
    };
    if remembered(env).iter().any(|known| known == project) {
        return Ok(());
    }
    ensure_folder(&env.data, &Mode::Private, d)?;
    let line = Object::new().str("path", text).finish();
    append_line(&env.data.join(FILE), &line, Mode::Private, d).map(drop)
}
