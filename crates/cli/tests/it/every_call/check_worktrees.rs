//! What must hold after a command was disturbed that leaves a part of the work to git.

use std::path::{Path, PathBuf};

use super::call::Call;
use super::worktrees::{DATA, GitTrial, Kind, trusted};
use super::{Said, Tree, difference, look};
use crate::world::json;

/// The part of a tree that is below a folder.
fn below(tree: &Tree, folder: impl AsRef<Path>) -> Tree {
    let inside = tree.iter().filter(|(name, _)| name.starts_with(&folder));
    inside.map(|(n, f)| (n.clone(), f.clone())).collect()
}

/// The project's own files, without git's.
fn project(tree: &Tree) -> Tree {
    let mut files = below(tree, "shop");
    files.retain(|name, _| !name.starts_with("shop/.git"));
    files
}

/// The folders `worktrees/shop/<name>`.
fn worktrees(tree: &Tree) -> Vec<PathBuf> {
    let folder = Path::new(DATA).join("worktrees/shop");
    let is_one = |name: &&PathBuf| name.parent() == Some(&folder);
    tree.keys().filter(is_one).cloned().collect()
}

impl GitTrial {
    /// After all that can happen.
    pub(super) fn check(&mut self, said: &Said, at: &str) {
        let (mut found, left) = look(&self.world.root);
        assert!(!said.err.contains("panicked"), "{at}");
        let (before, after) = (project(&self.old), project(&found));
        assert!(before == after, "{at}: {}", difference(&before, &after));
        for name in ["shop/.git/HEAD", "shop/.git/refs/heads/main"] {
            let file = |tree: &Tree| tree.get(Path::new(name)).cloned();
            assert!(file(&self.old) == file(&found), "{at}: {name}");
        }
        for name in found.keys() {
            let ours = name.starts_with(DATA) || Path::new(DATA).starts_with(name);
            assert!(ours || name.starts_with("shop"), "{at}: {}", name.display());
        }
        check_threads(&found, at);
        let answered = !self.out.is_empty() && said.out == self.out;
        let done = said.code == Some(0) || said.signal.is_some() && answered;
        self.check_trust(&found, done, at);
        match self.case.kind {
            Kind::Trusts => {}
            Kind::Adds => self.check_added(&found, said, done, at),
            Kind::Removes | Kind::Refuses => {
                let gone = worktrees(&found).is_empty();
                assert!(gone || !done, "{at}: it is still there");
                assert!(!gone || self.case.kind == Kind::Removes, "{at}: it is gone");
                let kept = below(&found, Path::new(DATA).join("worktree-threads"));
                let kept = kept.values().flatten().any(|f| f.ends_with(b"}"));
                assert!(!gone || kept, "{at}: no description is kept");
            }
        }
        // Git notes the time, and what it knows of the files.
        for (name, file) in &mut found {
            if name.starts_with("shop/.git") && file.is_some() {
                *file = Some(Vec::new());
            }
        }
        if self.seen.insert((found, left)) {
            self.check_next(at);
            assert_eq!(look(&self.world.root).1, 0, "{at}: something is left");
        }
    }

    /// What is trusted is what was before or what was asked for.
    fn check_trust(&self, found: &Tree, done: bool, at: &str) {
        let (old, new) = (trusted(&self.old), trusted(&self.new));
        let now = trusted(found);
        assert!(now == new || now == old && !done, "{at}: {now:?}");
    }

    fn check_added(&self, found: &Tree, said: &Said, done: bool, at: &str) {
        // What was printed is there.
        if let Some((id, path)) = said.out.trim_end_matches('\n').split_once('\t')
            && said.out.ends_with('\n')
        {
            let thread = Path::new(path).strip_prefix(&self.world.root).unwrap();
            assert!(thread.ends_with(id), "{at}");
            assert!(found.contains_key(thread), "{at}: {path} is not there");
        }
        assert!(self.out.starts_with(&said.out), "{at}");
        assert!(said.code != Some(3) || said.out == self.out, "{at}");
        if done {
            // What describes the thread says less where git's files could not be read.
            let made = |tree: &Tree| {
                let mut made = below(tree, Path::new(DATA).join("worktrees"));
                made.retain(|name, _| !name.ends_with("thread.json"));
                made
            };
            let (new, found) = (made(&self.new), made(found));
            assert!(new == found, "{at}: {}", difference(&new, &found));
        }
    }

