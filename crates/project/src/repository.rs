//! Finding the repository that a folder is in.

use crate::boundary::{is_visible, upward};
use crate::config::GitConfig;
use crate::file;
use crate::path::resolve_path;
use crate::program;
use crate::refs::{self, GitRefs, Refs};
use crate::worktree::{self, PATH_LIMIT, Worktree};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Facts about the git worktree that a folder is in.
///
/// Where things are is settled by [`Repository::find`]; what changes while people
/// work (branch, commit, worktrees) is read anew at each call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// The folder that has the `.git`.
    holder: PathBuf,
    root: PathBuf,
    git_dir: PathBuf,
    common_dir: PathBuf,
    is_linked: bool,
    config: GitConfig,
}

impl Repository {
    /// Walks upward from `folder` to the first `.git`, be it a folder or a file.
    ///
    /// `None` outside git, and for a folder that does not exist. A damaged `.git`
    /// is a repository with fewer facts. Environment variables such as `GIT_DIR`
    /// do not count, and the walk does not stop at mount points.
    ///
    /// ```
    /// use std::path::Path;
    /// use rethread_project::Repository;
    ///
    /// assert!(Repository::find(Path::new("/no/such/folder")).is_none());
    /// ```
    pub fn find(folder: &Path) -> Option<Repository> {
        if folder.is_absolute() && !is_visible(folder) {
            return None;
        }
        let folder = fs::canonicalize(folder).ok()?;
        upward(&folder).find_map(|holder| {
            let dot_git = holder.join(".git");
            let kind = fs::symlink_metadata(&dot_git).ok()?;
            let git_dir = if kind.is_dir() {
                // Its holder is a real path already.
                dot_git
            } else if kind.is_symlink() && dot_git.is_dir() {
                resolve_path(&dot_git)
            } else if dot_git.is_file() {
                resolve_path(&pointed_to(&dot_git, b"gitdir: ").unwrap_or(dot_git))
            } else {
                return None;
            };
            Some(Self::from_git_dir(holder, git_dir, &folder))
        })
    }

    fn from_git_dir(holder: &Path, git_dir: PathBuf, folder: &Path) -> Repository {
        let pointer = pointed_to(&git_dir.join("commondir"), b"");
        let is_linked = pointer.is_some();
        let common_dir = pointer.map_or_else(|| git_dir.clone(), |path| resolve_path(&path));
        let config = main_config(&common_dir);
        let own_worktree = if is_linked && config.per_worktree {
            GitConfig::read(&git_dir.join("config.worktree")).worktree
        } else if is_linked {
            None
        } else {
            config.worktree.clone()
        };
        // `core.worktree` may name any folder; it counts only if we are inside.
        let root = own_worktree
            .map(|path| resolve_path(&git_dir.join(path)))
            .filter(|path| folder.starts_with(path))
            .unwrap_or_else(|| holder.to_path_buf());
        Repository {
            holder: holder.to_path_buf(),
            root,
            git_dir,
            common_dir,
            is_linked,
            config,
        }
    }

    /// The root folder of this worktree, symbolic links resolved: what `git
    /// rev-parse --show-toplevel` prints. It is the folder that was asked about or
    /// one above it.
    ///
    /// ```no_run
    /// # use std::path::Path;
    /// # use rethread_project::Repository;
    /// let repository = Repository::find(Path::new("/home/me/app/src")).expect("a repository");
    /// assert_eq!(repository.root(), Path::new("/home/me/app"));
    /// ```
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// This worktree's own git folder, where its `HEAD` is. For a linked worktree
    /// that is a folder in `worktrees/` of the repository.
    ///
    /// ```no_run
    /// # use std::path::Path;
    /// # use rethread_project::Repository;
    /// let repository = Repository::find(Path::new("/home/me/app-fix")).expect("a worktree");
    /// assert_eq!(repository.git_dir(), Path::new("/home/me/app/.git/worktrees/app-fix"));
    /// ```
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The git folder of the main repository, where branches and objects are: what
    /// `git rev-parse --git-common-dir` prints.
    ///
    /// ```no_run
    /// # use std::path::Path;
    /// # use rethread_project::Repository;
    /// let repository = Repository::find(Path::new("/home/me/app-fix")).expect("a worktree");
    /// assert_eq!(repository.common_dir(), Path::new("/home/me/app/.git"));
    /// ```
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// Whether this worktree was made by `git worktree add`. A submodule was not.
    ///
    /// ```no_run
    /// # use std::path::Path;
    /// # use rethread_project::Repository;
    /// let repository = Repository::find(Path::new("/home/me/app-fix")).expect("a worktree");
    /// assert!(repository.is_linked_worktree());
    /// ```
    pub fn is_linked_worktree(&self) -> bool {
        self.is_linked
    }

