//! Which sessions belong to a workspace that the user named.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rethread_formats::Env;
use rethread_model::Summary;
use rethread_project::Repository;

use crate::path::absolute;

/// A workspace as the user named it. What git knows of it is asked once, not for each session.
#[derive(Debug)]
pub(crate) enum AskedWorkspace {
    /// A folder, and the same place in the other worktrees of its project.
    Folders(Vec<PathBuf>),
    /// A part of a name, in small letters, and the main worktrees of the folders seen so far.
    Name(String, HashMap<String, Option<PathBuf>>),
}

impl AskedWorkspace {
    /// `.`, a path, or a part of a name.
    pub(crate) fn new(env: &Env, name: &str) -> Self {
        if is_path(name) || env.cwd.join(name).is_file() {
            Self::folder(env, absolute(&env.cwd, Path::new(name)))
        } else {
            Self::Name(name.to_lowercase(), HashMap::new())
        }
    }

    /// A folder, by its whole path. Worktrees belong to their project, so the current folder and
    /// any of the main worktree also stand for their place in the others. Who names a folder of
    /// another worktree from outside means that one alone.
    pub(crate) fn folder(env: &Env, folder: PathBuf) -> Self {
        let is_current = absolute(&env.cwd, Path::new(".")) == folder;
        let others = Repository::find(&folder)
            .filter(|repository| is_current || !repository.is_linked_worktree())
            .and_then(|repository| {
                let below = folder.strip_prefix(repository.root()).ok()?.to_owned();
                let worktrees = repository.worktrees().into_iter();
                Some(worktrees.map(move |worktree| worktree.path.join(&below)))
            });
        let mut folders: Vec<PathBuf> = others.into_iter().flatten().collect();
        folders.push(folder);
        Self::Folders(folders)
    }

    /// Whether a session belongs to it.
    pub(crate) fn has(&mut self, env: &Env, session: &Summary) -> bool {
        let workspace = &session.head.workspace;
        let worktree = workspace.worktree.as_ref().map(|w| &w.path);
        let mut named = workspace.path.iter().chain(worktree);
        let provenance = session.head.provenance.as_ref();
        let is_elsewhere = provenance.is_some_and(|p| p.home() != "local");
        let is_copy = env.home_of(&session.path).is_some();
        match self {
            Self::Folders(folders) => {
                let inside = |p: &Path| {
                    let path = absolute(&env.cwd, p);
                    folders.iter().any(|folder| path.starts_with(folder))
                };
                // A path of another machine says nothing about this one but how it is spelled.
                let in_folder = |f: &String| {
                    if is_elsewhere {
                        folders.iter().any(|folder| begins_with(f, folder))
                    } else {
                        inside(Path::new(f))
                    }
                };
                named.any(in_folder) || !is_copy && inside(&session.path)
            }
            Self::Name(name, main_worktrees) => {
                let is_named = |path: &str| last_name(path).to_lowercase().contains(name.as_str());
                let is_main_named = |path: &String| {
                    let main = main_worktrees.entry(path.clone());
                    let main = main.or_insert_with(|| main_worktree(Path::new(path)));
                    main.as_ref()
                        .is_some_and(|main| is_named(&main.to_string_lossy()))
                };
                named.clone().any(|f| is_named(f))
                    || !is_elsewhere && !is_copy && named.any(is_main_named)
            }
        }
    }
}

/// Whether a workspace is named by its path, and not by a part of its name.
pub(crate) fn is_path(name: &str) -> bool {
    name == "." || name.contains(['/', '\\']) || Path::new(name).is_absolute()
}

/// Whether a path of another machine is, letter by letter, a folder of this one or in it.
fn begins_with(path: &str, folder: &Path) -> bool {
    let rest = folder.to_str().and_then(|f| path.strip_prefix(f));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '\\']))
}

/// The last name in a path of whatever system.
fn last_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The main worktree of the project whose linked worktree a folder is in.
fn main_worktree(folder: &Path) -> Option<PathBuf> {
    let repository = Repository::find(folder)?;
    repository
        .is_linked_worktree()
        .then(|| repository.main_root())?
}
