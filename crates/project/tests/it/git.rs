//! The real `git`, cut off from the settings of whoever runs the tests.

use rethread_project::Repository;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder for one test; its path has no symbolic links.
pub(crate) struct Sandbox {
    path: PathBuf,
    _folder: TempDir,
}

impl Sandbox {
    pub(crate) fn new() -> Sandbox {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = fs::canonicalize(folder.path()).expect("it exists");
        Sandbox {
            path,
            _folder: folder,
        }
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// A fresh repository on branch `main`.
    pub(crate) fn init(&self, name: &str) -> PathBuf {
        let root = self.join(name);
        fs::create_dir_all(&root).expect("a new folder");
        git(&root, &["init", "--quiet", "--initial-branch=main"]);
        root
    }

    /// A repository with one commit on branch `main`.
    pub(crate) fn committed(&self, name: &str) -> PathBuf {
        let root = self.init(name);
        commit(&root, "first");
        root
    }
}

pub(crate) fn commit(root: &Path, message: &str) {
    git(root, &["commit", "--quiet", "--allow-empty", "-m", message]);
}

pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new("git");
    for name in [
        "GIT_DIR",
        "GIT_COMMON_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_NAMESPACE",
        "GIT_PREFIX",
        "GIT_CEILING_DIRECTORIES",
        "GIT_CONFIG_PARAMETERS",
        "GIT_CONFIG_COUNT",
        "GIT_DEFAULT_REF_FORMAT",
        "GIT_DEFAULT_HASH",
    ] {
        command.env_remove(name);
    }
    for role in ["AUTHOR", "COMMITTER"] {
        command
            .env(format!("GIT_{role}_NAME"), "Ada")
            .env(format!("GIT_{role}_EMAIL"), "ada@example.com")
            .env(format!("GIT_{role}_DATE"), "2025-02-14T10:30:00Z");
    }
    command
        .current_dir(folder)
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("LC_ALL", "C")
        .output()
        .expect("git runs")
}

/// Runs git, which must succeed, and gives back what it printed.
pub(crate) fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {errors}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.trim_end().to_owned()
}

/// What git prints; `None` when it fails or prints nothing.
pub(crate) fn answer(folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = run(folder, arguments);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let text = text.trim_end().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

/// Finds the repository and compares everything with git's own words.
pub(crate) fn check(folder: &Path) -> Repository {
    let found = Repository::find(folder).expect("a repository");
    let path = |argument: &str| {
        let arguments = ["rev-parse", "--path-format=absolute", argument];
        let printed = PathBuf::from(git(folder, &arguments));
        fs::canonicalize(printed).expect("git's answer exists")
    };
    assert_eq!(found.root(), path("--show-toplevel"));
    assert_eq!(found.git_dir(), path("--git-dir"));
    assert_eq!(found.common_dir(), path("--git-common-dir"));
    assert_eq!(
        found.branch(),
        answer(folder, &["branch", "--show-current"])
    );
    let head = ["rev-parse", "--verify", "--quiet", "HEAD"];
    assert_eq!(found.commit(), answer(folder, &head));
    assert_eq!(listed(&found), worktree_list(folder));
    found
}

/// A worktree in the words of both sides: path, branch, is gone.
pub(crate) type Row = (PathBuf, Option<String>, bool);

pub(crate) fn listed(repository: &Repository) -> Vec<Row> {
    let worktrees = repository.worktrees().into_iter();
    worktrees
        .map(|tree| (tree.path, tree.branch, !tree.exists))
        .collect()
}

/// `git worktree list --porcelain`: the main one first, bare ones left out, the
/// others sorted by path.
pub(crate) fn worktree_list(folder: &Path) -> Vec<Row> {
    let text = git(folder, &["worktree", "list", "--porcelain"]);
    let mut rows: Vec<Row> = text
        .split("\n\n")
        .filter(|record| !record.lines().any(|line| line == "bare"))
        .map(|record| {
            let value = |key: &str| record.lines().find_map(|line| line.strip_prefix(key));
            let path = PathBuf::from(value("worktree ").expect("a path"));
            let branch = value("branch refs/heads/").map(str::to_owned);
            let gone = value("prunable").is_some();
            (path, branch, gone)
        })
        .collect();
    let has_main = !text.lines().any(|line| line == "bare");
    rows[usize::from(has_main)..].sort();
    rows
}
