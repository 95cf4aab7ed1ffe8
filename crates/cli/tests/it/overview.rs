//! `rethread` without a command, and the sample.

use insta::assert_snapshot;

use crate::world::{World, json};

#[test]
fn with_the_sample_there_is_something_to_see() {
    let w = World::new();
    let made = w.run(&["sample", "try-me"]);
    assert_eq!(made.code, 0, "{made:?}");
    assert_eq!(made.out.trim(), w.project.join("try-me").to_str().unwrap());
    assert!(made.err.contains("--home try-me/home list"), "{}", made.err);
    let seen = w.ok(&["--home", "try-me/home"]);
    assert_snapshot!("overview_sample", w.plain(&seen));
}

#[test]
fn as_json() {
    let w = World::new();
    let id = w.thread("T");
    w.message(
        &id,
        r#"{"role":"agent","content":[],"tokens":{"input":3,"output":4}}"#,
    );
    let all = json(&w.ok(&["--json"]));
    assert_eq!(all["session_count"], 1);
    assert_eq!(all["total_tokens"], 7);
    assert_eq!(all["agents"][0]["agent"], "atsf");
    assert_eq!(all["recent"][0]["id"], id.as_str());
}
