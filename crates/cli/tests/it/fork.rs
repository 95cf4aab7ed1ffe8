//! `fork`: a new thread with what was said up to some message.

use std::fs;

use crate::world::{World, json};

#[test]
fn a_fork_has_the_past_the_parent_and_the_assets_it_needs() {
    let w = World::with_git();
    let id = w.thread("T");
    w.message(&id, r#"{"id":"a","role":"user","timestamp":"2026-01-01T00:00:00.000Z","content":[{"type":"image","data":"QQ==","mimeType":"image/png"}]}"#);
    w.message(&id, r#"{"id":"b","role":"agent","timestamp":"2026-01-02T00:00:00.000Z","content":[],"toolCalls":[{"toolCallId":"t","name":"n","status":"completed"}]}"#);
    w.message(&id, r#"{"id":"c","role":"user","timestamp":"2026-01-03T00:00:00.000Z","content":[{"type":"image","data":"Qg==","mimeType":"image/png"}]}"#);
    let before = crate::world::tree(&w.folder(&id));
    let fork = json(&w.ok(&["fork", &id, "--at", "b", "--json"]));
    let new = fork["id"].as_str().unwrap();
    assert_ne!(new, id);
    assert_eq!(
        crate::world::tree(&w.folder(&id)),
        before,
        "the original is untouched"
    );
    let expected: String = w
        .log(&id)
        .lines()
        .take(2)
        .map(|l| format!("{l}\n"))
        .collect();
    assert_eq!(w.log(new), expected);
    let manifest = w.manifest(new);
    assert_eq!(manifest["threadId"], new);
    assert_eq!(manifest["parentThreadId"], id.as_str());
    assert_eq!(manifest["title"], "T");
    assert_eq!(manifest["createdAt"], crate::world::NOW);
    assert_eq!(manifest["updatedAt"], "2026-01-02T00:00:00.000Z");
    assert_eq!(manifest["stats"]["messageCount"], 2);
    assert_eq!(manifest["stats"]["toolCallCount"], 1);
    let keys: Vec<_> = manifest.as_object().unwrap().keys().cloned().collect();
    assert_eq!(
        keys,
        [
            "specVersion",
            "threadId",
            "title",
            "createdAt",
            "updatedAt",
            "agent",
            "context",
            "stats",
            "parentThreadId",
            "metadata"
        ]
    );
    assert_eq!(
        fs::read_dir(w.folder(new).join("assets")).unwrap().count(),
        1
    );
    let answer = w.run(&["show", new]);
    assert_eq!(answer.code, 0, "{answer:?}");
    // The fork can be continued without counting it anew, and shows its parent to scripts.
    w.ok(&["append", new, "on we go"]);
    assert_eq!(w.manifest(new)["stats"]["messageCount"], 3);
}

#[test]
fn into_another_project_with_another_title() {
    let w = World::new();
    let id = w.thread("T");
    w.ok(&["append", &id, "x"]);
    let other = w.root.join("other");
    fs::create_dir(&other).unwrap();
    let fork = json(&w.ok(&["fork", &id, "--cwd", "../other", "--title", "U", "--json"]));
    let path = other
        .join(".agent/threads")
        .join(fork["id"].as_str().unwrap());
    assert_eq!(fork["path"], path.to_str().unwrap());
    let manifest = json(&fs::read_to_string(path.join("thread.json")).unwrap());
    assert_eq!(manifest["title"], "U");
    assert_eq!(manifest["context"]["workingDir"], other.to_str().unwrap());
}

#[test]
fn a_missing_asset_and_a_torn_tail_do_not_stop_a_fork() {
    let w = World::new();
    let id = w.thread("T");
    w.message(&id, r#"{"role":"user","content":[{"type":"image","assetRef":"gone.png","mimeType":"image/png"}]}"#);
    let log = w.folder(&id).join("messages.jsonl");
    let mut text = fs::read_to_string(&log).unwrap();
    let whole = text.clone();
    text.push_str("{\"id\":\"to");
    fs::write(&log, text).unwrap();
    let answer = w.run(&["fork", &id, "--json"]);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert!(answer.err.contains("gone.png"), "{}", answer.err);
    assert_eq!(w.log(json(&answer.out)["id"].as_str().unwrap()), whole);
}

#[test]
fn a_fork_has_all_that_a_description_must_have() {
    let w = World::new();
    let id = w.thread("T");
    fs::write(w.folder(&id).join("thread.json"), "{}").unwrap();
    let answer = w.run(&["fork", &id, "--json"]);
    let manifest = w.manifest(json(&answer.out)["id"].as_str().unwrap());
    for key in [
        "specVersion",
        "threadId",
        "title",
        "createdAt",
        "updatedAt",
        "agent",
        "context",
        "stats",
    ] {
        assert!(manifest.get(key).is_some(), "{key}: {manifest}");
    }
    assert_eq!(manifest["specVersion"], "1.1");
    assert_eq!(
        manifest["context"]["workingDir"],
        w.project.to_str().unwrap()
    );
}

#[test]
fn what_is_damaged_is_in_no_copy_and_is_named() {
    for format in ["claude-code", "codex", "gemini"] {
        let w = World::new();
        let made = json(&w.ok(&["new", "--format", format, "--json"]));
        let (id, path) = (made["id"].as_str().unwrap(), made["path"].as_str().unwrap());
        w.ok(&["append", id, "Hello"]);
        let whole = fs::read_to_string(path).unwrap();
        fs::write(path, whole.replacen('\n', "\ngarbage\n", 1)).unwrap();
        let count = || w.run(&["list", "--tsv", "--hidden"]).out.lines().count();
        let strict = w.run(&["fork", path, "--strict"]);
        assert_eq!((strict.code, count()), (1, 1), "{format}: {strict:?}");
        assert!(strict.err.contains("is damaged: not JSON"), "{strict:?}");
        let forked = w
            .command(&["fork", path])
            .env("RETHREAD_SEED", "2")
            .output()
            .unwrap();
        assert_eq!((forked.status.code(), count()), (Some(3), 2), "{forked:?}");
        let told = String::from_utf8(forked.stderr).unwrap();
        assert!(told.contains(&format!("{path}:2: not JSON")), "{told}");
        let copy = String::from_utf8(forked.stdout).unwrap();
        let shown = w.run(&["show", copy.split_once('\t').unwrap().0]);
        assert_eq!((shown.code, shown.err.as_str()), (0, ""), "{shown:?}");
        assert!(shown.out.contains("Hello"), "{shown:?}");
    }
}
