//! Files as they may be, not as we write them: read alike.

use rethread_judges::PiVersion;

use super::super::world::{HEADER, messages};
use super::{agree, world};

/// An entry of that type with more members, at the end of the line.
pub(super) fn entry(kind: &str, id: &str, parent: &str, more: &str) -> String {
    let parent = match parent {
        "" => "null".to_owned(),
        parent => format!("\"{parent}\""),
    };
    format!(
        r#"{{"type":"{kind}","id":"{id}","parentId":{parent},"timestamp":"2025-01-01T00:00:01.000Z",{more}}}"#
    )
}

pub(super) fn message(id: &str, parent: &str, role: &str, content: &str) -> String {
    let message = format!(r#""message":{{"role":"{role}","content":{content},"timestamp":1}}"#);
    entry("message", id, parent, &message)
}

/// Both judges and we see the same.
#[track_caller]
fn all_agree(text: &str) {
    let w = world();
    let path = w.put("s.jsonl", text);
    for pi in PiVersion::ALL {
        agree(pi, &w, &path);
    }
}

#[test]
fn lines_of_all_kinds() {
    let plain = messages(&[("a", ""), ("b", "a"), ("c", "b")]);
    let lines: Vec<&str> = plain.lines().collect();
    for text in [
        plain.clone(),
        plain.replace('\n', "\r\n"),
        plain.replace('\n', "\n\n \t\n"),
        format!("\n\nno JSON\n{{\"type\":\n{plain}"),
        plain.replace('\n', "\n{\"torn\":\"li\n"),
        plain.replace('\n', &format!("\n{HEADER}\n")),
        plain.trim_end().to_owned(),
        format!("{plain}{}", &lines[1][..40]),
        format!("{}\n", lines[0]),
        lines[0].to_owned(),
    ] {
        all_agree(&text);
    }
}

#[test]
fn headers_of_all_kinds() {
    let body = messages(&[("a", ""), ("b", "a")]);
    let body = body.split_once('\n').unwrap().1;
    for header in [
        r#"{"type":"session","version":"3","id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/p"}"#,
        r#"{"type":"session","version":4,"id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/p"}"#,
        r#"{"type":"session","version":3.5,"id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/p"}"#,
        r#"{"type":"session","version":3,"id":"","cwd":"/p"}"#,
        r#"{"more":{"x":[1]},"type":"session","version":3,"id":"s","cwd":"/p","internal":true}"#,
    ] {
        all_agree(&format!("{header}\n{body}"));
    }
    let long = HEADER.replace("\"/p\"", &format!("\"/{}\"", "p".repeat(5000)));
    all_agree(&format!("{long}\n{body}"));
}

#[test]
fn trees_of_all_kinds() {
    for links in [
        &[("a", ""), ("b", "gone"), ("c", "b")][..],
        &[("b", "a"), ("a", ""), ("c", "b")],
        &[("a", ""), ("b", ""), ("c", "a"), ("d", "b"), ("e", "a")],
        &[("a", "s"), ("b", "a")],
    ] {
        all_agree(&messages(links));
    }
    let without = messages(&[("a", ""), ("b", "a")]).replace("\"parentId\":null,", "");
    all_agree(&without);
}

#[test]
fn children_by_their_time() {
    let times = [
        "2025-01-01T00:00:09.000Z",
        "2025-01-01T00:00:03.000Z",
        "2025-01-01T02:00:05.000+02:00",
        "2025-01-01",
        "2025-01-01T00:00:04Z",
        "2025-01-01T00:00:02.123456Z",
        "2025-01-01T00:00:03.000Z",
    ];
    let mut text = messages(&[("a", "")]);
    for (n, time) in times.iter().enumerate() {
        let line = entry(
            "branch_summary",
            &format!("n{n}"),
            "a",
            r#""summary":"s","fromId":"a""#,
        );
        text += &line.replace("2025-01-01T00:00:01.000Z", time);
        text += "\n";
    }
    all_agree(&text);
}

#[test]
fn times_of_all_kinds() {
    for time in [
        "\"2025-01-01T00:00:01.5Z\"",
        "\"2025-01-01T00:00Z\"",
        "\"2025-01-01T00:00:01\"",
        "\"2025-01-01T00:00:01.999999Z\"",
        "\"soon\"",
        "\"\"",
        "1735689601000",
        "\"1969-12-31T23:59:59.999Z\"",
    ] {
        let line = entry(
            "custom_message",
            "b",
            "a",
            r#""customType":"x","content":"c","display":true"#,
        );
        let line = line.replace("\"2025-01-01T00:00:01.000Z\"", time);
        all_agree(&format!("{}{line}\n", messages(&[("a", "")])));
    }
}

#[test]
fn spellings_of_all_kinds() {
    for content in [
        r#""\u00e9\/\ud83e\udd80 \u2028""#,
        r#""lone \ud83e surrogate \udd80""#,
        r#"[{"type":"text","text":"a","text":"b"}]"#,
        r#"[{"n":[1.0,1e5,-0,0.1000,12345678901234567890,1e400,5e-324]}]"#,
        r#"[ { "spaced" : [ 1 , 2 ] } ]"#,
        r#"[{"10":1,"9":2,"a":3}]"#,
    ] {
        all_agree(&format!(
            "{HEADER}\n{}\n",
            message("a", "", "user", content)
        ));
    }
}

#[test]
fn entries_of_all_kinds() {
    let more = [
        entry(
            "mystery",
            "x",
            "a",
            r#""message":{"role":"user","content":"no"}"#,
        ),
        entry("label", "x", "a", r#""targetId":"gone","label":"y""#),
        entry("label", "x", "a", r#""targetId":"a","label":null"#),
        entry("session_info", "x", "a", r#""name":null"#),
        entry("session_info", "x", "a", r#""name":" \t spaced ""#),
        entry("branch_summary", "x", "a", r#""summary":"s""#),
        entry("branch_summary", "x", "a", r#""fromId":"a","summary":"""#),
        entry("compaction", "x", "a", r#""summary":"s","tokensBefore":1"#),
        entry(
            "compaction",
            "x",
            "a",
            r#""summary":"s","firstKeptEntryId":"gone","tokensBefore":1.5"#,
        ),
        entry(
            "compaction",
            "x",
            "a",
            r#""summary":"s","firstKeptEntryId":"x","tokensBefore":1"#,
        ),
        entry(
            "custom_message",
            "x",
            "a",
            r#""customType":"t","content":[{"type":"text","text":"c"}],"display":false,"details":null"#,
        ),
        entry("context_window_change", "x", "a", r#""contextWindow":1000"#),
        entry(
            "session_summary",
            "x",
            "a",
            r#""summary":"s","summarizedThroughId":"a""#,
        ),
        message("x", "a", "assistant", "[]"),
        message("x", "a", "hookMessage", "\"h\""),
        message("x", "a", "somebody", "7"),
        entry(
            "message",
            "x",
            "a",
            r#""message":{"role":"assistant","content":[],"provider":null,"model":7}"#,
        ),
    ];
    for line in more {
        let last = message("z", "x", "user", "\"z\"");
        all_agree(&format!("{}{line}\n{last}\n", messages(&[("a", "")])));
    }
}
