//! Each response counts once.

use std::fs;

use serde_json::{Value, json};

use super::{claude_log, fixture, group, prompt, response, stats, tokens, used};
use crate::world::{World, copy, json as parse};

const DAY: &str = "2026-11-10T10:00:00.000Z";

#[test]
fn the_records_of_a_response_count_once() {
    let w = World::new();
    let early = response("aaaa0001", "one00001", DAY, &used(10, 1));
    let late = response(
        "aaaa0001",
        "one00001",
        "2026-11-10T10:00:02Z",
        &used(10, 50),
    );
    claude_log(&w, "aaaa0001", &[prompt("aaaa0001", 1, DAY), early, late]);
    let all = stats(&w, &[]);
    assert_eq!(tokens(&all["total"]), 60);
    assert_eq!(all["total"]["response_count"], 1);
    assert_eq!(all["total"]["prompt_count"], 1);
}

#[test]
fn copies_in_other_sessions_count_where_they_were_given() {
    let w = World::new();
    let first = |session: &str| response(session, "one00001", DAY, &used(100, 10));
    let said = |session: &str| prompt(session, 1, "2026-11-10T09:59:00Z");
    claude_log(&w, "aaaa0001", &[said("aaaa0001"), first("aaaa0001")]);
    // A resumed session of earlier clients repeats its past under another id.
    claude_log(
        &w,
        "bbbb0002",
        &[
            said("bbbb0002"),
            first("bbbb0002"),
            prompt("bbbb0002", 2, "2026-11-11T10:00:00Z"),
            response(
                "bbbb0002",
                "two00002",
                "2026-11-11T10:00:05Z",
                &used(200, 20),
            ),
        ],
    );
    let all = stats(&w, &["--by", "session"]);
    assert_eq!(tokens(&all["total"]), 330);
    assert_eq!(tokens(group(&all, "aaaa0001")), 110);
    assert_eq!(tokens(group(&all, "bbbb0002")), 220);
    assert_eq!(all["left_out"]["repeated"], 1);
    // What counts does not depend on what is asked for.
    let one = stats(&w, &["--since", "2026-11-11"]);
    assert_eq!(tokens(&one["total"]), 220);
}

/// The sessions of a home, by their ids, with all their tokens as a list has them.
fn listed(w: &World) -> Vec<(String, u64)> {
    let out = w.ok(&["list", "--json", "--hidden"]);
    let total = |session: &Value| {
        let used = &session["token_usage"];
        let fields = [
            "input_tokens",
            "output_tokens",
            "cache_creation_tokens",
            "cache_read_tokens",
        ];
        fields
            .iter()
            .filter_map(|field| used[*field].as_u64())
            .sum()
    };
    let lines = out.lines().map(parse);
    lines
        .map(|s| (s["id"].as_str().unwrap().to_owned(), total(&s)))
        .collect()
}

/// A fork counts what was said in it, and its past counts where that was said.
#[test]
fn forks_count_what_is_their_own() {
    for (from, to) in [
        ("codex/0.140/copied-fork", ".codex"),
        ("codex/0.166/forks", ".codex"),
        ("codex/0.140/rolled-back", ".codex"),
        ("claude-code/2.0/agents", ".claude/projects/-shop"),
        ("claude-code/2.1/compaction", ".claude/projects/-shop"),
        ("codex/0.140/everything", ".codex"),
    ] {
        let w = World::new();
        copy(&fixture(from), &w.home.join(to));
        let counted = stats(&w, &["--by", "session"]);
        let listed = listed(&w);
        let sum: u64 = listed.iter().map(|(_, tokens)| tokens).sum();
        assert_eq!(tokens(&counted["total"]), sum, "{from}: {counted}");
        for (id, expected) in listed.iter().filter(|(_, tokens)| *tokens > 0) {
            assert_eq!(tokens(group(&counted, id)), *expected, "{from}: {id}");
        }
    }
}

/// A list tells what each file has; together the three have three responses.
#[test]
fn sessions_that_go_on_with_another_count_its_past_once() {
    let w = World::new();
    let to = w.home.join(".claude/projects/-shop");
    copy(&fixture("claude-code/2.0/forked"), &to);
    let counted = stats(&w, &["--by", "session"]);
    assert_eq!(counted["total"]["response_count"], 3);
    assert_eq!(tokens(&counted["total"]), 3 * 1130);
}

/// Every branch of a tree was paid for.
#[test]
fn sessions_with_branches_count_all_of_them() {
    let w = World::new();
    copy(
        &fixture("pi/3/everything"),
        &w.home.join(".pi/agent/sessions/--shop--"),
    );
    let counted = stats(&w, &["--by", "session"]);
    for (id, expected) in listed(&w) {
        assert_eq!(tokens(group(&counted, &id)), expected, "{id}");
    }
    assert!(tokens(&counted["total"]) > 0);
}

