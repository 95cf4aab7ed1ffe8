//! A log that is compacted while messages are sent: whoever is killed, and whatever the power does,
//! each message that was acknowledged is there, and shown once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rethread_samp::{Alias, Draft, Durability, Folder, messages};

use super::{NOW, Post, bodies, line, names, traced};

const LOG: &str = "log-amy.jsonl";

/// How long something may take that must come.
const PATIENCE: Duration = Duration::from_mins(2);

fn alias(name: &str) -> Alias {
    Alias::new(name).unwrap()
}

/// Sends as the program does, from another process than the one that compacts.
fn send(dir: &Path, text: &str, d: Durability) {
    let (amy, bob) = (alias("amy"), alias("bob"));
    let draft = Draft {
        from: &amy,
        to: &bob,
        text,
    };
    draft.send(&Folder::new(dir), NOW, d).unwrap();
}

/// A log in which there is something to do.
fn full_log() -> String {
    let old =
        "{\"ts\": 5, \"from\": \"amy\", \"to\": \"bob\", \"thread\": \"t\", \"body\": \"old\"}\n";
    let one = line("amy", "bob", "one", NOW - 60);
    let more = one.replace("{\"id\"", "{\"priority\":1,\"id\"");
    let two = line("amy", "bob", "two", NOW - 60);
    format!("{one}{one}{old}{more}{two}{two}")
}

/// All bodies to bob, in order of their names.
fn all(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let bob = alias("bob");
    let mut batch = messages(&Folder::new(dir), Some(&bob), false, NOW).unwrap();
    let Ok(()) = batch.each(|message| {
        found.push(message.record.body().into_owned());
        Ok::<(), std::convert::Infallible>(())
    });
    assert_eq!(batch.troubles(), []);
    found.sort();
    found
}

fn is_retired(name: &str) -> bool {
    name.starts_with(".log-amy.jsonl.") && Path::new(name).extension().is_some_and(|e| e == "old")
}

