//! Exports as a source.

use std::fs;
use std::path::{Path, PathBuf};

use super::{example, fixture, populated, read};
use crate::world::World;

/// All that is right about an export of one session: it passes the check, comes back byte for byte,
/// reads the same as its source, and gives back the files of its source.
pub(super) fn assert_round_trip(w: &World, source: &Path) -> bool {
    let name = source.to_str().unwrap();
    for file in ["a.ndjson", "b.ndjson", "a.md", "b.md"] {
        let _ = fs::remove_file(w.project.join(file));
    }
    let _ = fs::remove_dir_all(w.project.join("back"));
    let first = w.run(&["export", name, "-o", "a.ndjson"]);
    if first.code == 1 {
        return false;
    }
    assert!([0, 3].contains(&first.code), "{name}: {first:?}");
    if read(&w.project.join("a.ndjson"))
        .windows(18)
        .any(|s| s == b"\"session_count\":0}")
    {
        return false;
    }
    let checked = w.run(&["check", "a.ndjson"]);
    assert_eq!(checked.code, 0, "{name}: {checked:?}");
    w.ok(&["export", "a.ndjson", "-o", "b.ndjson"]);
    assert!(
        read(&w.project.join("a.ndjson")) == read(&w.project.join("b.ndjson")),
        "{name} is exported otherwise the second time"
    );
    w.run(&["export", name, "--markdown", "-o", "a.md"]);
    w.ok(&["export", "a.ndjson", "--markdown", "-o", "b.md"]);
    let (one, two) = (read(&w.project.join("a.md")), read(&w.project.join("b.md")));
    assert!(
        one == two,
        "{name} reads otherwise:\n{}",
        difference(&one, &two)
    );
    w.ok(&["export", "a.ndjson", "--source", "-o", "back"]);
    // What is in the vocabulary already is taken over as it is: its own file is no original.
    if source.is_file() && !name.contains("ndjson/1.0") {
        let root = w.project.join("back/source_20261115_120000");
        let below = fs::canonicalize(source).unwrap();
        let copy = root.join(below.strip_prefix("/").unwrap());
        assert!(read(&copy) == read(source), "{name} is not restored");
    }
    true
}

fn difference(one: &[u8], two: &[u8]) -> String {
    let (one, two) = (String::from_utf8_lossy(one), String::from_utf8_lossy(two));
    let mut lines = one.lines().zip(two.lines()).filter(|(a, b)| a != b);
    lines
        .next()
        .map_or_else(String::new, |(a, b)| format!("- {a}\n+ {b}"))
}

/// All files below a folder.
pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = crate::world::tree(folder)
        .into_iter()
        .map(|(p, _)| p)
        .collect();
    found.sort();
    found
}

#[test]
#[cfg(unix)]
fn fixtures_of_every_format_come_back_and_read_the_same() {
    let w = World::new();
    let mut tried = 0;
    for format in [
        "claude-code",
        "codex",
        "pi",
        "atomic",
        "gemini",
        "opencode",
        "ndjson",
    ] {
        let before = tried;
        for file in files(&fixture(format)) {
            let name = file.to_string_lossy().into_owned();
            let is_log = [".jsonl", ".jsonl.zst", ".ndjson"]
                .iter()
                .any(|s| name.ends_with(s));
            let is_log = is_log || (format == "gemini" && name.ends_with(".json"));
            if is_log {
                tried += usize::from(assert_round_trip(&w, &file));
            }
        }
        assert!(
            tried > before || format == "opencode",
            "no fixture of {format}"
        );
    }
}

#[test]
fn threads_with_assets_come_back_whole() {
    let w = populated();
    w.fixture("1.1/project");
    let before = crate::world::tree(&w.project.join(".agent/threads"));
    w.run(&["export", "--agent", "atsf", "-o", "a.ndjson"]);
    w.run(&["export", "a.ndjson", "--source", "-o", "back"]);
    let root = w.project.join("back/source_20261115_120000");
    let mut restored = 0;
    for (path, bytes) in before {
        let copy = root.join(path.strip_prefix("/").unwrap());
        if copy.is_file() {
            restored += 1;
            assert_eq!(read(&copy), bytes, "{}", path.display());
        }
    }
    assert!(restored > 4, "{restored}");
}

