//! Sessions of many entries and of every shape are drawn, and what is drawn is readable.

use std::fmt::Write as _;
use std::fs;

use crate::world::World;

const LEN: usize = 100_000;

/// A line is what conversations are, so it is tried with more where that takes seconds.
const LINE: usize = if cfg!(debug_assertions) {
    LEN
} else {
    10 * LEN
};

/// What is drawn of a session of so many messages; `parent` says which each hangs from.
fn drawn(len: usize, parent: impl Fn(usize) -> Option<usize>) -> String {
    let mut text = String::from("{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n");
    for n in 0..len {
        let parent = parent(n).map_or("null".to_owned(), |p| format!("\"{p:x}\""));
        writeln!(
            text,
            r#"{{"type":"message","id":"{n:x}","parentId":{parent},"message":{{"role":"user","content":"x"}}}}"#
        )
        .unwrap();
    }
    let w = World::new();
    let path = w.root.join("s.jsonl");
    fs::write(&path, text).unwrap();
    let drawn = w.ok(&["tree", path.to_str().unwrap()]);
    let (_heading, drawn) = drawn.split_once("\n\n").unwrap();
    assert_eq!(drawn.lines().count(), len);
    assert!(drawn.ends_with("◀ leaf\n"));
    assert!(drawn.lines().all(|line| line.chars().count() <= 80));
    drawn.to_owned()
}

#[test]
fn a_long_line() {
    let drawn = drawn(LINE, |n| n.checked_sub(1));
    assert!(drawn.lines().all(|line| line.starts_with("● ")));
}

#[test]
fn a_comb() {
    let drawn = drawn(LEN, |n| n.checked_sub(2 - n % 2));
    let beside = drawn.lines().filter(|line| line.starts_with("├─ ○ "));
    assert_eq!(beside.count(), LEN / 2 - 1);
}

#[test]
fn a_fan() {
    let drawn = drawn(LEN, |n| (n > 0).then_some(0));
    let beside = drawn.lines().filter(|line| line.starts_with("├─ ○ "));
    assert_eq!(beside.count(), LEN - 2);
}
