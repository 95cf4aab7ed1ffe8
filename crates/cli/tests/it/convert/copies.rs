//! Converted copies: where they came from, when they were held, and that nothing counts twice.

use crate::world::{World, json, run_with};

const TARGETS: [&str; 6] = ["pi", "codex", "gemini", "atsf", "agentuse", "atomic"];

/// Runs a command at another time than now.
fn at(w: &World, now: &str, args: &[&str]) -> String {
    let mut command = w.command(args);
    // Ids are made of the seed.
    let seed = now.bytes().map(u64::from).sum::<u64>().to_string();
    command.env("RETHREAD_NOW", now).env("RETHREAD_SEED", seed);
    let answer = run_with(command, b"");
    assert_eq!(answer.code, 0, "{args:?}: {answer:?}");
    answer.out
}

/// A session of one question and one answer, of the beginning of the year.
fn original(w: &World, format: &str) -> String {
    let early = "2026-01-02T08:00:00.000Z";
    let cwd = w.project.to_str().unwrap();
    let made = at(
        w,
        early,
        &["new", "--format", format, "--cwd", cwd, "--json"],
    );
    let made = json(&made);
    let path = made["path"].as_str().unwrap();
    at(w, early, &["append", path, "The list is slow."]);
    at(
        w,
        early,
        &["append", path, "--role", "agent", "I will look."],
    );
    made["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_copy_says_where_it_came_from_and_is_the_latest() {
    for (from, targets) in [("claude-code", &TARGETS[..]), ("pi", &["claude-code"])] {
        for target in targets {
            let w = World::new();
            let id = original(&w, from);
            // Something else was said there since.
            let other = "2026-06-01T08:00:00.000Z";
            let there = json(&at(&w, other, &["new", "--format", target, "--json"]));
            at(
                &w,
                other,
                &["append", there["path"].as_str().unwrap(), "Hello"],
            );
            let copy = json(&w.ok(&["convert", &id, "--to", target, "--json"]));
            let latest = json(&w.ok(&["show", &format!("{target}:latest"), "--json"]));
            assert_eq!(latest["session"]["id"], copy["id"], "{from} to {target}");
            let listed = w.ok(&["list", "--json"]);
            let mut lines = listed.lines().map(json);
            let row = lines.find(|s| s["id"] == copy["id"]).unwrap();
            for session in [&row, &latest["session"]] {
                let from_there = &session["converted_from"];
                assert_eq!(from_there["agent"], from, "{target}: {session}");
                assert_eq!(from_there["id"], id.as_str(), "{target}");
                let time = |key: &str| session[key].as_str().unwrap().to_owned();
                assert!(
                    time("started_at") <= time("ended_at"),
                    "{target}: {session}"
                );
            }
            assert!(row["converted_from"]["path"].is_string(), "{target}: {row}");
            let table = w.ok(&["list"]);
            assert!(table.contains(&format!("[from {from}] ")), "{table}");
            let shown = w.ok(&["show", copy["path"].as_str().unwrap()]);
            let origin = format!("converted from {from} {id}");
            assert!(shown.contains(&origin), "{target}: {shown}");
            let original = listed.lines().map(json).find(|s| s["id"] == id.as_str());
            let messages = original.unwrap()["message_count"].as_u64().unwrap();
            let all = json(&w.ok(&["--json"]));
            assert_eq!(all["copy_count"], 1, "{target}: {all}");
            assert_eq!(all["message_count"], messages + 1, "{target}: {all}");
        }
    }
}
