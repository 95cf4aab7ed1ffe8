//! What a reader sees: `show` and `tree` of a session with everything in it, for each format, on narrow
//! and wide terminals, with and without colour.

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;

use crate::world::{Answer, World, answer, copy, json};

fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures")
        .join(path)
}

/// A session of each format with as much in it as there is, and the world that it is in.
fn everything() -> Vec<(&'static str, World, String)> {
    let files = [
        (
            "agentuse",
            "agentuse/0.30/everything/project/6b9af143446a411a/session/01KA3J1000S000000000000005-social-quotes-1-create",
        ),
        (
            "atomic",
            "atomic/3/workflow/2026-11-14T08-00-00-000Z_01a1da8a-0000-7000-8000-0000000000a1.jsonl",
        ),
        (
            "claude_code",
            "claude-code/2.1/everything/a1b2c3d4-0000-4000-8000-00000000aaaa.jsonl",
        ),
        (
            "codex",
            "codex/0.140/everything/sessions/2026/06/17/rollout-2026-06-17T09-00-00-019ed50c-2fb3-7002-a384-000000000001.jsonl",
        ),
        (
            "gemini",
            "gemini/0.61/everything/tmp/shop/chats/session-2026-11-14T09-00-5d0f6f1e.jsonl",
        ),
        ("ndjson", "ndjson/2.0/flat/20260110_demo.ndjson"),
        (
            "pi",
            "pi/3/everything/2026-11-15T17-50-28-602Z_01a1e054-fcf9-71e6-a3da-f0135322e25c.jsonl",
        ),
    ];
    let mut all: Vec<(&str, World, String)> = Vec::new();
    for (name, path) in files {
        let path = fs::canonicalize(fixture(path)).unwrap();
        all.push((name, World::new(), path.to_str().unwrap().to_owned()));
    }
    let w = World::new();
    w.fixture("1.1/project");
    all.push(("atsf", w, "latest".to_owned()));
    let (w, [id, ..]) = crate::opencode::everything();
    all.push(("opencode", w, id.to_owned()));
    all
}

/// Where each fixture with everything in it lies in the home of its agent.
pub(crate) const STORED: [(&str, &str, &str); 6] = [
    (
        "agentuse",
        "agentuse/0.30/everything/project",
        ".local/share/agentuse/project",
    ),
    (
        "atomic",
        "atomic/3/workflow",
        ".atomic/agent/sessions/--home-me-shop--",
    ),
    (
        "claude_code",
        "claude-code/2.1/everything",
        ".claude/projects/-home-me-shop",
    ),
    ("codex", "codex/0.140/everything", ".codex"),
    ("gemini", "gemini/0.61/everything", ".gemini"),
    (
        "pi",
        "pi/3/everything",
        ".pi/agent/sessions/--home-me-shop--",
    ),
];

/// A home of each agent with everything in it. Exports are in no home.
fn homes() -> Vec<(&'static str, World)> {
    let mut all = Vec::new();
    for (name, from, to) in STORED {
        let w = World::new();
        copy(&fixture(from), &w.home.join(to));
        all.push((name, w));
    }
    let w = World::new();
    w.fixture("1.1/project");
    all.push(("atsf", w));
    all.push(("opencode", crate::opencode::everything().0));
    all
}

fn on_terminal(w: &World, args: &[&str], columns: usize) -> Answer {
    let mut command = w.command(args);
    answer(
        command
            .env("COLUMNS", columns.to_string())
            .output()
            .unwrap(),
    )
}

/// Text without its colours.
fn stripped(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |all, part| all + part.split_once('m').unwrap().1)
}

/// A line is as wide as the terminal at most, unless it is one thing that cannot be broken.
fn assert_fits(shown: &str, columns: usize) {
    for line in shown.lines() {
        let is_one = line.trim().split(' ').count() == 1 || line.contains('/');
        assert!(
            line.chars().count() <= columns || is_one,
            "{columns}: {line}"
        );
    }
}

