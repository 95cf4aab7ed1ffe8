//! Every system call of every way to make or remove a folder: the process is killed there, or the
//! call fails.

use std::{
    collections::BTreeMap,
    os::unix::process::ExitStatusExt as _,
    path::{Path, PathBuf},
};

use rethread_disk::{
    Created, Durability, create_folder, ensure_folder, is_temporary, remove_leftovers,
};
use tempfile::TempDir;

use crate::{
    child::{SHARED, big, whole_folder},
    leftovers_in, mode_of, strace,
};

/// What is in a folder, without what killed processes left behind: modes, and content of files.
type Tree = BTreeMap<PathBuf, (u32, Option<Vec<u8>>)>;

fn tree_of(root: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            if is_temporary(&entry.file_name()) {
                continue;
            }
            let path = entry.path();
            let content = entry
                .file_type()
                .unwrap()
                .is_file()
                .then(|| std::fs::read(&path).unwrap());
            if content.is_none() {
                open.push(path.clone());
            }
            let name = path.strip_prefix(root).unwrap().to_owned();
            tree.insert(name, (mode_of(&path), content));
        }
    }
    tree
}

/// Folders with the mode of all those that are made here.
fn folders(names: &[&str]) -> Tree {
    let all = names.iter().map(|&name| (name.into(), (0o775, None)));
    all.collect()
}

/// As [`whole_folder`] makes it.
fn whole(name: &str, byte: u8) -> Tree {
    let mut tree = folders(&[name, &format!("{name}/sub")]);
    let file = |content| (0o775, Some(content));
    tree.insert(format!("{name}/log").into(), file(big(byte)));
    tree.insert(format!("{name}/sub/file").into(), file(vec![byte]));
    tree
}

/// One way to make or remove folders, in two steps.
struct Case {
    task: &'static str,
    prepare: fn(&Path),
    /// What the task is about, in the folder of the test.
    below: &'static str,
    after: fn(&[usize]) -> Tree,
    /// Whether a step that does not end may leave a part of what it does.
    in_parts: bool,
}

const CREATE_WITH: Case = Case {
    task: "create_folder_with",
    prepare: |_| {},
    below: "whole",
    after: |done| match done {
        [] => Tree::new(),
        [1] => whole("whole", b'2'),
        _ => whole("whole", b'1'),
    },
    in_parts: false,
};
const TAKEN_MEANWHILE: Case = Case {
    task: "taken_meanwhile",
    prepare: |_| {},
    below: "",
    after: |done| {
        let theirs = done
            .iter()
            .map(|&i| (["one", "two"][i].into(), (0o700, None)));
        theirs.collect()
    },
    // The other program may have come before the failure.
    in_parts: true,
};
const CREATE: Case = Case {
    task: "create_folder",
    prepare: |_| {},
    below: "",
    after: |done| {
        done.iter()
            .flat_map(|&i| folders(&[["one", "two"][i]]))
            .collect()
    },
    in_parts: false,
};
const ENSURE: Case = Case {
    task: "ensure_folder",
    prepare: |_| {},
    below: "",
    after: |done| {
        let made = [&["a", "a/b"][..], &["a", "a/c", "a/c/d"]];
        done.iter().flat_map(|&i| folders(made[i])).collect()
    },
    in_parts: true,
};
const REMOVE: Case = Case {
    task: "remove_folder",
    prepare: |root| {
        for name in ["one", "two", "kept"] {
            assert_eq!(whole_folder(&root.join(name), b'x').unwrap(), Created::New);
        }
    },
    below: "",
    after: |done| {
        let removed = |(i, _): &(usize, &str)| !done.contains(i);
        let left = ["one", "two", "kept"]
            .into_iter()
            .enumerate()
            .filter(removed);
        left.flat_map(|(_, name)| whole(name, b'x')).collect()
    },
    in_parts: true,
};

impl Case {
    fn place(&self) -> (TempDir, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        (self.prepare)(root.path());
        let path = root.path().join(self.below);
        (root, path)
    }

