//! What is refused, and what is said of what cannot be written.

use std::fs;

use super::super::{MINIMAL, data, folder, world};
use super::{messages, start};
use crate::world::json;

#[test]
fn what_is_against_the_document_is_refused_and_nothing_is_written() {
    let (w, id, session) = start();
    let first = w.run(&["append", &id, "--role", "agent", "too early"]);
    assert_eq!(first.code, 1);
    assert!(first.err.contains("nothing was asked yet"), "{}", first.err);
    w.ok(&["append", &id, "Go"]);
    let before = crate::world::tree(&session);
    for (wrong, why) in [
        ("{", "message 1: not JSON"),
        ("[]", "not a JSON object"),
        ("{}", "`role` is missing"),
        (r#"{"type":7}"#, "`type` is a number"),
        (r#"{"type":"text"}"#, "`text` is missing"),
        (
            r#"{"type":"tool","tool":"x","state":{"status":"pending"}}"#,
            "`callID` is missing",
        ),
        (r#"{"type":"text","text":"x","id":"y"}"#, "not a ULID"),
        (
            r#"{"type":"text","text":"x","sessionID":"y"}"#,
            "`sessionID` of a part is `y`",
        ),
        (
            r#"{"user":{"prompt":{"task":1}}}"#,
            "`user.prompt.task` is a number",
        ),
        (r#"{"user":[]}"#, "`user` is not an object"),
        (r#"{"parts":{}}"#, "`parts` is not an array"),
        (r#"{"parts":[1]}"#, "a part is not an object"),
        (r#"{"role":"robot","content":"x"}"#, "`role` is `robot`"),
    ] {
        let answer = w.pipe(&["append", &id, "--message-json", "-"], wrong);
        assert_eq!(answer.code, 1, "{wrong}: {answer:?}");
        assert!(answer.err.contains(why), "{wrong}: {}", answer.err);
        assert_eq!(crate::world::tree(&session), before, "{wrong}");
    }
    fs::write(w.project.join("a.png"), b"\x89PNG\r\n\x1a\n").unwrap();
    let answer = w.run(&["append", &id, "look", "--image", "a.png"]);
    assert_eq!(answer.code, 1, "{answer:?}");
    assert!(
        answer
            .err
            .contains("agentuse sessions have no pictures in prompts"),
        "{}",
        answer.err
    );
}

#[test]
fn good_lines_are_saved_and_bad_ones_named_unless_strict() {
    let (w, id, session) = start();
    let lines = "{\"type\":\"nothing asked\"}\n{\"user\":{\"prompt\":{\"task\":\"a\"}}}\n";
    let strict = w.pipe(&["append", &id, "--message-json", "-", "--strict"], lines);
    assert_eq!(strict.code, 1);
    assert!(messages(&session).is_empty());
    let answer = w.pipe(&["append", &id, "--message-json", "-"], lines);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert_eq!(messages(&session).len(), 1);
    let same = messages(&session)[0]["id"].as_str().unwrap().to_owned();
    let again = format!("{{\"id\":\"{same}\",\"user\":{{\"prompt\":{{\"task\":\"b\"}}}}}}");
    let answer = w.pipe(&["append", &id, "--message-json", "-"], again);
    assert_eq!(answer.code, 1);
    assert!(answer.err.contains("exists already"), "{}", answer.err);
}

#[test]
fn a_damaged_description_is_not_written_to() {
    let w = world(&["document/minimal"]);
    let session = folder(&data(&w), MINIMAL);
    fs::write(session.join("session.json"), "{").unwrap();
    let before = crate::world::tree(&session);
    let answer = w.run(&["append", MINIMAL, "more"]);
    assert_eq!(answer.code, 1);
    assert!(answer.err.contains("session.json"), "{}", answer.err);
    assert_eq!(crate::world::tree(&session), before);
}

/// What was said is saved, whatever becomes of the description behind it.
#[cfg(target_os = "linux")]
#[test]
fn a_description_that_cannot_be_written_is_a_warning() {
    let (w, id, session) = start();
    let path = session.join("session.json");
    let mut description = json(&fs::read_to_string(&path).unwrap());
    description["note"] = "x".repeat(100_000).into();
    description["time"]["updated"] = 1.into();
    fs::write(&path, description.to_string()).unwrap();
    let Some(answer) = crate::append::with_short_files(&w, 50_000, &["append", &id, "Plan"]) else {
        return;
    };
    crate::append::assert_saved_with_a_warning(&answer);
    let [message] = &messages(&session)[..] else {
        panic!("one exchange");
    };
    assert_eq!(message["id"], answer.out.trim());
}
