//! `worktree`: a git worktree with its own thread store, and what is left of it when it goes.

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;

use crate::world::{World, json};

fn add(w: &World, args: &[&str]) -> serde_json::Value {
    let mut all = vec!["worktree", "add", "--json"];
    all.extend(args);
    json(&w.ok(&all))
}

fn path(value: &serde_json::Value) -> PathBuf {
    PathBuf::from(value.as_str().unwrap())
}

fn titles(w: &World, folder: &Path) -> Vec<String> {
    let output = w
        .command(&["list", "--json"])
        .current_dir(folder)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let title = |l: &str| {
        let object = json(l);
        let state = object["state"]
            .as_str()
            .map(|s| format!(" ({s})"))
            .unwrap_or_default();
        format!("{}{state}", object["title"].as_str().unwrap())
    };
    let mut titles: Vec<String> = text.lines().map(title).collect();
    titles.sort();
    titles
}

#[test]
fn a_worktree_has_a_branch_a_store_and_one_thread() {
    let w = World::with_git();
    let added = add(&w, &["--title", "In a worktree"]);
    let id = added["id"].as_str().unwrap();
    let short = &id[..8];
    let worktree = path(&added["worktree"]);
    let expected = w
        .home
        .join(".local/share/rethread/worktrees/shop")
        .join(format!("thread-{short}"));
    assert_eq!(worktree, expected);
    assert_eq!(added["branch"], format!("rethread-{short}"));
    assert!(worktree.join("README.md").is_file(), "the code is there");
    let thread = worktree.join(".agent/threads").join(id);
    assert_eq!(path(&added["path"]), thread);
    for name in [".agent/config.json", ".agent/.gitignore"] {
        assert!(worktree.join(name).is_file(), "{name}");
    }
    assert!(
        !w.project.join(".agent").exists(),
        "nothing in the main project"
    );
    let manifest = json(&fs::read_to_string(thread.join("thread.json")).unwrap());
    assert_eq!(
        manifest["context"]["worktree"]["path"],
        worktree.to_str().unwrap()
    );
    assert_eq!(
        manifest["context"]["worktree"]["branch"],
        format!("rethread-{short}")
    );
    assert_eq!(
        manifest["context"]["gitCommit"],
        w.git(&["rev-parse", "HEAD"])
    );
    let git = w.git(&["worktree", "list", "--porcelain"]);
    assert!(git.contains(worktree.to_str().unwrap()), "{git}");
    // Look-ups from the main project cover its worktrees.
    w.ok(&["append", short, "found from the main project"]);
    assert_eq!(titles(&w, &w.project), ["In a worktree"]);
}

#[test]
fn a_name_a_folder_and_a_branch_can_be_chosen() {
    let w = World::with_git();
    let named = add(&w, &["login"]);
    assert!(path(&named["worktree"]).ends_with("worktrees/shop/login"));
    assert_eq!(named["branch"], "login");
    let chosen = add(&w, &["--path", "../elsewhere", "--branch", "topic/x"]);
    assert_eq!(path(&chosen["worktree"]), w.root.join("elsewhere"));
    assert_eq!(chosen["branch"], "topic/x");
    let taken = w.run(&["worktree", "add", "login"]);
    assert_eq!(taken.code, 2, "{taken:?}");
    let branch = w.run(&["worktree", "add", "other", "--branch", "login"]);
    assert_eq!(branch.code, 1, "{branch:?}");
    assert!(branch.err.contains("git: "), "{}", branch.err);
    for name in ["../x", "..", "a/b", "-x", "con"] {
        let answer = w.run(&["worktree", "add", "--", name]);
        assert_eq!(answer.code, 2, "{name}: {answer:?}");
    }
}

#[test]
fn new_makes_a_worktree_where_the_project_s_defaults_say_so() {
    let w = World::with_git();
    fs::create_dir(w.project.join(".agent")).unwrap();
    let config = r#"{"specVersion":"1.1","defaults":{"useWorktree":true,"agentId":"claude-code"},"agentSettings":{"claude-code":{"model":"sonnet"}}}"#;
    fs::write(w.project.join(".agent/config.json"), config).unwrap();
    let made = json(&w.ok(&["new", "--format", "atsf", "--title", "T", "--json"]));
    let worktree = path(&made["worktree"]);
    assert!(path(&made["path"]).starts_with(&worktree));
    let id = made["id"].as_str().unwrap();
    let manifest = json(&fs::read_to_string(path(&made["path"]).join("thread.json")).unwrap());
    assert_eq!(
        manifest["agent"]["id"], "claude-code",
        "the main worktree's defaults hold"
    );
    w.ok(&["append", id, "--role", "agent", "x"]);
    let log = fs::read_to_string(path(&made["path"]).join("messages.jsonl")).unwrap();
    assert!(log.contains("\"model\":\"sonnet\""), "{log}");
    let plain = json(&w.ok(&["new", "--format", "atsf", "--no-worktree", "--json"]));
    assert!(path(&plain["path"]).starts_with(w.project.join(".agent")));
    // In a worktree already, another one is not made.
    let cwd = worktree.to_str().unwrap();
    let inside = json(&w.ok(&["new", "--format", "atsf", "--cwd", cwd, "--json"]));
    assert!(path(&inside["path"]).starts_with(&worktree));
    assert_eq!(inside.get("worktree"), None);
}

