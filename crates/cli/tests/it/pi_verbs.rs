//! The verbs on sessions of pi and Atomic: what they write, and what they show.

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use serde_json::{Value, json as value};

use crate::world::{World, copy, json};

fn fixture(case: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut files = fs::read_dir(folder.join(case)).unwrap();
    files.next().unwrap().unwrap().path()
}

/// A session with one answered question; its path.
fn answered(w: &World, format: &str) -> String {
    let made = json(&w.ok(&["new", "--format", format, "--title", "Prices", "--json"]));
    let path = made["path"].as_str().unwrap().to_owned();
    w.ok(&["append", &path, "Round the prices."]);
    w.ok(&[
        "append", &path, "--role", "agent", "--model", "acme/m-1", "Done.",
    ]);
    path
}

fn entries(path: &str) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'), "{text}");
    text.lines().map(json).collect()
}

fn types(path: &str) -> Vec<String> {
    let word = |e: &Value| e["type"].as_str().unwrap().to_owned();
    entries(path).iter().map(word).collect()
}

/// The entries as a list of parents, by their places: 1 is the first behind the header.
fn parents(path: &str) -> Vec<Option<usize>> {
    let all = entries(path);
    let place = |id: &Value| all.iter().position(|e| e["id"] == *id && !id.is_null());
    all.iter().skip(1).map(|e| place(&e["parentId"])).collect()
}

