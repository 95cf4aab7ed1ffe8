//! A command on a disk of its own, disturbed at each of its calls.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

use super::call::{CALLS, Call, read_trace, tracing};
use super::cases::{Case, Kind, Store};
use super::{Files, Said, Tree, lay_out, look, world_in_memory, wrapped};
use crate::world::{World, program_on_path};

/// A case on a disk of its own, with what is there before and after the command.
pub(super) struct Trial {
    pub(super) case: &'static Case,
    pub(super) world: World,
    _disk: Option<TempDir>,
    pub(super) id: Option<String>,
    input: PathBuf,
    pub(super) old: Tree,
    pub(super) new: Tree,
    pub(super) between: Files,
    /// What the command prints when nothing happens to it.
    pub(super) out: String,
    /// States after which all that follows was seen to work.
    pub(super) seen: BTreeSet<(Tree, usize)>,
}

impl Trial {
    pub(super) fn new(case: &'static Case) -> Self {
        let (world, disk) = world_in_memory();
        let id = (case.prepare)(&world);
        let input = world.root.join("input.jsonl");
        fs::write(&input, case.input).unwrap();
        let (old, left) = look(&world.root);
        assert_eq!(left, 0);
        let mut trial = Self {
            case,
            world,
            _disk: disk,
            id,
            input,
            old,
            new: Tree::new(),
            between: Vec::new(),
            out: String::new(),
            seen: BTreeSet::new(),
        };
        trial.between = (case.between)(&trial);
        trial.restore();
        let said = trial.run(&[]);
        assert_eq!(said.code, Some(0), "{:?}: {said:?}", case.args);
        trial.new = look(&trial.world.root).0;
        assert!(trial.new != trial.old, "{:?} does nothing", case.args);
        trial.out = said.out;
        trial
    }

    /// The log of the thread, from the root.
    pub(super) fn log_path(&self) -> PathBuf {
        let folder = self.world.folder(self.id.as_ref().unwrap());
        let log = folder.join("messages.jsonl");
        log.strip_prefix(&self.world.root).unwrap().to_owned()
    }

    /// Puts everything back as it was before.
    pub(super) fn restore(&self) {
        lay_out(&self.world.root, &self.old);
    }

    /// The arguments, without the catalogue: what is done at each of its own calls is told apart from
    /// what is done to stores (`catalogue`).
    pub(super) fn arguments(&self) -> Vec<&str> {
        let id = self.id.as_deref().unwrap_or_default();
        let args = ["--no-cache"].iter().chain(self.case.args);
        args.map(|arg| if *arg == "ID" { id } else { arg })
            .collect()
    }

    /// The command, with another program in front of it.
    pub(super) fn command(&self, wrapper: &[&str]) -> Command {
        let Some((program, options)) = wrapper.split_first() else {
            let mut command = wrapped(&self.world, &[], &self.arguments());
            command.stdin(File::open(&self.input).unwrap());
            self.hide_trash(&mut command);
            return command;
        };
        // By its path, because the path may lead nowhere.
        let program = program_on_path(program).unwrap_or_else(|| panic!("{program} is missing"));
        let mut all = vec![program.to_str().unwrap()];
        all.extend(options);
        let mut command = wrapped(&self.world, &all, &self.arguments());
        command.stdin(File::open(&self.input).unwrap());
        self.hide_trash(&mut command);
        command
    }

    /// A machine may have a program `trash`, which is another matter.
    fn hide_trash(&self, command: &mut Command) {
        if self.case.store == Store::Trash {
            command.env("PATH", "/nonexistent");
        }
    }

    /// Runs the command, with another program in front of it.
    pub(super) fn run(&self, wrapper: &[&str]) -> Said {
        self.command(wrapper).output().unwrap().into()
    }

    pub(super) fn strace(&self, options: &[&str]) -> Said {
        let mut wrapper = vec!["strace", "-f", "-qq"];
        wrapper.extend(options);
        self.run(&wrapper)
    }

