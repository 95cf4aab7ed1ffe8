//! Records that an agent is still writing while something is added, and those that nobody finishes.

use std::fs::{self, File, FileTimes};
use std::io::Write as _;
use std::path::PathBuf;
use std::thread::{sleep, spawn};
use std::time::{Duration, SystemTime};

use crate::world::{World, json};

/// The formats that are a log which other programs append to without a lock.
const LOGS: [&str; 5] = ["pi", "atomic", "claude-code", "codex", "gemini"];

/// A record of the format, whole and without its line break.
fn record(format: &str) -> &'static str {
    match format {
        "pi" | "atomic" => {
            r#"{"type":"message","id":"5100beef","parentId":null,"timestamp":"2026-11-15T12:00:00.000Z","message":{"role":"user","content":"slow","timestamp":1}}"#
        }
        "claude-code" => {
            r#"{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"slow"},"uuid":"5100beef-0000-4000-8000-000000000001","timestamp":"2026-11-15T12:00:00.000Z"}"#
        }
        "codex" => {
            r#"{"timestamp":"2026-11-15T12:00:00.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"slow"}]}}"#
        }
        _ => {
            r#"{"id":"5100beef","timestamp":"2026-11-15T12:00:00.000Z","type":"user","content":[{"text":"slow"}]}"#
        }
    }
}

/// A session with one message: its file, and the id of the message.
fn session(w: &World, format: &str) -> (PathBuf, String) {
    let made = json(&w.ok(&["new", "--format", format, "--json"]));
    let path = PathBuf::from(made["path"].as_str().unwrap());
    let id = w.ok(&["append", path.to_str().unwrap(), "first"]);
    (path, id.trim().to_owned())
}

fn add(path: &PathBuf, bytes: &str) {
    let mut file = File::options().append(true).open(path).unwrap();
    file.write_all(bytes.as_bytes()).unwrap();
}

/// All commands that add to a log of the format.
fn verbs<'a>(format: &str, path: &'a str, first: &'a str) -> Vec<Vec<&'a str>> {
    let mut verbs = vec![vec!["append", path, "next"], vec!["rename", path, "Name"]];
    if matches!(format, "pi" | "atomic" | "claude-code") {
        verbs.push(vec!["append", path, "--at", first, "elsewhere"]);
    }
    if matches!(format, "pi" | "atomic") {
        verbs.push(vec!["label", path, first, "mark"]);
        verbs.push(vec!["branch", path, first, "--summary", "left"]);
    }
    verbs
}

#[test]
fn a_record_that_is_still_written_is_waited_for() {
    for format in LOGS {
        let count = verbs(format, "", "").len();
        for verb in 0..count {
            let w = World::new();
            let (path, first) = session(&w, format);
            let args = verbs(format, path.to_str().unwrap(), &first).swap_remove(verb);
            let (begin, end) = record(format).split_at(60);
            add(&path, begin);
            let agent = spawn({
                let path = path.clone();
                move || {
                    // In two more pieces, each soon enough after the one before.
                    let (more, rest) = end.split_at(20);
                    for piece in [more, rest, "\n"] {
                        sleep(Duration::from_millis(400));
                        add(&path, piece);
                    }
                }
            });
            let answer = w.run(&args);
            agent.join().unwrap();
            assert_eq!((answer.code, &*answer.err), (0, ""), "{args:?}");
            let log = fs::read_to_string(&path).unwrap();
            for line in log.lines().filter(|line| !line.is_empty()) {
                json(line);
            }
            let place = log.lines().position(|line| line == record(format));
            let place = place.unwrap_or_else(|| panic!("{args:?} cut it in two: {log}"));
            // What was added knows of it: the last entry of pi is where a session goes on.
            let next = log.lines().nth(place + 1).unwrap();
            if matches!(format, "pi" | "atomic") && verb == 0 {
                assert_eq!(json(next)["parentId"], "5100beef", "{args:?}: {next}");
            }
        }
    }
}

#[test]
fn a_line_that_nobody_finishes_is_ended_and_named() {
    for format in LOGS {
        let w = World::new();
        let (path, first) = session(&w, format);
        for args in verbs(format, path.to_str().unwrap(), &first) {
            let before = fs::read_to_string(&path).unwrap();
            let (torn, _) = record(format).split_at(60);
            add(&path, torn);
            let file = File::options().append(true).open(&path).unwrap();
            let old = SystemTime::now() - Duration::from_mins(1);
            file.set_times(FileTimes::new().set_modified(old)).unwrap();
            let answer = w.run(&args);
            assert_eq!(answer.code, 0, "{args:?}: {answer:?}");
            let said = "the last line, of 60 bytes, was unfinished";
            assert!(answer.err.contains(said), "{args:?}: {}", answer.err);
            let log = fs::read_to_string(&path).unwrap();
            let added = log.strip_prefix(&format!("{before}{torn}\n")).unwrap();
            assert!(added.ends_with('\n'), "{args:?}: {added}");
            for line in added.lines() {
                json(line);
            }
        }
    }
}

#[test]
fn a_value_that_lacks_only_its_line_break_is_whole() {
    for format in LOGS {
        let w = World::new();
        let (path, _) = session(&w, format);
        add(&path, record(format));
        let answer = w.run(&["append", path.to_str().unwrap(), "next"]);
        assert_eq!((answer.code, &*answer.err), (0, ""), "{format}");
        let log = fs::read_to_string(&path).unwrap();
        assert!(log.lines().any(|line| line == record(format)), "{log}");
    }
}

#[test]
fn an_empty_file_is_no_session() {
    for format in ["pi", "atomic", "claude-code", "codex", "gemini"] {
        let w = World::new();
        let (path, first) = session(&w, format);
        File::create(&path).unwrap();
        let path = path.to_str().unwrap();
        let mut all = verbs(format, path, &first);
        all.push(vec!["fork", path]);
        all.push(vec!["migrate", path]);
        for args in all {
            let answer = w.run(&args);
            assert!(matches!(answer.code, 1 | 2), "{args:?}: {answer:?}");
            assert_eq!(fs::read(path).unwrap(), b"", "{args:?}");
        }
    }
}
