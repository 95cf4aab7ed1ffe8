//! `trust`, `worktree` and `new` in a worktree. Git does a part of the work, and hooks may run
//! programs: only our own calls are disturbed, never theirs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::call::{CALLS, Call, LISTING, STARTING, read_trace, tracing};
use super::{Said, Tree, look, world_in_memory, wrapped};
use crate::world::{World, json};

pub(super) const DATA: &str = "home/.local/share/rethread";
const HOOKS: &str = r#""worktreeHooks":{"symlinks":[{"source":"README.md","target":"link"}],"postSetupCommands":[{"command":"touch done"}],"initialPrompt":"go"}"#;
const HOOKS_WITHOUT_COMMANDS: &str =
    r#""worktreeHooks":{"symlinks":[{"source":"README.md","target":"link"}],"initialPrompt":"go"}"#;
const IN_WORKTREES: &str = r#""defaults":{"useWorktree":true}"#;
const TRUSTED_ELSEWHERE: &str = "{\"hash\":\"00\",\"path\":\"/elsewhere/.agent/config.json\",\"repository\":\"/elsewhere/.git\",\"identity\":\"1 made 1\"}\n";

/// A command, with what it is tried on.
pub(super) struct Case {
    /// Lays out what is there before, in a repository with one commit.
    prepare: fn(&World),
    args: &'static [&'static str],
    /// The same for something else, which must work afterwards.
    again: &'static [&'static str],
    pub(super) kind: Kind,
    /// The exit code when nothing happens to it.
    code: i32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Changes what is trusted.
    Trusts,
    /// Makes a worktree.
    Adds,
    /// Removes one.
    Removes,
    /// Would remove one, but must not.
    Refuses,
}

fn configure(w: &World, what: &str) {
    fs::create_dir(w.project.join(".agent")).unwrap();
    let config = format!("{{\"specVersion\":\"1.1\",{what}}}\n");
    fs::write(w.project.join(".agent/config.json"), config).unwrap();
}

fn trust_elsewhere(w: &World) {
    let data = w.root.join(DATA);
    fs::create_dir_all(&data).unwrap();
    fs::write(data.join("trust.jsonl"), TRUSTED_ELSEWHERE).unwrap();
}

pub(super) const TRUST_FIRST: Case = Case {
    prepare: |w| configure(w, HOOKS),
    args: &["trust", "--yes"],
    again: &["trust", "--yes"],
    kind: Kind::Trusts,
    code: 0,
};
pub(super) const TRUST: Case = Case {
    prepare: |w| {
        configure(w, HOOKS);
        trust_elsewhere(w);
    },
    ..TRUST_FIRST
};
pub(super) const REVOKE: Case = Case {
    prepare: |w| {
        configure(w, HOOKS);
        trust_elsewhere(w);
        w.ok(&["trust", "--yes"]);
    },
    args: &["trust", "--revoke"],
    again: &["trust", "--revoke"],
    ..TRUST_FIRST
};
pub(super) const ADD: Case = Case {
    prepare: |_| {},
    args: &["worktree", "add", "one"],
    again: &["worktree", "add", "two"],
    kind: Kind::Adds,
    code: 0,
};
pub(super) const ADD_WITH_HOOKS: Case = Case {
    prepare: |w| {
        configure(w, HOOKS);
        w.ok(&["trust", "--yes"]);
    },
    ..ADD
};
pub(super) const ADD_AND_TRUST: Case = Case {
    prepare: |w| {
        configure(w, HOOKS_WITHOUT_COMMANDS);
        trust_elsewhere(w);
    },
    args: &["worktree", "add", "one", "--trust"],
    again: &["worktree", "add", "two", "--trust"],
    ..ADD
};
pub(super) const NEW_IN_A_WORKTREE: Case = Case {
    prepare: |w| configure(w, IN_WORKTREES),
    args: &["new", "--format", "atsf", "--title", "N"],
    again: &["new", "--format", "atsf", "--title", "M"],
    ..ADD
};
pub(super) const REMOVE: Case = Case {
    prepare: |w| {
        w.ok(&["worktree", "add", "one"]);
        // As if another program had made the thread: its description is not kept yet.
        fs::remove_dir_all(w.root.join(DATA).join("worktree-threads")).unwrap();
    },
    args: &["worktree", "remove", "one", "--force"],
    again: &["worktree", "add", "two"],
    kind: Kind::Removes,
    code: 0,
};
pub(super) const REMOVE_WITHOUT_FORCE: Case = Case {
    args: &["worktree", "remove", "one"],
    kind: Kind::Refuses,
    code: 1,
    ..REMOVE
};

