//! Every system call of every way to write: the process is killed there, or the call fails.

use std::{os::unix::process::ExitStatusExt as _, path::Path, time::Duration};

use rethread_disk::{DiskError, Durability, LockedLog, Mode, append_line};

use crate::{child::big, leftovers_in, names_in, place, strace};

/// One way to write: what is there before, and what is there after which steps.
struct Case {
    task: &'static str,
    before: Option<&'static [u8]>,
    after: fn(&[usize]) -> Option<Vec<u8>>,
}

const OLD: &[u8] = b"first\nsecond\ntor";

fn replaced(done: &[usize]) -> Vec<u8> {
    match done.last() {
        Some(0) => big(b'1'),
        Some(_) => big(b'2'),
        None => OLD.to_vec(),
    }
}

fn created(done: &[usize]) -> Option<Vec<u8>> {
    // The second finds the first and leaves it, or is the first.
    match done {
        [] => None,
        [1] => Some(big(b'2')),
        _ => Some(big(b'1')),
    }
}

fn appended_to_new(done: &[usize]) -> Option<Vec<u8>> {
    let all: Vec<u8> = done
        .iter()
        .flat_map(|&i| [b"one\n", b"two\n"][i])
        .copied()
        .collect();
    (!all.is_empty()).then_some(all)
}

