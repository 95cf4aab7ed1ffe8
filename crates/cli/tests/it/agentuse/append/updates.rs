//! Parts and prompts that are written anew in their place.

use std::fs;

use insta::assert_snapshot;

use super::super::{MINIMAL, PLANNER, data, folder, world};
use super::{assert_conformant, messages, parts, start};

#[test]
fn a_tool_goes_from_running_to_completed_or_error_in_place() {
    let (w, id, session) = start();
    let message = w.ok(&["append", &id, "Go"]).trim().to_owned();
    let line = |text: &str| {
        let answer = w.pipe(&["append", &id, "--message-json", "-"], text);
        assert_eq!(answer.code, 0, "{text}: {answer:?}");
        answer.out.trim().to_owned()
    };
    let running = line(
        r#"{"type":"tool","callID":"c1","tool":"Bash","state":{"status":"running","input":{"command":"ls"},"time":{"start":5}}}"#,
    );
    let done = line(r#"{"type":"tool","callID":"c1","state":{"status":"completed","output":"a"}}"#);
    assert_eq!(running, done, "the same part");
    let second =
        line(r#"{"type":"tool","callID":"c2","tool":"Read","state":{"status":"pending"}}"#);
    let failed = w.pipe(
        &["append", &id, "--replace", &second, "--message-json", "-"],
        r#"{"state":{"status":"error","input":{},"error":"denied","time":{"start":1,"end":2}}}"#,
    );
    assert_eq!(failed.code, 0, "{failed:?}");
    let states: Vec<String> = parts(&session, &message)
        .iter()
        .map(|p| p["state"].to_string())
        .collect();
    assert_snapshot!(states.join("\n"), @r#"
    {"status":"completed","input":{"command":"ls"},"output":"a","time":{"start":5,"end":1794744000000}}
    {"status":"error","input":{},"error":"denied","time":{"start":1,"end":2}}
    "#);
    let keys: Vec<String> = parts(&session, &message)[0]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    assert_eq!(
        keys,
        [
            "type",
            "callID",
            "tool",
            "state",
            "id",
            "sessionID",
            "messageID"
        ]
    );
    let wrong = w.pipe(
        &["append", &id, "--message-json", "-"],
        r#"{"type":"tool","callID":"c1","state":{"status":"completed","input":1}}"#,
    );
    assert_eq!(wrong.code, 1);
    assert!(
        wrong.err.contains("`state.output` is missing"),
        "{}",
        wrong.err
    );
    assert_conformant(&w, &session);
}

#[test]
fn updates_are_merged_as_the_program_does() {
    let w = world(&["document/full"]);
    let session = folder(&data(&w), PLANNER);
    let path = session.join("01KA3J1000M000000000000001/message.json");
    let before = fs::read_to_string(&path).unwrap();
    let update = r#"{"time":{"completed":1763200099000},"assistant":{"cost":2,"tokens":{"output":1,"cache":{"write":9}}},"parts":[{"type":"text","text":"One more."}]}"#;
    let answer = w.pipe(
        &[
            "append",
            PLANNER,
            "--replace",
            "01KA3J1000M000000000000001",
            "--message-json",
            "-",
        ],
        update,
    );
    assert_eq!(answer.code, 0, "{answer:?}");
    let after = fs::read_to_string(&path).unwrap();
    let changed: Vec<&str> = after
        .lines()
        .filter(|l| !before.lines().any(|b| b == *l))
        .collect();
    assert_snapshot!(changed.join("\n"), @r#"
    "completed": 1763200099000
    "cost": 2,
      "output": 1,
        "write": 9
    "#);
    assert_eq!(
        before.lines().count(),
        after.lines().count(),
        "nothing else changed"
    );
    assert_eq!(parts(&session, "01KA3J1000M000000000000001").len(), 12);
}

#[test]
fn a_prompt_and_a_text_can_be_written_anew() {
    let w = world(&["document/minimal"]);
    let session = folder(&data(&w), MINIMAL);
    w.ok(&[
        "append",
        MINIMAL,
        "--replace",
        "01KA3J1000M000000000000004",
        "Say goodbye.",
    ]);
    w.ok(&[
        "append",
        MINIMAL,
        "--replace",
        "01KA3J1000P000000000000014",
        "Goodbye.",
    ]);
    let show = w.ok(&["show", MINIMAL]);
    assert!(
        show.contains("Say goodbye.") && show.contains("\n    Goodbye."),
        "{show}"
    );
    let answer = w.run(&[
        "append",
        MINIMAL,
        "--replace",
        "01KA3J1000P000000000000099",
        "x",
    ]);
    assert_eq!(answer.code, 1);
    assert_eq!(messages(&session).len(), 1);
}