/// A case on a disk of its own.
pub(super) struct GitTrial {
    pub(super) case: &'static Case,
    pub(super) world: World,
    _disk: Option<TempDir>,
    /// All that was there before.
    saved: TempDir,
    pub(super) old: Tree,
    pub(super) new: Tree,
    /// What the command prints when nothing happens to it.
    pub(super) out: String,
    /// States after which all that follows was seen to work.
    pub(super) seen: BTreeSet<(Tree, usize)>,
}

impl GitTrial {
    pub(super) fn new(case: &'static Case) -> Self {
        let (world, disk) = world_in_memory();
        world.git(&["init", "-q", "-b", "main", "--template="]);
        fs::write(world.project.join("README.md"), "# Shop\n").unwrap();
        world.git(&["add", "."]);
        world.git(&["commit", "-q", "-m", "start"]);
        (case.prepare)(&world);
        let saved = tempfile::tempdir_in(world.root.parent().unwrap()).unwrap();
        copy(&world.root, saved.path());
        let (old, _) = look(&world.root);
        let mut trial = Self {
            case,
            world,
            _disk: disk,
            saved,
            old,
            new: Tree::new(),
            out: String::new(),
            seen: BTreeSet::new(),
        };
        trial.restore();
        let said = trial.run(&[], case.args);
        assert_eq!(said.code, Some(case.code), "{:?}: {said:?}", case.args);
        trial.new = look(&trial.world.root).0;
        trial.out = said.out;
        trial
    }

