//! The catalogue at each of its own calls: killed there, or the call fails. Whatever happens, this
//! answer and the next one are right.

use std::fs;

use super::call::{CALLS, Call, read_trace, tracing};
use super::{Said, Tree, lay_out, look, world_in_memory, wrapped};
use crate::world::World;

/// So many calls are disturbed at most, at equal distances, the first and the last among them.
const MOST: usize = 80;

const LIST: &[&str] = &["list", "--json"];

/// A library on a disk of its own, and what is answered when nothing happens.
struct Library {
    world: World,
    _disk: Option<tempfile::TempDir>,
    tree: Tree,
    expected: String,
}

impl Library {
    fn new() -> Self {
        let (world, disk) = world_in_memory();
        for title in ["One", "Two", "Three"] {
            let id = world.thread(title);
            world.ok(&["append", &id, "Hello."]);
        }
        world.ok(&["convert", "latest", "--to", "pi"]);
        world.ok(&["convert", "latest", "--to", "codex"]);
        let tree = look(&world.root).0;
        let mut library = Self {
            world,
            _disk: disk,
            tree,
            expected: String::new(),
        };
        library.restore();
        library.expected = library.world.ok(&["list", "--json", "--no-cache"]);
        assert_eq!(library.expected.lines().count(), 5);
        library
    }

    /// Everything as it was, without a catalogue.
    fn restore(&self) {
        lay_out(&self.world.root, &self.tree);
    }

    fn strace(&self, options: &[&str]) -> Said {
        let mut wrapper = vec!["strace", "-qq"];
        wrapper.extend(options);
        let output = wrapped(&self.world, &wrapper, LIST).output().unwrap();
        Said::from(output)
    }

    /// The calls on the catalogue, at most so many.
    fn calls(&self) -> Vec<Call> {
        self.restore();
        let trace = tempfile::NamedTempFile::new().unwrap();
        let out = trace.path().to_str().unwrap();
        let said = self.strace(&["-y", "-o", out, "-e", &tracing(&[CALLS])]);
        assert_eq!(said.code, Some(0), "{said:?}");
        let all = read_trace(&fs::read_to_string(trace.path()).unwrap(), &self.world);
        let cache = self.world.home.join(".cache");
        let own: Vec<Call> = all
            .into_iter()
            .filter(|call| call.path.starts_with(&cache))
            .collect();
        assert!(own.len() > 20, "{own:?}");
        let step = own.len().div_ceil(MOST);
        own.into_iter().rev().step_by(step).collect()
    }

    fn assert_next_is_right(&self, at: &str) {
        for _ in 0..2 {
            let next = self.world.run(LIST);
            assert_eq!(
                (next.code, &next.out),
                (0, &self.expected),
                "{at}: {next:?}"
            );
        }
    }
}

#[test]
fn killed_while_refreshing() {
    if !super::is_there("strace") {
        return;
    }
    let library = Library::new();
    for call in library.calls().iter().filter(|call| call.changes()) {
        library.restore();
        let Call { name, nth, .. } = call;
        let (trace, inject) = (
            format!("trace={name}"),
            format!("inject={name}:signal=KILL:when={nth}"),
        );
        let said = library.strace(&["-o", "/dev/null", "-e", &trace, "-e", &inject]);
        assert_eq!(said.signal, Some(9), "{call:?}: {said:?}");
        library.assert_next_is_right(&format!("killed at {call:?}"));
    }
}

#[test]
fn failing_while_refreshing() {
    if !super::is_there("strace") {
        return;
    }
    let library = Library::new();
    for call in library.calls() {
        for errno in call.errors().iter().filter(|errno| **errno != "EINTR") {
            library.restore();
            let Call { name, nth, .. } = &call;
            let (trace, inject) = (
                format!("trace={name}"),
                format!("inject={name}:error={errno}:when={nth}"),
            );
            let said = library.strace(&["-o", "/dev/null", "-e", &trace, "-e", &inject]);
            let at = format!("{errno} at {call:?}: {said:?}");
            assert_eq!((said.code, &said.out), (Some(0), &library.expected), "{at}");
            library.assert_next_is_right(&at);
        }
    }
}
