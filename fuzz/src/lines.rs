//! The scanner of lines, beside a split by newlines and `serde_json`.

use rethread_json::{Lines, Tree, split_lines};
use serde::de::IgnoredAny;

/// How deep `serde_json` goes.
const DEEPEST: usize = 100;

/// Lines tile the bytes, whatever is in them; and what is JSON in a line is so for `serde_json`, too.
pub fn lines(data: &[u8]) {
    let expected: Vec<&[u8]> = data.split_inclusive(|byte| *byte == b'\n').collect();
    let split: Vec<_> = split_lines(data).collect();
    assert_eq!(split.len(), expected.len());
    let mut reader = Lines::new(data);
    let mut offset = 0;
    for ((span, line), expected) in split.into_iter().zip(&expected) {
        let read = reader.next_line().unwrap().unwrap();
        assert_eq!(read.whole(), Some(line));
        assert_eq!(read.span.offset, offset);
        assert_eq!(span.offset, offset);
        assert!(expected.starts_with(line));
        offset += expected.len() as u64;
        assert_json_alike(line);
    }
    assert!(reader.next_line().unwrap().is_none());
    assert_eq!(reader.offset(), data.len() as u64);
    assert_capped(data, &expected);
}

/// A line that is too long to be held is known by its beginning, and those behind it are found.
fn assert_capped(data: &[u8], expected: &[&[u8]]) {
    let mut reader = Lines::with_cap(data, 16);
    for expected in expected {
        let read = reader.next_line().unwrap().unwrap();
        assert!(expected.starts_with(read.head()));
    }
    assert!(reader.next_line().unwrap().is_none());
}

/// Whether a text is JSON does not depend on who is asked. A byte order mark is ours to allow.
fn assert_json_alike(line: &[u8]) {
    let deep = line.iter().filter(|byte| matches!(byte, b'[' | b'{'));
    if line.starts_with("\u{feff}".as_bytes()) || deep.count() > DEEPEST {
        return;
    }
    let ours = Tree::parse(line);
    let theirs: Result<IgnoredAny, _> = serde_json::from_slice(line);
    let text = String::from_utf8_lossy(line);
    assert_eq!(ours.is_ok(), theirs.is_ok(), "{text:?}: {:?}", theirs.err());
}
