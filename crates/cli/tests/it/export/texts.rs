//! Text that no UTF-8 can hold.
#![cfg(unix)]

use std::fs;

use super::read;
use crate::world::World;

const SESSION: &str = "c1b2c3d4-0000-4000-8000-00000000dddd";

/// A session of Claude Code with these bytes where a person and a tool said something.
fn session(w: &World, said: &[u8]) -> std::path::PathBuf {
    let folder = w.home.join(".claude/projects/-srv-shop");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{SESSION}.jsonl"));
    let line = |parent: &str, uuid: &str, role: &str, content: &[u8]| {
        let start = format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"userType":"external","cwd":"/srv/shop","sessionId":"{SESSION}","version":"2.1.1","type":"{role}","uuid":"{uuid}","timestamp":"2026-11-01T10:00:00.000Z","message":{{"role":"{role}","content":["#
        );
        [start.as_bytes(), content, b"]}}\n"].concat()
    };
    let block = |start: &str, end: &str| [start.as_bytes(), said, end.as_bytes()].concat();
    let lines = [
        line(
            "null",
            "u1",
            "user",
            &block(r#"{"type":"text","text":""#, r#""}"#),
        ),
        line(
            r#""u1""#,
            "u2",
            "assistant",
            &block(
                r#"{"type":"tool_use","id":"t1","name":"Bash","input":{"command":""#,
                r#""}}"#,
            ),
        ),
        line(
            r#""u2""#,
            "u3",
            "user",
            &block(
                r#"{"type":"tool_result","tool_use_id":"t1","content":""#,
                r#""}"#,
            ),
        ),
    ];
    fs::write(&path, lines.concat()).unwrap();
    path
}

/// Exports it, there and back; gives the first export.
fn exported(w: &World, path: &std::path::Path) -> String {
    for name in ["a.ndjson", "b.ndjson"] {
        let _ = fs::remove_file(w.project.join(name));
    }
    let answer = w.run(&["export", path.to_str().unwrap(), "-o", "a.ndjson"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    let text = String::from_utf8(read(&w.project.join("a.ndjson"))).unwrap();
    assert_eq!(w.run(&["check", "a.ndjson"]).code, 0);
    w.ok(&["export", "a.ndjson", "-o", "b.ndjson"]);
    assert_eq!(read(&w.project.join("b.ndjson")), text.as_bytes());
    let page = |name: &str| w.ok(&["export", name, "--markdown", "-o", "-"]);
    assert_eq!(page("a.ndjson"), page(path.to_str().unwrap()));
    let _ = fs::remove_dir_all(w.project.join("back"));
    w.ok(&["export", "a.ndjson", "--source", "-o", "back"]);
    let copy = w.project.join("back/source_20261115_120000");
    let copy = copy.join(path.strip_prefix("/").unwrap());
    assert_eq!(read(&copy), read(path));
    text
}

#[test]
fn lone_surrogates_stay_as_they_are_spelled() {
    let w = World::new();
    let path = session(&w, br"a \ud83d b \uDE00\n \ud83d\ude00 c");
    let text = exported(&w, &path);
    let spelled = r"a \ud83d b \ude00\n \u{1F600} c".replace(r"\u{1F600}", "\u{1F600}");
    for place in [
        format!(r#""text":"{spelled}""#),
        format!(r#""output":"{spelled}""#),
        r#""command":"a \ud83d b \uDE00\n \ud83d\ude00 c""#.to_owned(),
    ] {
        assert!(text.contains(&place), "{place} in {text}");
    }
    let title = r#""title":"a \u{FFFD} b \u{FFFD}""#.replace(r"\u{FFFD}", "\u{FFFD}");
    assert!(!text.replace(&title, "").contains('\u{FFFD}'), "{text}");
}

#[test]
fn bytes_that_are_not_utf8_are_replaced_and_come_back_in_the_original() {
    let w = World::new();
    let path = session(&w, b"a \xff\xfe b \\ud83d");
    let text = exported(&w, &path);
    let spelled = "a \u{FFFD}\u{FFFD} b \\ud83d";
    for place in [
        format!(r#""text":"{spelled}""#),
        format!(r#""output":"{spelled}""#),
        format!(r#""input":{{"command":"{spelled}"}}"#),
    ] {
        assert!(text.contains(&place), "{place} in {text}");
    }
}

#[test]
#[cfg(unix)]
fn ids_names_and_titles_are_replaced_and_come_back_in_the_original() {
    let w = World::new();
    let path = session(&w, b"x");
    let text = String::from_utf8(read(&path)).unwrap();
    let text = text
        .replace(r#""u1""#, r#""u\ud83d""#)
        .replace(r#""t1""#, r#""t\ud83d""#)
        .replace("Bash", r"B\udc00sh");
    let title = r#"{"type":"custom-title","customTitle":"A \ud83d title","sessionId":"SESSION"}"#;
    fs::write(&path, text + &title.replace("SESSION", SESSION) + "\n").unwrap();
    let text = exported(&w, &path);
    for place in [
        "\"uuid\":\"u\u{FFFD}\"",
        "\"parent_uuid\":\"u\u{FFFD}\"",
        "\"tool_id\":\"t\u{FFFD}\",\"tool_name\":\"B\u{FFFD}sh\",\"output\"",
        "\"title\":\"A \u{FFFD} title\"",
    ] {
        assert!(text.contains(place), "{place} in {text}");
    }
}