fn appended(lines: [&'static [u8]; 2], done: &[usize]) -> Vec<u8> {
    let mut all = OLD.to_vec();
    if !done.is_empty() {
        all.push(b'\n');
    }
    all.extend(done.iter().flat_map(|&i| lines[i]));
    all
}

fn rewritten(done: &[usize]) -> Vec<u8> {
    let mut all = if done.contains(&0) {
        OLD[6..].to_vec()
    } else {
        OLD.to_vec()
    };
    if done.contains(&1) {
        all.extend(b"\nafter\n");
    }
    all
}

const REPLACE: Case = Case {
    task: "replace",
    before: Some(OLD),
    after: |done| Some(replaced(done)),
};
const CREATE: Case = Case {
    task: "create",
    before: None,
    after: created,
};
const APPEND_LINE: Case = Case {
    task: "append_line",
    before: Some(OLD),
    after: |done| Some(appended([b"one\n", b"two\n"], done)),
};
const APPEND_LINE_TO_NEW: Case = Case {
    task: "append_line",
    before: None,
    after: appended_to_new,
};
const APPEND_UNLOCKED: Case = Case {
    task: "append_unlocked",
    ..APPEND_LINE
};
const APPEND: Case = Case {
    task: "append",
    before: Some(OLD),
    after: |done| Some(appended([b"one\n", b"two\nthree\n"], done)),
};
const REWRITE: Case = Case {
    task: "rewrite",
    before: Some(OLD),
    after: |done| Some(rewritten(done)),
};

impl Case {
    fn prepare(&self, path: &Path) {
        if let Some(before) = self.before {
            std::fs::write(path, before).unwrap();
        }
    }

    fn calls(&self) -> Vec<strace::Call> {
        let (_folder, path) = place();
        self.prepare(&path);
        strace::calls_of(self.task, &path)
    }

    /// Killed at every call: what was acknowledged is there; the rest is old or new, never half.
    fn killed_everywhere(&self) {
        if !strace::is_there() {
            return;
        }
        for call in self.calls() {
            let (folder, path) = place();
            self.prepare(&path);
            let said = strace::disturbed(self.task, &path, &call, "signal=KILL");
            let at = format!("{} killed at {call:?}: {said:?}", self.task);
            assert_eq!(said.status.signal(), Some(9), "{at}");
            assert!(said.failed.is_empty(), "{at}");
            let mut next = said.done.clone();
            next.push(said.done.len());
            let found = self.found(&path);
            let old_or_new = [(self.after)(&said.done), (self.after)(&next)];
            assert!(
                old_or_new.contains(&found),
                "{at}: {} bytes",
                found.map_or(0, |f| f.len())
            );
            assert!(
                names_in(folder.path())
                    .iter()
                    .all(|name| name == "log.jsonl"),
                "{at}"
            );
            assert!(leftovers_in(folder.path()) <= 1, "{at}");
            usable(&path, &at);
            assert_eq!(leftovers_in(folder.path()), 0, "{at}");
        }
    }

    /// A call fails: the error names the file, and the file is as the steps that worked left it.
    fn failing_everywhere(&self) {
        if !strace::is_there() {
            return;
        }
        for call in self.calls().iter().filter(|call| !call.is_report) {
            for errno in call.errors() {
                let (folder, path) = place();
                self.prepare(&path);
                let said = strace::disturbed(self.task, &path, call, &format!("error={errno}"));
                let at = format!("{} with {errno} at {call:?}: {said:?}", self.task);
                assert!(said.status.success(), "{at}");
                assert_eq!(said.done.len() + said.failed.len(), 2, "{at}");
                assert!(said.failed.len() <= 1, "{at}");
                let harmless = strace::Call::is_no_obstacle(errno);
                assert!(!harmless || said.failed.is_empty(), "{at}");
                let unnoticed = harmless || call.may_fail();
                assert!(unnoticed || !said.failed.is_empty(), "{at}");
                let mut expected = vec![(self.after)(&said.done)];
                for (step, words) in &said.failed {
                    assert!(
                        words.contains(&format!("`{}", folder.path().display())),
                        "{at}"
                    );
                    // The new file is in place and only its name may not last.
                    if words.starts_with("cannot sync") && self.keeps_unsynced(*step, words) {
                        let mut with = said.done.clone();
                        with.push(*step);
                        with.sort_unstable();
                        expected = vec![(self.after)(&with)];
                    }
                }
                let found = self.found(&path);
                let len = found.as_ref().map_or(0, Vec::len);
                assert!(expected.contains(&found), "{at}: {len} bytes");
                assert_eq!(leftovers_in(folder.path()), 0, "{at}");
            }
        }
    }

    fn keeps_unsynced(&self, step: usize, words: &str) -> bool {
        let name_only = words.starts_with("cannot sync the folder");
        match self.task {
            "rewrite" => name_only && step == 0,
            "append" | "append_line" | "append_unlocked" => false,
            _ => name_only,
        }
    }

    /// What is there. A new log is made first and then written to, so it may be empty.
    fn found(&self, path: &Path) -> Option<Vec<u8>> {
        let found = std::fs::read(path).ok();
        found.filter(|found| !(self.task.starts_with("append") && found.is_empty()))
    }
}

/// Nothing that a killed process left behind is in the way of the next one.
fn usable(path: &Path, at: &str) {
    match LockedLog::open(path, Duration::ZERO) {
        Ok(mut log) => drop(log.append(b"next\n").expect(at)),
        Err(DiskError::NotFound { .. }) => {
            append_line(path, b"next", Mode::Private, Durability::None).expect(at);
        }
        Err(e) => panic!("{at}: {e}"),
    }
    assert!(std::fs::read(path).unwrap().ends_with(b"next\n"), "{at}");
}

#[test]
fn replace_killed_at_every_call() {
    REPLACE.killed_everywhere();
}

#[test]
fn create_killed_at_every_call() {
    CREATE.killed_everywhere();
}

#[test]
fn append_line_killed_at_every_call() {
    APPEND_LINE.killed_everywhere();
}

#[test]
fn append_line_to_a_new_log_killed_at_every_call() {
    APPEND_LINE_TO_NEW.killed_everywhere();
}

#[test]
fn unlocked_append_killed_at_every_call() {
    APPEND_UNLOCKED.killed_everywhere();
}

#[test]
fn locked_append_killed_at_every_call() {
    APPEND.killed_everywhere();
}

#[test]
fn rewrite_killed_at_every_call() {
    REWRITE.killed_everywhere();
}

#[test]
fn replace_with_every_call_failing() {
    REPLACE.failing_everywhere();
}

#[test]
fn create_with_every_call_failing() {
    CREATE.failing_everywhere();
}

#[test]
fn append_line_with_every_call_failing() {
    APPEND_LINE.failing_everywhere();
}

#[test]
fn append_line_to_a_new_log_with_every_call_failing() {
    APPEND_LINE_TO_NEW.failing_everywhere();
}

#[test]
fn unlocked_append_with_every_call_failing() {
    APPEND_UNLOCKED.failing_everywhere();
}

#[test]
fn locked_append_with_every_call_failing() {
    APPEND.failing_everywhere();
}

#[test]
fn rewrite_with_every_call_failing() {
    REWRITE.failing_everywhere();
}