#[test]
fn new_and_append_write_what_the_programs_write() {
    let w = World::new();
    let path = answered(&w, "pi");
    let text = fs::read_to_string(&path).unwrap();
    assert_snapshot!(w.plain(&path), @"[ROOT]/home/.pi/agent/sessions/--[ROOT]-shop--/2026-11-15T12-00-00-000Z_01a1df14-1e00-7948-8523-d812268295b1.jsonl");
    assert_snapshot!(w.plain(&text), @r#"
    {"type":"session","version":3,"id":"01a1df14-1e00-7948-8523-d812268295b1","timestamp":"2026-11-15T12:00:00.000Z","cwd":"[ROOT]/shop"}
    {"type":"session_info","id":"09f1545c","parentId":null,"timestamp":"2026-11-15T12:00:00.000Z","name":"Prices"}
    {"type":"message","id":"ae3cd13e","parentId":"09f1545c","timestamp":"2026-11-15T12:00:00.000Z","message":{"role":"user","content":"Round the prices.","timestamp":1794744000000}}
    {"type":"message","id":"c1a1393c","parentId":"ae3cd13e","timestamp":"2026-11-15T12:00:00.000Z","message":{"role":"assistant","content":[{"type":"text","text":"Done."}],"api":"unknown","provider":"acme","model":"m-1","usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop","timestamp":1794744000000}}
    "#);
    let atomic = answered(&w, "atomic");
    assert!(atomic.contains("/.atomic/agent/sessions/"), "{atomic}");
    assert_eq!(w.ok(&["list", "--tsv"]).lines().count(), 2);
    assert_snapshot!(w.plain(&w.ok(&["check", &path, &atomic])), @"");
}

#[test]
fn a_header_is_written_at_once_under_the_id_that_was_asked_for() {
    let w = World::new();
    let out = w.root.join("other");
    let args = [
        "new",
        "--format",
        "pi",
        "--id",
        "mine.1",
        "-o",
        out.to_str().unwrap(),
    ];
    let (id, path) = w
        .ok(&args)
        .trim()
        .split_once('\t')
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .unwrap();
    assert_eq!(id, "mine.1");
    assert!(
        path.starts_with(out.join("sessions").to_str().unwrap()),
        "{path}"
    );
    assert_eq!(types(&path), ["session"]);
    let again = w.run(&args);
    assert_eq!(again.code, 1, "{again:?}");
    assert!(again.err.contains("exists already"), "{}", again.err);
    let bad = w.run(&["new", "--format", "pi", "--id", "../x"]);
    assert_eq!(bad.code, 2, "{bad:?}");
    assert!(bad.err.contains("Session id must be"), "{}", bad.err);
    let agent = w.run(&["new", "--format", "pi", "--agent-id", "x"]);
    assert_eq!(agent.code, 2, "{agent:?}");
    assert_eq!(agent.err, "error: pi sessions have no agent ids\n");
}

#[test]
fn whole_messages_in_the_formats_own_and_in_the_unified_words() {
    let w = World::new();
    let path = answered(&w, "pi");
    let native = [
        value!({"role": "user", "content": "own words", "timestamp": 1, "mood": "x"}),
        value!({"type": "custom", "customType": "todo", "data": {"open": 3}}),
        value!({"type": "custom_message", "customType": "weather", "content": "It rains.", "display": false}),
        value!({"type": "model_change", "provider": "acme", "modelId": "m-2"}),
        value!({"type": "thinking_level_change", "thinkingLevel": "high"}),
        value!({"type": "mystery", "payload": [1, 2]}),
    ];
    let unified = [
        value!({"role": "assistant", "timestamp": "2026-11-15T12:00:01Z", "content": [
            {"type": "text", "text": "Looking."},
            {"type": "tool_use", "tool_id": "c1", "tool_name": "bash", "input": {"command": "ls"}}],
            "metadata": {"model": {"name": "m-2"}, "token_usage": {"input_tokens": 5, "output_tokens": 7}}}),
        value!({"role": "user", "content": [
            {"type": "tool_result", "tool_id": "c1", "output": "a.txt", "is_error": false}]}),
    ];
    let lines: Vec<String> = native
        .iter()
        .chain(&unified)
        .map(Value::to_string)
        .collect();
    let answer = w.pipe(&["append", &path, "--message-json", "-"], lines.join("\n"));
    assert_eq!(
        (answer.code, answer.out.lines().count()),
        (0, 8),
        "{answer:?}"
    );
    let text = fs::read_to_string(&path).unwrap();
    let added: Vec<&str> = text.lines().skip(4).collect();
    assert_snapshot!(added.join("\n"), @r#"
    {"type":"message","id":"5e0375ee","parentId":"c1a1393c","timestamp":"2026-11-15T12:00:00.000Z","message":{"role":"user","content":"own words","timestamp":1,"mood":"x"}}
    {"type":"custom","customType":"todo","data":{"open":3},"id":"87801197","parentId":"5e0375ee","timestamp":"2026-11-15T12:00:00.000Z"}
    {"type":"custom_message","customType":"weather","content":"It rains.","display":false,"id":"1107b101","parentId":"87801197","timestamp":"2026-11-15T12:00:00.000Z"}
    {"type":"model_change","id":"92872494","parentId":"1107b101","timestamp":"2026-11-15T12:00:00.000Z","provider":"acme","modelId":"m-2"}
    {"type":"thinking_level_change","id":"7692a0c2","parentId":"92872494","timestamp":"2026-11-15T12:00:00.000Z","thinkingLevel":"high"}
    {"type":"mystery","id":"e409042c","parentId":"7692a0c2","timestamp":"2026-11-15T12:00:00.000Z","payload":[1,2]}
    {"type":"message","id":"61ec919f","parentId":"e409042c","timestamp":"2026-11-15T12:00:01.000Z","message":{"role":"assistant","content":[{"type":"text","text":"Looking."},{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"ls"}}],"api":"unknown","provider":"acme","model":"m-2","usage":{"input":5,"output":7,"cacheRead":0,"cacheWrite":0,"totalTokens":12,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"toolUse","timestamp":1794744001000}}
    {"type":"message","id":"672b1e89","parentId":"61ec919f","timestamp":"2026-11-15T12:00:00.000Z","message":{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"a.txt"}],"isError":false,"timestamp":1794744000000}}
    "#);
    assert_eq!(w.run(&["check", &path]).out.matches("error").count(), 0);
}

#[test]
fn an_extension_s_message_is_in_the_tree_with_all_that_it_says() {
    let w = World::new();
    let path = answered(&w, "pi");
    let message = value!({"type": "custom_message", "customType": "weather", "content": "It rains.",
        "display": true, "details": {"mm": 3.10, "where": ["here"]}});
    w.pipe(
        &["append", &path, "--message-json", "-"],
        message.to_string(),
    );
    let tree = w.ok(&["tree", &path, "--json"]);
    let last = json(tree.lines().last().unwrap());
    assert_eq!(last["extension"], "weather");
    assert_eq!(last["details"], value!({"mm": 3.1, "where": ["here"]}));
    assert_eq!(last["text"], "user: It rains.");
}

