//! A log that is compacted while messages are sent: whoever is killed, and whatever the power does,
//! each message that was acknowledged is there, and shown once.

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod crowd;
#[cfg(target_os = "linux")]
mod power_cuts;

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rethread_samp::{Alias, Draft, Durability, Folder, messages};

use super::{NOW, Post, bodies, line, names};

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
