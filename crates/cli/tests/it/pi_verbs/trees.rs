//! Branches, labels, forks, versions and the end of sessions of pi and Atomic.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::{Value, json as value};

use super::{answered, entries, fixture, parents, types};
use crate::world::{World, copy, json};

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
    assert_snapshot!(w.plain(&w.ok(&["tree", &path])), @r"
    Prices
    pi · shop · today 12:00 · 6 messages · 01a1df14-1e00-7948-8523-d812268295b1

    ● #2  You  Round the prices.
    ├─ ○ #3  pi  Done.
    │  ○ #5  You  one
    │  ○ #6  You  two
    ├─ ○ #4  You  In cents, please.
    ● #7  Summary  back from another branch: Cents were wrong.
    ● #8  You  Euros, please.  ◀ leaf
    ");
    assert_snapshot!(w.plain(&w.ok(&["show", &path, "--branch", first.trim()])), @r"
    Prices
    pi · shop · today 12:00 · 2 of 6 messages · 01a1df14-1e00-7948-8523-d812268295b1

        · 1 event     (--events)

    #2  You  12:00
        Round the prices.

    #4  You  12:00
        In cents, please.
    ");
    let everything = w.ok(&["show", &path, "--all-branches"]);
    for text in ["Done.", "In cents", "two", "Cents were wrong.", "Euros"] {
        assert!(everything.contains(text), "{text}: {everything}");
    }
    assert_snapshot!(w.plain(&w.ok(&["context", &path, "--json"])), @r#"{"messages":[{"index":1,"uuid":"ae3cd13e","parent_uuid":null,"id":"ae3cd13e","parent_id":null,"role":"user","timestamp":"2026-11-15T12:00:00.000Z","content":[{"type":"text","text":"Round the prices."}],"metadata":{"cwd":"[ROOT]/shop"}},{"index":2,"uuid":"92872494","parent_uuid":"ae3cd13e","id":"92872494","parent_id":"ae3cd13e","role":"user","timestamp":"2026-11-15T12:00:00.000Z","content":[{"type":"text","text":"Cents were wrong."}],"metadata":{"cwd":"[ROOT]/shop","is_meta":true,"extensions":{"visibility":"injected","extension":"branch_summary"}}},{"index":3,"uuid":"7692a0c2","parent_uuid":"92872494","id":"7692a0c2","parent_id":"92872494","role":"user","timestamp":"2026-11-15T12:00:00.000Z","content":[{"type":"text","text":"Euros, please."}],"metadata":{"cwd":"[ROOT]/shop"}}],"model":"acme/m-1","thinking_level":null}"#);
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
