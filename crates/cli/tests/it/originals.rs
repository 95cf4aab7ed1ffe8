//! Originals that travel along: whoever copies or checks them compares them with their digests, and
//! what carries one already is not made again.

use std::fs;
use std::path::{Path, PathBuf};

use crate::opencode::store::empty_database;
use crate::world::World;

const FORMATS: [&str; 8] = [
    "pi",
    "atomic",
    "claude-code",
    "codex",
    "gemini",
    "agentuse",
    "opencode",
    "ndjson",
];

fn world() -> (World, String) {
    let w = World::new();
    let id = w.thread("T");
    for text in ["one", "two"] {
        w.ok(&["append", &id, text]);
    }
    (w, id)
}

/// A folder that is an agent's own.
fn root(w: &World, format: &str) -> PathBuf {
    let root = w.root.join(format!("to-{format}"));
    fs::create_dir_all(&root).unwrap();
    if format == "opencode" {
        drop(empty_database(&root.join("opencode.db")));
    }
    root
}

fn files_in(root: &Path) -> Vec<PathBuf> {
    let (mut files, mut open) = (Vec::new(), vec![root.to_owned()]);
    while let Some(at) = open.pop() {
        // What is temporary may be gone by now.
        for entry in fs::read_dir(&at).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Changes a character of the first original that is packed into a file below a folder.
fn damage(root: &Path) -> PathBuf {
    const KEY: &[u8] = b"zstd_base64";
    for path in files_in(root) {
        let mut bytes = fs::read(&path).unwrap();
        let Some(at) = bytes.windows(KEY.len()).position(|w| w == KEY) else {
            continue;
        };
        let begin = at + KEY.len();
        let skip = bytes[begin..]
            .iter()
            .position(u8::is_ascii_alphanumeric)
            .unwrap();
        let at = begin + skip + 40;
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        fs::write(&path, bytes).unwrap();
        return path;
    }
    panic!("nothing is packed below {}", root.display());
}

/// The session's own path, as it was printed.
fn path_of(out: &str) -> String {
    let path = out.trim_end().split('\t').nth(1).unwrap();
    path.split('#').next().unwrap().to_owned()
}

#[test]
fn a_changed_character_is_found_by_check_and_by_every_copy() {
    for format in FORMATS {
        let (w, id) = world();
        let root = root(&w, format);
        let out = root.to_str().unwrap();
        let made = path_of(&w.ok(&["convert", &id, "--to", format, "-o", out]));
        let checked = w.run(&["check", &made]);
        assert!(!checked.out.contains("[original]"), "{format}: {checked:?}");
        let exported = w.run(&["export", &made, "-o", "-"]);
        assert_eq!(exported.code, 0, "{format}: {exported:?}");

        damage(&root);
        let checked = w.run(&["check", &made]);
        assert_eq!(checked.code, 1, "{format}: {checked:?}");
        assert!(
            checked.out.contains("error[original]"),
            "{format}: {checked:?}"
        );
        let exported = w.run(&["export", &made, "-o", "-"]);
        assert_eq!(exported.code, 3, "{format}: {exported:?}");
        assert!(
            exported.err.contains("that travels along is damaged"),
            "{format}: {exported:?}"
        );
        let source = w.root.join("source");
        let copied = w.run(&["export", &made, "--source", "-o", source.to_str().unwrap()]);
        assert_eq!(copied.code, 3, "{format}: {copied:?}");
        // With `--strict` nothing is written.
        let strict = w.root.join("strict.ndjson");
        let refused = w.run(&["export", &made, "--strict", "-o", strict.to_str().unwrap()]);
        assert_ne!(refused.code, 0, "{format}: {refused:?}");
        assert!(!strict.exists(), "{format}: {refused:?}");
        // What does not take it along has nothing to say about it.
        let lean = w.run(&["export", &made, "--lean", "-o", "-"]);
        assert_eq!(lean.code, 0, "{format}: {lean:?}");
    }
}

#[test]
fn what_was_converted_is_not_converted_again() {
    for format in FORMATS {
        let (w, id) = world();
        let root = root(&w, format);
        let args = ["convert", &id, "--to", format, "-o", root.to_str().unwrap()];
        let first = w.ok(&args);
        let before = files_in(&root);
        let again = w.run(&args);
        assert_eq!(again.code, 0, "{format}: {again:?}");
        assert!(again.err.contains("already there"), "{format}: {again:?}");
        let id_of = |out: &str| out.split('\t').next().unwrap().to_owned();
        assert_eq!(id_of(&first), id_of(&again.out), "{format}");
        assert_eq!(path_of(&first), path_of(&again.out), "{format}");
        assert_eq!(files_in(&root), before, "{format}");
        if format == "ndjson" {
            continue;
        }
        // What was said since makes it another one.
        w.ok(&["append", &id, "three"]);
        let third = w.run(&args);
        assert_eq!(third.code, 0, "{format}: {third:?}");
        assert!(!third.err.contains("already there"), "{format}: {third:?}");
        assert_ne!(id_of(&first), id_of(&third.out), "{format}");
        // So does the loss of what was made.
        if format != "opencode" {
            fs::remove_dir_all(&root).unwrap();
            let fourth = w.run(&args);
            assert_eq!(fourth.code, 0, "{format}: {fourth:?}");
            assert!(
                !fourth.err.contains("already there"),
                "{format}: {fourth:?}"
            );
        }
    }
}

/// Many sessions, and the run ends in the middle: the next one makes the rest, and none twice.
#[cfg(target_os = "linux")]
#[test]
fn a_killed_conversion_of_many_goes_on_where_it_was() {
    let w = World::new();
    let mut ids = Vec::new();
    for n in 0..4 {
        let id = w.thread(&format!("T{n}"));
        w.ok(&["append", &id, &format!("said {n}")]);
        ids.push(id);
    }
    let root = w.root.join("out");
    let mut args: Vec<&str> = vec!["convert"];
    args.extend(ids.iter().map(String::as_str));
    args.extend(["--to", "claude-code", "-o", root.to_str().unwrap()]);
    // Killed as soon as two of them are there, which may be in the middle of the next.
    let mut child = w.command(&args).spawn().unwrap();
    while child.try_wait().unwrap().is_none() {
        let is_log = |path: &&PathBuf| path.extension().is_some_and(|e| e == "jsonl");
        if root.is_dir() && files_in(&root).iter().filter(is_log).count() >= 2 {
            child.kill().unwrap();
            child.wait().unwrap();
            break;
        }
    }
    let again = w.run(&args);
    assert_eq!(again.code, 0, "{again:?}");
    assert_eq!(again.out.lines().count(), 4, "{again:?}");
    assert!(again.err.contains("already there"), "{again:?}");
    let logs = files_in(&root);
    assert_eq!(logs.len(), 4, "{logs:?}");
}
