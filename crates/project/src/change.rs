//! Making and removing worktrees: what only the `git` program does.
//!
//! Nothing of the repository's own runs: see [`crate::program`].

use std::path::Path;
use std::process::Command;

use crate::Repository;
use crate::file;
use crate::settings::{GitSettings, LARGE_FILES, LeftOff};

/// How much of a file of attributes is looked at.
const ATTRIBUTES_LIMIT: u64 = 1 << 20;

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
    /// Makes a worktree in a new folder, on a new branch that starts at the current commit. Gives
    /// what git would have run, and did not, because the repository asks for it.
    pub fn add_worktree(&self, folder: &Path, branch: &str) -> Result<Vec<LeftOff>, GitError> {
        let mut git = self.git_command();
        git.args(["worktree", "add", "--quiet", "--no-checkout", "-b", branch])
            .arg("--")
            .arg(folder);
        git_output(git)?;
        let checked_out = match Repository::find(folder) {
            Some(made) => made.check_out(),
            None => Err(GitError("the worktree is not there".to_owned())),
        };
        if checked_out.is_err() {
            // Half a worktree is nothing that was asked for.
            let _ = self.remove_worktree(folder);
            let _ = self.delete_branch(branch);
        }
        checked_out
    }

    /// Fills a worktree with its files. Which settings hold depends on the worktree, because includes
    /// may have conditions: so they are asked for in this one.
    fn check_out(&self) -> Result<Vec<LeftOff>, GitError> {
        let settings = GitSettings::of_repository(self)?;
        let mut git = self.git_command();
        let mut left_off = settings.skipped_programs(self);
        left_off.extend(settings.without_own_filters(&mut git)?);
        git.args(["reset", "--hard", "--quiet", "--no-recurse-submodules"]);
        match git_output(git) {
            Ok(_) => {
                left_off.retain(|one| self.is_concerned(one));
                Ok(left_off)
            }
            Err(GitError(said)) if settings.is_partial() => Err(GitError(format!(
                "{said}; some of this partial clone is not here, and Rethread does not fetch it: `git worktree add` does"
            ))),
            Err(e) => Err(e),
        }
    }

    /// Whether this is worth a word: most people have the filter for large files, and few repositories
    /// have such files.
    fn is_concerned(&self, left_off: &LeftOff) -> bool {
        if *left_off != LeftOff::Filter(LARGE_FILES.to_owned()) {
            return true;
        }
        let asks = format!("filter={LARGE_FILES}").into_bytes();
        let own = self.root().join(".gitattributes");
        let common = self.common_dir().join("info").join("attributes");
        [own, common].iter().any(|path| {
            let text = file::read_limited(path, ATTRIBUTES_LIMIT).unwrap_or_default();
            text.windows(asks.len()).any(|part| part == asks)
        })
    }

    /// Removes a worktree with all that is in it, also with what [`Repository::changes`] tells of.
    pub fn remove_worktree(&self, folder: &Path) -> Result<(), GitError> {
        let mut git = self.git_command();
        git.args(["worktree", "remove", "--force", "--"])
            .arg(folder);
        run_git(git)
    }

    /// Deletes a branch that was made for a worktree which is not wanted after all.
    pub fn delete_branch(&self, branch: &str) -> Result<(), GitError> {
        let mut git = self.git_command();
        git.args(["branch", "--quiet", "-D", "--", branch]);
        run_git(git)
    }

    /// Forgets worktrees whose folders are gone.
    pub fn prune_worktrees(&self) -> Result<(), GitError> {
        let mut git = self.git_command();
        git.args(["worktree", "prune"]);
        run_git(git)
    }

    /// The files of this worktree that are changed or not tracked, as git names them, and the
    /// submodules that are there: git is not asked about those, because they have a configuration of
    /// their own.
    pub fn changes(&self) -> Result<Vec<String>, GitError> {
        let mut changes = self.list_submodules()?;
        let mut git = self.git_command();
        GitSettings::of_repository(self)?.without_filters(&mut git)?;
        git.args(["status", "--porcelain", "-z", "--untracked-files=all"]);
        git.arg("--ignore-submodules=all");
        let output = git_text(git)?;
        // Each is two letters, a space and a path.
        let names = output.split('\0').filter_map(|entry| entry.get(3..));
        changes.extend(names.map(str::to_owned));
        Ok(changes)
    }

    /// The submodules that are there, or were.
    fn list_submodules(&self) -> Result<Vec<String>, GitError> {
        let mut git = self.git_command();
        git.args(["ls-files", "--stage", "-z"]);
        let output = git_text(git)?;
        let all = output
            .split('\0')
            .filter_map(|entry| Some(entry.strip_prefix("160000 ")?.split_once('\t')?.1));
        let there = all.filter(|path| self.root().join(path).join(".git").exists());
        let mut there: Vec<String> = there.map(str::to_owned).collect();
        if self.is_linked_worktree() && self.git_dir().join("modules").is_dir() {
            there.push(".git/modules".to_owned());
        }
        Ok(there)
    }
}

fn run_git(git: Command) -> Result<(), GitError> {
    git_output(git).map(drop)
}

/// What git prints; what is not UTF-8 is U+FFFD.
fn git_text(git: Command) -> Result<String, GitError> {
    git_output(git).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// What git prints.
pub(crate) fn git_output(mut git: Command) -> Result<Vec<u8>, GitError> {
    let output = git
        .output()
        .map_err(|e| GitError(format!("cannot be started: {e}")))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim().strip_prefix("fatal: ").unwrap_or(said.trim());
    Err(GitError(said.to_owned()))
}
