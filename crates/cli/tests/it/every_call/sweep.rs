//! Commands whose files are not the same bytes each time, killed at their calls and judged by what is
//! seen of what they wrote: databases of OpenCode, messages, exports that are brought back, pages,
//! samples, and copies of other homes.
//!
//! Some of them make thousands of calls. Each is killed at no more than `most` of those that change
//! something: the first, the last, and others at equal distances, always the same ones.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use super::call::{CALLS, Call, read_trace, tracing};
use super::{Said, Tree, lay_out, look, world_in_memory, wrapped};
use crate::world::World;

/// What is seen of what a command writes: each thing by its name.
pub(super) type Things = BTreeMap<String, String>;

/// A command, what it is tried on, and how to look at what it did.
pub(super) struct Sweep {
    /// Lays out what is there before, and gives the arguments.
    pub(super) prepare: fn(&World) -> Vec<String>,
    /// Looks at what the command changes.
    pub(super) see: fn(&World) -> Things,
    pub(super) unit: Unit,
    pub(super) again: Again,
    /// At how many calls it is killed at most.
    pub(super) most: usize,
}

/// What is old or new as a whole.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// All that is seen.
    All,
    /// Each thing.
    Each,
}

/// What the same command does once more.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    /// It finishes what was begun, and does nothing twice.
    Finishes,
    /// It adds what it adds once more; this text is in all of that.
    Adds(&'static str),
    /// It finds nothing to do if it was done, and says so.
    Refuses,
}

struct Run<'a> {
    sweep: &'a Sweep,
    world: World,
    args: Vec<String>,
    tree: Tree,
    old: Things,
    new: Things,
    /// What it prints when nothing happens to it.
    out: String,
}

impl Sweep {
    /// Killed at calls that change something: what is seen is old or new, what was acknowledged is
    /// there, and the next run does the rest and leaves nothing behind.
    pub(super) fn killed(&self) {
        let (world, _disk) = world_in_memory();
        let args = (self.prepare)(&world);
        let tree = look(&world.root).0;
        let mut run = Run {
            sweep: self,
            old: (self.see)(&world),
            new: Things::new(),
            out: String::new(),
            world,
            args,
            tree,
        };
        lay_out(&run.world.root, &run.tree);
        let said = Said::from(run.command(&[]).output().unwrap());
        assert_eq!(said.code, Some(0), "{:?}: {said:?}", run.args);
        run.out = said.out;
        run.new = (self.see)(&run.world);
        assert!(run.new != run.old, "{:?} does nothing", run.args);
        let calls = run.calls();
        let mut met = BTreeSet::new();
        let mut hit = 0;
        for call in spread(&calls, self.most) {
            lay_out(&run.world.root, &run.tree);
            let Call { name, nth, .. } = call;
            let trace = format!("trace={name}");
            let inject = format!("inject={name}:signal=KILL:when={nth}");
            // Other programs that it starts are left alone.
            let strace = [
                "strace",
                "-qq",
                "-o",
                "/dev/null",
                "-e",
                &trace,
                "-e",
                &inject,
            ];
            let said = Said::from(run.command(&strace).output().unwrap());
            hit += usize::from(said.signal == Some(9));
            let at = format!("{:?} killed at {call:?}: {said:?}", run.args);
            let state = look(&run.world.root);
            if met.insert((state, said.out.clone())) {
                run.check(&said, &at);
            }
        }
        // How often it reads from a pipe, for one, is not the same each time.
        assert!(hit * 2 > met.len().min(calls.len()), "killed {hit} times");
        assert!(met.len() > 1, "it was never killed in between");
    }
}

