//! Where threads live, and what their files are called.

use std::collections::{BTreeSet, HashSet};
use std::path::{Component, Path, PathBuf};

use rethread_disk::{FileId, is_temporary, see_folder};
use rethread_model::{Note, Summary, Workspace};
use rethread_project::{Repository, is_folder, is_visible, upward};

use super::config::Config;
use super::{Atsf, FORMAT};
use crate::kit::{is_absent, read_error, sorted_entries};
use crate::{
    Dependencies, Env, Found, LocatedBy, OpenError, Projects, Root, SeenPlace, Source, Store,
};

pub(crate) const AGENT: &str = ".agent";
pub(crate) const CONFIG: &str = "config.json";
pub(crate) const IGNORE: &str = ".gitignore";
pub(crate) const THREADS: &str = "threads";
pub(crate) const MANIFEST: &str = "thread.json";
pub(crate) const LOG: &str = "messages.jsonl";
pub(crate) const ASSETS: &str = "assets";

impl Store for Atsf {
    /// The stores around the current folder, in its git worktrees, and in projects that are known.
    fn locate(&self, env: &Env, known: &[PathBuf]) -> Vec<Root> {
        let mut roots = Roots::default();
        if !env.homes_are_given {
            for folder in upward(&env.cwd) {
                roots.add(folder, Found::Current);
            }
            roots.add_worktrees(Repository::find(&env.cwd));
        }
        for folder in known {
            if is_plain_repository(folder) {
                roots.add_place(folder, Found::Known, true);
                continue;
            }
            let repository = Repository::find(folder);
            let last = repository.as_ref().map_or(folder.as_path(), |r| r.root());
            for ancestor in upward(folder) {
                roots.add(ancestor, Found::Known);
                if ancestor == last || repository.is_none() {
                    break;
                }
            }
            roots.add_worktrees(repository);
        }
        roots.found
    }

    fn watched_folders(&self, root: &Root) -> Vec<(PathBuf, bool)> {
        vec![(root.path.join(AGENT), true)]
    }

    fn list(&self, root: &Root, out: &mut dyn FnMut(Result<Source, Note>)) {
        list_folder(&root.path, out);
    }

    /// The folders of threads have the names, and the configuration says whether they may be read.
    fn listed_by(&self, root: &Root) -> Option<Vec<PathBuf>> {
        Some(vec![root.path.join(AGENT).join(CONFIG)])
    }

    /// A repository without other worktrees: where they are would be in its `.git`.
    fn located_by(&self, project: &Path) -> Option<LocatedBy> {
        is_visible(project).then(|| LocatedBy {
            sessions: threads_folder(project),
            boundary: project.join(".git"),
        })
    }

    /// The threads at a path that the user named: a thread's folder or one of its files, a store, or a
    /// project.
    fn at_path(&self, path: &Path) -> Vec<Source> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let named = |name: &str| path.file_name().is_some_and(|n| n == name);
        if path.is_file() && (named(MANIFEST) || named(LOG)) {
            return path
                .parent()
                .map(|p| source(p.to_owned()))
                .into_iter()
                .collect();
        }
        if path.join(MANIFEST).is_file() || path.join(LOG).is_file() {
            return vec![source(path)];
        }
        let project = if named(THREADS) && path.parent().is_some_and(|p| p.ends_with(AGENT)) {
            path.ancestors().nth(2)
        } else if named(AGENT) {
            path.parent()
        } else {
            Some(path.as_path())
        };
        let mut sources = Vec::new();
        if let Some(project) = project {
            list_folder(project, &mut |found| sources.extend(found.ok()));
        }
        sources
    }

    /// The files of a thread: log, description, assets.
    fn files(&self, source: &Source) -> Result<Vec<PathBuf>, OpenError> {
        let mut files: Vec<PathBuf> = [LOG, MANIFEST]
            .map(|name| source.path.join(name))
            .into_iter()
            .filter(|p| std::fs::symlink_metadata(p).is_ok_and(|m| m.is_file()))
            .collect();
        let assets = source.path.join(ASSETS);
        match std::fs::read_dir(&assets) {
            Ok(entries) => {
                let mut names: Vec<PathBuf> = entries
                    .filter_map(Result::ok)
                    .filter(|e| e.file_type().is_ok_and(|t| t.is_file()))
                    .map(|e| e.path())
                    .collect();
                names.sort();
                files.append(&mut names);
            }
            Err(e) if is_absent(&e) => {}
            Err(cause) => return Err(read_error(&assets, cause)),
        }
        if files.is_empty() {
            return Err(source.not_ours());
        }
        Ok(files)
    }

    /// The description and the log. The version of the store is known from the source.
    fn dependencies(&self, source: &Source, _: &Summary) -> Dependencies {
        Dependencies::on([MANIFEST, LOG].map(|name| source.path.join(name)).to_vec())
    }

    fn keeps_folders(&self) -> bool {
        true
    }

    fn is_whole(&self, source: &Source) -> bool {
        source.path.join(LOG).is_file()
    }

    /// Where a thread's folder is now, if its project was moved: `context.relativeDir` says where it is in
    /// the project, and the thread's own files say where the project is. It never leads out of it.
    fn moved_to(&self, thread: &Path, workspace: &Workspace) -> Option<PathBuf> {
        let before = workspace.path.as_deref()?;
        let relative = Path::new(workspace.relative.as_deref()?);
        let stays_inside = relative
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if !stays_inside || is_folder(Path::new(before)) {
            return None;
        }
        let now: PathBuf = Atsf
            .holder_of(thread)?
            .join(relative)
            .components()
            .collect();
        now.is_dir().then_some(now)
    }
}

