//! Nothing is lost: bytes, what is left of damage, and compressed files.

use std::fs;

use insta::assert_snapshot;
use rethread_formats::Source;
use rethread_formats::codex::FORMAT;

use super::{CASES, DAMAGED, PACKED, ROLLED_BACK, assert_lossless, home, read, sessions_of};
use crate::world::{World, json, tree};

/// How many messages the first of the listed sessions has.
fn messages(answer: &str) -> usize {
    json(answer.lines().next().unwrap())["message_count"]
        .as_u64()
        .unwrap()
        .try_into()
        .unwrap()
}

#[test]
fn fixtures_are_read_and_saved_byte_for_byte() {
    let mut count = 0;
    for case in CASES {
        for path in sessions_of(case) {
            assert_lossless(&read(&path));
            count += 1;
        }
    }
    assert_eq!(count, 12);
}

#[test]
fn damage_is_salvaged_and_named() {
    let w = home(&["0.140/damaged"]);
    let answer = w.run(&["show", DAMAGED, "--verbose"]);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert_snapshot!("codex_damage_notes", w.plain(&answer.err));
    for text in ["A", "B", "C", "D\u{fffd}", "E"] {
        let line = format!("\n    {text}\n");
        assert!(answer.out.contains(&line), "{text}: {}", answer.out);
    }
    assert_eq!(w.run(&["list"]).code, 0);
}

/// The first event about a search is a part of the entry of its call by then.
#[test]
fn an_event_that_is_repeated_behind_its_call_is_not_lost() {
    let w = World::new();
    let path = w.home.join("repeated.jsonl");
    let line = |kind: &str, payload: &str| {
        format!(
            r#"{{"timestamp":"2026-06-17T09:00:25.000Z","type":"{kind}","payload":{{{payload},"action":{{"type":"search","query":"signs"}}}}}}"#
        ) + "\n"
    };
    let event = line(
        "event_msg",
        r#""type":"web_search_end","call_id":"ws_1","query":"signs""#,
    );
    let call = line(
        "response_item",
        r#""type":"web_search_call","status":"completed""#,
    );
    let meta = r#"{"timestamp":"2026-06-17T09:00:00.000Z","type":"session_meta","payload":{"id":"019ed50c-2fb3-7002-a384-000000000001","cwd":"/home/me/shop"}}"#;
    fs::write(&path, format!("{meta}\n{event}{call}{event}")).unwrap();
    assert_lossless(&read(&path));
}

#[test]
fn a_log_cut_anywhere_is_read_up_to_there() {
    let w = World::new();
    let path = w.home.join("cut.jsonl");
    for case in ["0.140/damaged", "0.140/rolled-back"] {
        let bytes = fs::read(&sessions_of(case)[0]).unwrap();
        let mut most = 0;
        for end in 1..bytes.len() {
            fs::write(&path, &bytes[..end]).unwrap();
            let source = Source::new(FORMAT, String::new(), path.clone());
            let Ok(c) = FORMAT.reader().read(&source) else {
                assert_eq!(most, 0, "{end}");
                continue;
            };
            assert_lossless(&c);
            let count = c.session.entries().len();
            assert!(count + 1 >= most, "{end}: an event may find its item");
            most = most.max(count);
            let whole = bytes[..end].ends_with(b"\n") || bytes[end] == b'\n';
            assert!(
                whole || !c.notes.is_empty() || case.ends_with("damaged"),
                "{end}"
            );
        }
    }
}

#[test]
fn compressed_sessions_are_read_and_saved_as_they_are() {
    let w = home(&["0.166/packed"]);
    let listed = w.ok(&["list", "--json"]);
    assert_eq!(messages(&listed), 2);
    let shown = w.ok(&["show", PACKED]);
    assert!(
        shown.contains("Pack it") && shown.contains("Packed."),
        "{shown}"
    );
    let path = tree(&w.home.join(".codex")).remove(0).0;
    let raw = w
        .command(&["show", PACKED, "--to", "raw"])
        .output()
        .unwrap();
    assert_eq!(raw.stdout, fs::read(&path).unwrap());
    // Half of it gives what comes before the damage, or nothing, and says so.
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let answer = w.run(&["list"]);
    assert_eq!(answer.code, 3, "{answer:?}");
    // Where the plain file is there too, that one counts.
    fs::write(&path, &bytes).unwrap();
    let plain = path.with_extension("");
    let original = fs::read_to_string(&sessions_of("0.140/rolled-back")[0]).unwrap();
    fs::write(plain, original.replace(ROLLED_BACK, PACKED)).unwrap();
    let listed = w.ok(&["list", "--json"]);
    assert_eq!((listed.lines().count(), messages(&listed)), (1, 8));
}
