//! `search` and `index`: what is found, how it is told, and what may go wrong.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;

use crate::world::{World, copy, json};

pub(crate) const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures");

/// Sessions of Claude Code in the home.
pub(crate) fn with_claude(cases: &[&str]) -> World {
    let w = World::new();
    let project = w.home.join(".claude/projects/-home-me-shop");
    for case in cases {
        copy(
            &Path::new(FIXTURES).join("claude-code").join(case),
            &project,
        );
    }
    w
}

/// A session of Claude Code of our own words: who speaks, and what they say.
pub(crate) fn write_session(w: &World, number: u32, said: &[(&str, &str)]) {
    let folder = w.home.join(".claude/projects/-home-me-own");
    fs::create_dir_all(&folder).unwrap();
    let id = format!("5e55{number:04}-0000-4000-8000-000000000000");
    let mut lines = String::new();
    for (at, (role, text)) in said.iter().enumerate() {
        let content = match *role {
            "user" => serde_json::json!(text),
            _ => serde_json::json!([{ "type": "text", "text": text }]),
        };
        let line = serde_json::json!({
            "parentUuid": at.checked_sub(1).map(|before| format!("{id}-{before}")),
            "isSidechain": false, "cwd": "/home/me/own", "sessionId": id,
            "version": "2.1.0", "type": role, "uuid": format!("{id}-{at}"),
            "timestamp": format!("2026-11-{:02}T10:00:{at:02}.000Z", 1 + number),
            "message": { "role": role, "content": content, "id": format!("m{number}{at}"), "type": "message" },
        });
        lines.push_str(&format!("{line}\n"));
    }
    fs::write(folder.join(format!("{id}.jsonl")), lines).unwrap();
}

pub(crate) fn places(w: &World, args: &[&str]) -> Vec<serde_json::Value> {
    let mut all = vec!["search", "--json"];
    all.extend(args);
    w.run(&all).out.lines().map(json).collect()
}

/// The snippets of what is found.
fn snippets(w: &World, args: &[&str]) -> Vec<String> {
    let text = |place: &serde_json::Value| place["snippet"].as_str().unwrap().to_owned();
    places(w, args).iter().map(text).collect()
}

/// All files below a folder, with their bytes.
fn files_below(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else {
                all.insert(path.clone(), fs::read(path).unwrap());
            }
        }
    }
    all
}