fn assert_screens(command: &str) {
    for (name, w, session) in everything() {
        for columns in [50, 80, 160] {
            let args = [command, &session, "--no-pager"];
            let shown = on_terminal(&w, &args, columns).out;
            assert!(!shown.contains('\u{1b}'), "{shown}");
            assert_fits(&shown, columns);
            assert_snapshot!(format!("{command}_{name}_{columns}"), w.plain(&shown));
            let args = [command, &session, "--no-pager", "--color", "always"];
            let coloured = on_terminal(&w, &args, columns).out;
            assert!(coloured.contains('\u{1b}'), "{coloured}");
            assert_eq!(stripped(&coloured), shown, "nothing depends on colour");
            if columns == 80 {
                let coloured = w.plain(&coloured).replace('\u{1b}', "␛");
                assert_snapshot!(format!("{command}_{name}_colour"), coloured);
            }
        }
    }
}

#[test]
fn show_on_terminals_of_all_widths_with_and_without_colour() {
    assert_screens("show");
}

#[test]
fn tree_on_terminals_of_all_widths_with_and_without_colour() {
    assert_screens("tree");
}

/// The screens of a command at all widths, one below the other, and the one of 80 columns in colour.
fn assert_tables(name: &str, w: &World, args: &[&str]) {
    let mut screens = String::new();
    for columns in ["50", "80", "160"] {
        let shown = |colour| {
            let args = [args, &["--no-pager", "--color", colour]].concat();
            let shown = crate::on_terminal::on_terminal(w, &args, "", &[("COLUMNS", columns)])?;
            assert_eq!(shown.code, 0, "{shown:?}");
            Some(shown.out)
        };
        let Some((plain, coloured)) = shown("never").zip(shown("always")) else {
            return;
        };
        assert!(!plain.contains('\u{1b}'), "{plain}");
        assert_eq!(stripped(&coloured), plain, "nothing depends on colour");
        assert_fits(&plain, columns.parse().unwrap());
        screens += &format!("-- {columns}\n{}\n", w.plain(&plain));
        if columns == "80" {
            let coloured = w.plain(&coloured).replace('\u{1b}', "␛");
            screens += &format!("-- {columns}, in colour\n{coloured}\n");
        }
    }
    assert_snapshot!(name, screens);
}

#[test]
fn list_on_terminals_of_all_widths_with_and_without_colour() {
    for (name, w) in homes() {
        assert_tables(&format!("list_{name}"), &w, &["list", "--hidden"]);
    }
    let w = World::new();
    let export = fixture("ndjson/2.0/flat/20260110_demo.ndjson");
    fs::copy(export, w.project.join("all.ndjson")).unwrap();
    assert_tables("list_ndjson", &w, &["list", "all.ndjson"]);
}

#[test]
fn overview_on_terminals_of_all_widths_with_and_without_colour() {
    for (name, w) in homes() {
        assert_tables(&format!("overview_{name}"), &w, &[]);
    }
}

/// A log of Claude Code with these records.
fn claude(w: &World, records: &[&str]) -> String {
    let path = w.root.join("a1b2c3d4-0000-4000-8000-0000000000bb.jsonl");
    let mut parent = "null".to_owned();
    let mut lines = String::new();
    for (at, record) in records.iter().enumerate() {
        let id = format!("\"a1b2c3d4-0000-4000-8000-{at:012}\"");
        let kind = if record.contains("\"role\":\"assistant\"") {
            "assistant"
        } else {
            "user"
        };
        lines.push_str(&format!(
            "{{\"type\":\"{kind}\",\"uuid\":{id},\"parentUuid\":{parent},\"sessionId\":\"a1b2c3d4-0000-4000-8000-0000000000bb\",\"cwd\":\"/home/me/shop\",\"version\":\"2.1.0\",\"timestamp\":\"2026-11-15T10:00:{at:02}.000Z\",\"message\":{record}}}\n"
        ));
        parent = id;
    }
    fs::write(&path, lines).unwrap();
    path.to_str().unwrap().to_owned()
}

fn user(text: &str) -> String {
    serde_json::json!({ "role": "user", "content": text }).to_string()
}

fn assistant(id: &str, blocks: &serde_json::Value) -> String {
    serde_json::json!({ "id": id, "role": "assistant", "model": "claude-opus-4-5", "content": blocks })
        .to_string()
}

