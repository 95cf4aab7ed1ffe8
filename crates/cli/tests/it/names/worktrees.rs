//! The same names for worktrees and their branches. Git makes them, where they are names at all.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{Place, is_name, names_in};
use crate::world::{Answer, tree};

/// A place whose project is a git repository.
struct Repository {
    place: Place,
    before: Vec<(PathBuf, Vec<u8>)>,
}

impl Repository {
    fn new() -> Self {
        let place = Place::new();
        let git = |args: &[&str]| place.world.git(args);
        git(&["init", "-q", "-b", "main", "--template="]);
        git(&["add", "."]);
        git(&["commit", "-q", "-m", "start"]);
        let before = all_but_made(&place);
        Self { place, before }
    }

    /// The folder of the worktrees.
    fn worktrees(&self) -> PathBuf {
        self.place.data().join("worktrees/shop")
    }

    /// Runs a command that may refuse, but does so in order.
    fn run(&self, args: &[&str]) -> Answer {
        // With a seed, all would have the same id.
        let mut command = self.place.world.command(args);
        let output = command.env_remove("RETHREAD_SEED").output().unwrap();
        let answer = Answer {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        };
        assert!([0, 1, 2].contains(&answer.code), "{args:?}: {answer:?}");
        assert!(!answer.err.contains("panicked"), "{args:?}: {answer:?}");
        let acts = |c: char| c.is_control() && c != '\n';
        assert!(!answer.err.contains(acts), "{args:?}: {answer:?}");
        answer
    }

    /// Only the worktrees with these names are new, and what git and we note of them.
    fn check(&self, expected: &BTreeSet<String>) {
        let after = all_but_made(&self.place);
        assert!(after == self.before, "something else was made or changed");
        assert_eq!(&names_in(&self.worktrees()), expected);
        assert_eq!(names_in(&self.place.data().join("worktrees")).len(), 1);
        let ours = ["projects.jsonl", "worktree-threads", "worktrees"];
        let found = names_in(&self.place.data());
        assert!(found.iter().map(String::as_str).eq(ours), "{found:?}");
        let listed = self.place.world.ok(&["worktree", "list", "--json"]);
        assert_eq!(listed.lines().count(), expected.len() + 1);
        for name in expected {
            let threads = names_in(&self.worktrees().join(name).join(".agent/threads"));
            assert_eq!(threads.len(), 1, "{name}");
        }
    }
}

/// All files but those of worktrees, and of their branches.
fn all_but_made(place: &Place) -> Vec<(PathBuf, Vec<u8>)> {
    let git = place.world.project.join(".git");
    let main = Path::new("heads/main");
    let is_made = |path: &Path| {
        let branch = ["refs", "logs/refs"].iter().any(|refs| {
            let refs = git.join(refs);
            path.starts_with(refs.join("heads")) && path != refs.join(main)
        });
        branch || path.starts_with(git.join("worktrees")) || path.starts_with(place.data())
    };
    let mut all = tree(&place.world.root);
    all.retain(|(path, _)| !is_made(path));
    all
}

#[test]
fn as_the_name_of_a_worktree() {
    let r = Repository::new();
    let mut made = BTreeSet::new();
    for name in r.place.arguments() {
        let answer = r.run(&["worktree", "add", "--", name]);
        if answer.code == 0 {
            made.insert(name.to_owned());
        } else if is_name(name) && !name.starts_with('-') {
            assert!(answer.err.contains("git: "), "{name:?}: {answer:?}");
        } else {
            assert_eq!(answer.code, 2, "{name:?}: {answer:?}");
        }
    }
    assert!(made.iter().all(|name| is_name(name)), "{made:?}");
    assert!((20..250).contains(&made.len()), "{}", made.len());
    r.check(&made);
}

#[test]
fn as_the_branch_of_a_worktree() {
    let r = Repository::new();
    let mut made = BTreeSet::new();
    for (i, name) in r.place.arguments().into_iter().enumerate() {
        let folder = format!("w{i:03}");
        let branch = format!("--branch={name}");
        let answer = r.run(&["worktree", "add", &branch, &folder]);
        if answer.code == 0 {
            let head = format!("refs/heads/{name}");
            assert!(
                !r.place
                    .world
                    .git(&["rev-parse", "--verify", &head])
                    .is_empty()
            );
            made.insert(folder);
        }
    }
    assert!((20..400).contains(&made.len()), "{}", made.len());
    r.check(&made);
}