#[test]
fn unknown_lines_and_fields_are_no_trouble_and_stay() {
    let w = World::new();
    let text = fs::read_to_string(example()).unwrap();
    let more = text
        .replacen(
            r#""agent_id":null}"#,
            r#""agent_id":null,"mood":"good"}"#,
            1,
        )
        .replacen(r#""role":"user","#, r#""role":"user","stars":5,"#, 1);
    let more = format!("{more}{{\"type\":\"footer\",\"x\":1}}\n");
    fs::write(w.project.join("a.ndjson"), &more).unwrap();
    assert_eq!(w.ok(&["list", "a.ndjson", "--json"]).lines().count(), 2);
    let again = w.ok(&["export", "a.ndjson", "-o", "-"]);
    let line = |t: &str, n: usize| t.lines().nth(n).unwrap().to_owned();
    assert_eq!(line(&again, 1), line(&more, 1));
    assert_eq!(line(&again, 2), line(&more, 2));
}

#[test]
fn other_majors_are_refused_and_flat_files_are_read() {
    let w = World::new();
    let text = fs::read_to_string(example()).unwrap();
    let with = |version: &str| {
        let text = text.replacen("\"1.0\"", &format!("\"{version}\""), 1);
        fs::write(w.project.join("v.ndjson"), text).unwrap();
    };
    with("1.9");
    assert_eq!(w.ok(&["list", "v.ndjson", "--json"]).lines().count(), 2);
    with("3.0");
    let answer = w.run(&["show", "v.ndjson"]);
    assert_eq!(answer.code, 1, "{answer:?}");
    assert!(
        answer.err.contains("version 3.0 of Unified NDJSON"),
        "{answer:?}"
    );
    let flat = fixture("ndjson/2.0/flat/20260110_demo.ndjson");
    let shown = w.ok(&["show", flat.to_str().unwrap(), "--json"]);
    let shown = crate::world::json(&shown);
    assert_eq!(shown["session"]["agent"], "gemini");
    assert_eq!(
        shown["messages"][1]["metadata"]["model"]["name"],
        "gemini-2.5-pro"
    );
    assert_eq!(
        shown["messages"][1]["metadata"]["token_usage"]["cache_read_tokens"],
        40
    );
    assert_eq!(
        shown["messages"][1]["metadata"]["token_usage"]["input_tokens"],
        60
    );
    assert_eq!(shown["messages"][1]["content"][1]["tool_name"], "read_file");
}

#[test]
fn a_file_cut_at_every_byte_is_read_up_to_there() {
    let w = World::new();
    let bytes = read(&example());
    let second = bytes.iter().position(|b| *b == b'\n').unwrap() + 1;
    let end = second + bytes[second..].iter().position(|b| *b == b'\n').unwrap();
    for cut in (second + 300..end).step_by(61) {
        fs::write(w.project.join("cut.ndjson"), &bytes[..cut]).unwrap();
        let answer = w.run(&["show", "cut.ndjson", "--json"]);
        assert_eq!(answer.code, 3, "{cut}: {answer:?}");
        assert!(
            answer.err.contains("the line is damaged"),
            "{cut}: {answer:?}"
        );
        assert!(answer.err.contains("\"line\":2"), "{cut}: {answer:?}");
    }
}

#[test]
fn damaged_packing_is_named_and_what_is_before_it_is_read() {
    let w = populated();
    w.ok(&["export", "-o", "a.ndjson.gz"]);
    let path = w.project.join("a.ndjson.gz");
    let bytes = read(&path);
    fs::write(&path, &bytes[..bytes.len() - 200]).unwrap();
    let answer = w.run(&["list", "a.ndjson.gz"]);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert!(
        answer.err.contains("packed content is damaged"),
        "{answer:?}"
    );
}

#[test]
fn names_that_leave_the_folder_are_refused() {
    let w = populated();
    w.ok(&["export", "--agent", "pi", "-o", "a.ndjson"]);
    let text = fs::read_to_string(w.project.join("a.ndjson")).unwrap();
    let start = text.find(r#""files":[{"path":""#).unwrap() + r#""files":[{"path":""#.len();
    let hostile = format!("{}../../../../{}", &text[..start], &text[start..]);
    fs::write(w.project.join("h.ndjson"), hostile).unwrap();
    let answer = w.run(&["export", "h.ndjson", "--source", "-o", "back"]);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert!(answer.err.contains("no safe name"), "{answer:?}");
    let written = crate::world::tree(&w.project.join("back"));
    assert_eq!(written.len(), 1, "only the manifest: {written:?}");
}