    fn calls(&self) -> Vec<strace::Call> {
        let (_root, path) = self.place();
        strace::calls_of(self.task, &path)
    }

    /// What there is if these steps were done, and also `begun`.
    fn after_both(&self, done: &[usize], begun: usize) -> Tree {
        let mut both = done.to_vec();
        both.push(begun);
        both.sort_unstable();
        (self.after)(&both)
    }

    /// Whether this is there if a step was done in part.
    fn is_between(before: &Tree, after: &Tree, found: &Tree) -> bool {
        let in_both = before.iter().filter(|(name, _)| after.contains_key(*name));
        let mut in_both = in_both.map(|(name, _)| name);
        let in_either = |name: &PathBuf| before.get(name).or_else(|| after.get(name));
        in_both.all(|name| found.contains_key(name))
            && found
                .iter()
                .all(|(name, what)| in_either(name) == Some(what))
    }

    /// Killed at every call: what was acknowledged is there; the rest is there or not.
    fn killed_everywhere(&self) {
        if !strace::is_there() {
            return;
        }
        for call in self.calls() {
            let (root, path) = self.place();
            let said = strace::disturbed(self.task, &path, &call, "signal=KILL");
            let at = format!("{} killed at {call:?}: {said:?}", self.task);
            assert_eq!(said.status.signal(), Some(9), "{at}");
            assert!(said.failed.is_empty(), "{at}");
            let before = (self.after)(&said.done);
            let after = self.after_both(&said.done, said.done.len());
            let mut found = tree_of(root.path());
            if ["create_folder", "ensure_folder"].contains(&self.task) {
                grant_the_missing_bits(&mut found, &after);
            }
            let fits = if self.in_parts {
                Case::is_between(&before, &after, &found)
            } else {
                found == before || found == after
            };
            assert!(fits, "{at}: {:?}", found.keys());
            assert!(leftovers_in(root.path()) <= 1, "{at}");
            self.can_be_done_now(root.path(), &path, &at);
            assert_eq!(leftovers_in(root.path()), 0, "{at}");
        }
    }

    /// A call fails: the error names the folder, and all is as the steps that worked left it.
    fn failing_everywhere(&self) {
        if !strace::is_there() {
            return;
        }
        for call in self.calls().iter().filter(|call| !call.is_report) {
            for errno in call.errors() {
                let (root, path) = self.place();
                let said = strace::disturbed(self.task, &path, call, &format!("error={errno}"));
                let at = format!("{} with {errno} at {call:?}: {said:?}", self.task);
                assert!(said.status.success(), "{at}");
                assert_eq!(said.done.len() + said.failed.len(), 2, "{at}");
                // What is left of a folder that was not needed is no error; nor is it one that a
                // folder could not be counted before it was removed.
                let is_lax =
                    ["taken_meanwhile", "remove_folder"].contains(&self.task) || call.may_fail();
                let harmless = strace::Call::is_no_obstacle(errno);
                let unnoticed = harmless || is_lax && said.failed.is_empty();
                assert_eq!(said.failed.len(), usize::from(!unnoticed), "{at}");
                let found = tree_of(root.path());
                let done = (self.after)(&said.done);
                let fits = match said.failed.as_slice() {
                    [] => found == done,
                    [(step, words), ..] => {
                        let named = format!("`{}", root.path().display());
                        assert!(words.contains(&named), "{at}");
                        let after = self.after_both(&said.done, *step);
                        let unsettled = format!("cannot sync the folder of `{}", path.display());
                        if self.in_parts {
                            Case::is_between(&done, &after, &found)
                        } else if words.starts_with(&unsettled) {
                            found == after
                        } else {
                            found == done
                        }
                    }
                };
                assert!(fits, "{at}: {:?}", found.keys());
                // What could be removed only in part stays without its name.
                let in_part = self.task == "remove_folder" && !said.failed.is_empty();
                let not_needed = self.task == "taken_meanwhile" && said.failed.is_empty();
                let left = usize::from(not_needed || in_part);
                assert!(leftovers_in(root.path()) <= left, "{at}");
                self.can_be_done_now(root.path(), &path, &at);
            }
        }
    }