    /// A call failed: it is said once, with the file or what git said, and nothing is left over.
    pub(super) fn check_failure(&self, said: &Said, call: &Call, at: &str) {
        let (found, left) = look(&self.world.root);
        let refused = said.err.contains("--force");
        match said.code {
            Some(0) => {}
            Some(3) => assert!(said.err.contains("warning: "), "{at}"),
            Some(1) if self.case.kind == Kind::Refuses && refused => {}
            Some(1 | 2) => self.check_error(said, call, at),
            _ => panic!("{at}"),
        }
        let undone = !call.is_answer && matches!(said.code, Some(1 | 2));
        if undone && self.case.kind == Kind::Adds {
            assert!(worktrees(&found).is_empty(), "{at}: it was not undone");
        }
        let removing = call.name.starts_with("unlink") || call.name == "rmdir";
        assert!(left == 0 || removing, "{at}: something is left behind");
    }

    fn check_error(&self, said: &Said, call: &Call, at: &str) {
        let mut said = said.err.lines();
        // A configuration that cannot be read has no hooks that could be trusted.
        let last = said.rfind(|l| l.starts_with("error: ") || l.starts_with("warning: "));
        let error = last.unwrap_or_else(|| panic!("{at}: nothing was said"));
        let another = said.any(|l| l.starts_with("error: "));
        assert!(!another, "{at}: several errors");
        let mut named = error.split('`').skip(1).step_by(2).map(Path::new);
        let names_one = named.any(|path| path.starts_with(&self.world.root));
        let asked_for = error.contains("no worktree is named `one`");
        assert!(
            names_one || asked_for || call.is_answer || error.contains("git: "),
            "{at}: the error names nothing"
        );
    }

    /// All that comes next works, without a repair.
    fn check_next(&self, at: &str) {
        let w = &self.world;
        let listed = w.run(&["list", "--json"]);
        // Without a word: nothing was found.
        let nothing = listed.code == 1 && listed.err.is_empty();
        assert!(listed.code == 0 || nothing, "{at}: {listed:?}");
        let status = w.git(&["status", "--porcelain"]);
        assert!(["", "?? .agent/"].contains(&status.as_str()), "{at}");
        self.check_listed(at);
        if self.case.kind == Kind::Removes && !worktrees(&look(&w.root).0).is_empty() {
            w.ok(&["worktree", "remove", "one", "--force"]);
        }
        let again = self.again();
        assert_eq!(again.code, Some(0), "{at}, and then: {again:?}");
        if self.case.kind == Kind::Trusts {
            let (found, _) = look(&w.root);
            assert_eq!(trusted(&found), trusted(&self.new), "{at}");
            let listed = w.ok(&["trust", "--list", "--json"]);
            assert_eq!(listed.lines().count(), trusted(&found).len(), "{at}");
            return;
        }
        let (_, path) = again.out.trim_end().split_once('\t').unwrap();
        w.ok(&["append", path, "next"]);
        self.check_removable(at);
    }

    /// `worktree list` shows every worktree that is there, with its thread if it has one.
    fn check_listed(&self, at: &str) -> Vec<String> {
        let (found, _) = look(&self.world.root);
        let listed = self.world.ok(&["worktree", "list", "--json"]);
        let all: Vec<serde_json::Value> = listed.lines().map(json).collect();
        assert_eq!(all[0]["is_main"], true, "{at}");
        let paths = all[1..].iter().map(|one| one["path"].as_str().unwrap());
        let paths: Vec<String> = paths.map(str::to_owned).collect();
        for folder in worktrees(&found) {
            let path = self.world.root.join(folder);
            assert!(
                paths.iter().any(|p| Path::new(p) == path),
                "{at}: {}",
                path.display()
            );
        }
        paths
    }

    /// Every worktree can be removed, also one that has no thread.
    fn check_removable(&self, at: &str) {
        for path in self.check_listed(at) {
            let removed = self.world.run(&["worktree", "remove", &path, "--force"]);
            assert_eq!(removed.code, 0, "{at}, and then: {removed:?}");
        }
        assert!(self.check_listed(at).is_empty(), "{at}");
        assert!(worktrees(&look(&self.world.root).0).is_empty(), "{at}");
    }
}

/// A thread is whole or not there.
fn check_threads(found: &Tree, at: &str) {
    let is_thread = |name: &Path| name.parent().is_some_and(|p| p.ends_with(".agent/threads"));
    for folder in found.keys().filter(|name| is_thread(name)) {
        let file = |name: &str| {
            let content = found.get(&folder.join(name)).and_then(Option::as_ref);
            let content =
                content.unwrap_or_else(|| panic!("{at}: {} has no {name}", folder.display()));
            String::from_utf8(content.clone()).unwrap()
        };
        assert!(json(&file("thread.json")).is_object(), "{at}");
        let log = file("messages.jsonl");
        assert!(log.is_empty() || log.ends_with('\n'), "{at}: {log}");
        log.lines().map(json).for_each(drop);
    }
}
