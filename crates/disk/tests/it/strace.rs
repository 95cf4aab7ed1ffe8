//! Doing something to a process at its nth system call.

use std::{
    collections::BTreeMap,
    path::Path,
    process::{Command, Stdio},
};

use crate::child::{self, BEGIN, END, Said};

/// The system calls that touch files.
const CALLS: &[&str] = &[
    "openat",
    "close",
    "read",
    "pread64",
    "write",
    "writev",
    "pwrite64",
    "lseek",
    "fsync",
    "fdatasync",
    "ftruncate",
    "fchmod",
    "fchown",
    "rename",
    "renameat",
    "renameat2",
    "link",
    "linkat",
    "unlink",
    "unlinkat",
    "mkdir",
    "mkdirat",
    "rmdir",
    "getdents64",
    "flock",
    "statx",
    "fstat",
    "newfstatat",
];

/// One system call of a task.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) name: String,
    /// How many of that name the process had made then, this one included.
    pub(crate) nth: usize,
    /// Whether it only says what was done.
    pub(crate) is_report: bool,
    /// Whether it lets go of a lock, which closing the file does too.
    pub(crate) is_unlock: bool,
    /// Whether it only serves leftovers: looks for them, or marks what is no such thing.
    pub(crate) is_about_leftovers: bool,
}

impl Call {
    /// The ways in which it is made to fail.
    pub(crate) fn errors(&self) -> &'static [&'static str] {
        match self.name.as_str() {
            "write" => &["ENOSPC", "EIO", "EINTR"],
            "fsync" | "fdatasync" => &["EIO", "ENOSPC", "EINTR"],
            // The last as on a file system that cannot promise to replace nothing.
            "renameat2" => &["EIO", "ENOSPC", "EINVAL"],
            "rename" | "renameat" => &["EIO", "ENOSPC"],
            "mkdir" | "mkdirat" => &["EIO", "ENOSPC", "EACCES"],
            "openat" => &["EMFILE", "EACCES", "EINTR"],
            "fchmod" => &["EPERM"],
            "flock" => &["ENOLCK"],
            "ftruncate" | "lseek" | "pread64" | "linkat" | "unlink" | "unlinkat" | "rmdir"
            | "getdents64" => &["EIO"],
            _ => &[],
        }
    }

    /// Whether such a failure must not be noticed: there is another way, or it is tried again.
    pub(crate) fn is_no_obstacle(errno: &str) -> bool {
        ["EINTR", "EINVAL"].contains(&errno)
    }

    /// Whether this may fail unnoticed: where a record went is known without asking again, and
    /// leftovers are in nobody's way.
    pub(crate) fn may_fail(&self) -> bool {
        self.name == "lseek" || self.is_unlock || self.is_about_leftovers
    }
}

/// Whether the program is there. Without it the tests are skipped, but not on a build machine.
pub(crate) fn is_there() -> bool {
    let version = Command::new("strace")
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    if version.is_ok() {
        return true;
    }
    rethread_judges::skip_without("strace");
    false
}

fn strace(task: &str, path: &Path, options: &[&str]) -> Said {
    let mut command = Command::new("strace");
    command
        .args(["-f", "-qq"])
        .args(options)
        .arg(child::program());
    child::assign(&mut command, task, path).args(child::arguments());
    child::run(command)
}

/// Those that this machine does not have are left out.
fn all_calls() -> String {
    let calls: Vec<String> = CALLS.iter().map(|name| format!("?{name}")).collect();
    calls.join(",")
}

/// The system calls that a task makes when nothing happens to it.
pub(crate) fn calls_of(task: &str, path: &Path) -> Vec<Call> {
    calls_in(task, path, strace)
}

/// The same, with a home of its own and no other programs.
pub(crate) fn calls_with(task: &str, path: &Path, home: &Path) -> Vec<Call> {
    calls_in(task, path, |task, path, options| {
        let mut command = Command::new(program());
        command.args(["-f", "-qq"]).args(options);
        command
            .arg(child::program())
            .env("PATH", home.join("bin"))
            .env("HOME", home)
            .env("XDG_DATA_HOME", home.join("data"));
        child::assign(&mut command, task, path).args(child::arguments());
        child::run(command)
    })
}

/// Where the program is.
pub(crate) fn program() -> String {
    let path = std::env::var_os("PATH").unwrap();
    let mut all = std::env::split_paths(&path).map(|folder| folder.join("strace"));
    let found = all.find(|program| program.is_file()).unwrap();
    found.to_str().unwrap().to_owned()
}

fn calls_in(
    task: &str,
    path: &Path,
    strace: impl FnOnce(&str, &Path, &[&str]) -> Said,
) -> Vec<Call> {
    let trace = tempfile::NamedTempFile::new().unwrap();
    let out = trace.path().to_str().unwrap();
    let said = strace(
        task,
        path,
        &["-y", "-o", out, "-e", &format!("trace={}", all_calls())],
    );
    assert!(
        said.status.success() && said.failed.is_empty(),
        "{task}: {said:?}"
    );
    let trace = std::fs::read_to_string(trace.path()).unwrap();
    let begin = trace.lines().find(|line| line.contains(BEGIN)).unwrap();
    let thread = begin.split(' ').next().unwrap();

    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut calls: Vec<Call> = Vec::new();
    let (mut inside, mut over) = (false, false);
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
        over |= line.contains(END);
        if inside && !over && who == thread {
            let is_report = name == "write" && rest.starts_with("1<");
            let is_unlock = rest.contains("LOCK_UN");
            let is_listing = name == "getdents64"
                || name == "openat" && rest.contains("O_NONBLOCK|O_CLOEXEC|O_DIRECTORY");
            let is_mark = name == "flock" && rest.contains(".tmp>");
            calls.push(Call {
                name: name.to_owned(),
                nth: *nth,
                is_report,
                is_unlock,
                is_about_leftovers: is_listing || is_mark,
            });
        }
        inside |= line.contains(BEGIN);
    }
    for call in &calls {
        let reached = |((who, name), nth): (&(&str, &str), &usize)| {
            *who != thread && *name == call.name && *nth >= call.nth
        };
        assert!(
            !counts.iter().any(reached),
            "another thread is hit by {call:?}"
        );
    }
    assert!(calls.len() > 4, "{task}: {calls:?}");
    calls
}

/// Runs a task and does `what` (`signal=KILL`, `error=EIO`) at one of its system calls.
pub(crate) fn disturbed(task: &str, path: &Path, call: &Call, what: &str) -> Said {
    let Call { name, nth, .. } = call;
    let trace = format!("trace={name}");
    let inject = format!("inject={name}:{what}:when={nth}");
    let mut options = vec!["-o", "/dev/null", "-e", &trace, "-e", &inject];
    if what.starts_with("error=") {
        // Stops at no other call, which is faster; but then signals are not sent.
        options.push("--seccomp-bpf");
    }
    strace(task, path, &options)
}
