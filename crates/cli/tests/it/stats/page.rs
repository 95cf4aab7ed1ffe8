//! What people see.

use std::fs;
use std::path::{Path, PathBuf};

use rethread_judges::{Browser, PageView};
use rethread_render::width;

use super::{claude_log, fixture, group, prompt, response, stats, tokens, used};
use crate::world::{World, copy};

fn home() -> World {
    let w = World::new();
    copy(
        &fixture("claude-code/2.1/everything"),
        &w.home.join(".claude/projects/-shop"),
    );
    copy(&fixture("codex/0.140/everything"), &w.home.join(".codex"));
    copy(
        &fixture("pi/3/everything"),
        &w.home.join(".pi/agent/sessions/--shop--"),
    );
    w
}

/// What is printed on a terminal with so many columns.
fn page(w: &World, columns: usize, args: &[&str]) -> String {
    let mut all = vec!["stats"];
    all.extend(args);
    let mut command = w.command(&all);
    let out = command
        .env("COLUMNS", columns.to_string())
        .output()
        .unwrap();
    assert!(out.status.success(), "{out:?}");
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn tables_fit_the_terminal() {
    let w = home();
    for columns in [50, 64, 79, 120, 160, 200] {
        for by in [
            &[][..],
            &["--by", "day"],
            &["--by", "week"],
            &["--by", "month"],
            &["--by", "hour"],
            &["--by", "agent"],
            &["--by", "model"],
            &["--by", "tool"],
            &["--by", "workspace"],
            &["--by", "session"],
        ] {
            let shown = page(&w, columns, by);
            for line in shown.lines() {
                assert!(width(line) <= columns, "{columns} {by:?}: {line}");
            }
            assert!(
                shown.contains('█') || shown.contains('▏'),
                "{by:?}: {shown}"
            );
        }
    }
}

#[test]
fn all_hours_of_the_day_are_shown() {
    let w = home();
    let clock = page(&w, 100, &["--by", "hour"]);
    for hour in 0..24 {
        assert!(clock.contains(&format!("\n{hour:02}:00")), "{clock}");
    }
}

#[test]
fn sums_by_anything_are_the_same() {
    let w = home();
    let total = tokens(&stats(&w, &[])["total"]);
    assert!(total > 0);
    for by in [
        "day",
        "week",
        "month",
        "hour",
        "agent",
        "model",
        "workspace",
        "session",
    ] {
        let answer = stats(&w, &["--by", by]);
        let groups = answer["groups"].as_array().unwrap();
        assert_eq!(groups.iter().map(tokens).sum::<u64>(), total, "{by}");
    }
    let rows = stats(&w, &["--explain"]);
    let rows = rows["rows"].as_array().unwrap().clone();
    let counted = rows.iter().filter(|row| row["left_out"].is_null());
    assert_eq!(counted.map(tokens).sum::<u64>(), total);
    let tools = stats(&w, &["--by", "tool"]);
    let calls = |sums: &serde_json::Value| sums["tool_call_count"].as_u64().unwrap();
    let sum: u64 = tools["groups"].as_array().unwrap().iter().map(calls).sum();
    assert_eq!(sum, calls(&tools["total"]));
    let agents = stats(&w, &["--by", "agent"]);
    let bytes = |sums: &serde_json::Value| sums["size"].as_u64().unwrap();
    let sum: u64 = agents["groups"].as_array().unwrap().iter().map(bytes).sum();
    assert_eq!(sum, bytes(&agents["total"]));
}

#[test]
fn what_is_asked_for_is_counted_alone() {
    let w = home();
    let codex = stats(&w, &["--agent", "codex", "--by", "agent"]);
    assert_eq!(codex["groups"].as_array().unwrap().len(), 1);
    assert_eq!(tokens(group(&codex, "codex")), tokens(&codex["total"]));
    let none = w.run(&["stats", "--since", "2030-01-01"]);
    assert_eq!(none.code, 1, "{none:?}");
    let wrong = w.run(&["stats", "--agent", "nobody"]);
    assert_eq!(wrong.code, 2, "{wrong:?}");
    let first = stats(&w, &["--by", "session", "--sort", "tokens", "-n", "1"]);
    assert_eq!(first["groups"].as_array().unwrap().len(), 1);
}

#[test]
fn values_for_spreadsheets_have_their_columns() {
    let w = home();
    let out = w.ok(&["stats", "--by", "agent", "--tsv"]);
    for line in out.lines() {
        assert_eq!(line.split('\t').count(), 21, "{line}");
    }
}

#[test]
fn a_budget_is_shown_where_money_is() {
    let w = World::new();
    let day = "2026-11-14T10:00:00Z";
    claude_log(
        &w,
        "aaaa0001",
        &[
            prompt("aaaa0001", 1, day),
            response("aaaa0001", "one00001", day, &used(100_000, 10_000)),
            response(
                "aaaa0001",
                "old00002",
                "2026-10-14T10:00:00Z",
                &used(100_000, 0),
            ),
        ],
    );
    assert_eq!(
        w.ok(&["stats", "--statusline"]),
        "today 0 $0.00 · Nov $0.45\n"
    );
    let config = w.home.join(".config/rethread");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), "[budget]\nmonth = 0.9\n").unwrap();
    let line = "November: $0.45 of $0.90  █████░░░░░ 50 %";
    assert!(w.ok(&["stats"]).contains(line), "{}", w.ok(&["stats"]));
    assert!(w.ok(&[]).contains(line), "{}", w.ok(&[]));
    let all = stats(&w, &[]);
    assert_eq!(all["budget"]["spent_usd"], 0.45);
    assert_eq!(
        w.ok(&["stats", "--statusline"]),
        "today 0 $0.00 · Nov $0.45 of $0.90 50 %\n"
    );
}

#[test]
fn a_picture_is_written_for_both_kinds_of_screens() {
    let w = home();
    let out = w.ok(&["stats", "--by", "model", "--svg", "year.svg"]);
    let path = w.project.join("year.svg");
    assert_eq!(out.trim(), path.to_str().unwrap());
    let svg = fs::read_to_string(path).unwrap();
    assert!(
        svg.starts_with("<svg ") && svg.ends_with("</svg>\n"),
        "{svg}"
    );
    assert!(svg.contains("prefers-color-scheme: dark"));
}

/// Pictures for people to look at stay in the folder of builds.
#[test]
fn the_picture_is_drawn_by_day_and_by_night() {
    let w = home();
    let Some(browser) = Browser::start(&w.root.join("profile")) else {
        return;
    };
    let folder = std::env::var_os("RETHREAD_PICTURES").map(PathBuf::from);
    let folder =
        folder.unwrap_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("../pictures"));
    fs::create_dir_all(&folder).unwrap();
    w.ok(&["stats", "--by", "model", "--svg", "models.svg"]);
    let svg = w.project.join("models.svg");
    let [day, night] = [false, true].map(|dark| {
        let name = if dark { "dark" } else { "light" };
        let png = folder.join(format!("stats-{name}.png"));
        let look = PageView {
            size: (800, 500),
            dark,
            whole: false,
        };
        browser.take_screenshot(&svg, look, &png);
        fs::read(png).unwrap()
    });
    assert!(day.starts_with(b"\x89PNG"));
    assert_ne!(day, night);
}

#[test]
fn rows_behind_a_number_say_where_they_are() {
    let w = home();
    let out = page(&w, 120, &["--explain", "--agent", "pi"]);
    assert!(out.contains("recorded"), "{out}");
    assert!(out.contains('#'), "{out}");
}
