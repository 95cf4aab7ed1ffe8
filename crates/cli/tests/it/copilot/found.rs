//! Where sessions are found, and what lists say of them.

use std::fs;

use insta::assert_snapshot;

use super::{EVERYTHING, FLAT, MINIMAL, RESUMED, fixtures, lay_out, world};
use crate::world::{World, json, run_with, tree};

#[test]
fn sessions_are_listed_with_and_without_folders_of_their_own() {
    let w = world();
    let before = tree(&w.home.join(".copilot"));
    assert_snapshot!(
        "copilot_list",
        w.plain(&w.ok(&["list", "--agent", "copilot"]))
    );
    assert_eq!(tree(&w.home.join(".copilot")), before);
}

#[test]
fn a_variable_names_another_folder() {
    let w = World::new();
    lay_out(&w.root.join("elsewhere"));
    let mut command = w.command(&["list", "--agent", "copilot", "--json"]);
    command.env("COPILOT_HOME", w.root.join("elsewhere"));
    let answer = run_with(command, b"");
    assert_eq!(answer.out.lines().count(), 5, "{answer:?}");
    assert!(
        w.run(&["list", "--agent", "copilot", "--json"])
            .out
            .is_empty()
    );
}

#[test]
fn paths_name_sessions() {
    let w = world();
    let sessions = w.home.join(".copilot/session-state");
    for (path, count) in [
        (sessions.join(MINIMAL), 1),
        (sessions.join(MINIMAL).join("events.jsonl"), 1),
        (sessions.join(format!("{FLAT}.jsonl")), 1),
        (sessions.clone(), 5),
        (w.home.join(".copilot"), 5),
        (fixtures().join("1.0/minimal"), 1),
    ] {
        let listed = w.ok(&["list", path.to_str().unwrap(), "--json"]);
        assert_eq!(listed.lines().count(), count, "{}", path.display());
    }
    // Others have such names, too.
    let stranger = w.root.join("events.jsonl");
    fs::write(&stranger, "{\"type\":\"session.start\",\"data\":{}}\n").unwrap();
    assert_eq!(w.run(&["show", stranger.to_str().unwrap()]).code, 1);
}

#[test]
fn a_list_tells_names_folders_models_and_tokens() {
    let w = world();
    let listed = w.ok(&["list", "--agent", "copilot", "--json"]);
    let of = |id: &str| {
        let found = listed.lines().map(json).find(|s| s["id"] == id);
        found.unwrap_or_else(|| panic!("{id}: {listed}"))
    };
    let everything = of(EVERYTHING);
    assert_eq!(everything["title"], "Eggs in the shop");
    assert_eq!(everything["model"], "claude-opus-4.8");
    assert_eq!(everything["git_branch"], "eggs");
    assert_eq!(everything["token_usage"]["input_tokens"], 600);
    assert_eq!(everything["token_usage"]["cache_read_tokens"], 1000);
    assert_eq!(everything["token_usage"]["output_tokens"], 124);
    let resumed = of(RESUMED);
    assert_eq!(resumed["title"], "Prices of \"milk\"");
    assert_eq!(resumed["git_branch"], "milk");
    assert_eq!(resumed["token_usage"]["input_tokens"], 1000);
    assert_eq!(resumed["token_usage"]["output_tokens"], 38);
    assert_eq!(of(FLAT)["title"], "Sweep the floor");
    assert_eq!(of(FLAT)["tool_call_count"], 1);
}

/// What is added to a log is seen, and a new name is.
#[test]
fn what_changes_is_seen() {
    let w = world();
    w.ok(&["list", "--agent", "copilot"]);
    let folder = w.home.join(".copilot/session-state").join(MINIMAL);
    let mut log = fs::read_to_string(folder.join("events.jsonl")).unwrap();
    log.push_str("{\"type\":\"user.message\",\"data\":{\"content\":\"And 3+3?\"},\"id\":\"x\",\"timestamp\":\"2026-11-15T10:00:00.000Z\",\"parentId\":null}\n");
    fs::write(folder.join("events.jsonl"), log).unwrap();
    fs::write(
        folder.join("workspace.yaml"),
        "name: 'It''s sums'\nuser_named: true\n",
    )
    .unwrap();
    let shown = json(&w.ok(&["list", folder.to_str().unwrap(), "--json"]));
    assert_eq!(shown["message_count"], 3);
    assert_eq!(shown["title"], "It's sums");
}

#[test]
fn sessions_are_only_read_and_can_be_removed() {
    let w = world();
    for args in [
        &["append", MINIMAL, "x"][..],
        &["rename", MINIMAL, "x"],
        &["fork", MINIMAL],
    ] {
        let answer = w.run(args);
        assert_eq!(answer.code, 2, "{answer:?}");
        assert!(
            answer
                .err
                .contains("copilot sessions can only be read so far"),
            "{answer:?}"
        );
    }
    let other = w.run(&["convert", MINIMAL, "--to", "copilot"]);
    assert_ne!(other.code, 0, "{other:?}");
    w.ok(&["rm", MINIMAL, "--force"]);
    assert!(!w.home.join(".copilot/session-state").join(MINIMAL).exists());
}
