//! A compactor that is killed or fails at each of its system calls.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use rethread_samp::Durability;

use super::super::{Post, names, traced};
use super::{LOG, all, comes_before_the_end, full_log, is_retired, send};

/// One call of a compactor that changes something in the message folder.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) name: String,
    /// How many of that name the process had made then, this one included.
    pub(super) nth: usize,
    /// Its arguments and what it gave, as strace shows them.
    pub(super) rest: String,
}

const CHANGING: &[&str] = &[
    "openat",
    "write",
    "fsync",
    "fdatasync",
    "rename",
    "renameat",
    "renameat2",
    "linkat",
    "link",
    "unlink",
    "unlinkat",
    "fchmod",
    "fchown",
    "ftruncate",
    "flock",
];

/// The calls of a trace that are about the message folder.
pub(super) fn calls(trace: &str, dir: &Path) -> Vec<Call> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut calls = Vec::new();
    for line in trace.lines() {
        let Some((name, rest)) = line.split_once('(') else {
            continue;
        };
        if !CHANGING.contains(&name) {
            continue;
        }
        let nth = counts.entry(name).or_default();
        *nth += 1;
        let changes = name != "openat" || rest.contains("O_CREAT");
        if changes && rest.contains(dir.to_str().unwrap()) {
            calls.push(Call {
                name: name.to_owned(),
                nth: *nth,
                rest: rest.to_owned(),
            });
        }
    }
    calls
}

/// Traces what changes files.
pub(super) fn tracing() -> String {
    let names: Vec<String> = CHANGING.iter().map(|name| format!("?{name}")).collect();
    format!("trace={}", names.join(","))
}

/// Compacts under strace, and sends `late` as soon as the old log has its second name: the log is
/// exchanged a while after that. Gives how it ended, and whether there was such a moment.
pub(super) fn compact_with_late(
    p: &Post,
    strace: &Path,
    options: &[&str],
    late: &str,
) -> (Option<i32>, bool) {
    let mut traced = traced(strace, options, &p.command("amy", &["compact"]));
    let mut child = traced
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let sent = comes_before_the_end(&mut child, || names(&p.dir).iter().any(|n| is_retired(n)));
    if sent {
        send(&p.dir, late, Durability::Each);
    }
    (child.wait().unwrap().code(), sent)
}

#[test]
fn killed_or_failing_at_every_call_it_loses_nothing_and_the_next_one_cleans_up() {
    let Some(strace) = crate::world::strace() else {
        return;
    };
    let delay = "inject=rename:delay_enter=100000";
    let trace = {
        let p = Post::new();
        p.put(LOG, full_log());
        let out = p.w.root.join("trace");
        let options = [
            "-qq",
            "-y",
            "-e",
            &tracing(),
            "-e",
            delay,
            "-o",
            out.to_str().unwrap(),
        ];
        let ended = compact_with_late(&p, &strace, &options, "late");
        assert_eq!(ended, (Some(0), true));
        calls(&fs::read_to_string(out).unwrap(), &p.dir)
    };
    assert!(trace.iter().any(|call| call.name == "linkat"), "{trace:?}");
    let mut moments = 0;
    for call in &trace {
        let errors: &[&str] = match call.name.as_str() {
            "flock" => &["ENOLCK"],
            "fchown" | "fchmod" => &["EPERM"],
            _ => &["ENOSPC", "EIO"],
        };
        let kill = "signal=KILL".to_owned();
        let faults = errors
            .iter()
            .map(|errno| format!("error={errno}"))
            .chain([kill]);
        for fault in faults {
            let p = Post::new();
            p.put(LOG, full_log());
            let Call { name, nth, .. } = call;
            let inject = format!("inject={name}:{fault}:when={nth}");
            let which = tracing();
            let mut options = vec!["-qq", "-o", "/dev/null", "-e", &which];
            if name != "rename" {
                options.extend(["-e", delay]);
            }
            options.extend(["-e", &inject]);
            let (code, is_late) = compact_with_late(&p, &strace, &options, "late");
            let at = format!("{fault} at {call:?}: {code:?}");
            let is_killed = fault == "signal=KILL";
            assert!(
                if is_killed {
                    code.is_none()
                } else {
                    code.is_some()
                },
                "{at}"
            );
            moments += usize::from(is_late);
            let mut expected = vec!["old", "one", "two"];
            if is_late {
                expected.insert(0, "late");
            }
            assert_eq!(all(&p.dir), expected, "{at}");
            let next = p.run("amy", &["send", "bob", "zzz next"]);
            assert_eq!(next.code, 0, "{at}, and then: {next:?}");
            assert_eq!(names(&p.dir), [LOG], "{at}");
            expected.push("zzz next");
            assert_eq!(all(&p.dir), expected, "{at}");
            let again = p.run("amy", &["compact"]);
            assert_eq!(again.code, 0, "{at}, and then: {again:?}");
            assert_eq!(all(&p.dir), expected, "{at}");
            assert_eq!(names(&p.dir), [LOG], "{at}");
            // One message is there on two lines: one of them has a member of its own.
            assert_eq!(p.records("amy").len(), expected.len() + 1, "{at}");
        }
    }
    assert!(moments > trace.len(), "hardly ever sent in between");
}
