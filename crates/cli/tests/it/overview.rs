//! `rethread` without a command, and the sample.

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
            .take_while(|word| !word.is_empty() && !word.ends_with(':'));
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
        args.extend(command.split(' '));
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
