//! `ccusage` on the same home: the same tokens by day, or a reason.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rethread_judges::ccusage_report;
use serde_json::Value;

use super::{fixture, stats};
use crate::world::{World, copy};

/// A fixture, where it goes, and whose it is.
struct Case {
    from: &'static str,
    to: &'static str,
    agent: &'static str,
    ours: &'static str,
    /// Why the numbers differ, where they do on purpose.
    departure: Option<&'static str>,
}

const fn case(from: &'static str, agent: &'static str) -> Case {
    let (to, ours) = match agent.as_bytes().first() {
        Some(b'p') => (".pi/agent/sessions/--shop--", "pi"),
        Some(b'c') if agent.len() == 5 => (".codex", "codex"),
        _ => (".claude/projects/-shop", "claude-code"),
    };
    Case {
        from,
        to,
        agent,
        ours,
        departure: None,
    }
}

const fn departing(from: &'static str, agent: &'static str, why: &'static str) -> Case {
    Case {
        departure: Some(why),
        ..case(from, agent)
    }
}

const CASES: &[Case] = &[
    case("claude-code/2.0/forked", "claude"),
    case("claude-code/2.0/agents", "claude"),
    case("claude-code/2.1/rewind", "claude"),
    case("claude-code/2.1/two-branches", "claude"),
    case("claude-code/2.1/everything", "claude"),
    case("codex/0.140/everything", "codex"),
    case("codex/0.140/copied-fork", "codex"),
    case("codex/0.140/rolled-back", "codex"),
    departing(
        "pi/3/everything",
        "pi",
        "what summaries of compactions and branches took counts as well",
    ),
    departing(
        "claude-code/2.1/told",
        "claude",
        "records of one response without an id of the request count once",
    ),
    departing(
        "codex/0.166/forks",
        "codex",
        "a fork by a pointer to its past has responses of its own",
    ),
];

/// Input, output, written to a cache and read from one.
type DayTokens = BTreeMap<String, [u64; 4]>;

fn theirs(report: &Value) -> DayTokens {
    let days = report["daily"].as_array().unwrap();
    let day = |row: &Value| {
        let count = |name: &str| row[name].as_u64().unwrap_or(0);
        let tokens = [
            count("inputTokens"),
            count("outputTokens"),
            count("cacheCreationTokens"),
            count("cacheReadTokens"),
        ];
        (row["date"].as_str().unwrap().to_owned(), tokens)
    };
    days.iter().map(day).collect()
}

fn ours(w: &World, agent: &str) -> DayTokens {
    let answer = stats(w, &["--agent", agent]);
    let groups = answer["groups"].as_array().unwrap();
    let day = |group: &Value| {
        let count = |name: &str| group["token_usage"][name].as_u64().unwrap();
        let tokens = [
            count("input_tokens"),
            count("output_tokens"),
            count("cache_creation_tokens"),
            count("cache_read_tokens"),
        ];
        Some((group["key"].as_str()?.to_owned(), tokens))
    };
    let days = groups.iter().filter_map(day);
    days.filter(|(_, tokens)| *tokens != [0; 4]).collect()
}

#[test]
fn ccusage_counts_the_same_by_day() {
    for case in CASES {
        let w = World::new();
        copy(&fixture(case.from), &w.home.join(case.to));
        let Some(report) = ccusage_report(&w.home, case.agent, "daily") else {
            return;
        };
        let (theirs, ours) = (theirs(&report), ours(&w, case.ours));
        match case.departure {
            None => assert_eq!(ours, theirs, "{}", case.from),
            Some(why) => assert_ne!(ours, theirs, "{}: no longer so: {why}", case.from),
        }
    }
}

/// The homes that clients recorded themselves.
#[test]
fn ccusage_counts_the_same_in_recorded_homes() {
    let Some(corpus) = rethread_judges::corpus() else {
        return;
    };
    for (from, to, agent, format) in [
        (
            "claude-2.1.325-tools-subagent",
            ".claude/projects",
            "claude",
            "claude-code",
        ),
        (
            "claude-2.1.325-compact-rename",
            ".claude/projects",
            "claude",
            "claude-code",
        ),
        (
            "claude-2.1.197-plain",
            ".claude/projects",
            "claude",
            "claude-code",
        ),
        ("codex-0.166.0-subagent", ".codex", "codex", "codex"),
    ] {
        let w = World::new();
        copy(&corpus.join("recorded").join(from), &w.home.join(to));
        let Some(report) = ccusage_report(&w.home, agent, "daily") else {
            return;
        };
        assert_eq!(ours(&w, format), theirs(&report), "{from}");
    }
}

