//! Exports as a source.

use std::fs;

use super::{example, fixture, populated, read};
use crate::world::World;

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
        .replacen(r#""role":"user","#, r#""role":"user","stars":5,"#, 1)
        .replacen(
            r#""session_count":2}"#,
            r#""session_count":2,"by":"me"}"#,
            1,
        );
    let lines: Vec<&str> = more.lines().collect();
    let all = [
        lines[0],
        r#"{"type":"note","of":"all"}"#,
        lines[1],
        r#"{"type":"comment","x":[1e5, -0]}"#,
        r#"{"no":"type"}"#,
        lines[2],
        r#"{"type":"footer","x":1}"#,
    ];
    let more = format!("{}\n", all.join("\n"));
    fs::write(w.project.join("a.ndjson"), &more).unwrap();
    assert_eq!(w.ok(&["list", "a.ndjson", "--json"]).lines().count(), 2);
    let again = w.run(&["export", "a.ndjson", "-o", "-"]);
    assert_eq!(again.code, 0, "{again:?}");
    let time = |text: &str| text.replacen("2026-11-15T12:00:00Z", "2025-12-27T10:30:00Z", 1);
    assert_eq!(time(&again.out), more);
    // What goes with a session goes with it alone.
    let one = w.ok(&["export", "a.ndjson#d8f7", "-o", "-"]);
    assert_eq!(one.lines().skip(1).collect::<Vec<_>>(), all[5..]);
}

#[test]
fn lines_that_are_no_json_are_named_and_do_not_come_along() {
    let w = World::new();
    let text = fs::read_to_string(example()).unwrap();
    let mut all: Vec<&str> = text.lines().collect();
    all.insert(2, "{{{");
    fs::write(w.project.join("a.ndjson"), all.join("\n")).unwrap();
    let again = w.run(&["export", "a.ndjson", "-o", "-"]);
    assert_eq!(again.code, 3, "{again:?}");
    assert!(again.err.contains("a.ndjson:3: not JSON"), "{again:?}");
    assert_eq!(
        again.out.lines().skip(1).collect::<Vec<_>>(),
        [all[1], all[3]]
    );
}

#[test]
fn what_was_changed_in_an_original_is_noticed() {
    let w = populated();
    w.ok(&["export", "--agent", "pi", "-o", "a.ndjson"]);
    let text = fs::read_to_string(w.project.join("a.ndjson")).unwrap();
    let key = r#""sha256":""#;
    let at = text.find(key).unwrap() + key.len();
    let other = if &text[at..=at] == "0" { "1" } else { "0" };
    let changed = format!("{}{other}{}", &text[..at], &text[at + 1..]);
    fs::write(w.project.join("b.ndjson"), changed).unwrap();
    let answer = w.run(&["export", "b.ndjson", "--source", "-o", "back"]);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert!(answer.err.contains("not what was packed"), "{answer:?}");
    let written = crate::world::tree(&w.project.join("back"));
    assert_eq!(written.len(), 1, "only the manifest: {written:?}");
    // The conversation itself can be read all the same.
    assert!(w.ok(&["show", "b.ndjson"]).contains("there"));
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
    let listed = w.ok(&["list", "v.ndjson"]);
    assert!(
        listed.contains("  -  [unsupported version 3.0]"),
        "{listed}"
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
fn a_title_that_nobody_gave_is_the_first_line_of_what_was_asked() {
    let w = World::new();
    let text = fs::read_to_string(example()).unwrap();
    let long = format!(r"\n  First {}\nSecond", "x".repeat(300));
    let text = text.replace("List files", &long);
    fs::write(w.project.join("long.ndjson"), text).unwrap();
    let listed = w.ok(&["list", "long.ndjson", "--json"]);
    let title = crate::world::json(listed.lines().nth(1).unwrap())["title"].clone();
    assert_eq!(title, format!("First {}", "x".repeat(194)));
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