/// Waits for something; whether it came before the process ended.
fn comes_before_the_end(child: &mut Child, mut has_come: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    loop {
        let is_over = child.try_wait().unwrap().is_some();
        if has_come() {
            return true;
        }
        if is_over {
            return false;
        }
        assert!(begun.elapsed() < PATIENCE);
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn what_another_program_appends_to_the_old_file_is_carried_over() {
    let p = Post::new();
    p.put(LOG, full_log());
    let mut foreign = File::options().append(true).open(p.path(LOG)).unwrap();
    let mut compact = p
        .command("amy", &["compact"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let has_come =
        comes_before_the_end(&mut compact, || names(&p.dir).iter().any(|n| is_retired(n)));
    // It opened the log before, takes no lock, and does not look whether it still has its name.
    foreign
        .write_all(line("amy", "bob", "late", NOW).as_bytes())
        .unwrap();
    assert!(compact.wait().unwrap().success());
    assert!(has_come);
    assert_eq!(all(&p.dir), ["late", "old", "one", "two"]);
    assert_eq!(names(&p.dir), [LOG]);
    assert_eq!(p.records("amy").len(), 5, "{}", p.read(LOG));
}

#[test]
fn a_file_that_a_killed_compactor_left_is_read_and_then_finished() {
    let p = Post::new();
    let left = ".log-amy.jsonl.Ab3dEf6hIj9l.old";
    let temporary = ".log-amy.jsonl.4711.Ab3dEf6hIj9lM.tmp";
    p.put(LOG, line("amy", "bob", "one", NOW));
    p.put(left, full_log() + &line("amy", "bob", "late", NOW));
    p.put(temporary, "half a lo");
    let of_others = ".log-zoe.jsonl.Ab3dEf6hIj9l.old";
    p.put(
        of_others,
        line("zoe", "bob", "hers", NOW) + &line("eve", "bob", "not hers", NOW),
    );
    // Both are read, and only once; nothing is written for it.
    let before = names(&p.dir);
    let mut found = bodies(&p.ok("bob", &["inbox", "--all", "--json"]));
    found.sort();
    assert_eq!(found, ["hers", "late", "old", "one", "one", "two"]);
    assert_eq!(names(&p.dir), before);
    assert_eq!(p.new_for("bob").len(), 6);
    assert!(p.new_for("bob").is_empty());
    p.ok("amy", &["send", "bob", "next"]);
    assert_eq!(p.new_for("bob"), ["next"]);
    assert_eq!(
        names(&p.dir),
        [of_others, ".mtime-bob", ".seen-bob", LOG],
        "hers is for her"
    );
    assert_eq!(p.run("amy", &["check"]).code, 0, "ids were put in");
    let done = p.ok("amy", &["compact"]);
    assert_eq!(done, "compacted: 7 → 7 records (0 file(s) rewritten)\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_link_in_the_place_of_an_old_file_is_not_followed() {
    let p = Post::new();
    let secret = p.w.root.join("secret");
    fs::write(&secret, line("amy", "bob", "secret", NOW)).unwrap();
    p.put(LOG, full_log());
    let link = p.path(".log-amy.jsonl.Ab3dEf6hIj9l.old");
    std::os::unix::fs::symlink(&secret, &link).unwrap();
    p.ok("amy", &["send", "bob", "next"]);
    p.ok("amy", &["compact"]);
    assert!(!p.read(LOG).contains("secret") && link.is_symlink());
    let shown = p.run("bob", &["inbox", "--json"]);
    assert!(
        !shown.out.contains("secret") && shown.out.contains("next"),
        "{shown:?}"
    );
}

/// One call of a compactor that changes something in the message folder.
#[cfg(target_os = "linux")]
#[derive(Clone, Debug)]
struct Call {
    name: String,
    /// How many of that name the process had made then, this one included.
    nth: usize,
    /// Its arguments and what it gave, as strace shows them.
    rest: String,
}

#[cfg(target_os = "linux")]
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
#[cfg(target_os = "linux")]
fn calls(trace: &str, dir: &Path) -> Vec<Call> {
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
#[cfg(target_os = "linux")]
fn tracing() -> String {
    let names: Vec<String> = CHANGING.iter().map(|name| format!("?{name}")).collect();
    format!("trace={}", names.join(","))
}

/// Compacts under strace, and sends `late` as soon as the old log has its second name: the log is
/// exchanged a while after that. Gives how it ended, and whether there was such a moment.
#[cfg(target_os = "linux")]
fn compact_with_late(p: &Post, strace: &Path, options: &[&str], late: &str) -> (Option<i32>, bool) {
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

#[cfg(target_os = "linux")]
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

/// Which file has which name.
#[cfg(target_os = "linux")]
type Names = BTreeMap<String, Inode>;

#[cfg(target_os = "linux")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Inode {
    Old,
    New,
}

/// What a call does to names.
#[cfg(target_os = "linux")]
#[derive(Clone, Debug)]
enum Change {
    Made(String),
    Linked(String),
    Renamed(String, String),
    Removed(String),
}

#[cfg(target_os = "linux")]
impl Change {
    fn apply(&self, names: &mut Names) {
        match self {
            Self::Made(name) => {
                names.insert(name.clone(), Inode::New);
            }
            Self::Linked(name) => {
                names.insert(name.clone(), Inode::Old);
            }
            Self::Renamed(from, to) => {
                if let Some(inode) = names.remove(from) {
                    names.insert(to.clone(), inode);
                }
            }
            Self::Removed(name) => {
                names.remove(name);
            }
        }
    }
}

/// A disk whose power is cut: what was synced is there; of the rest, anything may be.
#[cfg(target_os = "linux")]
struct Cut {
    lasting: Names,
    pending: Vec<Change>,
    /// How many bytes of the new log were written, and how many of these synced.
    written: usize,
    synced: usize,
    /// Whether the message that came in between was acknowledged.
    has_late: bool,
}

/// What is on the disk after a cut.
#[cfg(target_os = "linux")]
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Image {
    names: Names,
    len: usize,
    has_late: bool,
}

#[cfg(target_os = "linux")]
impl Cut {
    fn call(&mut self, call: &Call, dir: &Path) {
        let here = format!("{}/", dir.display());
        let name = |n: usize| {
            let rest = call.rest.split(&here).nth(n + 1).unwrap_or_default();
            let end = rest.find(['"', '>', '<']).unwrap_or(rest.len());
            rest[..end].to_owned()
        };
        let is_folder = call.rest.contains(&format!("<{}>", dir.display()));
        match call.name.as_str() {
            "openat" => self.pending.push(Change::Made(name(0))),
            "linkat" => self.pending.push(Change::Linked(name(1))),
            "rename" => {
                self.has_late = true;
                self.pending.push(Change::Renamed(name(0), name(1)));
            }
            "unlink" => self.pending.push(Change::Removed(name(0))),
            "write" => {
                let taken = call.rest.rsplit("= ").next().unwrap().trim();
                self.written += taken.parse::<usize>().unwrap();
            }
            "fsync" | "fdatasync" if is_folder => {
                for change in self.pending.drain(..) {
                    change.apply(&mut self.lasting);
                }
            }
            "fsync" | "fdatasync" => self.synced = self.written,
            "fchmod" | "fchown" | "flock" => {}
            other => panic!("{other}"),
        }
    }

    /// Everything that may be there if the power is cut now.
    fn images(&self) -> impl Iterator<Item = Image> {
        (0..1_u32 << self.pending.len()).flat_map(|which| {
            let mut names = self.lasting.clone();
            for (n, change) in self.pending.iter().enumerate() {
                if which & (1 << n) > 0 {
                    change.apply(&mut names);
                }
            }
            [self.synced, self.written].map(|len| Image {
                names: names.clone(),
                len,
                has_late: self.has_late,
            })
        })
    }
}

#[cfg(target_os = "linux")]
#[test]
fn whenever_the_power_is_cut_each_acknowledged_message_is_there() {
    let Some(strace) = crate::world::strace() else {
        return;
    };
    let p = Post::new();
    let trace = p.w.root.join("trace");
    let delay = "inject=rename:delay_enter=500000";
    let which = tracing();
    let options = [
        "-qq",
        "-y",
        "-s",
        "0",
        "-e",
        &which,
        "-e",
        delay,
        "-o",
        trace.to_str().unwrap(),
    ];
    // On a busy machine the moment may be over before the message is sent.
    let mut tries = 0;
    let (old, new) = loop {
        tries += 1;
        assert!(tries < 50, "never sent in between");
        let _ = fs::remove_dir_all(&p.dir);
        p.put(LOG, full_log());
        let kept = p.w.root.join("old");
        let _ = fs::remove_file(&kept);
        fs::hard_link(p.path(LOG), &kept).unwrap();
        let (code, is_late) = compact_with_late(&p, &strace, &options, "late");
        assert_eq!(code, Some(0));
        let old = fs::read_to_string(&kept).unwrap();
        let new = p.read(LOG);
        if is_late && old.contains("late") && new.matches("\"late\"").count() == 1 {
            break (old, new);
        }
    };
    let mut cut = Cut {
        lasting: Names::from([(LOG.to_owned(), Inode::Old)]),
        pending: Vec::new(),
        written: 0,
        synced: 0,
        has_late: false,
    };
    let mut images = BTreeSet::new();
    for call in calls(&fs::read_to_string(&trace).unwrap(), &p.dir) {
        cut.call(&call, &p.dir);
        images.extend(cut.images());
    }
    assert_eq!((cut.written, cut.synced), (new.len(), new.len()));
    let end = Names::from([(LOG.to_owned(), Inode::New)]);
    assert!(
        cut.pending.is_empty() && cut.lasting == end,
        "{:?}",
        cut.lasting
    );
    assert!(images.len() > 10, "{images:?}");
    for (n, image) in images.iter().enumerate() {
        let dir = p.w.root.join(format!("image-{n}"));
        fs::create_dir(&dir).unwrap();
        for (name, inode) in &image.names {
            let content = match inode {
                Inode::Old if image.has_late => &old,
                Inode::Old => &full_log(),
                Inode::New => &new[..image.len],
            };
            fs::write(dir.join(name), content).unwrap();
        }
        let mut expected = vec!["old", "one", "two"];
        if image.has_late {
            expected.insert(0, "late");
        }
        assert_eq!(all(&dir), expected, "{image:?}");
        send(&dir, "zzz next", Durability::None);
        expected.push("zzz next");
        assert_eq!(all(&dir), expected, "{image:?}");
        assert_eq!(names(&dir), [LOG], "{image:?}");
    }
}

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
                "msg::compact::sender",
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
#[cfg(target_os = "linux")]
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
#[cfg(target_os = "linux")]
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

#[cfg(target_os = "linux")]
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