    /// The system calls that the command makes on these folders, and for its answer.
    pub(super) fn calls(&self) -> Vec<Call> {
        self.restore();
        let trace = tempfile::NamedTempFile::new().unwrap();
        let out = trace.path().to_str().unwrap();
        let said = self.strace(&["-y", "-o", out, "-e", &tracing(&[CALLS])]);
        assert_eq!(said.code, Some(0), "{said:?}");
        read_trace(&fs::read_to_string(trace.path()).unwrap(), &self.world)
    }

    /// Killed when it makes that call, which is not made then.
    pub(super) fn killed_at(&self, call: &Call) -> Said {
        let Call { name, nth, .. } = call;
        let trace = format!("trace={name}");
        let inject = format!("inject={name}:signal=KILL:when={nth}");
        self.strace(&["-o", "/dev/null", "-e", &trace, "-e", &inject])
    }

    /// Killed at every call that changes something: before one that does not, all is as it is before
    /// the next one that does.
    pub(super) fn killed_everywhere(&mut self) {
        for call in self.calls().into_iter().filter(Call::changes) {
            self.restore();
            let said = self.killed_at(&call);
            let at = format!("{:?} killed at {call:?}: {said:?}", self.case.args);
            assert!(said.signal == Some(9) || self.case.varies, "{at}");
            self.check(&said, &at);
        }
        assert!(self.seen.len() > 1, "it was never killed in between");
    }

    /// Each call fails in turn, in each way that it can.
    pub(super) fn failing_everywhere(&mut self) {
        let trace = tempfile::NamedTempFile::new().unwrap();
        let out = trace.path().to_str().unwrap().to_owned();
        for call in self.calls() {
            for errno in call.errors() {
                self.restore();
                let Call { name, nth, .. } = &call;
                let which = format!("trace={name}");
                let inject = format!("inject={name}:error={errno}:when={nth}");
                // Stops at no other call, which is faster.
                let said = self.strace(&["--seccomp-bpf", "-o", &out, "-e", &which, "-e", &inject]);
                let at = format!("{:?} with {errno} at {call:?}: {said:?}", self.case.args);
                let trace = fs::read_to_string(trace.path()).unwrap();
                let hit = trace.lines().find(|line| line.contains("(INJECTED)"));
                assert!(hit.is_some() || self.case.varies, "{at}");
                let is_answer = hit.is_some_and(|line| line.contains("write(1, "));
                self.check_failure(
                    &said,
                    &Call {
                        is_answer,
                        ..call.clone()
                    },
                    &at,
                );
                self.check(&said, &at);
            }
        }
    }

    /// Files may grow up to here and no further: a write call takes only a part, the next none.
    pub(super) fn short_everywhere(&mut self) {
        let longest = |tree: &Tree| tree.values().flatten().map(Vec::len).max().unwrap_or(0);
        let end = longest(&self.new) + 1;
        // Every byte of what is appended, and some of what is written as a whole.
        let log = self
            .id
            .as_ref()
            .filter(|_| self.case.store == Store::Threads);
        let appended = log.map_or(0..0, |_| {
            let len = |tree: &Tree| {
                tree.get(&self.log_path())
                    .map_or(0, |f| f.as_ref().unwrap().len())
            };
            len(&self.old)..len(&self.new)
        });
        let mut failed = 0;
        for limit in 0..end {
            if limit % 13 != 0 && !(appended.contains(&limit) && limit % 3 == 0) {
                continue;
            }
            self.restore();
            let prlimit = format!("exec prlimit --fsize={limit} \"$0\" \"$@\"");
            let said = self.run(&["sh", "-c", &format!("trap '' XFSZ; {prlimit}")]);
            let at = format!("{:?} with files of {limit} bytes: {said:?}", self.case.args);
            if said.code != Some(0) {
                failed += 1;
                self.check_error(&said, None, &at);
                assert_eq!(
                    look(&self.world.root).1,
                    0,
                    "{at}: something is left behind"
                );
            }
            self.check(&said, &at);
        }
        assert!(
            failed > 0 || self.case.kind == Kind::Removes,
            "nothing was short"
        );
    }
}