#[test]
fn worktrees_are_listed_with_their_threads() {
    let w = World::with_git();
    add(&w, &["one", "--path", "../one"]);
    add(&w, &["two", "--path", "../two"]);
    w.thread("main");
    fs::remove_dir_all(w.root.join("two")).unwrap();
    assert_snapshot!(w.plain(&w.ok(&["worktree", "list"])), @r"
    [ROOT]/shop  1 thread    main
    [ROOT]/one   1 thread    one
    [ROOT]/two   gone        two
    ");
    let lines = w.ok(&["worktree", "list", "--json"]);
    let first = json(lines.lines().next().unwrap());
    assert_eq!(
        (first["is_main"].as_bool(), first["thread_count"].as_u64()),
        (Some(true), Some(1))
    );
}

#[test]
fn five_worktrees_two_removed_by_hand_are_listed_in_full() {
    let w = World::with_git();
    w.thread("main");
    for n in 1..=5 {
        let name = format!("w{n}");
        add(
            &w,
            &[&name, "--title", &name, "--path", &format!("../{name}")],
        );
    }
    fs::remove_dir_all(w.root.join("w2")).unwrap();
    fs::remove_dir_all(w.root.join("w4")).unwrap();
    let expected = ["main", "w1", "w2 (gone)", "w3", "w4 (gone)", "w5"];
    assert_eq!(titles(&w, &w.project), expected);
    assert_eq!(titles(&w, &w.root.join("w3")), expected);
    let listed = w.run(&["list"]);
    assert_eq!(listed.code, 0, "{listed:?}");
    assert!(listed.out.contains("[gone] w2"), "{}", listed.out);
    // Git forgets them; we do not.
    w.git(&["worktree", "prune"]);
    assert_eq!(titles(&w, &w.project), expected);
}

#[test]
fn a_thread_whose_worktree_is_gone_is_named_but_cannot_be_read() {
    let w = World::with_git();
    let added = add(&w, &["one", "--path", "../one"]);
    let id = added["id"].as_str().unwrap();
    fs::remove_dir_all(w.root.join("one")).unwrap();
    for args in [
        &["show", id][..],
        &["append", id, "x"],
        &["rename", id, "x"],
    ] {
        let answer = w.run(args);
        assert_eq!(answer.code, 1, "{answer:?}");
        assert!(answer.err.contains("the worktree of"), "{}", answer.err);
        assert!(answer.err.contains("is gone"), "{}", answer.err);
    }
}

#[test]
fn removing_refuses_while_there_are_threads_and_keeps_their_descriptions() {
    let w = World::with_git();
    let added = add(&w, &["one", "--title", "mine"]);
    let worktree = path(&added["worktree"]);
    w.ok(&["append", added["id"].as_str().unwrap(), "x"]);
    let refused = w.run(&["worktree", "remove", "one"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(
        refused
            .err
            .contains("holds 1 threads, which would go with it"),
        "{}",
        refused.err
    );
    assert!(refused.err.contains("hint: `--force`"), "{}", refused.err);
    assert!(worktree.is_dir());
    let removed = w.run(&["worktree", "remove", "one", "--force"]);
    assert_eq!(removed.code, 0, "{removed:?}");
    assert!(
        removed.err.contains("1 thread went with it"),
        "{}",
        removed.err
    );
    assert!(!worktree.exists());
    assert_eq!(titles(&w, &w.project), ["mine (gone)"]);
    let listed = json(&w.ok(&["list", "--json"]));
    assert_eq!(
        listed["message_count"], 1,
        "the description was kept as it was last"
    );
}

#[test]
fn an_empty_worktree_goes_without_force_and_the_main_one_never() {
    let w = World::with_git();
    let added = add(&w, &["one"]);
    w.ok(&["rm", added["id"].as_str().unwrap(), "--force"]);
    w.ok(&["worktree", "remove", "one"]);
    assert!(!path(&added["worktree"]).exists());
    for name in ["main", "nothing"] {
        let answer = w.run(&["worktree", "remove", name, "--force"]);
        assert_eq!(answer.code, 2, "{answer:?}");
    }
    assert!(w.project.is_dir());
    let changed = add(&w, &["two"]);
    w.ok(&["rm", changed["id"].as_str().unwrap(), "--force"]);
    fs::write(path(&changed["worktree"]).join("work.txt"), "not committed").unwrap();
    let kept = w.run(&["worktree", "remove", "two"]);
    assert_eq!(kept.code, 1, "work is not thrown away: {kept:?}");
    assert!(path(&changed["worktree"]).join("work.txt").is_file());
}

#[test]
fn without_git_there_are_no_worktrees() {
    let w = World::new();
    for args in [
        &["worktree", "add"][..],
        &["worktree", "list"],
        &["worktree", "remove", "x"],
        &["trust"],
    ] {
        let answer = w.run(args);
        assert_eq!(answer.code, 2, "{answer:?}");
        assert!(
            answer.err.contains("is in no git repository"),
            "{}",
            answer.err
        );
    }
}

#[test]
fn descriptions_that_git_carries_along_are_no_threads() {
    let w = World::with_git();
    let id = w.thread("in the main project");
    w.ok(&["append", &id, "the messages are here"]);
    w.git(&["add", "."]);
    w.git(&["commit", "-q", "-m", "with descriptions of threads"]);
    let added = add(&w, &["one", "--title", "in the worktree"]);
    let copy = path(&added["worktree"]).join(".agent/threads").join(&id);
    assert!(copy.join("thread.json").is_file() && !copy.join("messages.jsonl").exists());
    assert_eq!(
        titles(&w, &w.project),
        ["in the main project", "in the worktree"]
    );
    for folder in [&w.project, &path(&added["worktree"])] {
        let output = w
            .command(&["show", &id])
            .current_dir(folder)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("the messages are here"), "{text}");
    }
    let lines = w.ok(&["worktree", "list", "--json"]);
    let counts: Vec<_> = lines
        .lines()
        .map(|l| json(l)["thread_count"].clone())
        .collect();
    assert_eq!(counts, [1, 1]);
    w.ok(&["rm", added["id"].as_str().unwrap(), "--force"]);
    w.ok(&["worktree", "remove", "one"]);
}
