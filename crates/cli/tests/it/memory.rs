//! What a session of many bytes costs in memory where something is added to it or made of it.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::every_call::{is_there, wrapped};
use crate::world::{World, json};

/// How much is said in a session: so many records of so many bytes.
const RECORDS: usize = 120;
const LENGTH: usize = 1 << 20;

/// The most memory that a command is given: what the program takes for a session of nothing, a record
/// in several forms, and room. A session that is held takes more.
const MOST: u64 = 90 << 20;

/// A record in which that is said, behind another one.
fn record(format: &str, n: usize, said: &str) -> String {
    let id = |n: usize| format!("5100beef-0000-4000-8000-{n:012}");
    let (own, before) = (id(n), n.checked_sub(1).map(id));
    let time = "2026-11-15T12:00:00.000Z";
    let parent = before.map_or("null".to_owned(), |before| format!("\"{before}\""));
    match format {
        "pi" => format!(
            r#"{{"type":"message","id":"{own}","parentId":{parent},"timestamp":"{time}","message":{{"role":"user","content":"{said}","timestamp":1}}}}"#
        ),
        "claude-code" => format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"type":"user","message":{{"role":"user","content":"{said}"}},"uuid":"{own}","timestamp":"{time}"}}"#
        ),
        "codex" => format!(
            r#"{{"timestamp":"{time}","type":"response_item","payload":{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{said}"}}]}}}}"#
        ),
        _ => format!(
            r#"{{"id":"{own}","timestamp":"{time}","type":"user","content":[{{"text":"{said}"}}]}}"#
        ),
    }
}

/// Runs a command that gets no more memory than that, and must succeed.
fn within(w: &World, most: u64, args: &[&str]) {
    let limited = format!("--data={most}");
    let mut command: Command = wrapped(w, &["prlimit", &limited], args);
    // Each thread takes some for itself.
    let output = command.env("RAYON_NUM_THREADS", "2").output().unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
}

fn session(w: &World, format: &str, records: usize, length: usize) -> PathBuf {
    let made = json(&w.ok(&["new", "--format", format, "--json"]));
    let path = PathBuf::from(made["path"].as_str().unwrap());
    let file = File::options().append(true).open(&path).unwrap();
    let mut out = BufWriter::new(file);
    let said = "a long story ".repeat(length / 13);
    for n in 0..records {
        writeln!(out, "{}", record(format, n, &said)).unwrap();
    }
    out.flush().unwrap();
    path
}

fn verbs_hold_no_session(format: &str) {
    if !is_there("prlimit") {
        return;
    }
    let w = World::new();
    let file = session(&w, format, RECORDS, LENGTH);
    let path = file.to_str().unwrap();
    let whole = fs::metadata(&file).unwrap().len();
    assert!(whole > MOST, "{whole}");
    let verbs: [&[&str]; 3] = [
        &["append", path, "next", "--role", "agent"],
        &["rename", path, "Name"],
        &["fork", path],
    ];
    for args in verbs {
        within(&w, MOST, args);
    }
    // The copy holds all that was said.
    let folder = file.parent().unwrap();
    let forks = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let forks: Vec<PathBuf> = forks.filter(|p| p.is_file() && *p != file).collect();
    let [fork] = forks.as_slice() else {
        panic!("{forks:?}")
    };
    let copied = fs::metadata(fork).unwrap().len();
    assert!(copied > (RECORDS * (LENGTH - 13)) as u64, "{copied}");
    let last = w.run(&["show", fork.to_str().unwrap(), "--last", "3"]);
    assert!(last.out.contains("next"), "{last:?}");
}

#[test]
fn pi_holds_no_session() {
    verbs_hold_no_session("pi");
}

#[test]
fn claude_code_holds_no_session() {
    verbs_hold_no_session("claude-code");
}

#[test]
fn codex_holds_no_session() {
    verbs_hold_no_session("codex");
}

#[test]
fn gemini_holds_no_session() {
    verbs_hold_no_session("gemini");
}

/// The way to an entry of pi is found without holding what is on it.
#[test]
fn a_way_of_pi_is_copied_piece_by_piece() {
    if !is_there("prlimit") {
        return;
    }
    let w = World::new();
    let file = session(&w, "pi", RECORDS, LENGTH);
    let path = file.to_str().unwrap();
    within(&w, MOST, &["fork", path, "--at", "#100"]);
}

/// What is converted goes from file to file, and so does the original that is packed into it.
#[test]
fn a_conversion_holds_no_session() {
    if !is_there("prlimit") {
        return;
    }
    let w = World::new();
    let file = session(&w, "claude-code", RECORDS, LENGTH);
    let out = w.root.join("out");
    let (path, out) = (file.to_str().unwrap(), out.to_str().unwrap());
    let args = ["convert", path, "--to", "codex", "-o", out, "--cwd", "/"];
    within(&w, MOST, &args);
    let rollouts = walk(out.as_ref());
    let [made] = rollouts.as_slice() else {
        panic!("{rollouts:?}")
    };
    // All that was said is in it, and the original travels along.
    assert!(fs::metadata(made).unwrap().len() > (RECORDS * (LENGTH - 13)) as u64);
    let back = w.root.join("back");
    let back = back.to_str().unwrap();
    w.ok(&[
        "convert",
        made.to_str().unwrap(),
        "--to",
        "claude-code",
        "-o",
        back,
    ]);
    let again = walk(back.as_ref());
    let [again] = again.as_slice() else {
        panic!("{again:?}")
    };
    assert!(fs::read(again).unwrap() == fs::read(file).unwrap());
}

/// The files below a folder.
fn walk(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files
}

/// A line that is too long to be held is known by a few of its words, and what is added hangs from
/// it.
#[test]
fn a_line_of_100_mb_is_not_held() {
    if !is_there("prlimit") {
        return;
    }
    let w = World::new();
    let file = session(&w, "pi", 1, 100 << 20);
    let path = file.to_str().unwrap();
    within(&w, MOST, &["append", path, "next"]);
    let log = fs::read(&file).unwrap();
    let added = log.trim_ascii_end().rsplit(|b| *b == b'\n').next().unwrap();
    let added = json(std::str::from_utf8(added).unwrap());
    assert_eq!(added["parentId"], "5100beef-0000-4000-8000-000000000000");
}
