//! The worktrees that share one repository.

use crate::file;
use crate::path::resolve_path;
use crate::refs::{GitRefs, Refs};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The file that names a worktree's folder holds one path.
pub(crate) const PATH_LIMIT: u64 = 16 << 10;

/// One worktree of a repository.
///
/// ```no_run
/// use std::path::Path;
/// use rethread_project::Repository;
///
/// let repository = Repository::find(Path::new("/home/me/app")).expect("a repository");
/// for worktree in repository.worktrees().iter().filter(|tree| tree.exists) {
///     assert!(worktree.path.is_dir());
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    /// Its root folder, symbolic links resolved where it exists.
    pub path: PathBuf,
    /// The branch checked out there; `None` when detached or unknown.
    pub branch: Option<String>,
    /// Whether it is the main one, which holds the repository.
    pub is_main: bool,
    /// Whether its folder is there. A folder deleted by hand stays in git's list
    /// until it is pruned.
    pub exists: bool,
}

/// The linked worktrees that a repository knows, sorted by path. `asked` is the folder to ask git in
/// where only git can read the references.
pub(crate) fn linked_worktrees(common_dir: &Path, asked: Option<&Path>) -> Vec<Worktree> {
    let Ok(entries) = fs::read_dir(common_dir.join("worktrees")) else {
        return Vec::new();
    };
    let mut worktrees: Vec<Worktree> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let git_dir = entry.path();
            let path = worktree_folder(&git_dir)?;
            let mut head = OsString::from("worktrees/");
            head.push(entry.file_name());
            head.push("/HEAD");
            let refs = Refs {
                git_dir: &git_dir,
                common_dir,
                foreign: asked.map(|holder| GitRefs {
                    holder,
                    head: &head,
                }),
            };
            Some(Worktree {
                branch: refs.branch(),
                is_main: false,
                exists: path.is_dir(),
                path,
            })
        })
        .collect();
    worktrees.sort_by(|a, b| a.path.cmp(&b.path));
    worktrees
}

/// The folder of the worktree whose git folder this is: its `gitdir` names the
/// `.git` file there, absolute or (since git 2.48) relative to the git folder.
pub(crate) fn worktree_folder(git_dir: &Path) -> Option<PathBuf> {
    let bytes = file::read_limited(&git_dir.join("gitdir"), PATH_LIMIT)?;
    let dot_git = git_dir.join(file::to_path(file::trim_newlines(&bytes))?);
    let folder = match dot_git.file_name() {
        Some(name) if name == ".git" => dot_git.parent()?,
        _ => &dot_git,
    };
    Some(resolve_path(folder))
}
