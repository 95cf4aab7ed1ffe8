//! `rethread` without a command, and the sample.

use std::fs;

use insta::assert_snapshot;

use crate::on_terminal::on_terminal;
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

/// Threads of three days, one of them older than a week.
fn some_days(w: &World) {
    for (title, time) in [
        ("The list is slow", "2026-11-15T10:42:00.000Z"),
        (
            "Rate limits for the sign-in, and what to do about those who are over them",
            "2026-11-15T09:12:00.000Z",
        ),
        ("Fix the redirect after sign-in", "2026-11-14T18:02:00.000Z"),
        ("Prices", "2026-11-11T08:00:00.000Z"),
        ("日本語のタイトル", "2026-10-02T08:00:00.000Z"),
        ("An old one", "2025-12-24T08:00:00.000Z"),
    ] {
        let id = w.thread(title);
        let said = format!(
            r#"{{"role":"agent","timestamp":"{time}","content":"x","tokens":{{"input":41200,"output":40}}}}"#
        );
        w.message(&id, &said);
    }
}

#[test]
fn the_overview_fits_the_terminal() {
    let w = World::new();
    some_days(&w);
    for columns in ["50", "80", "160"] {
        for colour in ["never", "always"] {
            let args = ["--no-pager", "--color", colour];
            let Some(shown) = on_terminal(&w, &args, "", &[("COLUMNS", columns)]) else {
                return;
            };
            let name = format!("overview_{columns}_{colour}");
            assert_snapshot!(name, w.plain(&shown.out).replace('\u{1b}', "␛"));
            if colour == "never" {
                let most: usize = columns.parse().unwrap();
                let lines = shown.out.lines();
                let widest = lines.map(|l| l.chars().count()).max().unwrap();
                assert!(widest <= most, "{columns}: {}", shown.out);
            }
        }
    }
}

/// The bars of a line of the overview, if there are some.
fn bars(line: &str) -> Option<String> {
    let is_bar = |c: &char| ('▁'..='█').contains(c);
    let bars: String = line.chars().filter(is_bar).collect();
    (!bars.is_empty()).then_some(bars)
}