#[test]
fn the_last_four_are_four() {
    let w = World::new();
    let mut records = Vec::new();
    for n in 0..6 {
        records.push(user(&format!("question {n}")));
        records.push(assistant(
            &format!("m{n}a"),
            &serde_json::json!([{ "type": "tool_use", "id": format!("t{n}"), "name": "Bash", "input": { "command": "ls" } }]),
        ));
        records.push(
            serde_json::json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": format!("t{n}"), "content": "a" }] })
                .to_string(),
        );
        records.push(assistant(
            &format!("m{n}b"),
            &serde_json::json!([{ "type": "text", "text": format!("answer {n}") }]),
        ));
    }
    let records: Vec<&str> = records.iter().map(String::as_str).collect();
    let path = claude(&w, &records);
    let shown = w.ok(&["show", &path, "--last", "4"]);
    assert_eq!(shown.matches("\n#").count(), 4, "{shown}");
    assert!(
        shown.contains("question 4") && shown.contains("answer 5"),
        "{shown}"
    );
    assert!(!shown.contains("answer 3"), "{shown}");
    for (last, turns) in [("1", 1), ("3", 3), ("100", 12), ("0", 0)] {
        let shown = w.ok(&["show", &path, "--last", last]);
        assert_eq!(shown.matches("\n#").count(), turns, "{last}: {shown}");
    }
    let record = json(&w.ok(&["show", &path, "--last", "4", "--json"]));
    assert_eq!(record["messages"].as_array().unwrap().len(), 4);
    // The number of a heading is what `--at` takes.
    let from = w.ok(&["show", &path, "--at", "#21"]);
    assert_eq!(
        from.lines().find(|l| l.starts_with('#')),
        Some("#21  You  10:00")
    );
    assert_eq!(from.matches("\n#").count(), 2, "{from}");
    let result = w.ok(&["show", &path, "--at", "#23"]);
    assert!(
        result.contains("#22  Claude") && result.contains("✓ Bash  ls"),
        "{result}"
    );
}