    /// Puts everything back as it was before. The git folder stays the same one: another would not be
    /// trusted.
    fn restore(&self) {
        let project = &self.world.project;
        for folder in [&project.join(".git"), project, &self.world.root] {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true if path == *project || path == project.join(".git") => {}
                    true => fs::remove_dir_all(path).unwrap(),
                    false => fs::remove_file(path).unwrap(),
                }
            }
        }
        copy(self.saved.path(), &self.world.root);
    }

    pub(super) fn run(&self, wrapper: &[&str], args: &[&str]) -> Said {
        wrapped(&self.world, wrapper, args).output().unwrap().into()
    }

    /// The same for something else. With another seed, what git remembers of the first is not in
    /// the way.
    pub(super) fn again(&self) -> Said {
        let mut command = self.world.command(self.case.again);
        command.env("RETHREAD_SEED", "2").output().unwrap().into()
    }

    /// Runs the command under strace, which follows neither git nor the hooks.
    fn strace(&self, options: &[&str]) -> Said {
        let mut wrapper = vec!["strace", "-qq"];
        wrapper.extend(options);
        let said = self.run(&wrapper, self.case.args);
        self.wait_for_others();
        said
    }

    /// Waits until everything that was started here has ended: it outlives what started it.
    fn wait_for_others(&self) {
        let start = Instant::now();
        let is_here = |process: &Path| {
            fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(&self.world.root))
        };
        while fs::read_dir("/proc")
            .unwrap()
            .any(|entry| is_here(&entry.unwrap().path()))
        {
            assert!(start.elapsed() < Duration::from_mins(5));
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn calls(&self) -> Vec<Call> {
        self.restore();
        let trace = tempfile::NamedTempFile::new().unwrap();
        let out = trace.path().to_str().unwrap();
        let which = tracing(&[CALLS, STARTING, LISTING]);
        let said = self.strace(&["-y", "-o", out, "-e", &which]);
        assert_eq!(said.code, Some(self.case.code), "{said:?}");
        let trace = fs::read_to_string(trace.path()).unwrap();
        let mut calls = read_trace(&trace, &self.world);
        // While a command of the hooks runs, all processes are looked at, and these are never the
        // same; a case without commands has what comes after.
        let link = calls.iter().position(|c| c.name.starts_with("symlink"));
        if let Some(link) = link.filter(|_| trace.contains("/proc/1/stat")) {
            let mut waits = 0;
            let mut at = 0;
            calls.retain(|call| {
                at += 1;
                let counted = match call.name.as_str() {
                    "openat" | "close" | "read" | "getdents64" => false,
                    "wait4" => {
                        waits += 1;
                        waits == 1
                    }
                    _ => true,
                };
                at <= link || counted
            });
        }
        calls
    }

    /// Killed at every call before which something may have changed.
    pub(super) fn killed_everywhere(&mut self) {
        for call in self.calls().iter().filter(|call| call.changes()) {
            self.restore();
            let Call { name, nth, .. } = call;
            let trace = format!("trace={name}");
            let inject = format!("inject={name}:signal=KILL:when={nth}");
            let said = self.strace(&["-o", "/dev/null", "-e", &trace, "-e", &inject]);
            let at = format!("{:?} killed at {call:?}: {said:?}", self.case.args);
            // How often it waits for git is not the same each time.
            let waits = ["poll", "wait4"].contains(&name.as_str());
            assert!(said.signal == Some(9) || waits, "{at}");
            self.check(&said, &at);
        }
        let never = self.case.kind == Kind::Refuses;
        assert!(never || self.seen.len() > 1, "never killed in between");
    }

    /// Each call fails in turn.
    pub(super) fn failing_everywhere(&mut self) {
        let trace = tempfile::NamedTempFile::new().unwrap();
        let out = trace.path().to_str().unwrap().to_owned();
        // One that cannot be read asks for no worktree.
        let config = self.world.project.join(".agent/config.json");
        let asks = |call: &Call| self.case.args[0] != "new" || call.path != config;
        let calls: Vec<Call> = self.calls().into_iter().filter(asks).collect();
        for call in calls {
            for errno in call.errors() {
                self.failing(&call, errno, &out);
            }
        }
    }

    fn failing(&mut self, call: &Call, errno: &str, out: &str) {
        let Call { name, nth, .. } = call;
        let which = format!("trace={name}");
        let inject = format!("inject={name}:error={errno}:when={nth}");
        self.restore();
        let said = self.strace(&["-y", "-o", out, "-e", &which, "-e", &inject]);
        let trace = fs::read_to_string(out).unwrap();
        let hit = trace.lines().find(|line| line.contains("(INJECTED)"));
        // What git says comes in one piece or in several, and the next call is another one.
        if hit.is_some_and(|line| line.contains("<pipe:")) {
            return;
        }
        let at = format!("{:?} with {errno} at {call:?}: {said:?}", self.case.args);
        assert!(hit.is_some() || name == "read", "{at}");
        self.check_failure(&said, call, &at);
        self.check(&said, &at);
    }

    /// Files may grow up to here and no further.
    pub(super) fn short_everywhere(&mut self) {
        let list = PathBuf::from(DATA).join("trust.jsonl");
        let longest = [&self.old, &self.new].map(|tree| {
            let content = tree.get(&list).and_then(Option::as_ref);
            content.map_or(0, Vec::len)
        });
        let mut failed = 0;
        for limit in (0..=longest[0].max(longest[1])).step_by(3) {
            self.restore();
            let prlimit = format!("exec prlimit --fsize={limit} \"$0\" \"$@\"");
            let wrapper = ["sh", "-c", &format!("trap '' XFSZ; {prlimit}")];
            let said = self.run(&wrapper, self.case.args);
            let at = format!("{:?} with files of {limit} bytes: {said:?}", self.case.args);
            failed += u32::from(said.code != Some(0));
            self.check(&said, &at);
        }
        assert!(failed > 0, "nothing was short");
    }
}

fn copy(from: &Path, to: &Path) {
    let mut cp = Command::new("cp");
    cp.arg("-a").arg(from.join(".")).arg(to);
    assert!(cp.status().unwrap().success());
}

/// The lines of the list of what is trusted.
pub(super) fn trusted(tree: &Tree) -> BTreeSet<String> {
    let list = tree.get(&PathBuf::from(DATA).join("trust.jsonl"));
    let text = String::from_utf8(list.cloned().flatten().unwrap_or_default()).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty());
    lines.map(|line| json(line).to_string()).collect()
}