/// What pi noted beside each answer is what is counted of its sessions.
#[test]
fn what_pi_recorded_is_what_is_counted() {
    let Some(corpus) = rethread_judges::corpus() else {
        return;
    };
    let mut compared = 0;
    for path in logs_below(&corpus.join("pi")) {
        let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
        let lines = text
            .lines()
            .filter_map(|l| serde_json::from_str::<Value>(l).ok());
        let mut sum = 0;
        let mut usd = 0.0;
        for line in lines {
            let usage = &line["message"]["usage"];
            let parts = ["input", "output", "cacheRead", "cacheWrite"];
            sum += parts.iter().filter_map(|p| usage[*p].as_u64()).sum::<u64>();
            usd += usage["cost"]["total"].as_f64().unwrap_or(0.0);
        }
        if sum == 0 || !text.starts_with("{\"type\":\"session\"") {
            continue;
        }
        let w = World::new();
        let all = stats(&w, &[path.to_str().unwrap()]);
        assert_eq!(super::tokens(&all["total"]), sum, "{}", path.display());
        let counted = all["total"]["recorded_usd"].as_f64().unwrap();
        assert!(
            (counted - usd).abs() < 1e-5,
            "{}: {counted} {usd}",
            path.display()
        );
        compared += 1;
        if compared == 12 {
            break;
        }
    }
    assert!(compared > 4, "{compared}");
}

/// What OpenCode noted beside each answer is what is counted of its sessions.
#[test]
fn what_opencode_recorded_is_what_is_counted() {
    let Some(corpus) = rethread_judges::corpus() else {
        return;
    };
    let mut compared = 0;
    for folder in ["opencode", "recorded"] {
        for path in files_below(&corpus.join(folder), "json") {
            let Ok(document) = serde_json::from_slice::<Value>(&fs::read(&path).unwrap()) else {
                continue;
            };
            let Some(messages) = document["messages"].as_array() else {
                continue;
            };
            let mut sum = 0;
            for message in messages {
                let used = &message["info"]["tokens"];
                let parts = [
                    &used["input"],
                    &used["output"],
                    &used["reasoning"],
                    &used["cache"]["read"],
                    &used["cache"]["write"],
                ];
                sum += parts.iter().filter_map(|p| p.as_u64()).sum::<u64>();
            }
            if sum == 0 {
                continue;
            }
            let w = World::new();
            let answer = w.run(&["stats", "--json", path.to_str().unwrap()]);
            let all: Value = serde_json::from_str(&answer.out)
                .unwrap_or_else(|e| panic!("{}: {e}: {answer:?}", path.display()));
            assert_eq!(super::tokens(&all["total"]), sum, "{}", path.display());
            compared += 1;
        }
    }
    assert!(compared > 1, "{compared}");
}

/// Recorded homes, with each of their sessions converted into every format that is written: nothing is
/// counted twice.
#[test]
fn recorded_homes_count_the_same_with_converted_copies() {
    let Some(corpus) = rethread_judges::corpus() else {
        return;
    };
    for (from, to, agent) in [
        (
            "claude-2.1.325-tools-subagent",
            ".claude/projects",
            "claude-code",
        ),
        ("codex-0.166.0-subagent", ".codex", "codex"),
        ("gemini-0.61.0-tools", ".gemini", "gemini"),
    ] {
        let w = World::new();
        copy(&corpus.join("recorded").join(from), &w.home.join(to));
        let total = |w: &World| stats(w, &[])["total"]["token_usage"].clone();
        let before = total(&w);
        let ids = w.ok(&["list", "--json", "--hidden"]);
        for line in ids.lines() {
            let session = crate::world::json(line);
            let id = session["id"].as_str().unwrap();
            for format in [
                "claude-code",
                "codex",
                "gemini",
                "opencode",
                "pi",
                "atsf",
                "agentuse",
            ] {
                if format != agent {
                    let _ = w.run(&["convert", id, "--to", format]);
                }
            }
        }
        assert_eq!(total(&w), before, "{from}");
    }
}

fn logs_below(folder: &Path) -> Vec<std::path::PathBuf> {
    files_below(folder, "jsonl")
}

fn files_below(folder: &Path, extension: &str) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