impl Run<'_> {
    fn command(&self, wrapper: &[&str]) -> Command {
        // What happens at calls of the catalogue is the matter of `catalogue`.
        let mut args = vec!["--no-cache"];
        args.extend(self.args.iter().map(String::as_str));
        wrapped(&self.world, wrapper, &args)
    }

    /// The calls of its first thread that change something.
    fn calls(&self) -> Vec<Call> {
        lay_out(&self.world.root, &self.tree);
        let trace = tempfile::NamedTempFile::new().unwrap();
        let out = trace.path().to_str().unwrap();
        let names = tracing(&[CALLS]);
        let strace = ["strace", "-qq", "-y", "-o", out, "-e", &names];
        let said = Said::from(self.command(&strace).output().unwrap());
        assert_eq!(said.code, Some(0), "{said:?}");
        let calls = read_trace(&fs::read_to_string(trace.path()).unwrap(), &self.world);
        calls.into_iter().filter(Call::changes).collect()
    }

    fn check(&self, said: &Said, at: &str) {
        assert!(!said.err.contains("panicked"), "{at}");
        assert!(self.out.starts_with(&said.out), "{at}");
        let found = (self.sweep.see)(&self.world);
        self.check_seen(&found, said, at);
        let mut again = self.command(&[]);
        if let Again::Adds(_) = self.sweep.again {
            // What is new gets other ids, as it would where no seed is set.
            again.env("RETHREAD_SEED", "2");
        }
        let next = Said::from(again.output().unwrap());
        let is_done = self.sweep.again == Again::Refuses && found == self.new;
        assert!(next.code == Some(0) || is_done, "{at}, and then: {next:?}");
        let after = (self.sweep.see)(&self.world);
        match self.sweep.again {
            Again::Finishes | Again::Refuses => {
                assert_eq!(after, self.new, "{at}, and then: {next:?}");
            }
            Again::Adds(text) => {
                let count = |things: &Things| -> usize {
                    things
                        .values()
                        .map(|thing| thing.matches(text).count())
                        .sum()
                };
                let added = count(&self.new) - count(&self.old);
                assert_eq!(count(&after), count(&found) + added, "{at}: {after:?}");
            }
        }
        assert_eq!(look(&self.world.root).1, 0, "{at}: something is left");
        // What SQLite writes beside a database holds what was committed, until somebody writes again.
        if self.has_log() {
            self.world.ok(&["new", "--format", "opencode"]);
            assert!(!self.has_log(), "{at}");
        }
        let scratch = fs::read_dir(self.world.scratch.path()).unwrap();
        assert_eq!(scratch.count(), 0, "{at}: something is left in `TMPDIR`");
    }

    /// Whether there is something of SQLite beside a database.
    fn has_log(&self) -> bool {
        let (tree, _) = look(&self.world.root);
        let ends = ["-wal", "-shm", "-journal"];
        tree.keys()
            .any(|name| ends.iter().any(|end| name.to_string_lossy().ends_with(end)))
    }

    /// Old or new, and what was said to be done is done.
    fn check_seen(&self, found: &Things, said: &Said, at: &str) {
        let (old, new) = (&self.old, &self.new);
        if !self.out.is_empty() && said.out == self.out {
            assert_eq!(found, new, "{at}: acknowledged");
        }
        for line in said.out.split_inclusive('\n').filter(|l| l.ends_with('\n')) {
            let id = line.trim_end().split('\t').next().unwrap_or_default();
            assert_eq!(found.get(id).or(new.get(id)), new.get(id), "{at}: {id}");
            assert!(
                !new.contains_key(id) || found.contains_key(id),
                "{at}: {id}"
            );
        }
        match self.sweep.unit {
            Unit::All => assert!(found == old || found == new, "{at}: {found:?}"),
            Unit::Each => {
                for (name, thing) in found {
                    let known = [old.get(name), new.get(name)];
                    assert!(
                        known.contains(&Some(thing)),
                        "{at}: {name} is half: {thing}"
                    );
                }
                let stay = old.keys().filter(|name| new.contains_key(*name));
                for name in stay {
                    assert!(found.contains_key(name), "{at}: {name} is gone");
                }
            }
        }
    }
}

/// No more than `most` of them: the first, the last, and others at equal distances.
fn spread(calls: &[Call], most: usize) -> Vec<&Call> {
    let last = calls.len() - 1;
    let count = most.min(calls.len());
    let places: BTreeSet<usize> = (0..count)
        .map(|n| n * last / count.saturating_sub(1).max(1))
        .collect();
    places.into_iter().map(|at| &calls[at]).collect()
}

/// The files below a folder, each by its path from there. What is bytes and no text is told by its
/// length and its hash.
pub(super) fn files(folder: &Path) -> Things {
    let mut things = Things::new();
    if !folder.exists() {
        return things;
    }
    for (name, content) in look(folder).0 {
        let Some(content) = content else { continue };
        let text = String::from_utf8(content).unwrap_or_else(|e| {
            let bytes = e.as_bytes();
            let hash = std::hash::BuildHasher::hash_one(
                &std::hash::BuildHasherDefault::<std::hash::DefaultHasher>::default(),
                bytes,
            );
            format!("{} bytes, {hash:x}", bytes.len())
        });
        things.insert(name.to_string_lossy().into_owned(), text);
    }
    things
}