#[test]
fn the_same_session_in_two_homes_counts_once() {
    let w = World::new();
    let log = claude_log(
        &w,
        "aaaa0001",
        &[
            prompt("aaaa0001", 1, DAY),
            response("aaaa0001", "one00001", DAY, &used(100, 10)),
        ],
    );
    let other = w.root.join("other");
    copy(&w.home.join(".claude"), &other.join(".claude"));
    let mut more = fs::read_to_string(&log).unwrap();
    more.push_str(&prompt("aaaa0001", 2, "2026-11-10T10:01:00Z").to_string());
    more.push('\n');
    more.push_str(
        &response("aaaa0001", "two00002", "2026-11-10T10:01:09Z", &used(5, 5)).to_string(),
    );
    more.push('\n');
    fs::write(&log, more).unwrap();
    let (home, other) = (w.home.to_str().unwrap(), other.to_str().unwrap());
    for order in [[home, other], [other, home]] {
        let out = w.ok(&["--home", order[0], "--home", order[1], "stats", "--json"]);
        let all = parse(&out);
        assert_eq!(tokens(&all["total"]), 120, "{out}");
        assert_eq!(all["total"]["message_count"], 4, "{out}");
        assert_eq!(all["total"]["prompt_count"], 2, "{out}");
    }
}

/// What is converted is counted where it was said, and what is added to a copy counts there.
#[test]
fn converted_copies_count_what_is_new_in_them() {
    let w = World::new();
    let sample = |args: &[&str]| parse(&w.ok(&[&["--sample"][..], args].concat()));
    let sums = |answer: &Value| {
        let total = &answer["total"];
        let names = [
            "message_count",
            "prompt_count",
            "tool_call_count",
            "response_count",
        ];
        let counts: Vec<u64> = names.iter().map(|n| total[*n].as_u64().unwrap()).collect();
        (total["token_usage"].clone(), counts)
    };
    let before = sums(&sample(&["stats", "--json"]));
    for to in [
        "codex",
        "pi",
        "gemini",
        "opencode",
        "atsf",
        "claude-code",
        "agentuse",
        "atomic",
    ] {
        for from in ["claude-code", "codex", "pi", "gemini", "opencode"] {
            if from != to {
                let session = format!("{from}:latest");
                // The newest may be a copy by now, of another one.
                let _ = w.run(&["--sample", "convert", &session, "--to", to]);
            }
        }
        let after = sums(&sample(&["stats", "--json"]));
        assert_eq!(after.0, before.0, "{to}");
    }
}

#[test]
fn with_and_without_the_catalogue_the_answer_is_the_same() {
    let w = World::new();
    copy(
        &fixture("claude-code/2.1/everything"),
        &w.home.join(".claude/projects/-shop"),
    );
    copy(&fixture("codex/0.166/forks"), &w.home.join(".codex"));
    copy(
        &fixture("pi/3/everything"),
        &w.home.join(".pi/agent/sessions/--shop--"),
    );
    for by in [
        "day",
        "hour",
        "agent",
        "model",
        "tool",
        "workspace",
        "session",
    ] {
        let args = ["stats", "--json", "--by", by, "--explain"];
        let first = w.ok(&args);
        assert_eq!(w.ok(&args), first, "{by}: kept");
        let fresh: Vec<&str> = args.iter().copied().chain(["--no-cache"]).collect();
        assert_eq!(w.ok(&fresh), first, "{by}: not kept");
    }
}

#[test]
fn what_is_added_to_a_log_is_counted_the_next_time() {
    let w = World::new();
    let mut records = vec![
        prompt("aaaa0001", 1, DAY),
        response("aaaa0001", "one00001", DAY, &used(100, 10)),
    ];
    claude_log(&w, "aaaa0001", &records);
    assert_eq!(tokens(&stats(&w, &[])["total"]), 110);
    records.push(response(
        "aaaa0001",
        "two00002",
        "2026-11-10T10:02:00Z",
        &used(1, 1),
    ));
    claude_log(&w, "aaaa0001", &records);
    assert_eq!(tokens(&stats(&w, &[])["total"]), 112);
}

#[test]
fn days_begin_where_the_user_is() {
    let w = World::new();
    claude_log(
        &w,
        "aaaa0001",
        &[
            prompt("aaaa0001", 1, "2026-11-10T23:20:00Z"),
            response(
                "aaaa0001",
                "one00001",
                "2026-11-10T23:40:00Z",
                &used(100, 10),
            ),
        ],
    );
    for (zone, day) in [
        ("UTC", "2026-11-10"),
        ("UTC-1", "2026-11-11"),
        ("UTC-5:45", "2026-11-11"),
    ] {
        let mut command = w.command(&["stats", "--json"]);
        let out = command.env("TZ", zone).output().unwrap();
        let all = parse(&String::from_utf8(out.stdout).unwrap());
        assert_eq!(all["groups"][0]["key"], day, "{zone}");
    }
}

/// Two prompts with ten minutes between them are no ten minutes of work.
#[test]
fn gaps_of_more_than_five_minutes_do_not_count() {
    let w = World::new();
    claude_log(
        &w,
        "aaaa0001",
        &[
            prompt("aaaa0001", 1, "2026-11-10T10:00:00Z"),
            response("aaaa0001", "one00001", "2026-11-10T10:04:00Z", &used(1, 1)),
            prompt("aaaa0001", 2, "2026-11-10T10:14:00Z"),
            response("aaaa0001", "two00002", "2026-11-10T10:15:00Z", &used(1, 1)),
        ],
    );
    // Another one at the same time takes no longer.
    claude_log(
        &w,
        "bbbb0002",
        &[
            prompt("bbbb0002", 1, "2026-11-10T10:01:00Z"),
            response("bbbb0002", "three003", "2026-11-10T10:02:00Z", &used(1, 1)),
        ],
    );
    let all = stats(&w, &["--by", "session"]);
    assert_eq!(all["total"]["active_ms"], json!(5 * 60_000));
    assert_eq!(group(&all, "bbbb0002")["active_ms"], json!(60_000));
}