/// The folder of a project's threads.
pub(crate) fn threads_folder(project: &Path) -> PathBuf {
    project.join(AGENT).join(THREADS)
}

/// Whether a folder is the root of a repository without other worktrees, at a glance: most projects
/// are, and a list looks at all of them.
fn is_plain_repository(folder: &Path) -> bool {
    let git = folder.join(".git");
    let is_real = std::fs::symlink_metadata(&git).is_ok_and(|meta| meta.is_dir());
    is_real && is_visible(folder) && !git.join("worktrees").is_dir()
}

#[derive(Default)]
struct Roots {
    found: Vec<Root>,
    seen: HashSet<FileId>,
    repositories: BTreeSet<PathBuf>,
}

impl Roots {
    fn add(&mut self, folder: &Path, found: Found) {
        self.add_place(folder, found, false);
    }

    fn add_place(&mut self, folder: &Path, found: Found, is_main_worktree: bool) {
        let Some(seen) = see_folder(&threads_folder(folder)) else {
            return;
        };
        // The same store can be reached by several spellings and links.
        if self.seen.insert(seen.id) {
            self.found.push(Root {
                format: FORMAT,
                path: folder.to_owned(),
                found,
                seen: SeenPlace {
                    folder: Some(seen),
                    is_main_worktree,
                },
            });
        }
    }

    fn add_worktrees(&mut self, repository: Option<Repository>) {
        let Some(repository) = repository.filter(Repository::may_have_other_worktrees) else {
            return;
        };
        if !self.repositories.insert(repository.common_dir().to_owned()) {
            return;
        }
        for worktree in repository.worktrees() {
            self.add(&worktree.path, Found::Worktree);
        }
    }
}

/// The threads of a project, by the names of their folders.
pub(crate) fn list_folder(project: &Path, out: &mut dyn FnMut(Result<Source, Note>)) {
    let refused = refused_store(project);
    for entry in sorted_entries(&threads_folder(project), out) {
        let name = entry.file_name();
        let is_folder = entry.file_type().is_ok_and(|t| t.is_dir());
        if is_folder && !is_temporary(&name) {
            out(Ok(Source {
                refused_store: refused.clone(),
                ..source(entry.path())
            }));
        }
    }
}

fn source(folder: PathBuf) -> Source {
    let id = folder
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    Source::new(FORMAT, id, folder)
}

/// The version of a project's store, if it must be refused. Asked once for all its threads.
fn refused_store(project: &Path) -> Option<String> {
    match Config::read(project) {
        Err(OpenError::Unsupported { version, .. }) => Some(version),
        _ => None,
    }
}

/// Copies that sync tools leave beside a thread's files when two machines wrote at once. Nobody
/// reads them, so somebody should be told.
pub(crate) fn conflict_copies(thread: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(thread).into_iter().flatten().flatten();
    let is_copy = |path: &PathBuf| {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_lowercase();
        name.contains(".sync-conflict-") || name.contains("conflicted copy")
    };
    let mut copies: Vec<PathBuf> = entries.map(|e| e.path()).filter(is_copy).collect();
    copies.sort();
    copies
}