/// Messages of this week, one of them written shortly before midnight of the day before in UTC.
fn this_week(w: &World) {
    let id = w.thread("A week");
    let times = [
        ("2026-11-07T12:00:00.000Z", 5),
        ("2026-11-09T12:00:00.000Z", 1),
        ("2026-11-11T12:00:00.000Z", 4),
        ("2026-11-13T23:50:00.000Z", 7),
        ("2026-11-15T10:00:00.000Z", 2),
    ];
    for (time, count) in times {
        for _ in 0..count {
            w.message(
                &id,
                &format!(r#"{{"role":"user","timestamp":"{time}","content":"x"}}"#),
            );
        }
    }
}

fn days(w: &World, zone: &str) -> Vec<(String, u64)> {
    let output = w.command(&["--json"]).env("TZ", zone).output().unwrap();
    let all = json(&String::from_utf8(output.stdout).unwrap());
    let days = all["agents"][0]["messages_by_day"].as_array().unwrap();
    let day = |one: &serde_json::Value| one["day"].as_str().unwrap().to_owned();
    let counted = days
        .iter()
        .map(|one| (day(one), one["count"].as_u64().unwrap()));
    counted.collect()
}

#[test]
fn messages_of_the_last_days_are_counted_by_local_days() {
    let w = World::new();
    this_week(&w);
    let counts = |zone| {
        days(&w, zone)
            .into_iter()
            .map(|(_, n)| n)
            .collect::<Vec<_>>()
    };
    let named: Vec<String> = days(&w, "UTC").into_iter().map(|(day, _)| day).collect();
    let expected = ["09", "10", "11", "12", "13", "14", "15"].map(|d| format!("2026-11-{d}"));
    assert_eq!(named, expected);
    assert_eq!(counts("UTC"), [1, 0, 4, 0, 7, 0, 2]);
    assert_eq!(counts("Europe/Berlin"), [1, 0, 4, 0, 0, 7, 2]);
    assert_eq!(counts("Asia/Kathmandu"), [1, 0, 4, 0, 0, 7, 2]);
    assert_eq!(counts("Pacific/Honolulu"), [1, 0, 4, 0, 7, 0, 2]);
}

#[test]
fn a_week_is_drawn_where_there_is_room() {
    let w = World::new();
    this_week(&w);
    let shown = |columns: &str| {
        let seen = on_terminal(&w, &["--no-pager"], "", &[("COLUMNS", columns)])?;
        let line = seen.out.lines().find(|line| line.contains("  shop"));
        Some(bars(line.unwrap()))
    };
    let Some(wide) = shown("80") else { return };
    assert_eq!(wide.as_deref(), Some("▂▁▅▁█▁▃"));
    assert_eq!(shown("40"), Some(None));
    // Where nothing was said this week, there is nothing to draw.
    let quiet = World::new();
    let id = quiet.thread("Old");
    quiet.message(
        &id,
        r#"{"role":"user","timestamp":"2026-10-01T10:00:00.000Z","content":"x"}"#,
    );
    assert_eq!(bars(&quiet.ok(&[])), None);
}

#[test]
fn what_is_added_to_a_log_is_drawn_too() {
    let w = World::new();
    let sum = |w: &World| days(w, "UTC").iter().map(|(_, n)| n).sum::<u64>();
    let folder = w.home.join(".claude/projects/-home-me-shop");
    fs::create_dir_all(&folder).unwrap();
    let log = folder.join("c1b2c3d4-0000-4000-8000-00000000abcd.jsonl");
    let line = |n: u32, time: &str| {
        format!(
            r#"{{"type":"user","uuid":"u{n}","parentUuid":null,"sessionId":"c1b2c3d4-0000-4000-8000-00000000abcd","timestamp":"{time}","cwd":"/home/me/shop","version":"2.1.0","message":{{"role":"user","content":"x"}}}}"#
        ) + "\n"
    };
    fs::write(&log, line(1, "2026-11-14T10:00:00.000Z")).unwrap();
    let before = sum(&w);
    let mut grown = fs::read_to_string(&log).unwrap();
    grown.push_str(&line(2, "2026-11-15T10:00:00.000Z"));
    fs::write(&log, grown).unwrap();
    assert_eq!(sum(&w), before + 1);
}

#[test]
fn the_commands_that_it_names_work_as_they_are_printed() {
    let w = World::new();
    some_days(&w);
    let out = w.ok(&[]);
    let named: Vec<&str> = out.split("rethread ").skip(1).collect();
    assert!(named.len() >= 3, "{out}");
    for command in named {
        let words = command
            .split([' ', '\n'])
            .take_while(|word| !word.is_empty() && !word.ends_with(':'))
            // What is looked for is up to who reads it.
            .map(|word| match word {
                "WORDS" => "prices",
                other => other,
            });
        w.ok(&words.collect::<Vec<_>>());
    }
}

#[test]
fn the_commands_that_are_named_look_where_the_command_looked() {
    let w = World::new();
    w.ok(&["sample", "my things"]);
    let home = "my things/home";
    let out = w.ok(&["--home", home]);
    let called = "rethread --home 'my things/home' ";
    let named: Vec<&str> = out.split(called).skip(1).collect();
    assert!(named.len() >= 4, "{out}");
    assert_eq!(out.matches("rethread").count(), named.len(), "{out}");
    for command in named {
        let command = command.lines().next().unwrap();
        let command = command.split("   ").next().unwrap();
        let mut args: Vec<&str> = vec!["--home", home];
        args.extend(command.split(' ').map(|word| match word {
            "WORDS" => "comma",
            other => other,
        }));
        if args.contains(&"resume") {
            args.push("--print");
        }
        w.ok(&args);
    }
    let refused = w.run(&["--home", home, "show", "nothing-like-it"]);
    let hint = format!("hint: `{called}list` shows what there is");
    assert!(refused.err.contains(&hint), "{refused:?}");
    let refused = w.run(&["--home", home, "show", "nothing-like-it", "--json"]);
    let hint = json(&refused.err)["error"]["hint"].clone();
    assert_eq!(hint, format!("`{called}list` shows what there is"));
    let agents = w.ok(&["--home", home, "agents"]);
    assert!(
        agents.contains(&format!("`{called}list --subagents")),
        "{agents}"
    );
    let refused = w.run(&["--sample", "show", "nothing-like-it"]);
    assert!(
        refused.err.contains("`rethread --sample list`"),
        "{refused:?}"
    );
}

#[test]
fn the_overview_the_list_and_the_agents_count_the_same() {
    let w = World::new();
    some_days(&w);
    let all = json(&w.ok(&["--json"]));
    let listed = w.ok(&["list", "--json"]).lines().count();
    assert_eq!(all["session_count"], listed);
    assert_eq!(all["agents"][0]["session_count"], listed);
    let agents = w.ok(&["agents", "--json"]);
    let atsf = agents.lines().map(json).find(|a| a["agent"] == "atsf");
    assert_eq!(atsf.unwrap()["sessions"], listed);
}
