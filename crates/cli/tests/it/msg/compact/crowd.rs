//! Several who compact and are killed while somebody sends.

use std::collections::BTreeSet;
use std::fs;
use std::io::BufReader;
use std::io::{BufRead as _, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rethread_samp::{Draft, Durability, Folder};

use super::super::{NOW, Post, bodies, names, traced};
use super::calls::tracing;
use super::{LOG, alias};

const MESSAGES: usize = 20_000;

/// How often the one who sends these is killed.
const KILLS: usize = 4;

const FOLDER: &str = "COMPACT_TEST_FOLDER";

const FIRST: &str = "COMPACT_TEST_FIRST";

/// Not a test: what another process does. Sends messages, and says which are sent.
#[test]
fn sender() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let first: usize = std::env::var(FIRST).unwrap().parse().unwrap();
    let folder = Folder::new(PathBuf::from(folder));
    let (amy, bob) = (alias("amy"), alias("bob"));
    for n in first..MESSAGES {
        let text = n.to_string();
        let draft = Draft {
            from: &amy,
            to: &bob,
            text: &text,
        };
        let ts = NOW + i64::try_from(n / 100).unwrap();
        // Now and then twice, so that there is something to compact.
        for _ in 0..=usize::from(n % 10 == 0) {
            draft.send(&folder, ts, Durability::None).unwrap();
        }
        std::io::stdout()
            .write_all(format!("\n>{n}\n").as_bytes())
            .unwrap();
    }
}

/// Has all messages sent, by a process that is killed now and then; gives those that it said it had
/// sent.
fn send_all(dir: &Path) -> BTreeSet<usize> {
    let mut acknowledged = BTreeSet::new();
    for round in 0.. {
        let first = acknowledged.last().map_or(0, |last| last + 1);
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "msg::compact::crowd::sender",
                "--nocapture",
                "--test-threads=1",
            ])
            .env(FOLDER, dir)
            .env(FIRST, first.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        // Killed after so many, wherever it is then.
        let share = MESSAGES / (KILLS + 2);
        let mut line = String::new();
        while out.read_line(&mut line).unwrap() > 0 {
            if let Some(n) = line.strip_prefix('>').filter(|n| n.ends_with('\n')) {
                acknowledged.insert(n.trim().parse().unwrap());
            }
            line.clear();
            if round < KILLS && acknowledged.len() >= (round + 1) * share {
                let _ = child.kill();
            }
        }
        if child.wait().unwrap().success() {
            return acknowledged;
        }
        assert!(round < KILLS, "it failed");
    }
    acknowledged
}

/// What becomes of a compactor.
fn disturb(round: usize) -> (&'static str, Option<Duration>) {
    match round % 8 {
        0 => ("inject=rename:delay_enter=2000000", None),
        1 => ("inject=rename:signal=KILL", None),
        2 => ("inject=unlink:signal=KILL", None),
        3 => ("inject=linkat:signal=KILL", None),
        4 => ("inject=fdatasync:signal=KILL", None),
        5 => ("inject=fsync:signal=KILL:when=3", None),
        // Killed at any moment.
        6 => (
            "",
            Some(Duration::from_millis(
                u64::try_from(round * 37 % 400).unwrap(),
            )),
        ),
        _ => ("", None),
    }
}

/// Compacts again and again, disturbed in turn in every way; how often it came to its end.
fn keep_compacting(p: &Post, strace: &Path, number: usize, is_over: &AtomicBool) -> usize {
    let mut done = 0;
    for round in number * 3.. {
        if is_over.load(Ordering::Relaxed) {
            return done;
        }
        let mut command = p.command("amy", &["compact"]);
        let (inject, kill_after) = disturb(round);
        if !inject.is_empty() {
            let which = tracing();
            let options = ["-qq", "-o", "/dev/null", "-e", &which, "-e", inject];
            command = traced(strace, &options, &command);
        }
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        if let Some(pause) = kill_after {
            thread::sleep(pause);
            let _ = child.kill();
        }
        let mut said = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
        let code = child.wait().unwrap().code();
        // On a busy machine the others may have it for longer than one waits.
        let is_busy = code == Some(1) && said.contains("is locked by another program");
        let is_fine = is_busy || code.is_none_or(|code| code == 0);
        assert!(is_fine, "{round}: {code:?}: {said}");
        done += usize::from(code == Some(0));
    }
    done
}

#[test]
fn three_who_compact_and_are_killed_lose_no_message_and_show_none_twice() {
    let Some(strace) = crate::world::strace() else {
        return;
    };
    let p = Post::new();
    fs::create_dir(&p.dir).unwrap();
    let is_over = &AtomicBool::new(false);
    let (p, strace) = (&p, strace.as_path());
    thread::scope(|s| {
        let compactors: Vec<_> = (0..3)
            .map(|number| s.spawn(move || keep_compacting(p, strace, number, is_over)))
            .collect();
        // Another process of the same sender, to somebody else, through the program.
        let other = s.spawn(move || {
            let mut sent = Vec::new();
            while !is_over.load(Ordering::Relaxed) {
                sent.push(format!("message {}", sent.len()));
                p.ok("amy", &["send", "eve", sent.last().unwrap()]);
            }
            sent
        });
        let reader = s.spawn(move || {
            let mut shown = Vec::new();
            while !is_over.load(Ordering::Relaxed) {
                shown.extend(p.new_for("bob"));
            }
            shown
        });
        let acknowledged = send_all(&p.dir);
        is_over.store(true, Ordering::Relaxed);
        let ends: usize = compactors.into_iter().map(|c| c.join().unwrap()).sum();
        assert!(ends > 0, "none ever came to its end");
        assert_eq!(acknowledged.len(), MESSAGES);
        let mut shown = reader.join().unwrap();
        shown.extend(p.new_for("bob"));
        let once: BTreeSet<usize> = shown.iter().map(|body| body.parse().unwrap()).collect();
        assert_eq!(once.len(), shown.len(), "some were shown twice");
        let lost: Vec<_> = acknowledged.difference(&once).collect();
        assert!(lost.is_empty(), "lost: {lost:?}");
        // Those of one second may stand in another order: what is carried over comes behind.
        let mut to_eve = p.new_for("eve");
        to_eve.sort();
        let mut sent = other.join().unwrap();
        sent.sort();
        assert!(to_eve == sent, "{} of {}", to_eve.len(), sent.len());
    });
    p.ok("amy", &["compact"]);
    let bob = bodies(&p.ok("bob", &["inbox", "--all", "--json"]));
    assert_eq!(bob.len(), MESSAGES);
    let left: Vec<String> = names(&p.dir)
        .into_iter()
        .filter(|n| n.contains("log-"))
        .collect();
    assert_eq!(left, [LOG]);
}
