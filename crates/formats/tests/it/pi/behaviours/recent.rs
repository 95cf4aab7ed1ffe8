//! The most recent session of a folder: 7 behaviours.

use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use rethread_formats::pi::most_recent_session;

use crate::pi::world::{HEADER, World, world};

fn recent(w: &World) -> Option<PathBuf> {
    most_recent_session(w.home.path(), None)
}

/// Makes a file as old as if it had been written at that second.
fn date(path: &Path, second: u64) {
    let file = std::fs::File::options().append(true).open(path).unwrap();
    file.set_modified(UNIX_EPOCH + Duration::from_secs(second))
        .unwrap();
}

#[test]
fn an_empty_folder_has_none() {
    assert_eq!(recent(&world()), None);
}

#[test]
fn a_folder_that_is_not_there_has_none() {
    let w = world();
    assert_eq!(most_recent_session(&w.path("gone"), None), None);
}

#[test]
fn files_of_other_kinds_do_not_count() {
    let w = world();
    w.put("a.txt", HEADER);
    w.put("b.json", HEADER);
    assert_eq!(recent(&w), None);
}

#[test]
fn files_without_a_header_do_not_count() {
    let w = world();
    w.put("a.jsonl", "{\"type\":\"message\"}\n");
    assert_eq!(recent(&w), None);
}

#[test]
fn the_only_session_is_the_most_recent() {
    let w = world();
    let path = w.put("a.jsonl", HEADER);
    assert_eq!(recent(&w), Some(path));
}

#[test]
fn of_several_sessions_the_last_written_counts() {
    let w = world();
    let new = w.put("a.jsonl", HEADER);
    let old = w.put("b.jsonl", HEADER);
    date(&new, 2000);
    date(&old, 1000);
    assert_eq!(recent(&w), Some(new.clone()));
    date(&old, 3000);
    assert_eq!(recent(&w), Some(old));
}

#[test]
fn a_newer_file_that_is_no_session_is_passed_over() {
    let w = world();
    let session = w.put("a.jsonl", HEADER);
    let other = w.put("b.jsonl", "{\"type\":\"not a session\"}\n");
    date(&session, 1000);
    date(&other, 2000);
    assert_eq!(recent(&w), Some(session));
}