    /// The root folder of the main worktree; the same as [`Repository::root`] there.
    ///
    /// `None` for a bare repository, which has no main worktree, and where the
    /// files do not tell.
    ///
    /// ```no_run
    /// # use std::path::Path;
    /// # use rethread_project::Repository;
    /// let repository = Repository::find(Path::new("/home/me/app-fix")).expect("a worktree");
    /// assert_eq!(repository.main_root().as_deref(), Some(Path::new("/home/me/app")));
    /// ```
    pub fn main_root(&self) -> Option<PathBuf> {
        if self.config.bare == Some(true) || !self.common_dir.is_dir() {
            return None;
        }
        if !self.is_linked {
            return Some(self.root.clone());
        }
        let named = self.config.worktree.as_ref();
        let named = named.map(|path| resolve_path(&self.common_dir.join(path)));
        if let Some(root) = named.filter(|root| root.is_dir()) {
            return Some(root);
        }
        let is_inside = self
            .common_dir
            .file_name()
            .is_some_and(|name| name == ".git");
        let parent = self.common_dir.parent().filter(|_| is_inside)?;
        Some(parent.to_path_buf())
    }

    /// The branch that is checked out, also before its first commit. `None` when
    /// `HEAD` is detached or damaged.
    ///
    /// ```no_run
    /// # use std::path::Path;
    /// # use rethread_project::Repository;
    /// let repository = Repository::find(Path::new("/home/me/app")).expect("a repository");
    /// assert_eq!(repository.branch().as_deref(), Some("main"));
    /// ```
    pub fn branch(&self) -> Option<String> {
        self.refs_of(&self.git_dir, "HEAD").branch()
    }

    /// The full hash of the commit that `HEAD` is at. `None` before the first
    /// commit and when the references are damaged.
    ///
    /// ```no_run
    /// # use std::path::Path;
    /// # use rethread_project::Repository;
    /// let repository = Repository::find(Path::new("/home/me/app")).expect("a repository");
    /// let commit = repository.commit().expect("a commit");
    /// assert!(commit.len() == 40 || commit.len() == 64);
    /// ```
    pub fn commit(&self) -> Option<String> {
        self.refs_of(&self.git_dir, "HEAD").commit()
    }

    /// Whether the `git_command` program can be asked about it: it is installed, and the repository belongs to
    /// the user or is one of those that the user called safe. Where it cannot, what only it knows is not
    /// known, which is not the same as that there is nothing to know.
    ///
    /// ```no_run
    /// # use std::path::Path;
    /// # use rethread_project::Repository;
    /// let repository = Repository::find(Path::new("/home/me/app")).expect("a repository");
    /// assert!(repository.answers());
    /// ```
    pub fn answers(&self) -> bool {
        program::ask_git(&self.holder, ["rev-parse", "--git-dir"]).is_some()
    }

    /// The address of a remote, with what the user's configuration puts in its place: what
    /// `git remote get-url` prints.
    ///
    /// ```no_run
    /// # use std::path::Path;
    /// # use rethread_project::Repository;
    /// let repository = Repository::find(Path::new("/home/me/app")).expect("a repository");
    /// assert_eq!(repository.remote_url("origin").as_deref(), Some("git@example.com:me/app.git"));
    /// ```
    pub fn remote_url(&self, name: &str) -> Option<String> {
        let url = program::ask_git(&self.holder, ["remote", "get-url", "--", name])?;
        String::from_utf8(url).ok()
    }

