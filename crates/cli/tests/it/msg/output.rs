//! What is printed, and that it was printed before it counts as shown.

use std::io::Read as _;
use std::process::Stdio;

use super::{NOW, Post, line};
use crate::world::json;

const HOSTILE: &str = "\u{1b}]52;c;ZXZpbA==\u{7}\u{1b}[2J\u{9b}31m\u{8}\u{202e}evil\u{2066}\r\u{0}";

#[test]
fn escapes_of_others_never_reach_the_terminal() {
    let p = Post::new();
    let text = serde_json::to_string(HOSTILE).unwrap();
    let id = &line("foo", "bar", "x", NOW)[7..23];
    p.put(
        "log-foo.jsonl",
        format!("{{\"id\":{text},\"ts\":{NOW},\"from\":\"foo\",\"to\":\"bar\",\"thread\":{text},\"body\":{text}}}\n{}",
            line("foo", "bar", "x", NOW)),
    );
    p.put(
        "log-eve.jsonl",
        format!(
            "{{\"ts\":{NOW},\"from\":{text},\"to\":\"bar\",\"thread\":\"t\",\"body\":{text}}}\n"
        ),
    );
    for args in [
        &["inbox", "--all"][..],
        &["inbox", "--all", "--lenient"],
        &["log"],
        &["check"],
        &["cat", id],
        &["reply", HOSTILE.trim_end_matches('\0')],
        &["inbox"],
        &["cat", "zzzz\u{1b}[31m"],
        &["--as", "\u{1b}[31m", "inbox"],
        &["send", "\u{1b}[31m", "x"],
        &["log", "\u{1b}[31m"],
    ] {
        let answer = p.run("bar", args);
        for text in [&answer.out, &answer.err] {
            let bad = text.chars().find(|c| {
                (c.is_control() && !matches!(c, '\n' | '\t'))
                    || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            });
            assert_eq!(bad, None, "{args:?}: {text:?}");
        }
    }
}

#[test]
fn no_line_of_a_message_can_pass_for_one_of_ours() {
    let p = Post::new();
    let fake =
        "x\n0123456789abcdef  2026-11-15 12:00  boss  t\n    obey\r1 new from: boss\u{2028}z";
    p.put("log-foo.jsonl", line("foo", "bar", fake, NOW));
    let out = p.ok("bar", &["inbox"]);
    let ours = out
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with("    "));
    assert_eq!(ours.count(), 2, "{out}");
}

#[test]
fn everything_speaks_json() {
    let p = Post::new();
    let sent = json(&p.ok("foo", &["send", "bar", "x", "--json"]));
    assert_eq!(
        (&sent["ts"], &sent["from"], &sent["to"], &sent["body"]),
        (&NOW.into(), &"foo".into(), &"bar".into(), &"x".into())
    );
    let shown = json(&p.ok("bar", &["inbox", "--json"]));
    assert_eq!(
        (&shown["id"], &shown["time"]),
        (&sent["id"], &"2026-11-15T12:00:00Z".into())
    );
    assert_eq!((&shown["late"], &shown["line"]), (&false.into(), &1.into()));
    let compacted = json(&p.ok("foo", &["compact", "--json"]));
    assert_eq!(
        (&compacted["before"], &compacted["rewritten"]),
        (&1.into(), &false.into())
    );
    let error = p.run("foo", &["cat", "zzzz", "--json"]);
    assert_eq!(json(&error.err)["error"]["kind"], "not_found");
    let error = p.run("foo", &["send", "bad alias!", "x", "--json"]);
    assert_eq!(
        (error.code, json(&error.err)["error"]["kind"].as_str()),
        (2, Some("usage"))
    );
    p.put("log-eve.jsonl", "[1]\n");
    let warned = p.run("bar", &["inbox", "--json"]);
    let warning = &json(&warned.err)["warning"];
    assert_eq!((warned.code, &warning["line"]), (3, &1.into()));
}

#[test]
fn a_wrong_id_is_flagged() {
    let p = Post::new();
    let right = line("foo", "bar", "x", NOW);
    p.put(
        "log-foo.jsonl",
        right.replace(&right[7..23], "0000000000000000"),
    );
    let answer = p.run("bar", &["inbox"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(
        answer.out.contains(&format!("{}  ", &right[7..23])) && answer.out.contains("(wrong id)")
    );
    assert!(
        answer.err.contains("says its id is `0000000000000000`"),
        "{answer:?}"
    );
    p.put(
        "log-eve.jsonl",
        line("eve", "bar", "y", NOW).replace("\"id\":\"", "\"id\":\"0"),
    );
    let json = json(&p.run("bar", &["inbox", "--json"]).out);
    assert_eq!(json["stored_id"].as_str().unwrap().len(), 17);
}

#[test]
fn a_closed_pipe_loses_nothing() {
    let p = Post::new();
    let all: String = (0..3000)
        .map(|n| line("foo", "bar", &n.to_string(), NOW))
        .collect();
    p.put("log-foo.jsonl", all);
    for _ in 0..3 {
        let mut child = p
            .command("bar", &["inbox"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.stderr, b"", "quietly");
        assert!(!p.path(".seen-bar").exists());
    }
    assert_eq!(p.new_for("bar").len(), 3000);
}

#[test]
fn text_from_standard_input_keeps_all_but_the_last_line_breaks() {
    let p = Post::new();
    let answer = p.pipe("foo", &["send", "bar"], "  a\r\n\tb  \n\n\n");
    assert_eq!(answer.code, 0, "{answer:?}");
    assert_eq!(p.records("foo")[0]["body"], "  a\r\n\tb  ");
    assert_eq!(p.pipe("foo", &["send", "bar", "-"], "").code, 0);
    let empty = &p.records("foo")[1];
    assert_eq!(
        (&empty["body"], &empty["thread"]),
        (&"".into(), &"2026-11-15-foo-msg".into())
    );
    let answer = p.pipe("foo", &["send", "bar"], b"\xff");
    assert_eq!(answer.code, 2, "{answer:?}");
    assert_eq!(p.records("foo").len(), 2, "nothing was written");
}
