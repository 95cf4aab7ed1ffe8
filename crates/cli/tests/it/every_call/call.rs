//! One system call, as strace shows it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::without_temporary;
use crate::world::World;

/// The system calls that change files, or that come between those that do.
pub(super) const CALLS: &[&str] = &[
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
    "symlink",
    "symlinkat",
    // These change nothing, but they fail too.
    "read",
    "pread64",
    "lseek",
];
pub(super) const READING: &[&str] = &["read", "pread64", "lseek"];
/// Those with which other programs are started and waited for; nothing in them names a file.
pub(super) const STARTING: &[&str] = &["pipe2", "vfork", "clone", "clone3", "poll", "wait4"];
/// Reads what is in a folder.
pub(super) const LISTING: &[&str] = &["getdents64"];

/// One system call of a command.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) name: String,
    /// How many of that name the process had made then, this one included.
    pub(super) nth: usize,
    /// What it is about; a temporary file stands for what it is to become.
    pub(super) path: PathBuf,
    /// Whether it prints the answer.
    pub(super) is_answer: bool,
    /// Whether it reads standard input.
    pub(super) is_input: bool,
    /// Whether it opens a file that it may make.
    pub(super) makes: bool,
}

impl Call {
    pub(super) fn changes(&self) -> bool {
        match self.name.as_str() {
            "openat" => self.makes,
            "close" | "lseek" | "read" | "pread64" | "getdents64" => false,
            _ => true,
        }
    }

    /// The ways in which it is made to fail.
    pub(super) fn errors(&self) -> &'static [&'static str] {
        match self.name.as_str() {
            "write" | "writev" | "pwrite64" | "fsync" | "fdatasync" | "ftruncate"
            | "copy_file_range" | "sendfile" => &["ENOSPC", "EIO", "EINTR"],
            "openat" if self.makes => &["ENOSPC", "EIO", "EINTR"],
            "flock" => &["ENOLCK", "EINTR"],
            "openat" | "read" | "pread64" => &["EIO", "EINTR"],
            "lseek" | "getdents64" | "fchmod" | "fchown" | "unlink" | "unlinkat" | "rmdir" => {
                &["EIO"]
            }
            "rename" | "renameat" | "renameat2" | "link" | "linkat" | "symlink" | "symlinkat"
            | "mkdir" | "mkdirat" => &["ENOSPC", "EIO"],
            "pipe2" => &["EMFILE"],
            "vfork" | "clone" | "clone3" => &["EAGAIN"],
            _ => &[],
        }
    }
}

/// The calls of the main thread on these folders, for its answer, and to start other programs.
pub(super) fn read_trace(trace: &str, world: &World) -> Vec<Call> {
    // A process stands in front only where several are followed.
    let split = |line: &'_ str| {
        let at = line.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
        (line[..at].to_owned(), line[at..].trim_start().to_owned())
    };
    let main = split(trace).0;
    let root = world.root.to_str().unwrap();
    let here = format!("AT_FDCWD<{}>, ", world.project.display());
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut calls = Vec::new();
    for line in trace.lines() {
        let (who, line) = split(line);
        let Some((name, rest)) = line.split_once('(') else {
            continue;
        };
        let starts = STARTING.contains(&name);
        if !starts && !CALLS.contains(&name) && !LISTING.contains(&name) {
            continue;
        }
        let nth = counts.entry((who.clone(), name.to_owned())).or_default();
        *nth += 1;
        let line = rest.replace(&here, "");
        let is_answer = name == "write" && line.starts_with("1<");
        // A thread is no program.
        let starts = starts && !line.contains("CLONE_THREAD");
        let concerns_us = is_answer || starts || line.contains(root);
        if who != main || line.starts_with("2<") || !concerns_us {
            continue;
        }
        let from = line.find(root).unwrap_or(line.len());
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

/// What makes strace show these.
pub(super) fn tracing(names: &[&[&str]]) -> String {
    let names: Vec<String> = names.concat().iter().map(|n| format!("?{n}")).collect();
    format!("trace={}", names.join(","))
}