    /// The hashes of the commits that the history of `HEAD` begins with, sorted. `None` when there
    /// are none, when there are too many to be told, and when git takes too long to find them.
    ///
    /// ```no_run
    /// # use std::path::Path;
    /// # use rethread_project::Repository;
    /// let repository = Repository::find(Path::new("/home/me/app")).expect("a repository");
    /// assert_eq!(repository.root_commits().expect("a history").len(), 1);
    /// ```
    pub fn root_commits(&self) -> Option<Vec<String>> {
        let answer = program::ask_git(&self.holder, ["rev-list", "--max-parents=0", "HEAD"])?;
        let lines = answer.split(|b| *b == b'\n');
        let mut commits: Vec<String> = lines.map(refs::parse_hash).collect::<Option<_>>()?;
        commits.sort();
        Some(commits)
    }

    /// All worktrees of the repository: the main one first (a bare repository has
    /// none), then the linked ones sorted by path, also those whose folder is gone.
    ///
    /// ```no_run
    /// # use std::path::Path;
    /// # use rethread_project::Repository;
    /// let repository = Repository::find(Path::new("/home/me/app")).expect("a repository");
    /// assert!(repository.worktrees()[0].is_main);
    /// ```
    pub fn worktrees(&self) -> Vec<Worktree> {
        let main = self.main_root().map(|path| Worktree {
            branch: self
                .refs_of(&self.common_dir, "main-worktree/HEAD")
                .branch(),
            is_main: true,
            exists: path.is_dir(),
            path,
        });
        let asked = self.config.foreign_refs.then_some(&*self.holder);
        let linked = worktree::linked_worktrees(&self.common_dir, asked);
        main.into_iter().chain(linked).collect()
    }

    /// Whether it may have more worktrees than the one that was asked about: a cheap look, for
    /// who walks over many repositories.
    ///
    /// ```no_run
    /// # use std::path::Path;
    /// # use rethread_project::Repository;
    /// let repository = Repository::find(Path::new("/home/me/app")).expect("a repository");
    /// assert!(repository.may_have_other_worktrees() || repository.worktrees().len() <= 1);
    /// ```
    pub fn may_have_other_worktrees(&self) -> bool {
        self.is_linked || self.common_dir.join("worktrees").is_dir()
    }

    /// Git in this worktree, so that nothing of the repository's own runs.
    pub(crate) fn git_command(&self) -> Command {
        program::git_command(&self.holder)
    }

    /// Whether the repository has this worktree in its list. Any folder can say that it is a linked
    /// worktree; the main one is where it says.
    ///
    /// ```no_run
    /// # use std::path::Path;
    /// # use rethread_project::Repository;
    /// let repository = Repository::find(Path::new("/home/me/app-fix")).expect("a worktree");
    /// assert!(repository.is_known());
    /// ```
    pub fn is_known(&self) -> bool {
        !self.is_linked
            || worktree::worktree_folder(&self.git_dir).as_deref() == Some(&*self.holder)
    }

    fn refs_of<'a>(&'a self, git_dir: &'a Path, head: &'a str) -> Refs<'a> {
        Refs {
            git_dir,
            common_dir: &self.common_dir,
            foreign: self.config.foreign_refs.then_some(GitRefs {
                holder: &self.holder,
                head: head.as_ref(),
            }),
        }
    }
}

/// The repository's `config`, with what `config.worktree` of its main worktree says
/// in its place where that file counts.
fn main_config(common_dir: &Path) -> GitConfig {
    let mut config = GitConfig::read(&common_dir.join("config"));
    if config.per_worktree {
        let own = GitConfig::read(&common_dir.join("config.worktree"));
        config.bare = own.bare.or(config.bare);
        config.worktree = own.worktree.or(config.worktree);
    }
    config
}

/// The path that a file of one line names after `prefix`, as seen from the file.
fn pointed_to(path: &Path, prefix: &[u8]) -> Option<PathBuf> {
    let bytes = file::read_limited(path, PATH_LIMIT)?;
    let target = file::trim_newlines(&bytes).strip_prefix(prefix)?;
    Some(path.parent()?.join(file::to_path(target)?))
}
