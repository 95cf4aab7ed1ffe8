//! `rethread` without a command, and the sample.

use std::fs;

use insta::assert_snapshot;

use crate::world::{World, json};

#[test]
fn on_an_empty_machine_it_says_where_it_looked() {
    let w = World::new();
    let answer = w.run(&[]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert_snapshot!("overview_empty", w.plain(&answer.out));
}

#[test]
fn with_the_sample_there_is_something_to_see() {
    let w = World::new();
    let made = w.run(&["sample", "try-me"]);
    assert_eq!(made.code, 0, "{made:?}");
    assert_eq!(made.out.trim(), w.project.join("try-me").to_str().unwrap());
    assert!(made.err.contains("rethread list ."), "{}", made.err);
    let mut there = w.command::<&str>(&[]);
    let output = there
        .current_dir(w.project.join("try-me"))
        .output()
        .unwrap();
    assert_snapshot!(
        "overview_sample",
        w.plain(&String::from_utf8(output.stdout).unwrap())
    );
    let mut shown = w.command(&["show", "latest", "--json"]);
    let output = shown
        .current_dir(w.project.join("try-me"))
        .output()
        .unwrap();
    let record = json(&String::from_utf8(output.stdout).unwrap());
    assert_eq!(record["messages"][0]["role"], "user");
}

#[test]
fn the_sample_overwrites_nothing() {
    let w = World::new();
    fs::write(w.project.join("mine.txt"), "x").unwrap();
    let answer = w.run(&["sample", "."]);
    assert_eq!(answer.code, 2, "{answer:?}");
    assert!(answer.err.contains("is not empty"), "{}", answer.err);
    assert_eq!(fs::read_dir(&w.project).unwrap().count(), 1);
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
