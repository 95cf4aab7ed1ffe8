//! Every system call of every command that writes: the process is killed there, or the call fails;
//! and every place at which a file may grow no further.
//!
//! Whatever happens, each file is old or new, what was acknowledged is there, the next command
//! needs no repair, and an error names the file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, FileTimes};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};

use rethread_disk::is_temporary;
use tempfile::TempDir;

use crate::world::{World, json};

/// The system calls that change files, or that come between those that do.
const CALLS: &[&str] = &[
    "openat",
    "close",
    "write",
    "writev",
    "pwrite64",
    "fsync",
    "fdatasync",
    "rename",
    "renameat",
    "renameat2",
    "link",
    "linkat",
    "unlink",
    "unlinkat",
    "rmdir",
    "mkdir",
    "mkdirat",
    "ftruncate",
    "fchmod",
    "fchown",
    "flock",
    "copy_file_range",
    "sendfile",
    // These change nothing, but they fail too.
    "read",
    "pread64",
    "lseek",
];
const READING: &[&str] = &["read", "pread64", "lseek"];

/// Folders, and files with what is in them, without what killed processes left behind.
type Tree = BTreeMap<PathBuf, Option<Vec<u8>>>;

/// Files with what is in them.
type Files = Vec<(PathBuf, Vec<u8>)>;

/// A command, with what it is tried on.
struct Case {
    /// Lays out what is there before, and gives the thread that the command is about.
    prepare: fn(&World) -> Option<String>,
    /// The arguments; `ID` stands for the thread.
    args: &'static [&'static str],
    /// What is on standard input.
    input: &'static str,
    /// States of a file between the old and the new one.
    between: fn(&Trial) -> Files,
    kind: Kind,
    /// Whether the calls are not the same each time.
    varies: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Changes a thread that is there.
    Changes,
    /// Makes something that may be asked for again.
    Makes,
    /// Removes the thread.
    Removes,
    /// Makes a whole project, file by file.
    Fills,
}