#[test]
fn a_short_id_is_found_where_it_is_the_whole_id() {
    let w = World::new();
    w.ok(&["new", "--format", "pi", "--id", "big"]);
    w.ok(&["append", "big", "--role", "user", "Hello."]);
    w.ok(&["append", "big", "--role", "agent", "Hello, too."]);
    assert!(w.ok(&["show", "pi:big"]).contains("Hello, too."));
    let beginning = w.run(&["show", "bi"]);
    assert_eq!(beginning.code, 1, "{beginning:?}");
    assert!(beginning.err.contains("too short"), "{}", beginning.err);
}

#[test]
fn bad_messages_are_refused_one_by_one() {
    let w = World::new();
    let path = answered(&w, "pi");
    let before = fs::read_to_string(&path).unwrap();
    let lines = [
        r#"{"role":"assistant","api":"x","content":[]}"#,
        r#"{"role":"user","content":"fine"}"#,
        "[1]",
        r#"{"type":"session","id":"x"}"#,
        r#"{"type":"label","targetId":"nowhere","label":"x"}"#,
        r#"{"type":"message"}"#,
        r#"{"role":"compactionSummary","summary":"x"}"#,
    ]
    .join("\n");
    let strict = w.pipe(
        &["append", &path, "--message-json", "-", "--strict"],
        &lines,
    );
    assert_eq!(strict.code, 1, "{strict:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
    let answer = w.pipe(&["append", &path, "--message-json", "-"], &lines);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert_snapshot!(w.plain(&answer.err), @"
    error: message 1: `provider` is missing in a message of role `assistant`
    error: message 3: not a JSON object
    error: message 4: an entry cannot be another header
    error: the entry `nowhere` is not in `[ROOT]/home/.pi/agent/sessions/--[ROOT]-shop--/2026-11-15T12-00-00-000Z_01a1df14-1e00-7948-8523-d812268295b1.jsonl`
    error: message 6: `message` is missing
    error: message 7: `role` is `compactionSummary`, not `user`, `assistant` or `system`
    ");
    assert_eq!(entries(&path).len(), before.lines().count() + 1);
}

#[test]
fn pictures_and_system_messages() {
    let w = World::new();
    let path = answered(&w, "pi");
    let picture = w.project.join("p.png");
    fs::write(&picture, b"\x89PNG\r\n\x1a\nrest").unwrap();
    w.ok(&[
        "append",
        &path,
        "What is this?",
        "--image",
        picture.to_str().unwrap(),
    ]);
    w.ok(&["append", &path, "--role", "system", "Be brief."]);
    let all = entries(&path);
    assert_eq!(
        all[4]["message"]["content"][1],
        value!({"type": "image", "data": "iVBORw0KGgpyZXN0", "mimeType": "image/png"})
    );
    assert_eq!(
        (&all[5]["type"], &all[5]["customType"]),
        (&value!("custom_message"), &value!("system"))
    );
}

#[test]
fn append_at_an_entry_and_branch_with_a_summary() {
    let w = World::new();
    let path = answered(&w, "pi");
    let question = entries(&path)[2]["id"].as_str().unwrap().to_owned();
    let first = w.ok(&["append", &path, "--at", &question, "In cents, please."]);
    w.pipe(
        &["append", &path, "--at", "#3", "--message-json", "-"],
        "{\"role\":\"user\",\"content\":\"one\"}\n{\"role\":\"user\",\"content\":\"two\"}\n",
    );
    let ids = w.ok(&[
        "branch",
        &path,
        &question,
        "--summary",
        "Cents were wrong.",
        "Euros, please.",
    ]);
    assert_eq!(ids.lines().count(), 2, "{ids}");
    // title, question, answer; cents; one, two; summary, euros
    assert_eq!(
        parents(&path),
        [
            None,
            Some(1),
            Some(2),
            Some(2),
            Some(3),
            Some(5),
            Some(2),
            Some(7)
        ]
    );
    let all = entries(&path);
    let summary = &all[7];
    assert_eq!(
        (&summary["type"], &summary["fromId"]),
        (&value!("branch_summary"), &all[6]["id"])
    );
    let bare = w.run(&["branch", &path, &question]);
    assert_eq!(bare.code, 2, "{bare:?}");
    assert_snapshot!(bare.err, @"
    error: a bare move to another entry cannot be kept
    hint: give `--summary TEXT`, or a message
    ");
    assert_snapshot!(w.plain(&w.ok(&["tree", &path])), @"
    ● 09f1545c  title: Prices
    ● ae3cd13e  user: Round the prices.
    ├─ ○ c1a1393c  assistant: Done.
    │  ○ 87801197  user: one
    │  ○ 1107b101  user: two
    ├─ ○ 5e0375ee  user: In cents, please.
    ● 92872494  back from another branch: Cents were wrong.
    ● 7692a0c2  user: Euros, please.  ◀ leaf
    ");
    assert_snapshot!(w.plain(&w.ok(&["show", &path, "--branch", first.trim()])), @"
    Prices
    agent      pi
    model      acme/m-1
    workspace  [ROOT]/shop
    started    15 Nov 2026 12:00
    ended      15 Nov 2026 12:00
    messages   6 (2 shown)
    session    01a1df14-1e00-7948-8523-d812268295b1
    file       [ROOT]/home/.pi/agent/sessions/--[ROOT]-shop--/2026-11-15T12-00-00-000Z_01a1df14-1e00-7948-8523-d812268295b1.jsonl

    · title: Prices

    ── user · 15 Nov 12:00 ─────────────────────────────────────────────────────────
    Round the prices.

    ── user · 15 Nov 12:00 ─────────────────────────────────────────────────────────
    In cents, please.
    ");
    let everything = w.ok(&["show", &path, "--all-branches"]);
    for text in ["Done.", "In cents", "two", "Cents were wrong.", "Euros"] {
        assert!(everything.contains(text), "{text}: {everything}");
    }
    assert_snapshot!(w.plain(&w.ok(&["context", &path, "--json"])), @r#"{"messages":[{"index":1,"uuid":"ae3cd13e","parent_uuid":null,"role":"user","timestamp":"2026-11-15T12:00:00.000Z","content":[{"type":"text","text":"Round the prices."}],"metadata":{"cwd":"[ROOT]/shop"}},{"index":2,"uuid":"92872494","parent_uuid":"ae3cd13e","role":"user","timestamp":"2026-11-15T12:00:00.000Z","content":[{"type":"text","text":"Cents were wrong."}],"metadata":{"cwd":"[ROOT]/shop","is_meta":true,"extensions":{"visibility":"injected","extension":"branch_summary"}}},{"index":3,"uuid":"7692a0c2","parent_uuid":"92872494","role":"user","timestamp":"2026-11-15T12:00:00.000Z","content":[{"type":"text","text":"Euros, please."}],"metadata":{"cwd":"[ROOT]/shop"}}],"model":"acme/m-1","thinking_level":null}"#);
    let missing = w.run(&["append", &path, "--at", "nowhere", "x"]);
    assert_eq!(missing.code, 1, "{missing:?}");
}

#[test]
fn labels_names_and_tree() {
    let w = World::new();
    let path = answered(&w, "atomic");
    w.ok(&["label", &path, "#2", "the question"]);
    assert!(w.ok(&["tree", &path]).contains("[the question]"));
    w.ok(&["label", &path, "#2"]);
    assert!(!w.ok(&["tree", &path]).contains("[the question]"));
    w.ok(&["rename", &path, "All\nprices"]);
    assert!(w.ok(&["list", "--tsv"]).contains("All prices"));
    assert_eq!(types(&path)[4..], ["label", "label", "session_info"]);
}

#[test]
fn forks_of_all_and_of_a_part() {
    let w = World::new();
    let path = answered(&w, "pi");
    let seeded = |seed: &str, args: &[&str]| {
        let output = w.command(args).env("RETHREAD_SEED", seed).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        json(&String::from_utf8(output.stdout).unwrap())["path"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let all = seeded("2", &["fork", &path, "--title", "A copy", "--json"]);
    assert_eq!(
        types(&all),
        [
            "session",
            "session_info",
            "message",
            "message",
            "session_info"
        ]
    );
    assert_eq!(entries(&all)[0]["parentSession"], value!(path));
    assert_eq!(entries(&all)[1..4], entries(&path)[1..4]);
    let other = w.root.join("other");
    fs::create_dir(&other).unwrap();
    let part = seeded(
        "3",
        &["fork", &path, "--at", "#2", "--cwd", "../other", "--json"],
    );
    assert_eq!(types(&part), ["session", "session_info", "message"]);
    assert_eq!(entries(&part)[0]["cwd"], value!(other.to_str().unwrap()));
    assert!(part.contains("-other--/"), "{part}");
    assert_eq!(w.ok(&["list", "--tsv"]).lines().count(), 3);
    assert_eq!(w.run(&["check", &all, &part]).code, 0);
}

#[test]
fn what_is_damaged_is_named_by_a_fork_and_by_the_native_context() {
    let w = World::new();
    let path = answered(&w, "pi");
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, whole.replacen('\n', "\n[1]\ngarbage\n", 1)).unwrap();
    let count = || w.run(&["list", "--tsv"]).out.lines().count();
    let strict = w.run(&["fork", &path, "--strict"]);
    assert_eq!((strict.code, count()), (1, 1), "{strict:?}");
    assert_snapshot!(w.plain(&strict.err), @"
    error: `[ROOT]/home/.pi/agent/sessions/--[ROOT]-shop--/2026-11-15T12-00-00-000Z_01a1df14-1e00-7948-8523-d812268295b1.jsonl` is damaged: not a JSON object
    hint: `show --to raw` gives the bytes
    ");
    let command = w
        .command(&["fork", &path])
        .env("RETHREAD_SEED", "2")
        .output();
    let forked = command.unwrap();
    assert_eq!((forked.status.code(), count()), (Some(3), 2), "{forked:?}");
    assert_snapshot!(w.plain(&String::from_utf8(forked.stderr).unwrap()), @"
    warning: [ROOT]/home/.pi/agent/sessions/--[ROOT]-shop--/2026-11-15T12-00-00-000Z_01a1df14-1e00-7948-8523-d812268295b1.jsonl:2: not a JSON object; skipped
    warning: [ROOT]/home/.pi/agent/sessions/--[ROOT]-shop--/2026-11-15T12-00-00-000Z_01a1df14-1e00-7948-8523-d812268295b1.jsonl:3: not JSON: expected a value, at column 1; skipped
    ");
    let context = w.run(&["context", &path, "--native", "--json"]);
    assert_eq!(context.code, 3, "{context:?}");
    assert_eq!(context.err.lines().count(), 2, "{}", context.err);
    assert_eq!(json(&context.out)["messages"].as_array().unwrap().len(), 2);
}

#[test]
fn old_versions_are_migrated_when_asked_and_when_something_is_added() {
    let w = World::new();
    for verb in ["migrate", "append"] {
        let folder = w.root.join(verb);
        copy(fixture("pi/1/linear").parent().unwrap(), &folder);
        let name = fixture("pi/1/linear").file_name().unwrap().to_owned();
        let path = folder.join(name).to_str().unwrap().to_owned();
        let before = fs::read(&path).unwrap();
        // Ids that were shown before are those that are written.
        let shown = w.ok(&["tree", &path, "--json"]);
        if verb == "migrate" {
            assert_snapshot!(w.plain(&w.ok(&["migrate", &path])), @"[ROOT]/migrate/2025-11-20T10-00-00-000Z_5b0c6a1e-3a52-4b8f-9d11-0c7e2f9a4d01.jsonl: version 1 to 3; the old file is [ROOT]/migrate/2025-11-20T10-00-00-000Z_5b0c6a1e-3a52-4b8f-9d11-0c7e2f9a4d01.jsonl.bak");
        } else {
            w.ok(&["append", &path, "--at", "#2", "again"]);
        }
        assert_eq!(fs::read(format!("{path}.bak")).unwrap(), before);
        assert_eq!(entries(&path)[0]["version"], value!(3));
        let ids: Vec<Value> = shown.lines().map(|l| json(l)["id"].clone()).collect();
        let written: Vec<Value> = entries(&path)
            .iter()
            .skip(1)
            .map(|e| e["id"].clone())
            .collect();
        assert_eq!(written[..ids.len()], ids, "{verb}");
        if verb == "migrate" {
            assert_snapshot!(w.plain(&w.ok(&["migrate", &path, "--json"])), @r#"{"id":"5b0c6a1e-3a52-4b8f-9d11-0c7e2f9a4d01","path":"[ROOT]/migrate/2025-11-20T10-00-00-000Z_5b0c6a1e-3a52-4b8f-9d11-0c7e2f9a4d01.jsonl","from":"3","to":"3","backup":null}"#);
        }
    }
}

#[test]
fn versions_of_tomorrow_are_read_and_never_written() {
    let w = World::new();
    let folder = w.root.join("later");
    copy(fixture("pi/4/later").parent().unwrap(), &folder);
    let path = folder.join(fixture("pi/4/later").file_name().unwrap());
    let before = fs::read(&path).unwrap();
    for args in [
        &["append", "PATH", "x"][..],
        &["rename", "PATH", "x"],
        &["label", "PATH", "#1", "x"],
    ] {
        let args: Vec<&str> = args
            .iter()
            .map(|a| {
                if *a == "PATH" {
                    path.to_str().unwrap()
                } else {
                    a
                }
            })
            .collect();
        let answer = w.run(&args);
        assert_eq!(answer.code, 1, "{answer:?}");
        assert!(answer.err.contains("version 4"), "{}", answer.err);
    }
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn rm_asks_first_and_deletes_with_force() {
    let w = World::new();
    let path = answered(&w, "pi");
    let ask = w.run(&["rm", &path]);
    assert_eq!(ask.code, 2, "{ask:?}");
    w.ok(&["rm", &path, "--force"]);
    assert!(!Path::new(&path).exists());
    assert_eq!(w.run(&["list", "--tsv"]).out, "");
}

#[cfg(unix)]
#[test]
fn rm_asks_the_trash_program_first() {
    use std::os::unix::fs::PermissionsExt;
    let w = World::new();
    let path = answered(&w, "pi");
    let bin = w.root.join("bin");
    fs::create_dir(&bin).unwrap();
    let program = bin.join("trash");
    fs::write(&program, "#!/bin/sh\nmv \"$1\" \"$HOME/trashed\"\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let search = format!("{}:/usr/bin:/bin", bin.display());
    let mut command = w.command(&["rm", &path, "--yes"]);
    let output = command.env("PATH", search).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(w.home.join("trashed").is_file() && !Path::new(&path).exists());
}

#[test]
fn context_applies_compactions_edits_and_summaries() {
    let w = World::new();
    let path = answered(&w, "pi");
    let kept = entries(&path)[3]["id"].as_str().unwrap().to_owned();
    let compaction = value!({"type": "compaction", "summary": "Prices were rounded.", "firstKeptEntryId": kept, "tokensBefore": 900,
        "details": {"readFiles": ["a"]}, "fromHook": true});
    let edit = value!({"type": "context_edit", "targetId": kept, "replacement": {"content": "Done, in short."}});
    let lines = format!("{compaction}\n{edit}\n");
    assert_eq!(
        w.pipe(&["append", &path, "--message-json", "-"], lines)
            .code,
        0
    );
    w.ok(&["append", &path, "And now?"]);
    assert_snapshot!(w.plain(&w.ok(&["context", &path])), @"
    Prices
    agent      pi
    model      acme/m-1
    workspace  [ROOT]/shop
    started    15 Nov 2026 12:00
    ended      15 Nov 2026 12:00
    messages   3
    session    01a1df14-1e00-7948-8523-d812268295b1
    file       [ROOT]/home/.pi/agent/sessions/--[ROOT]-shop--/2026-11-15T12-00-00-000Z_01a1df14-1e00-7948-8523-d812268295b1.jsonl

    ── user (injected) · compaction_summary · 15 Nov 12:00 ─────────────────────────
    Prices were rounded.

    ── assistant · 15 Nov 12:00 ────────────────────────────────────────────────────
    Done, in short.

    ── user · 15 Nov 12:00 ─────────────────────────────────────────────────────────
    And now?
    ");
    assert_snapshot!(w.plain(&w.ok(&["context", &path, "--json"])), @r#"{"messages":[{"index":1,"uuid":"5e0375ee","parent_uuid":null,"role":"user","timestamp":"2026-11-15T12:00:00.000Z","content":[{"type":"text","text":"Prices were rounded."}],"metadata":{"cwd":"[ROOT]/shop","is_meta":true,"extensions":{"visibility":"injected","extension":"compaction_summary"}}},{"index":2,"uuid":"c1a1393c","parent_uuid":"5e0375ee","role":"assistant","timestamp":"2026-11-15T12:00:00.000Z","content":[{"type":"text","text":"Done, in short."}],"metadata":{"cwd":"[ROOT]/shop","model":{"name":"m-1","stop_reason":"stop","stop_sequence":null},"token_usage":{"input_tokens":0,"output_tokens":0,"cache_creation_tokens":0,"cache_read_tokens":0},"extensions":{"provider":"acme","usage":{"recorded_total":0,"cost_usd":0},"details":{"api":"unknown"}}}},{"index":3,"uuid":"1107b101","parent_uuid":"c1a1393c","role":"user","timestamp":"2026-11-15T12:00:00.000Z","content":[{"type":"text","text":"And now?"}],"metadata":{"cwd":"[ROOT]/shop"}}],"model":"acme/m-1","thinking_level":null}"#);
    assert_snapshot!(w.plain(&w.ok(&["context", &path, "--native", "--json"])), @r#"{"messages":[{"role":"compactionSummary","summary":"Prices were rounded.","tokensBefore":900,"timestamp":1794744000000},{"role":"assistant","content":[{"type":"text","text":"Done, in short."}],"api":"unknown","provider":"acme","model":"m-1","usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop","timestamp":1794744000000},{"role":"user","content":"And now?","timestamp":1794744000000}],"model":{"provider":"acme","modelId":"m-1"},"thinking_level":"off"}"#);
    assert_snapshot!(w.plain(&w.ok(&["context", &path, "--native", "--at", &kept])), @r#"
    {"role":"user","content":"Round the prices.","timestamp":1794744000000}
    {"role":"assistant","content":[{"type":"text","text":"Done."}],"api":"unknown","provider":"acme","model":"m-1","usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop","timestamp":1794744000000}
    "#);
    let tree = w.ok(&["tree", &path, "--json"]);
    let compaction = tree
        .lines()
        .map(json)
        .find(|e| e["type"] == "compaction")
        .unwrap();
    assert_eq!(
        (&compaction["from_hook"], &compaction["details"]),
        (&value!(true), &value!({"readFiles": ["a"]}))
    );
}

#[test]
fn show_hides_what_extensions_hide_and_marks_what_they_show() {
    let w = World::new();
    let path = answered(&w, "pi");
    let message = |text: &str, display: bool| value!({"type": "custom_message", "customType": "weather", "content": text, "display": display});
    let lines = format!(
        "{}\n{}\n",
        message("It rains.", true),
        message("Secret forecast.", false)
    );
    assert_eq!(
        w.pipe(&["append", &path, "--message-json", "-"], lines)
            .code,
        0
    );
    let shown = w.ok(&["show", &path]);
    assert!(shown.contains("user · weather"), "{shown}");
    assert!(!shown.contains("Secret"), "{shown}");
    let markdown = w.ok(&["show", &path, "--to", "markdown"]);
    assert!(
        markdown.contains("It rains.") && !markdown.contains("Secret"),
        "{markdown}"
    );
    // The model sees both, and scripts see everything.
    assert!(w.ok(&["context", &path]).contains("Secret forecast."));
    assert!(
        w.ok(&["show", &path, "--json"])
            .contains("Secret forecast.")
    );
}

#[test]
fn internal_sessions_are_listed_only_when_asked_for() {
    let w = World::new();
    for case in ["workflow", "half-workflow"] {
        let from = fixture(&format!("atomic/3/{case}"));
        copy(
            from.parent().unwrap(),
            &w.home.join(".atomic/agent/sessions/--home-me-shop--"),
        );
    }
    assert_eq!(w.ok(&["list", "--tsv"]).lines().count(), 1);
    assert_eq!(w.ok(&["list", "--tsv", "--hidden"]).lines().count(), 2);
}

#[test]
fn check_names_line_rule_and_section() {
    let w = World::new();
    let path = w.root.join("2026-11-15T12-00-00-000Z_s1.jsonl");
    let lines = [
        r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-11-15T12:00:00.000Z","cwd":"/p"}"#,
        r#"{"type":"message","id":"a","parentId":"z","timestamp":"2026-11-15T12:00:00.000Z","message":{"role":"user","content":"x","timestamp":1}}"#,
        r#"{"type":"message","id":"a","parentId":null,"timestamp":"yesterday","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"n"}],"timestamp":1}}"#,
        "",
        "not json",
        r#"{"type":"label","id":"b","parentId":"d","timestamp":"2026-11-15T12:00:00.000Z","targetId":"nobody"}"#,
        r#"{"type":"mystery","id":"c","parentId":"b","timestamp":"2026-11-15T12:00:00.000Z"}"#,
        r#"{"type":"session_info","id":"d","parentId":"c","timestamp":"2026-11-15T12:00:00.000Z","name":5}"#,
        r#"{"type":"message","id":"e","parentId":"gone","timestamp":"2026-11-15T12:00:00.000Z","message":{"role":"hookMessage","customType":"t","content":"x","display":true}}"#,
        r#"{"type":"torn"#,
    ];
    fs::write(&path, lines.join("\n")).unwrap();
    let answer = w.run(&["check", path.to_str().unwrap()]);
    assert_eq!(answer.code, 1, "{answer:?}");
    assert_snapshot!(w.plain(&answer.out), @"
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:2: error[first-entry]: the first entry has a parent; its `parentId` must be null (Tree Structure)
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:3: error[timestamp]: `timestamp` is `yesterday`, not an ISO 8601 date and time (Entry Base)
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:3: error[duplicate-id]: the id `a` is that of line 2 too (Entry Types)
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:3: error[required-field]: `message.api` is missing (Base Message Types (from @earendil-works/pi-ai))
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:3: error[required-field]: `message.provider` is missing (Base Message Types (from @earendil-works/pi-ai))
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:3: error[required-field]: `message.model` is missing (Base Message Types (from @earendil-works/pi-ai))
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:3: error[required-field]: `message.usage` is missing (Base Message Types (from @earendil-works/pi-ai))
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:3: error[required-field]: `message.stopReason` is missing (Base Message Types (from @earendil-works/pi-ai))
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:3: error[required-field]: `message.content[0].arguments` is missing (Content Blocks)
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:4: warning[blank-line]: a blank line (Session File Format)
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:5: error[json]: not JSON: expected `true`, `false` or `null`, at column 2 (Session File Format)
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:6: warning[parent-later]: the parent stands below it, in line 8 (Tree Structure)
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:6: error[circle]: the way to the root goes in a circle (Tree Structure)
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:6: warning[unknown-entry]: `targetId` names `nobody`, which is nowhere (Tree Structure)
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:7: warning[unknown-type]: `mystery` is no type of the document (Entry Types)
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:8: error[field-type]: `name` is a number, not a string (SessionInfoEntry)
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:9: error[role]: `hookMessage` is called `custom` since version 3 (Session Version)
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:9: error[orphan]: the parent `gone` is nowhere (Tree Structure)
    [ROOT]/2026-11-15T12-00-00-000Z_s1.jsonl:10: error[torn-line]: not JSON: unexpected end, at column 14 (Session File Format)
    ");
}
