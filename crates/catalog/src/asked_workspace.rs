//! Which sessions belong to a workspace that the user named.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rethread_disk::path_of_text;
use rethread_formats::{
    Env, HomeKind, by_name, is_spelled_inside, is_windows_path, last_name, local_path,
};
use rethread_model::Summary;
use rethread_project::{Repository, is_folder};

use crate::path::absolute;

/// A workspace as the user named it. What git or the disk knows of a folder is asked once, not for
/// each session.
#[derive(Debug)]
pub enum AskedWorkspace {
    /// A folder of this machine.
    Folder(AskedFolder),
    /// A path of another machine or system, as it is spelled there.
    Foreign(String),
    /// A part of a name, in small letters, and the main worktrees of the folders seen so far.
    Name(String, HashMap<String, Option<PathBuf>>),
}

/// A folder of this machine that the user named.
#[derive(Debug)]
pub struct AskedFolder {
    /// The folder, and the same place in the other worktrees of its project.
    folders: Vec<PathBuf>,
    /// Its path as text, where it is not there: it may be one of another machine.
    spelled: Option<String>,
    /// Whether the paths seen so far are in it.
    seen: HashMap<PathBuf, bool>,
}

impl AskedWorkspace {
    /// `.`, a path, or a part of a name.
    pub fn new(env: &Env, name: &str) -> Self {
        let path = path_of_text(name);
        if cfg!(not(windows)) && is_windows_path(name) && !is_folder(&env.cwd.join(&path)) {
            Self::Foreign(name.to_owned())
        } else if is_path(name) || env.cwd.join(&path).is_file() {
            Self::folder(env, absolute(&env.cwd, &path))
        } else {
            Self::Name(name.to_lowercase(), HashMap::new())
        }
    }

    /// A folder, by its whole path. Worktrees belong to their project, so the current folder and
    /// any of the main worktree also stand for their place in the others. Who names a folder of
    /// another worktree from outside means that one alone.
    pub fn folder(env: &Env, folder: PathBuf) -> Self {
        let is_current = absolute(&env.cwd, Path::new(".")) == folder;
        let others = Repository::find(&folder)
            .filter(|repository| is_current || !repository.is_linked_worktree())
            .and_then(|repository| {
                let below = folder.strip_prefix(repository.root()).ok()?.to_owned();
                let worktrees = repository.worktrees().into_iter();
                Some(worktrees.map(move |worktree| worktree.path.join(&below)))
            });
        let mut folders: Vec<PathBuf> = others.into_iter().flatten().collect();
        let is_there = is_folder(&folder);
        let spelled = folder.to_str().filter(|_| !is_there).map(str::to_owned);
        folders.push(folder);
        Self::Folder(AskedFolder {
            folders,
            spelled,
            seen: HashMap::new(),
        })
    }

    /// The word, in small letters, where it is no path.
    pub fn word(&self) -> Option<&str> {
        match self {
            Self::Name(word, _) => Some(word),
            Self::Folder(_) | Self::Foreign(_) => None,
        }
    }

    /// Whether a session belongs to it.
    pub fn has(&mut self, env: &Env, session: &Summary) -> bool {
        let workspace = &session.head.workspace;
        let worktree = workspace.worktree.as_ref().map(|w| &w.path);
        let mut named = workspace.path.iter().chain(worktree);
        match self {
            Self::Folder(folder) => {
                named.any(|path| folder.has_workspace(env, session, path))
                    || env.home_of(&session.path).is_none()
                        && is_kept_in_project(session)
                        && folder.is_inside(&env.cwd, &session.path)
            }
            Self::Foreign(folder) => named.any(|path| is_spelled_inside(path, folder)),
            Self::Name(name, main_worktrees) => {
                let is_named = |path: &str| last_name(path).to_lowercase().contains(name.as_str());
                let is_main_named = |path: &String| {
                    let main = main_worktrees.entry(path.clone());
                    let main = main.or_insert_with(|| main_worktree(&local_path(env, path)?));
                    main.as_ref()
                        .is_some_and(|main| is_named(&main.to_string_lossy()))
                };
                named.clone().any(|path| is_named(path))
                    || is_of_this_machine(env, session) && named.any(is_main_named)
            }
        }
    }
}

impl AskedFolder {
    /// Whether a path that a session names is in it. A path of another machine or system is in no
    /// folder of this one, unless the user said where that home is found here. Who names a path that
    /// is not there means one of another machine, as it is spelled.
    fn has_workspace(&mut self, env: &Env, session: &Summary, path: &str) -> bool {
        if is_of_this_machine(env, session) {
            return local_path(env, path).is_some_and(|path| self.has(&env.cwd, &path));
        }
        let home = env.home_of(&session.path);
        let home = home.filter(|home| home.kind != HomeKind::Remote);
        let mapped = home.and_then(|home| home.path_here(path));
        mapped.is_some_and(|path| self.has(&env.cwd, &path))
            || self
                .spelled
                .as_deref()
                .is_some_and(|folder| is_spelled_inside(path, folder))
    }

    fn has(&mut self, cwd: &Path, path: &Path) -> bool {
        if let Some(known) = self.seen.get(path) {
            return *known;
        }
        let is_inside = self.is_inside(cwd, path);
        self.seen.insert(path.to_owned(), is_inside);
        is_inside
    }

    fn is_inside(&self, cwd: &Path, path: &Path) -> bool {
        let whole = absolute(cwd, path);
        self.folders.iter().any(|folder| whole.starts_with(folder))
    }
}

/// Whether a session lies in the project that it belongs to. Stores of a home hold sessions of all
/// projects, so where those lie says nothing of their workspace.
fn is_kept_in_project(session: &Summary) -> bool {
    by_name(session.head.format).is_some_and(|format| !format.about().in_project.is_empty())
}

/// Whether the paths that a session names are paths of this machine, as far as its home tells.
fn is_of_this_machine(env: &Env, session: &Summary) -> bool {
    let provenance = session.head.provenance.as_ref();
    provenance.is_none_or(|p| p.home() == "local") && env.home_of(&session.path).is_none()
}

/// Whether a workspace is named by its path, and not by a part of its name.
pub fn is_path(name: &str) -> bool {
    name == "." || name == ".." || name.contains(['/', '\\']) || Path::new(name).is_absolute()
}

/// The main worktree of the project whose linked worktree a folder is in.
fn main_worktree(folder: &Path) -> Option<PathBuf> {
    let repository = Repository::find(folder)?;
    repository
        .is_linked_worktree()
        .then(|| repository.main_root())?
}
