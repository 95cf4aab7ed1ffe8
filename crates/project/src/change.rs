//! Making and removing worktrees: what only the `git` program does.

use std::path::Path;
use std::process::Command;

use crate::Repository;
use crate::program::without_misleading;

/// What git said when it refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitError(pub String);

impl std::fmt::Display for GitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "git: {}", self.0)
    }
}

impl std::error::Error for GitError {}

impl Repository {
    /// Makes a worktree in a new folder, on a new branch that starts at the current commit.
    pub fn add_worktree(&self, folder: &Path, branch: &str) -> Result<(), GitError> {
        let mut git = self.git();
        git.args(["worktree", "add", "--quiet", "-b", branch, "--"])
            .arg(folder);
        run(git)
    }

    /// Removes a worktree. Without `force`, git refuses while there are changes in it.
    pub fn remove_worktree(&self, folder: &Path, force: bool) -> Result<(), GitError> {
        let mut git = self.git();
        git.args(["worktree", "remove"]);
        if force {
            git.arg("--force");
        }
        git.arg("--").arg(folder);
        run(git)
    }

    /// Deletes a branch that was made for a worktree which is not wanted after all.
    pub fn delete_branch(&self, branch: &str) -> Result<(), GitError> {
        let mut git = self.git();
        git.args(["branch", "--quiet", "-D", "--", branch]);
        run(git)
    }

    /// Forgets worktrees whose folders are gone.
    pub fn prune_worktrees(&self) -> Result<(), GitError> {
        let mut git = self.git();
        git.args(["worktree", "prune"]);
        run(git)
    }

    /// The files of this worktree that are changed or not tracked, as git names them.
    pub fn changes(&self) -> Result<Vec<String>, GitError> {
        let mut git = self.git();
        git.args(["status", "--porcelain", "-z", "--untracked-files=all"]);
        let output = answer(git)?;
        // Each is two letters, a space and a path.
        let names = output.split('\0').filter_map(|entry| entry.get(3..));
        Ok(names.map(str::to_owned).collect())
    }

    fn git(&self) -> Command {
        let mut git = without_misleading(Command::new("git"));
        git.current_dir(self.root());
        git
    }
}

fn run(git: Command) -> Result<(), GitError> {
    answer(git).map(drop)
}

fn answer(mut git: Command) -> Result<String, GitError> {
    let output = git
        .stdin(std::process::Stdio::null())
        .output()
        .map_err(|e| GitError(format!("cannot be started: {e}")))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim().strip_prefix("fatal: ").unwrap_or(said.trim());
    Err(GitError(said.to_owned()))
}