fn thread_of_three(w: &World) -> String {
    let id = w.thread("T");
    w.message(&id, r#"{"id":"m1","role":"user","content":"go"}"#);
    w.message(&id, r#"{"id":"m2","role":"assistant","content":[{"type":"tool_use","tool_id":"t1","tool_name":"Bash","input":{"command":"ls"}}]}"#);
    w.message(&id, r#"{"id":"m3","role":"user","content":[{"type":"image","data":"QQ==","mimeType":"image/png"}]}"#);
    id
}

const FRAGMENT: &[u8] = b"{\"id\":\"torn\",\"role\":\"us";

fn nothing_between(_: &Trial) -> Files {
    Vec::new()
}

/// The list of known projects is made first and then written to.
fn empty_list(_: &Trial) -> Files {
    vec![(
        PathBuf::from("home/.local/share/rethread/projects.jsonl"),
        Vec::new(),
    )]
}

const INIT: Case = Case {
    prepare: |_| None,
    args: &["init"],
    input: "",
    between: empty_list,
    kind: Kind::Makes,
    varies: false,
};
const NEW: Case = Case {
    prepare: |_| None,
    args: &["new", "--format", "atsf", "--title", "N"],
    input: "",
    between: empty_list,
    kind: Kind::Makes,
    varies: false,
};
const NEW_IN_A_STORE: Case = Case {
    prepare: |w| {
        thread_of_three(w);
        None
    },
    ..NEW
};
const APPEND: Case = Case {
    prepare: |w| Some(thread_of_three(w)),
    args: &["append", "ID", "one more"],
    input: "",
    between: nothing_between,
    kind: Kind::Changes,
    varies: false,
};
const APPEND_TO_TORN: Case = Case {
    prepare: |w| {
        let id = thread_of_three(w);
        let log = w.folder(&id).join("messages.jsonl");
        let mut bytes = fs::read(&log).unwrap();
        bytes.extend(FRAGMENT);
        fs::write(log, bytes).unwrap();
        Some(id)
    },
    // The fragment is in the salvage folder, and the message not yet in the log.
    between: |t| {
        let log = t.log_path();
        let old = t.old[&log].as_ref().unwrap();
        let whole = old[..old.len() - FRAGMENT.len()].to_vec();
        vec![(log, whole)]
    },
    ..APPEND
};
const APPEND_IMAGE: Case = Case {
    prepare: |w| {
        fs::write(w.project.join("look.gif"), b"GIF89a: a picture").unwrap();
        Some(thread_of_three(w))
    },
    args: &["append", "ID", "look", "--image", "look.gif"],
    ..APPEND
};
const APPEND_TWO: Case = Case {
    args: &["append", "ID", "--message-json", "-"],
    input: "{\"id\":\"n1\",\"role\":\"user\",\"content\":\"one\"}\n\
            {\"id\":\"n2\",\"role\":\"agent\",\"content\":\"two\"}\n",
    // They are saved together or one after the other, as they arrive.
    between: |t| {
        t.restore();
        let first = APPEND_TWO.input.lines().next().unwrap();
        t.world.message(t.id.as_ref().unwrap(), first);
        let files = [t.log_path(), t.log_path().with_file_name("thread.json")];
        files
            .map(|name| (name.clone(), fs::read(t.world.root.join(name)).unwrap()))
            .into()
    },
    varies: true,
    ..APPEND
};
const REPLACE: Case = Case {
    args: &["append", "ID", "--replace", "m1", "--message-json", "-"],
    input: "{\"role\":\"agent\",\"content\":\"changed\",\"toolCalls\":[{\"toolCallId\":\"t9\",\
            \"name\":\"bash\",\"status\":\"completed\"}]}\n",
    ..APPEND
};
const LATE_RESULT: Case = Case {
    args: &["append", "ID", "--message-json", "-"],
    input: "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_id\":\"t1\",\
            \"tool_name\":\"Bash\",\"output\":\"a\\nb\",\"is_error\":false}]}\n",
    ..APPEND
};
const RENAME: Case = Case {
    args: &["rename", "ID", "Another title, which is longer"],
    ..APPEND
};
const FORK: Case = Case {
    args: &["fork", "ID", "--at", "m3"],
    ..APPEND
};
const RM: Case = Case {
    args: &["rm", "ID", "--force"],
    kind: Kind::Removes,
    ..APPEND
};
const SAMPLE: Case = Case {
    prepare: |_| None,
    args: &["sample", "try-me"],
    input: "",
    between: nothing_between,
    kind: Kind::Fills,
    varies: false,
};

/// A case on a disk of its own, with what is there before and after the command.
struct Trial {
    case: &'static Case,
    world: World,
    _disk: Option<TempDir>,
    id: Option<String>,
    input: PathBuf,
    old: Tree,
    new: Tree,
    between: Files,
    /// What the command prints when nothing happens to it.
    out: String,
    /// States after which all that follows was seen to work.
    seen: BTreeSet<(Tree, usize)>,
}

/// What a disturbed command did and said.
#[derive(Debug)]
struct Said {
    code: Option<i32>,
    signal: Option<i32>,
    out: String,
    err: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            signal: output.status.signal(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Trial {
    fn new(case: &'static Case) -> Self {
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
    fn log_path(&self) -> PathBuf {
        let folder = self.world.folder(self.id.as_ref().unwrap());
        let log = folder.join("messages.jsonl");
        log.strip_prefix(&self.world.root).unwrap().to_owned()
    }

    /// Puts everything back as it was before.
    fn restore(&self) {
        let root = &self.world.root;
        for entry in fs::read_dir(root).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                fs::remove_dir_all(path).unwrap();
            } else {
                fs::remove_file(path).unwrap();
            }
        }
        // Old enough that nobody waits for the end of a torn line.
        let time = FileTimes::new().set_modified(SystemTime::now() - Duration::from_mins(1));
        for (name, content) in &self.old {
            let path = root.join(name);
            match content {
                None => fs::create_dir(path).unwrap(),
                Some(bytes) => {
                    fs::write(&path, bytes).unwrap();
                    let file = File::options().append(true).open(path).unwrap();
                    file.set_times(time).unwrap();
                }
            }
        }
    }

    fn arguments(&self) -> Vec<&str> {
        let id = self.id.as_deref().unwrap_or_default();
        let args = self.case.args.iter();
        args.map(|arg| if *arg == "ID" { id } else { arg })
            .collect()
    }

    /// Runs the command, with another program in front of it.
    fn run(&self, wrapper: &[&str]) -> Said {
        let mut command = wrapped(&self.world, wrapper, &self.arguments());
        let input = File::open(&self.input).unwrap();
        command.stdin(input).output().unwrap().into()
    }

    fn strace(&self, options: &[&str]) -> Said {
        let mut wrapper = vec!["strace", "-f", "-qq"];
        wrapper.extend(options);
        self.run(&wrapper)
    }

    /// The system calls that the command makes on these folders, and for its answer.
    fn calls(&self) -> Vec<Call> {
        self.restore();
        let trace = tempfile::NamedTempFile::new().unwrap();
        let out = trace.path().to_str().unwrap();
        let names: Vec<String> = CALLS.iter().map(|name| format!("?{name}")).collect();
        let which = format!("trace={}", names.join(","));
        let said = self.strace(&["-y", "-o", out, "-e", &which]);
        assert_eq!(said.code, Some(0), "{said:?}");
        let trace = fs::read_to_string(trace.path()).unwrap();
        let main = trace.split(' ').next().unwrap();
        let root = self.world.root.to_str().unwrap();
        let here = format!("AT_FDCWD<{}>, ", self.world.project.display());
        let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        let mut calls = Vec::new();
        for line in trace.lines() {
            let Some((who, line)) = line.split_once(' ') else {
                continue;
            };
            let Some((name, rest)) = line.trim_start().split_once('(') else {
                continue;
            };
            if !CALLS.contains(&name) {
                continue;
            }
            let nth = counts.entry((who, name)).or_default();
            *nth += 1;
            let line = rest.replace(&here, "");
            let is_answer = name == "write" && line.starts_with("1<");
            if who != main || line.starts_with("2<") || !(is_answer || line.contains(root)) {
                continue;
            }
            let from = line.find(root).unwrap_or(0);
            let end = line[from..].find(['"', '>', '<', '#']);
            let path = line[from..].get(..end.unwrap_or(0)).unwrap_or_default();
            calls.push(Call {
                name: name.to_owned(),
                nth: *nth,
                path: without_temporary(Path::new(path)),
                is_answer,
                is_input: line.contains("/input.jsonl"),
                makes: line.contains("O_CREAT"),
            });
        }
        assert!(calls.iter().any(Call::changes), "{calls:?}");
        calls
    }

    /// Each file is as it was or as it will be, and they fit together.
    fn check(&mut self, said: &Said, at: &str) {
        let (found, left) = look(&self.world.root);
        assert!(!said.err.contains("panicked"), "{at}");
        let whole_answer = !self.out.is_empty() && said.out == self.out;
        if said.code == Some(0) || whole_answer {
            // The list of known projects only helps to find them again.
            let forgotten = said.err.contains("the project was not remembered: ");
            let done = |tree: &Tree| {
                let counts = |name: &Path| !forgotten || !name.starts_with("home/.local");
                let all = tree.iter().filter(|(name, _)| counts(name));
                all.map(|(name, file)| (name.clone(), file.clone()))
                    .collect::<Tree>()
            };
            let (found, new) = (done(&found), done(&self.new));
            assert!(found == new, "{at}: {}", difference(&new, &found));
        }
        assert!(self.out.starts_with(&said.out), "{at}");
        for (name, content) in &found {
            let old_or_new = [self.old.get(name), self.new.get(name)];
            let between = (name.clone(), content.clone().unwrap_or_default());
            let fits = old_or_new.contains(&Some(content))
                || self.between.contains(&between)
                || self.case.kind == Kind::Fills && self.is_part(name, content.as_deref());
            assert!(fits, "{at}: {} is half: {content:?}", name.display());
        }
        for name in self.old.keys().filter(|name| self.new.contains_key(*name)) {
            assert!(found.contains_key(name), "{at}: {} is gone", name.display());
        }
        self.check_acknowledged(&found, said, at);
        if self.case.kind != Kind::Removes {
            self.check_threads(&found, at);
        }
        if self.seen.insert((found, left)) {
            self.check_next(at);
        }
    }

    /// A log of the sample that has only its first lines, and what describes it then.
    fn is_part(&self, name: &Path, content: Option<&[u8]>) -> bool {
        let (Some(Some(new)), Some(content)) = (self.new.get(name), content) else {
            return false;
        };
        if name.ends_with("messages.jsonl") {
            // A call in it may still wait for its result, which changes the line.
            let first = |bytes: &[u8]| bytes.split(|b| *b == b'\n').map(id_of).collect::<Vec<_>>();
            let (found, whole) = (first(content), first(new));
            return content.is_empty()
                || content.ends_with(b"\n") && whole.starts_with(&found[..found.len() - 1]);
        }
        name.ends_with("thread.json")
            && serde_json::from_slice::<serde_json::Value>(content).is_ok()
    }

    /// Each line that was printed is true.
    fn check_acknowledged(&self, found: &Tree, said: &Said, at: &str) {
        for line in said.out.split_inclusive('\n') {
            let Some(line) = line.strip_suffix('\n') else {
                continue;
            };
            if self.case.args[0] == "append" {
                let log = found[&self.log_path()].as_ref().unwrap();
                let mut ids = log.split(|b| *b == b'\n').map(id_of);
                assert!(ids.any(|id| id.as_deref() == Some(line)), "{at}: {line}");
            }
        }
    }

    /// A thread is whole or not there; it describes no more than its log has, and its pictures are
    /// there.
    fn check_threads(&self, found: &Tree, at: &str) {
        let is_thread = |name: &Path| name.parent().is_some_and(|p| p.ends_with(".agent/threads"));
        for folder in found.keys().filter(|name| is_thread(name)) {
            let file = |name: &str| {
                let content = found.get(&folder.join(name)).and_then(Option::as_ref);
                content.unwrap_or_else(|| panic!("{at}: {} has no {name}", folder.display()))
            };
            let log = file("messages.jsonl");
            let manifest: serde_json::Value = serde_json::from_slice(file("thread.json")).unwrap();
            let noted = manifest["metadata"]["rethread"]["logBytes"].as_u64();
            let is_rewritten =
                self.new.get(&folder.join("messages.jsonl")) == Some(&Some(log.clone()));
            assert!(
                is_rewritten || noted.is_none_or(|n| n <= log.len() as u64),
                "{at}: {noted:?} of {}",
                log.len()
            );
            for line in log.split(|b| *b == b'\n') {
                let Ok(message) = serde_json::from_slice::<serde_json::Value>(line) else {
                    continue;
                };
                for block in message["content"].as_array().into_iter().flatten() {
                    if let Some(name) = block["assetRef"].as_str() {
                        file(&format!("assets/{name}"));
                    }
                }
            }
        }
        let torn = |tree: &Tree| tree.values().flatten().any(|f| f.ends_with(FRAGMENT));
        assert!(
            !torn(&self.old) || torn(found),
            "{at}: the fragment is gone"
        );
    }

    /// All that comes next works, without a repair.
    fn check_next(&self, at: &str) {
        let w = &self.world;
        let listed = w.run(&["list", "--json"]);
        assert!([0, 1, 3].contains(&listed.code), "{at}: {listed:?}");
        // Without a word: nothing was found.
        assert!(
            listed.code != 1 || listed.err.is_empty(),
            "{at}: {listed:?}"
        );
        match self.case.kind {
            Kind::Changes => {
                let id = self.id.as_ref().unwrap();
                assert!(listed.out.contains(id.as_str()), "{at}: {listed:?}");
                let shown = w.run(&["show", id, "--json"]);
                let torn = w.log(id).as_bytes().ends_with(FRAGMENT);
                assert_eq!(shown.code, if torn { 3 } else { 0 }, "{at}: {shown:?}");
                continues(w, id, at);
                if self.case.args[0] == "fork" {
                    self.again(at);
                }
            }
            Kind::Makes => {
                self.again(at);
                if self.case.args[0] == "init" {
                    let (found, _) = look(&w.root);
                    assert!(found == self.new, "{at}: {}", difference(&self.new, &found));
                }
            }
            Kind::Removes => {
                let id = self.id.as_ref().unwrap();
                if w.folder(id).exists() {
                    self.again(at);
                }
                assert!(!w.folder(id).exists(), "{at}");
                let (found, _) = look(&w.root);
                assert!(found == self.new, "{at}: {}", difference(&self.new, &found));
            }
            Kind::Fills => {
                let threads = w.project.join("try-me/.agent/threads");
                for entry in fs::read_dir(threads).into_iter().flatten() {
                    let path = entry.unwrap().path();
                    if !is_temporary(path.file_name().unwrap()) {
                        let shown = w.run(&["show", path.to_str().unwrap(), "--json"]);
                        assert_eq!(shown.code, 0, "{at}: {shown:?}");
                        let next = w.run(&["append", path.to_str().unwrap(), "next"]);
                        assert_eq!(next.code, 0, "{at}: {next:?}");
                    }
                }
            }
        }
    }

    /// The same command once more: it works, and what it made can be written to.
    fn again(&self, at: &str) {
        let said = self.run(&[]);
        assert_eq!(said.code, Some(0), "{at}, and then: {said:?}");
        if ["new", "fork"].contains(&self.case.args[0]) {
            let id = said.out.split('\t').next().unwrap();
            continues(&self.world, id, at);
        }
    }

    /// Killed at every call.
    fn killed_everywhere(&mut self) {
        for call in self.calls() {
            if READING.contains(&call.name.as_str()) || call.is_input || self.is_repetition(&call) {
                continue;
            }
            self.restore();
            let Call { name, nth, .. } = &call;
            let trace = format!("trace={name}");
            let inject = format!("inject={name}:signal=KILL:when={nth}");
            let said = self.strace(&["-o", "/dev/null", "-e", &trace, "-e", &inject]);
            let at = format!("{:?} killed at {call:?}: {said:?}", self.case.args);
            assert!(said.signal == Some(9) || self.case.varies, "{at}");
            self.check(&said, &at);
        }
        assert!(self.seen.len() > 1, "it was never killed in between");
    }

    /// Each call fails in turn, in each way that it can.
    fn failing_everywhere(&mut self) {
        let trace = tempfile::NamedTempFile::new().unwrap();
        let out = trace.path().to_str().unwrap().to_owned();
        for call in self.calls() {
            if self.is_repetition(&call) {
                continue;
            }
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
    fn short_everywhere(&mut self) {
        let longest = |tree: &Tree| tree.values().flatten().map(Vec::len).max().unwrap_or(0);
        let end = longest(&self.new) + 1;
        // Every byte of what is appended, and some of what is written as a whole.
        let appended = self.id.as_ref().map_or(0..0, |_| {
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

    fn check_failure(&self, said: &Said, call: &Call, at: &str) {
        match said.code {
            Some(0) => {}
            // Something on the way could not be looked into: said, and the rest was done.
            Some(3) => assert!(said.err.contains("warning: "), "{at}"),
            Some(1) => self.check_error(said, Some(call), at),
            _ => panic!("{at}"),
        }
        // What could be removed only in part stays without its name.
        let in_part = self.case.kind == Kind::Removes && said.code != Some(0);
        if !call.name.starts_with("unlink") && call.name != "rmdir" && !in_part {
            assert_eq!(
                look(&self.world.root).1,
                0,
                "{at}: something is left behind"
            );
        }
    }

    /// One error, in one line, and it names the file.
    fn check_error(&self, said: &Said, call: Option<&Call>, at: &str) {
        let errors: Vec<&str> = said
            .err
            .lines()
            .filter(|l| l.starts_with("error: "))
            .collect();
        let [error] = errors.as_slice() else {
            panic!("{at}: {} errors", errors.len());
        };
        let named = error.split('`').skip(1).step_by(2);
        let named = named.map(|p| without_temporary(&self.world.project.join(p)));
        let named: Vec<PathBuf> = named.filter(|p| p.starts_with(&self.world.root)).collect();
        match call {
            Some(call) if call.is_answer || call.is_input => {}
            // Where one file is copied into another, either may be named.
            Some(call) if !self.case.varies && !READING.contains(&call.name.as_str()) => assert!(
                named
                    .iter()
                    .any(|p| p.starts_with(&call.path) || call.path.starts_with(p)),
                "{at}: the error does not name {}",
                call.path.display()
            ),
            _ => assert!(!named.is_empty(), "{at}"),
        }
    }

    /// Whether this only repeats, in the many steps of the sample, what other cases try.
    fn is_repetition(&self, call: &Call) -> bool {
        self.case.kind == Kind::Fills && !call.changes()
    }
}

/// One system call of a command.
#[derive(Clone, Debug)]
struct Call {
    name: String,
    /// How many of that name the process had made then, this one included.
    nth: usize,
    /// What it is about; a temporary file stands for what it is to become.
    path: PathBuf,
    /// Whether it prints the answer.
    is_answer: bool,
    /// Whether it reads standard input.
    is_input: bool,
    /// Whether it opens a file that it may make.
    makes: bool,
}

impl Call {
    fn changes(&self) -> bool {
        match self.name.as_str() {
            "openat" => self.makes,
            "close" | "lseek" | "read" | "pread64" => false,
            _ => true,
        }
    }

    /// The ways in which it is made to fail.
    fn errors(&self) -> &'static [&'static str] {
        match self.name.as_str() {
            "write" | "writev" | "pwrite64" | "fsync" | "fdatasync" | "ftruncate"
            | "copy_file_range" | "sendfile" => &["ENOSPC", "EIO", "EINTR"],
            "openat" if self.makes => &["ENOSPC", "EIO", "EINTR"],
            "flock" => &["ENOLCK", "EINTR"],
            "openat" | "read" | "pread64" => &["EIO", "EINTR"],
            "lseek" | "fchmod" | "fchown" | "unlink" | "unlinkat" | "rmdir" => &["EIO"],
            "rename" | "renameat" | "renameat2" | "link" | "linkat" | "mkdir" | "mkdirat" => {
                &["ENOSPC", "EIO"]
            }
            _ => &[],
        }
    }
}

/// A world in memory, where there is such a place: nothing here depends on how slow a disk is.
pub(crate) fn world_in_memory() -> (World, Option<TempDir>) {
    let mut world = World::new();
    let disk = tempfile::tempdir_in("/dev/shm").ok();
    if let Some(disk) = &disk {
        world.root = fs::canonicalize(disk.path()).unwrap();
        world.home = world.root.join("home");
        world.project = world.root.join("shop");
        fs::create_dir(&world.home).unwrap();
        fs::create_dir(&world.project).unwrap();
    }
    (world, disk)
}

/// The binary, with another program in front of it.
pub(crate) fn wrapped(w: &World, wrapper: &[&str], args: &[&str]) -> Command {
    let plain = w.command(args);
    let Some((first, rest)) = wrapper.split_first() else {
        return plain;
    };
    let mut command = Command::new(first);
    command
        .args(rest)
        .arg(plain.get_program())
        .args(plain.get_args())
        .current_dir(&w.project)
        .env_clear()
        .envs(plain.get_envs().filter_map(|(k, v)| Some((k, v?))))
        .stdin(Stdio::null());
    command
}

/// Whether a program is there. Without it the tests are skipped, but not on a build machine.
pub(crate) fn is_there(program: &str) -> bool {
    let version = Command::new(program).arg("--version").output();
    if version.is_ok() {
        return true;
    }
    assert!(
        std::env::var_os("CI").is_none(),
        "{program} is not installed"
    );
    eprintln!("skipped: {program} is not installed");
    false
}

/// What is in a folder, and how many temporary files and folders beside that.
fn look(root: &Path) -> (Tree, usize) {
    let (mut tree, mut left) = (Tree::new(), 0);
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            if is_temporary(&entry.file_name()) {
                left += 1;
                continue;
            }
            let path = entry.path();
            let name = path.strip_prefix(root).unwrap().to_owned();
            let is_folder = entry.file_type().unwrap().is_dir();
            let mut content = (!is_folder).then(|| fs::read(&path).unwrap());
            if let Some(content) = &mut content
                && name.ends_with("rethread/projects.jsonl")
            {
                // A project may be noted again when the list could not be read.
                let mut seen = BTreeSet::new();
                let lines = content.split_inclusive(|b| *b == b'\n');
                let once: Vec<&[u8]> = lines.filter(|line| seen.insert(*line)).collect();
                *content = once.concat();
            }
            tree.insert(name, content);
            if is_folder {
                folders.push(path);
            }
        }
    }
    (tree, left)
}

fn difference(a: &Tree, b: &Tree) -> String {
    let names: BTreeSet<&PathBuf> = a.keys().chain(b.keys()).collect();
    let differ = names
        .into_iter()
        .filter(|name| a.get(*name) != b.get(*name));
    format!("{:?} differ", differ.collect::<Vec<_>>())
}

/// The path with temporary names replaced by those that they are to become.
fn without_temporary(path: &Path) -> PathBuf {
    let parts = path.components().map(|part| {
        let Component::Normal(name) = part else {
            return PathBuf::from(part.as_os_str());
        };
        if !is_temporary(name) {
            return PathBuf::from(name);
        }
        let name = name.to_str().unwrap();
        PathBuf::from(name[1..].rsplitn(4, '.').last().unwrap())
    });
    parts.collect()
}

fn id_of(line: &[u8]) -> Option<String> {
    let value: serde_json::Value = serde_json::from_slice(line).ok()?;
    Some(value["id"].as_str()?.to_owned())
}

/// The thread can be continued, and what describes it is then true.
fn continues(w: &World, id: &str, at: &str) {
    let before: Vec<String> = w.log(id).lines().map(str::to_owned).collect();
    let next = w.run(&["append", id, "next"]);
    assert_eq!(next.code, 0, "{at}, and then: {next:?}");
    let log = w.log(id);
    let lines: Vec<serde_json::Value> = log.lines().map(json).collect();
    let kept = before
        .iter()
        .filter(|line| !line.as_bytes().ends_with(FRAGMENT));
    assert!(kept.eq(log.lines().take(lines.len() - 1)), "{at}");
    assert_eq!(lines.last().unwrap()["id"], next.out.trim(), "{at}");
    let count = |role: &str| lines.iter().filter(|m| m["role"] == role).count();
    let calls = lines
        .iter()
        .filter_map(|m| Some(m["toolCalls"].as_array()?.len()));
    let stats = &w.manifest(id)["stats"];
    assert_eq!(stats["messageCount"], lines.len(), "{at}");
    assert_eq!(stats["userMessageCount"], count("user"), "{at}");
    assert_eq!(stats["agentMessageCount"], count("agent"), "{at}");
    assert_eq!(stats["toolCallCount"], calls.sum::<usize>(), "{at}");
    let shown = w.run(&["show", id, "--json"]);
    assert_eq!(shown.code, 0, "{at}, and then: {shown:?}");
}

macro_rules! cases {
    ($($name:ident: $case:ident,)*) => {
        $(mod $name {
            use super::{Trial, is_there};

            #[test]
            fn killed_at_every_call() {
                if is_there("strace") {
                    Trial::new(&super::$case).killed_everywhere();
                }
            }

            #[test]
            fn every_call_failing() {
                if is_there("strace") {
                    Trial::new(&super::$case).failing_everywhere();
                }
            }

            #[test]
            fn short_writes() {
                if is_there("prlimit") {
                    Trial::new(&super::$case).short_everywhere();
                }
            }
        })*
    };
}

cases! {
    init: INIT,
    new: NEW,
    new_in_a_store: NEW_IN_A_STORE,
    append: APPEND,
    append_to_torn: APPEND_TO_TORN,
    append_image: APPEND_IMAGE,
    append_two: APPEND_TWO,
    replace: REPLACE,
    late_result: LATE_RESULT,
    rename: RENAME,
    fork: FORK,
    rm: RM,
    sample: SAMPLE,
}