    /// Nothing that was left behind is in the way of the next one.
    fn can_be_done_now(&self, root: &Path, path: &Path, at: &str) {
        let each = Durability::Each;
        match self.task {
            "create_folder_with" => {
                let _ = whole_folder(path, b'3').expect(at);
                let found = tree_of(root);
                let byte = found[Path::new("whole/sub/file")].1.as_ref().unwrap()[0];
                assert_eq!(found, whole("whole", byte), "{at}");
            }
            "create_folder" => {
                let _ = create_folder(&path.join("one"), &SHARED, each).expect(at);
                assert!(path.join("one").is_dir(), "{at}");
            }
            "ensure_folder" => {
                ensure_folder(&path.join("a/c/d"), &SHARED, each).expect(at);
                assert!(path.join("a/c/d").is_dir(), "{at}");
            }
            "remove_folder" => {
                for name in ["one", "two"].map(|name| path.join(name)) {
                    if name.exists() {
                        rethread_disk::remove_folder(&name).expect(at);
                    }
                }
                assert_eq!(tree_of(root), whole("kept", b'x'), "{at}");
                // This process wrote there before, so it does not look again by itself.
                remove_leftovers(root);
            }
            _ => {
                let _ = whole_folder(&path.join("three"), b'3').expect(at);
            }
        }
    }
}

/// A folder whose maker was killed may have fewer permissions than it should, never more.
fn grant_the_missing_bits(found: &mut Tree, wanted: &Tree) {
    for (name, (mode, _)) in found {
        if let Some((wanted, _)) = wanted.get(name)
            && *mode & !*wanted == 0
        {
            *mode = *wanted;
        }
    }
}

/// Only a power cut would tell, so it is read from the trace.
#[test]
fn everything_is_synced_before_it_gets_its_name_and_the_name_after() {
    if !strace::is_there() {
        return;
    }
    let calls = CREATE_WITH.calls();
    let first_step = calls.iter().take_while(|call| !call.is_report);
    let mut order: Vec<&str> = Vec::new();
    for call in first_step {
        match call.name.as_str() {
            "mkdir" | "mkdirat" => order.push("make"),
            "fsync" => order.push("sync"),
            // Whether a new folder needs one depends on the umask.
            "fchmod" if order.last() == Some(&"sync") => order.push("mode"),
            "rename" | "renameat" | "renameat2" => order.push("name"),
            _ => {}
        }
    }
    let one = ["make", "sync", "name", "sync"];
    let two = ["make", "sync", "mode", "sync", "name", "sync"];
    let whole = [&one[..], &two, &["mode", "sync", "name", "sync"]].concat();
    assert_eq!(order, whole);
}

#[test]
fn create_folder_with_killed_at_every_call() {
    CREATE_WITH.killed_everywhere();
}

#[test]
fn create_folder_with_taken_meanwhile_killed_at_every_call() {
    TAKEN_MEANWHILE.killed_everywhere();
}

#[test]
fn create_folder_killed_at_every_call() {
    CREATE.killed_everywhere();
}

#[test]
fn ensure_folder_killed_at_every_call() {
    ENSURE.killed_everywhere();
}

#[test]
fn remove_folder_killed_at_every_call() {
    REMOVE.killed_everywhere();
}

#[test]
fn create_folder_with_every_call_failing() {
    CREATE_WITH.failing_everywhere();
}

#[test]
fn create_folder_with_taken_meanwhile_with_every_call_failing() {
    TAKEN_MEANWHILE.failing_everywhere();
}

#[test]
fn create_folder_with_every_call_of_it_failing() {
    CREATE.failing_everywhere();
}

#[test]
fn ensure_folder_with_every_call_failing() {
    ENSURE.failing_everywhere();
}

#[test]
fn remove_folder_with_every_call_failing() {
    REMOVE.failing_everywhere();
}
