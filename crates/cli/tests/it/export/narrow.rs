//! Pages on a phone: whatever a conversation holds, nobody has to scroll sideways to read it.

use std::fs;
use std::path::{Path, PathBuf};

use rethread_judges::Browser;
use serde_json::Value;

use super::fixture;
use super::html::session;
use crate::opencode::store::installed;
use crate::world::{World, copy, tree};

/// The window of a small phone.
const PHONE: (u32, u32) = (390, 844);

/// Where the richest session of each format is, and where its client keeps it.
const EVERYTHING: [(&str, &str); 6] = [
    (
        "claude-code/2.1/everything",
        ".claude/projects/-home-me-shop",
    ),
    ("codex/0.140/everything", ".codex"),
    ("gemini/0.61/everything", ".gemini"),
    ("agentuse/0.30/everything", ".local/share/agentuse"),
    ("pi/3/everything", ".pi/agent/sessions/--home-me-shop--"),
    (
        "atsf/1.1/project/dot-agent/threads",
        "../shop/.agent/threads",
    ),
];

/// A home with the richest session of each format.
pub(super) fn furnished() -> World {
    let w = World::new();
    for (from, to) in EVERYTHING {
        copy(&fixture(from), &w.home.join(to));
    }
    copy(
        &fixture("claude-code/2.1/page"),
        &w.home.join(".claude/projects/-home-me-page"),
    );
    installed(&w, "1.18/everything");
    w
}

/// The pages of all sessions of a home.
fn pages(w: &World) -> Vec<PathBuf> {
    let answer = w.run(&["export", "--aw", "--html", "--force", "-o", "pages"]);
    assert!([0, 3].contains(&answer.code), "{answer:?}");
    let pages = answer.out.lines().map(|path| w.project.join(path));
    pages.collect()
}

fn assert_narrow(browser: &Browser, page: &Path, name: &Path) {
    let extent = browser.measure_page(page, PHONE);
    assert!(
        extent.width <= u64::from(PHONE.0) && extent.beyond.is_empty(),
        "{}: {extent:?}",
        name.display()
    );
}

#[test]
fn no_fixture_scrolls_sideways() {
    let w = furnished();
    let Some(browser) = Browser::start(&w.root.join("profile")) else {
        return;
    };
    let found = pages(&w);
    assert!(found.len() > 12, "{found:?}");
    for page in found {
        assert_narrow(&browser, &page, &page);
    }
    assert_narrow_files(&w, &browser, &fixture(""));
}

#[test]
fn no_real_session_scrolls_sideways() {
    let Some(corpus) = rethread_judges::corpus() else {
        return;
    };
    let w = World::new();
    let Some(browser) = Browser::start(&w.root.join("profile")) else {
        return;
    };
    for format in ["claude-code", "codex", "gemini", "pi", "opencode"] {
        assert_narrow_files(&w, &browser, &corpus.join(format));
    }
}

/// Looks at the pages of all files of a folder that are small sessions.
fn assert_narrow_files(w: &World, browser: &Browser, folder: &Path) {
    let mut looked = 0;
    for (file, bytes) in tree(folder) {
        let is_log = file
            .extension()
            .is_some_and(|e| e == "jsonl" || e == "json" || e == "ndjson");
        if !is_log || bytes.len() > 300_000 {
            continue;
        }
        let args = [
            "export",
            file.to_str().unwrap(),
            "--force",
            "-o",
            "small.html",
        ];
        if [0, 3].contains(&w.run(&args).code) {
            assert_narrow(browser, &w.project.join("small.html"), &file);
            looked += 1;
        }
    }
    assert!(looked > 3, "{looked} sessions in {}", folder.display());
}

