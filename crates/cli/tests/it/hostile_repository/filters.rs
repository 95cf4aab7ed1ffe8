//! Filters and hooks: the user's own count, the repository's do not, and that is said.

use std::fs;

use super::trap::program;
use crate::world::World;

/// A repository of which files ask for a filter, and a home whose configuration has it or not.
fn shouting(global: &str, own: &[(&str, &str)]) -> World {
    let w = World::with_git();
    fs::write(w.project.join(".gitattributes"), "*.md filter=up\n").unwrap();
    w.git(&["add", "."]);
    w.git(&["commit", "-q", "-m", "attributes"]);
    fs::write(w.home.join(".gitconfig"), global).unwrap();
    for (key, value) in own {
        w.git(&["config", key, value]);
    }
    w
}

const USERS: &str = "[filter \"up\"]\n\tsmudge = tr a-z A-Z\n\tclean = tr A-Z a-z\n\trequired\n";

fn added(w: &World) -> (crate::world::Answer, String) {
    let answer = w.run(&["worktree", "add", "one", "--path", "../one"]);
    let text = fs::read_to_string(w.root.join("one/README.md")).unwrap();
    (answer, text)
}

#[test]
fn a_filter_of_the_user_s_own_is_used() {
    let (answer, text) = added(&shouting(USERS, &[]));
    assert_eq!((answer.code, text.as_str()), (0, "# SHOP\n"), "{answer:?}");
}

#[test]
fn a_filter_that_the_repository_configures_is_left_off_and_named() {
    let own = [
        ("filter.up.smudge", "tr a-z x"),
        ("filter.up.required", "true"),
    ];
    let w = shouting("", &own);
    let (answer, text) = added(&w);
    assert_eq!((answer.code, text.as_str()), (3, "# Shop\n"), "{answer:?}");
    assert!(
        answer.err.contains("filter `up` was left off"),
        "{answer:?}"
    );
    // What is checked out is what is in the repository, so nothing seems changed.
    fs::remove_dir_all(w.root.join("one/.agent/threads")).unwrap();
    w.ok(&["worktree", "remove", "one"]);
}

#[test]
fn what_the_repository_says_of_the_user_s_filter_does_not_count() {
    let own = [("filter.up.smudge", "tr a-z x"), ("filter.up.clean", "cat")];
    let (answer, text) = added(&shouting(USERS, &own));
    assert_eq!((answer.code, text.as_str()), (3, "# SHOP\n"), "{answer:?}");
    // The same again is the user's.
    let own = [
        ("filter.up.smudge", "tr a-z A-Z"),
        ("filter.up.clean", "tr A-Z a-z"),
    ];
    let (answer, text) = added(&shouting(USERS, &own));
    assert_eq!((answer.code, text.as_str()), (0, "# SHOP\n"), "{answer:?}");
}

#[test]
fn large_files_are_not_downloaded() {
    let w = shouting(
        "[filter \"lfs\"]\n\tprocess = touch canary\n\tsmudge = touch canary\n\trequired = true\n",
        &[],
    );
    let (answer, _) = added(&w);
    assert_eq!(answer.code, 0, "there are none: {answer:?}");
    fs::write(w.project.join(".gitattributes"), "*.md filter=lfs\n").unwrap();
    w.git(&[
        "-c",
        "filter.lfs.process=",
        "-c",
        "filter.lfs.required=false",
        "commit",
        "-qam",
        "lfs",
    ]);
    let answer = w.run(&["worktree", "add", "two", "--path", "../two"]);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert!(answer.err.contains("hint: `git lfs pull`"), "{answer:?}");
    assert!(!w.root.join("two/canary").exists());
}

#[test]
fn hooks_that_were_not_run_are_named() {
    let w = World::with_git();
    let hook = w.project.join(".git/hooks/post-checkout");
    program(&hook, "#!/bin/sh\ntouch canary\n");
    w.git(&["config", "core.fsmonitor", "./watch"]);
    let answer = w.run(&["worktree", "add", "one", "--path", "../one"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    let said = w.plain(&answer.err);
    assert!(
        said.contains("[ROOT]/shop/.git/hooks/post-checkout"),
        "{said}"
    );
    assert!(said.contains("hook was not run"), "{said}");
    assert!(said.contains("`core.fsmonitor` was left off"), "{said}");
    assert!(!w.root.join("one/canary").exists());
}

/// A partial clone says what is missing, and leaves nothing half made.
#[test]
fn what_is_not_here_is_not_fetched() {
    let w = World::with_git();
    let blob = w.git(&["rev-parse", "HEAD:README.md"]);
    w.git(&["config", "core.repositoryFormatVersion", "1"]);
    w.git(&["config", "extensions.partialClone", "origin"]);
    w.git(&["config", "remote.origin.promisor", "true"]);
    w.git(&[
        "config",
        "remote.origin.url",
        "https://example.invalid/shop",
    ]);
    let (folder, name) = blob.split_at(2);
    fs::remove_file(w.project.join(".git/objects").join(folder).join(name)).unwrap();
    let answer = w.run(&["worktree", "add", "one", "--path", "../one"]);
    assert_eq!(answer.code, 1, "{answer:?}");
    assert!(answer.err.contains("partial clone"), "{answer:?}");
    assert!(!w.root.join("one").exists());
    assert_eq!(w.git(&["branch", "--list", "one"]), "");
}

/// A submodule has a configuration of its own, which git would follow into.
#[test]
fn a_worktree_with_a_submodule_is_not_removed_unasked() {
    let w = World::with_git();
    let library = w.root.join("library");
    let library = library.to_str().unwrap();
    w.git(&["clone", "-q", ".", library]);
    w.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        library,
        "lib",
    ]);
    w.git(&["commit", "-qm", "a submodule"]);
    w.ok(&["worktree", "add", "one", "--path", "../one"]);
    fs::remove_dir_all(w.root.join("one/.agent/threads")).unwrap();
    w.git(&[
        "-C",
        "../one",
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "update",
        "--init",
    ]);
    let canary = w.root.join("canary");
    let watch = format!("touch {}", canary.display());
    w.git(&["-C", "../one/lib", "config", "core.fsmonitor", &watch]);
    w.git(&["-C", "../one", "status"]);
    assert!(canary.exists(), "plain git looks into it");
    fs::remove_file(&canary).unwrap();
    let kept = w.run(&["worktree", "remove", "one"]);
    assert_eq!(kept.code, 1, "{kept:?}");
    assert!(kept.err.contains("`lib`"), "{kept:?}");
    w.ok(&["worktree", "remove", "one", "--force"]);
    assert!(!canary.exists() && !w.root.join("one").exists());
}
