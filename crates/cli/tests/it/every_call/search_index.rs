//! The search index while it is written: killed at a call, or the call fails. The next answers are right,
//! and the index is whole again after the next update.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::{Said, world_in_memory, wrapped};
use crate::search::write_session;
use crate::world::{World, copy};

/// The calls that are disturbed, and which of them in each thread: the first few, and some later ones.
const NAMES: [&str; 11] = [
    "openat",
    "write",
    "pwrite64",
    "rename",
    "unlink",
    "fdatasync",
    "fsync",
    "flock",
    "mkdir",
    "mmap",
    "fcntl",
];
const TIMES: [usize; 9] = [1, 2, 3, 5, 8, 13, 21, 34, 55];

/// A library on a disk of its own whose index is older than it.
struct Library {
    world: World,
    _disk: Option<tempfile::TempDir>,
    /// What is known from before.
    saved: PathBuf,
    expected: String,
}

const SEARCH: [&str; 3] = ["search", "--json", "wombat"];

impl Library {
    fn new() -> Self {
        let (world, disk) = world_in_memory();
        write_session(
            &world,
            1,
            &[("user", "a rare wombat"), ("assistant", "digs")],
        );
        write_session(&world, 2, &[("user", "no such animal")]);
        write_session(&world, 3, &[("user", "the third wombat")]);
        std::thread::sleep(Duration::from_millis(2100));
        world.ok(&["index", "--rebuild"]);
        // One more, one that was replaced, and one that is gone.
        write_session(&world, 4, &[("user", "another wombat")]);
        write_session(&world, 2, &[("user", "now a wombat")]);
        let log = ".claude/projects/-home-me-own/5e550003-0000-4000-8000-000000000000.jsonl";
        fs::remove_file(world.home.join(log)).unwrap();
        let cache = world.home.join(".cache");
        let saved = world.root.join("saved");
        copy(&cache, &saved);
        let expected = world.ok(&["--no-cache", "search", "--json", "wombat"]);
        assert_eq!(expected.lines().count(), 3, "{expected}");
        Self {
            world,
            _disk: disk,
            saved,
            expected,
        }
    }

    fn restore(&self) {
        let cache = self.world.home.join(".cache");
        let _ = fs::remove_dir_all(&cache);
        copy(&self.saved, &cache);
    }

    /// Updates the index while one call is disturbed.
    fn update(&self, name: &str, inject: &str) -> Said {
        self.restore();
        let (trace, inject) = (format!("trace={name}"), format!("inject={name}:{inject}"));
        let wrapper = [
            "strace",
            "-f",
            "-qq",
            "-o",
            "/dev/null",
            "-e",
            &trace,
            "-e",
            &inject,
        ];
        let command = wrapped(&self.world, &wrapper, &["index", "--update"]).output();
        Said::from(command.unwrap())
    }

    fn assert_next_is_right(&self, at: &str) {
        let answer = self.world.run(&SEARCH);
        assert_eq!(
            (answer.code, &answer.out),
            (0, &self.expected),
            "{at}: {answer:?}"
        );
        self.world.ok(&["index", "--update"]);
        let answer = self.world.run(&SEARCH);
        assert_eq!(
            (answer.code, &answer.out),
            (0, &self.expected),
            "{at}: {answer:?}"
        );
    }
}

#[test]
fn killed_while_indexing() {
    if !super::is_there("strace") {
        return;
    }
    let library = Library::new();
    let mut killed = 0;
    for name in NAMES {
        for time in TIMES {
            let said = library.update(name, &format!("signal=KILL:when={time}"));
            if said.signal != Some(9) {
                assert_eq!(said.code, Some(0), "{name} {time}: {said:?}");
                break;
            }
            killed += 1;
            library.assert_next_is_right(&format!("killed at {name} {time}"));
        }
    }
    assert!(killed > 25, "only {killed} calls");
}

#[test]
fn failing_while_indexing() {
    if !super::is_there("strace") {
        return;
    }
    let library = Library::new();
    for (name, errno) in [
        ("write", "ENOSPC"),
        ("pwrite64", "ENOSPC"),
        ("rename", "EROFS"),
        ("fdatasync", "EIO"),
        ("fsync", "EIO"),
        ("flock", "ENOLCK"),
        ("mkdir", "EROFS"),
        ("unlink", "EROFS"),
    ] {
        for from in [1, 3, 8] {
            // From there on, nothing of it works any more.
            let said = library.update(name, &format!("error={errno}:when={from}+"));
            let at = format!("{errno} at {name} from {from} on: {said:?}");
            assert!(said.signal.is_none(), "{at}");
            assert!(!said.err.contains("panicked"), "{at}");
            library.assert_next_is_right(&at);
        }
    }
}