#[test]
fn commands_are_what_the_person_typed_and_what_is_injected_is_one_quiet_line() {
    let w = World::new();
    let command = "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>src/list.rs now</command-args>";
    let reminder = "<system-reminder>\nAs you answer, be brief.\n</system-reminder>";
    let records = [
        user("<local-command-caveat>Caveat: the messages below</local-command-caveat>"),
        user(command),
        user("<local-command-stdout>Reviewed</local-command-stdout>"),
        user("<bash-input>git log -1</bash-input>"),
        user("<bash-stdout>abc first</bash-stdout><bash-stderr></bash-stderr>"),
        user(reminder),
        assistant(
            "m1",
            &serde_json::json!([{ "type": "text", "text": "Fine." }]),
        ),
    ];
    let records: Vec<&str> = records.iter().map(String::as_str).collect();
    let path = claude(&w, &records);
    let shown = w.ok(&["show", &path]);
    let said = shown.split_once("\n\n").unwrap().1;
    assert_snapshot!(said, @r"
        · caveat 71 B     (--injected)

    #2  You  10:00
        /review src/list.rs now
        │ Reviewed

    #4  You  10:00
        ! git log -1
        │ abc first

        · reminder 61 B     (--injected)

    #7  Claude  opus-4-5  10:00
        Fine.
    ");
    let all = w.ok(&["show", &path, "--injected"]);
    assert!(all.contains("As you answer, be brief."), "{all}");
    assert!(
        w.ok(&["show", &path, "--to", "markdown"])
            .contains("\n`/review src/list.rs now`\n")
    );
}

#[test]
fn codex_begins_with_one_quiet_line() {
    let w = World::new();
    let path = fixture(
        "codex/0.140/everything/sessions/2026/06/17/rollout-2026-06-17T09-00-00-019ed50c-2fb3-7002-a384-000000000001.jsonl",
    );
    let shown = w.ok(&["show", path.to_str().unwrap()]);
    let (before, _) = shown.split_once("  You  ").unwrap();
    assert!(before.lines().count() <= 8, "{before}");
    assert!(
        before.contains("· permissions 65 B · AGENTS.md 53 B"),
        "{before}"
    );
}

/// A page without what is said about its session: lists count sub-agents with it, and exports are read
/// elsewhere.
pub(crate) fn without_facts(page: &str) -> String {
    let (before, facts) = page.split_once("<details class=facts>").unwrap();
    let (_, behind) = facts.split_once("</details>").unwrap();
    format!("{before}{behind}")
}

/// Pages fold what a terminal leaves out, whichever command writes them.
#[test]
fn show_open_and_export_write_the_same_page() {
    for (name, w, session) in everything() {
        w.ok(&["show", &session, "--to", "html", "-o", "shown.html"]);
        w.ok(&["export", &session, "--no-subagents", "-o", "exported.html"]);
        let opened = w.ok(&["open", &session, "--print"]);
        let page = |path: &Path| fs::read_to_string(w.project.join(path)).unwrap();
        let shown = page(Path::new("shown.html"));
        assert!(shown.contains("<details"), "{name}: {shown}");
        assert!(page(Path::new(opened.trim())) == shown, "{name}: opened");
        let exported = page(Path::new("exported.html"));
        assert!(
            without_facts(&exported) == without_facts(&shown),
            "{name}: exported"
        );
    }
}

#[test]
fn strict_writes_nothing_of_damage_and_fails() {
    let w = World::new();
    let path = claude(&w, &[&user("hello")]);
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{whole}{{\"type\":\"user\",broken\n")).unwrap();
    let partly = w.run(&["show", &path, "-o", "talk.txt"]);
    assert_eq!(partly.code, 3, "{partly:?}");
    assert!(w.project.join("talk.txt").is_file());
    let strict = w.run(&["show", &path, "--strict", "-o", "strict.txt"]);
    assert_eq!(strict.code, 1, "{strict:?}");
    assert!(!w.project.join("strict.txt").exists());
    assert!(
        strict
            .err
            .contains("nothing was written, because of `--strict`")
    );
}

#[test]
fn outputs_are_folded_unless_all_is_wanted() {
    let w = World::new();
    let output: Vec<String> = (1..=212).map(|n| format!("line {n}")).collect();
    let records = [
        user("go"),
        assistant(
            "m1",
            &serde_json::json!([
                { "type": "text", "text": "I look." },
                { "type": "thinking", "thinking": "Hm, well.", "signature": "s" },
                { "type": "tool_use", "id": "t1", "name": "Bash", "input": { "command": "cargo test" } },
                { "type": "tool_use", "id": "t2", "name": "Edit", "input": { "file_path": "/home/me/shop/a.rs", "old_string": "a\nb", "new_string": "a\nc\nd" } }
            ]),
        ),
        serde_json::json!({ "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "t2", "content": "done" },
            { "type": "tool_result", "tool_use_id": "t1", "content": output.join("\n") } ] })
        .to_string(),
    ];
    let records: Vec<&str> = records.iter().map(String::as_str).collect();
    let path = claude(&w, &records);
    let shown = w.ok(&["show", &path]);
    let said = shown.split_once("\n\n").unwrap().1;
    assert_snapshot!(said, @r"
    #1  You  10:00
        go

    #2  Claude  opus-4-5  10:00
        I look.

        ✓ Bash  cargo test                                    212 lines
          │ line 1
          │ line 2
          │ … 210 more (--full)
        ✓ Edit  a.rs                                          +2 −1
            a
          - b
          + c
          + d

        · thinking 9 B     (--thinking)
    ");
    let full = w.ok(&["show", &path, "--full"]);
    assert!(full.contains("      │ line 212\n"), "{full}");
    assert!(!full.contains("more (--full)"), "{full}");
    let without = w.ok(&["show", &path, "--no-tools"]);
    assert!(
        without.contains("· 2 tool calls · thinking 9 B     (--thinking)"),
        "{without}"
    );
    w.ok(&[
        "export",
        &path,
        "--markdown",
        "--no-tools",
        "--no-thinking",
        "-o",
        "talk.md",
    ]);
    let exported = fs::read_to_string(w.project.join("talk.md")).unwrap();
    assert!(
        exported.contains("I look.") && !exported.contains("cargo test"),
        "{exported}"
    );
    assert!(!exported.contains("Hm, well."), "{exported}");
    let refused = w.run(&["export", &path, "--no-tools", "-o", "all.ndjson"]);
    assert_eq!(refused.code, 2, "{refused:?}");
}
