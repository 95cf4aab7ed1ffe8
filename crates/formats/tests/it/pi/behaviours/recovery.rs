//! Opening files that hold no session: 4 behaviours. Upstream once made a new session of whatever
//! it found; here only an empty file becomes one, and nothing is ever overwritten.

use rethread_formats::pi::SessionManager;

use crate::pi::world::{messages, read, world};

#[test]
fn an_empty_file_gets_a_header() {
    let w = world();
    let path = w.put("s.jsonl", "");
    let s = w.open(&path);
    let header = String::from_utf8(s.header().raw().to_vec()).unwrap();
    assert_eq!(read(&path), header + "\n");
}

#[test]
fn a_file_without_a_header_is_an_error_and_stays_as_it_is() {
    let w = world();
    let text = messages(&[("a", "gone")]);
    let text = text.split_once('\n').unwrap().1;
    let path = w.put("s.jsonl", text);
    let error = SessionManager::open(&w.host, &path, None).unwrap_err();
    let expected = format!("Session file is not a valid pi session: {}", path.display());
    assert_eq!(error.to_string(), expected);
    assert_eq!(read(&path), text);
}

#[test]
fn an_empty_file_keeps_the_path_that_was_given() {
    let w = world();
    let path = w.put("my-session.jsonl", "");
    assert_eq!(w.open(&path).session_file(), Some(path.as_path()));
}

#[test]
fn opening_again_gives_the_same_session_or_the_same_error() {
    let w = world();
    let path = w.put("s.jsonl", "");
    let first = w.open(&path).session_id().to_owned();
    assert_eq!(w.open(&path).session_id(), first);

    let path = w.put("garbage.jsonl", "garbage\n");
    let open = || SessionManager::open(&w.host, &path, None).unwrap_err();
    assert_eq!(open().to_string(), open().to_string());
    assert_eq!(read(&path), "garbage\n");
}