#[test]
fn long_words_in_every_field_do_not_make_a_page_wide() {
    let w = furnished();
    let Some(browser) = Browser::start(&w.root.join("profile")) else {
        return;
    };
    let files = [tree(&w.home), tree(&w.project)].concat();
    for (file, bytes) in files {
        let Ok(text) = String::from_utf8(bytes) else {
            continue;
        };
        if file
            .extension()
            .is_some_and(|e| e == "json" || e == "jsonl")
        {
            fs::write(&file, widened(&text)).unwrap();
        }
    }
    let found = pages(&w);
    assert!(found.len() > 12, "{found:?}");
    let mut long_names = 0;
    for page in found {
        let text = fs::read_to_string(&page).unwrap();
        long_names += usize::from(text.contains(&format!("{LONG}</b>")));
        assert_narrow(&browser, &page, &page);
    }
    assert!(
        long_names >= 4,
        "tools of {long_names} pages have long names"
    );
}

/// A word that cannot be broken anywhere.
const LONG: &str =
    "_WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW";

/// What says which kind of thing something is, or where it belongs.
const KEPT: [&str; 28] = [
    "type",
    "role",
    "id",
    "uuid",
    "parentUuid",
    "sessionId",
    "timestamp",
    "subtype",
    "status",
    "data",
    "media_type",
    "mimeType",
    "parentId",
    "tool_use_id",
    "call_id",
    "toolCallId",
    "callID",
    "kind",
    "created",
    "updated",
    "startTime",
    "lastUpdated",
    "createdAt",
    "updatedAt",
    "projectHash",
    "url",
    "sessionID",
    "messageID",
];

/// The lines of a log, or a document, with a long word at the end of every text and a member with a
/// long name in every object that a tool was given.
fn widened(text: &str) -> String {
    let mut values: Vec<Value> = Vec::new();
    if let Ok(value) = serde_json::from_str(text) {
        values.push(value);
    } else {
        values.extend(text.lines().filter_map(|l| serde_json::from_str(l).ok()));
    }
    let mut lines = String::new();
    for mut value in values {
        widen("", &mut value);
        lines.push_str(&value.to_string());
        lines.push('\n');
    }
    lines
}

fn widen(key: &str, value: &mut Value) {
    match value {
        Value::String(text) if !KEPT.contains(&key) => text.push_str(LONG),
        Value::Array(all) => all.iter_mut().for_each(|v| widen(key, v)),
        Value::Object(members) => {
            for (key, value) in members.iter_mut() {
                widen(key, value);
            }
            if ["input", "args", "arguments"].contains(&key) {
                members.insert(LONG.to_owned(), "x".into());
            }
        }
        _ => {}
    }
}

#[test]
fn lists_and_tables_of_any_depth_and_width_fit() {
    let w = World::new();
    let Some(browser) = Browser::start(&w.root.join("profile")) else {
        return;
    };
    let log = fs::read_to_string(session()).unwrap();
    let line = log
        .lines()
        .find(|l| l.contains("\"role\":\"assistant\""))
        .unwrap();
    let mut line: Value = serde_json::from_str(line).unwrap();
    let wide = "| a ".repeat(60);
    let rule = "|-".repeat(60);
    let text = [
        format!("{}deep", ">".repeat(40)),
        format!("{}deep", "- ".repeat(40)),
        format!("{wide}|\n{rule}|\n{}|", format!("| {LONG} ").repeat(60)),
        format!("# {LONG}{LONG}"),
        format!("`{LONG}{LONG}` [{LONG}](https://a.example/{LONG}) https://a.example/{LONG}{LONG}"),
        format!("```{LONG}{LONG}\n{LONG}{LONG}\n```"),
        format!("```diff\n-{LONG}{LONG}\n+{LONG}{LONG}\n```"),
        format!("1. > - > {LONG}{LONG}\n\n```\n{LONG}{LONG}\n```"),
    ];
    line["message"]["content"] = Value::from(vec![serde_json::json!({
        "type": "text",
        "text": text.join("\n\n"),
    })]);
    let path = w.project.join("deep.jsonl");
    fs::write(&path, format!("{line}\n")).unwrap();
    w.run(&["export", path.to_str().unwrap(), "-o", "deep.html"]);
    let page = w.project.join("deep.html");
    assert!(fs::read_to_string(&page).unwrap().contains("<blockquote>"));
    assert_narrow(&browser, &page, &page);
}