#[test]
fn conversations_are_told_with_their_best_places_and_how_to_open_them() {
    let w = World::new();
    write_session(
        &w,
        1,
        &[
            ("user", "Where is the cookie set? The redirect loses it."),
            (
                "assistant",
                "In signin.js. I keep the target in a cookie, so that the redirect survives.",
            ),
            ("user", "Thanks"),
        ],
    );
    write_session(
        &w,
        2,
        &[
            ("user", "Eat a cookie"),
            ("assistant", "No redirect here, cookie monster"),
        ],
    );
    write_session(&w, 3, &[("user", "Only a redirect")]);
    assert_snapshot!(w.ok(&["search", "redirect", "cookie"]), @"
    5e550001  Claude Code  own  13 days ago  Where is the cookie set? The redirect loses it.
      #1  You     Where is the [cookie] set? The [redirect] loses it.
      #2  Claude  In signin.js. I keep the target in a [cookie], so that the [redirect] survives.
      rethread show 5e550001 --at '#1' --mark 'redirect cookie'

    5e550002  Claude Code  own  12 days ago  Eat a cookie
      #2  Claude  No [redirect] here, [cookie] monster
      rethread show 5e550002 --at '#2' --mark 'redirect cookie'

    2 conversations, 3 places
    ");
    let opened = w.ok(&[
        "show",
        "5e550001",
        "--at",
        "#2",
        "--mark",
        "redirect cookie",
    ]);
    assert!(opened.contains("target in a [cookie]"), "{opened}");
    assert!(!opened.contains("#1  You"), "{opened}");
    let newest = w.ok(&["search", "redirect", "--sort", "newest", "-n", "1"]);
    assert!(newest.contains("Only a [redirect]"), "{newest}");
    assert!(newest.contains("the best 1 of 3 conversations"), "{newest}");
}

#[test]
fn places_for_scripts_say_where_the_words_are() {
    let w = World::new();
    write_session(
        &w,
        1,
        &[
            ("user", "Zwei Cafés\n\tund ein  café"),
            ("assistant", "line one\nline two cafe\nline three"),
        ],
    );
    let all = places(&w, &["café"]);
    assert_eq!(all.len(), 2);
    let first = &all[0];
    assert_eq!(first["entry"], "#1");
    assert_eq!(first["role"], "user");
    assert_eq!(first["kind"], "prompt");
    assert_eq!(first["time"], "2026-11-02T10:00:00.000Z");
    assert_eq!(first["snippet"], "Zwei Cafés und ein café");
    assert_eq!(first["marks"], serde_json::json!([[19, 23]]));
    let all = places(&w, &["café", "role:assistant", "-C", "1"]);
    assert_eq!(all[0]["snippet"], "line one\nline two cafe\nline three");
    assert_eq!(all[0]["marks"], serde_json::json!([[18, 22]]));
}

#[test]
fn the_query_language_chooses() {
    let w = World::new();
    write_session(
        &w,
        1,
        &[("user", "alpha beta gamma"), ("assistant", "alpha delta")],
    );
    write_session(
        &w,
        2,
        &[
            ("user", "beta alpha"),
            ("assistant", "src/auth.rs getUserName"),
        ],
    );
    for (query, expected) in [
        ("alpha", 3),
        ("alpha beta", 2),
        ("\"alpha beta\"", 1),
        ("alp* -beta", 1),
        ("gamma OR delta", 2),
        ("/al.ha d/", 1),
        ("alpha role:assistant", 1),
        ("alpha -role:assistant", 2),
        ("alpha since:2026-11-03", 1),
        ("alpha until:2026-11-02", 2),
        ("alpha agent:claude", 3),
        ("alpha -agent:claude", 0),
        ("alpha title:beta", 3),
        ("alpha title:gamma", 2),
        ("alpha dir:own", 3),
        ("alpha is:subagent", 0),
        ("alpha has:error", 0),
        ("user", 1),
        ("auth.rs", 1),
        ("model:nobody alpha", 0),
    ] {
        assert_eq!(places(&w, &[query]).len(), expected, "{query}");
    }
    assert_eq!(places(&w, &["alpha", "--role", "user"]).len(), 2);
    assert_eq!(places(&w, &["alpha", "--since", "2026-11-03"]).len(), 1);
    let nothing = w.run(&["search", "nobodysaidthis"]);
    assert_eq!((nothing.code, nothing.out.as_str()), (1, ""));
    assert_snapshot!(nothing.err, @"nothing was found in 2 conversations");
}

#[test]
fn where_nothing_fits_what_nearly_does_is_told_and_it_says_so() {
    let w = World::new();
    write_session(
        &w,
        1,
        &[
            ("user", "the redirect is lost"),
            ("assistant", "a cookie keeps it"),
        ],
    );
    write_session(&w, 2, &[("user", "only a redirect")]);
    let apart = w.run(&["search", "redirect", "cookie"]);
    assert_eq!(apart.code, 0, "{apart:?}");
    assert_snapshot!(apart.err, @"no text has all of this; these conversations have it in different places");
    assert!(
        apart.out.contains("1 conversation, 2 places"),
        "{}",
        apart.out
    );
    let mistyped = w.run(&["search", "redrect", "lost"]);
    assert_snapshot!(mistyped.err, @"nothing has this; looked for `redirect` instead of `redrect`");
    assert!(
        mistyped.out.contains("the [redirect] is [lost]"),
        "{}",
        mistyped.out
    );
    let scanned = w.run(&["--no-cache", "search", "redrect", "lost"]);
    assert_eq!((scanned.out, scanned.err), (mistyped.out, mistyped.err));
    assert_eq!(w.run(&["search", "xylophone"]).code, 1);
}

#[test]
fn what_makes_no_sense_is_refused_with_what_there_is() {
    let w = World::new();
    write_session(&w, 1, &[("user", "alpha")]);
    for (query, expected) in [
        ("agnet:codex x", "`agnet:` is no filter"),
        ("role:boss", "`role:boss` is not known"),
        ("/(/", "cannot be used"),
        ("\"open", "has no end"),
        ("agent:nobody", "`nobody` is no agent"),
        ("since:never", "never"),
        ("=>", "no letters and no digits"),
        ("", "nothing to look for"),
    ] {
        let answer = w.run(&["search", query]);
        assert_eq!(answer.code, 2, "{query}: {answer:?}");
        assert!(answer.err.contains(expected), "{query}: {}", answer.err);
    }
    let answer = w.run(&["search", "agnet:codex"]);
    assert!(answer.err.contains("`agent:`, `dir:`"), "{}", answer.err);
}

#[test]
fn long_and_hostile_queries_are_answered_or_refused() {
    let w = World::new();
    let long: String = (0..40_000).map(|_| "a".repeat(50) + "! ").collect();
    write_session(&w, 1, &[("user", &long), ("user", "needle")]);
    let words: Vec<String> = (0..1000).map(|n| format!("word{n}")).collect();
    let many = words.join(" OR ") + " OR needle";
    assert_eq!(places(&w, &[&many]).len(), 1);
    assert_eq!(w.run(&["search", &"x".repeat(10_000)]).code, 1);
    assert_eq!(w.run(&["search", "/(a+)+!/ -needle"]).code, 0);
    assert_eq!(w.run(&["search", "/(a|aa)+b/"]).code, 1);
    let answer = w.run(&["search", "/((a{999}){999}){999}/"]);
    assert_eq!(answer.code, 2, "{answer:?}");
}

#[test]
fn branches_sub_agents_and_what_was_compacted_are_named() {
    let w = with_claude(&["2.1/two-branches", "2.1/compaction", "2.0/agents"]);
    let parts = |query: &str| -> Vec<String> {
        let all = places(&w, &[&format!("{query} -role:system")]);
        let part = |p: &serde_json::Value| {
            format!(
                "{} {} {}",
                p["entry"].as_str().unwrap_or("-"),
                p["part"].as_str().unwrap(),
                p["is_agent_session"]
            )
        };
        let mut parts: Vec<String> = all.iter().map(part).collect();
        parts.sort();
        parts
    };
    let all = parts("/./");
    for part in [
        "active false",
        "left_branch false",
        "compacted false",
        "active true",
    ] {
        assert!(all.iter().any(|p| p.ends_with(part)), "{part}: {all:?}");
    }
}

#[test]
fn a_converted_copy_is_not_told_again() {
    let w = World::new();
    write_session(
        &w,
        1,
        &[("user", "a rare wombat"), ("assistant", "The wombat digs")],
    );
    w.ok(&["convert", "5e550001", "--to", "codex"]);
    w.ok(&["convert", "5e550001", "--to", "pi"]);
    assert_eq!(w.ok(&["list", "--json"]).lines().count(), 3);
    let all = places(&w, &["wombat"]);
    assert_eq!(all.len(), 2, "{all:?}");
    assert!(all.iter().all(|place| place["agent"] == "claude-code"));
}

#[test]
fn files_are_found_by_path_end_and_folder_and_read_is_told_from_written() {
    let w = World::new();
    let folder = w.home.join(".claude/projects/-home-me-own");
    fs::create_dir_all(&folder).unwrap();
    let call = |at: usize, tool: &str, path: &str| {
        let before = if at > 1 {
            format!("\"u{}\"", at - 1)
        } else {
            "null".to_owned()
        };
        format!(
            r#"{{"parentUuid":{before},"isSidechain":false,"cwd":"/home/me/own","sessionId":"f11e0000-0000-4000-8000-000000000000","version":"2.1.0","type":"assistant","uuid":"u{at}","timestamp":"2026-11-02T10:00:0{at}.000Z","message":{{"role":"assistant","id":"m{at}","type":"message","content":[{{"type":"tool_use","id":"t{at}","name":"{tool}","input":{{"file_path":"{path}"}}}}]}}}}"#
        ) + "\n"
    };
    let log =
        call(1, "Read", "/home/me/own/src/auth.rs") + &call(2, "Edit", "/home/me/own/src/auth.rs");
    fs::write(
        folder.join("f11e0000-0000-4000-8000-000000000000.jsonl"),
        log,
    )
    .unwrap();
    write_session(&w, 1, &[("user", "auth.rs is only talked about")]);
    for asked in [
        "file:src/auth.rs",
        "file:/home/me/own/src/auth.rs",
        "file:auth.rs",
        "file:src/",
        "file:own/src",
    ] {
        let all = places(&w, &[asked]);
        let uses: Vec<&str> = all
            .iter()
            .map(|p| p["files"][0]["use"].as_str().unwrap())
            .collect();
        assert_eq!(uses.len(), 2, "{asked}: {all:?}");
        assert!(
            uses.contains(&"read") && uses.contains(&"written"),
            "{asked}"
        );
    }
    assert!(places(&w, &["file:uth.rs"]).is_empty());
    assert_snapshot!(w.ok(&["search", "file:src/auth.rs"]), @"
    f11e0000  Claude Code  own  13 days ago  (no title)
      #1  Read  read     src/auth.rs
      #2  Edit  written  src/auth.rs
      rethread show f11e0000 --at '#1'

    1 conversation, 2 places
    ");
    let listed = w.ok(&["list", "file:src/auth.rs", "--json"]);
    assert_eq!(listed.lines().count(), 1, "{listed}");
    assert_eq!(w.ok(&["list", "title:talked", "--json"]).lines().count(), 1);
    assert_eq!(
        w.ok(&["list", "-n", "5", "--", "-title:talked"])
            .lines()
            .count(),
        1
    );
    assert_eq!(w.run(&["list", "role:user"]).code, 2);
}

#[test]
fn the_index_changes_no_answer_and_can_be_deleted_damaged_or_too_new() {
    let w = with_claude(&[
        "2.1/everything",
        "2.1/two-branches",
        "2.1/compaction",
        "2.0/agents",
    ]);
    write_session(&w, 1, &[("user", "the café"), ("assistant", "the end")]);
    let store = files_below(&w.home.join(".claude"));
    let answers = |w: &World, flag: &[&str]| -> Vec<String> {
        let queries = [
            "the",
            "caf*",
            "\"the end\"",
            "the -end",
            "file:src",
            "has:error",
            "tool:bash",
            "role:user the",
            "/th./",
        ];
        let ask = |query: &&str| {
            let mut args = flag.to_vec();
            args.extend(["search", "--json", query]);
            w.run(&args).out
        };
        queries.iter().map(ask).collect()
    };
    let scanned = answers(&w, &["--no-cache"]);
    assert!(
        scanned.iter().filter(|answer| !answer.is_empty()).count() >= 6,
        "{scanned:?}"
    );
    // What changed a moment ago is read again each time, and would never be asked of the index.
    std::thread::sleep(std::time::Duration::from_millis(2100));
    w.ok(&["list"]);
    let state = json(&w.ok(&["index", "--rebuild", "--json"]));
    assert_eq!(state["pending_sessions"], 0, "{state}");
    assert!(state["index"]["texts"].as_u64().unwrap() > 10, "{state}");
    assert_eq!(answers(&w, &[]), scanned);
    let folder = PathBuf::from(state["index"]["path"].as_str().unwrap());
    // A newer version of the program made it.
    let meta = fs::read_to_string(folder.join("meta.json")).unwrap();
    let mut newer = json(&meta);
    newer["payload"] = serde_json::json!("99 x");
    fs::write(folder.join("meta.json"), newer.to_string()).unwrap();
    let answer = w.run(&["search", "the", "--json"]);
    assert_eq!((answer.code, &answer.out), (0, &scanned[0]));
    assert!(
        answer.err.contains("a newer version of rethread made it"),
        "{}",
        answer.err
    );
    w.ok(&["index", "--update"]);
    assert_eq!(answers(&w, &[]), scanned);
    // Every file of it damaged.
    for path in files_below(&folder).into_keys() {
        fs::write(path, b"damaged").unwrap();
    }
    assert_eq!(answers(&w, &[]), scanned);
    w.ok(&["index", "--update"]);
    assert_eq!(answers(&w, &[]), scanned);
    // Only what words are kept in.
    for path in files_below(&folder)
        .into_keys()
        .filter(|p| p.extension().is_some_and(|e| e == "term"))
    {
        fs::write(path, b"").unwrap();
    }
    assert_eq!(answers(&w, &[]), scanned);
    assert_eq!(w.ok(&["index", "--clear"]).lines().count(), 2);
    assert!(!folder.exists());
    assert_eq!(answers(&w, &[]), scanned);
    assert!(
        store == files_below(&w.home.join(".claude")),
        "a store was touched"
    );
}

#[cfg(unix)]
#[test]
fn a_cache_that_cannot_be_written_is_done_without() {
    let w = World::new();
    write_session(&w, 1, &[("user", "alpha")]);
    let cache = w.home.join(".cache");
    fs::write(&cache, "in the way").unwrap();
    assert_eq!(places(&w, &["alpha"]).len(), 1);
    let answer = w.run(&["index"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(answer.out.contains("not kept"), "{}", answer.out);
    assert_eq!(w.run(&["index", "--update"]).code, 1);
}

#[test]
fn text_that_acts_on_terminals_is_shown_as_symbols() {
    let w = World::new();
    write_session(&w, 1, &[("user", "before \u{1b}[31mneedle\u{7}\u{202e}")]);
    let shown = w.ok(&["search", "/needle/"]);
    assert!(
        !shown.contains(['\u{1b}', '\u{7}', '\u{202e}']),
        "{shown:?}"
    );
    assert_eq!(snippets(&w, &["/needle/"]).len(), 1);
}
