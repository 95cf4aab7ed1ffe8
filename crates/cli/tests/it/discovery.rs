//! Where sessions are found.

use std::fs;

use crate::world::{World, json};

fn listed(w: &World, args: &[&str], folder: &std::path::Path) -> Vec<String> {
    let mut all = vec!["list", "--json", "--sort", "created"];
    all.extend(args);
    let mut command = w.command(&all);
    let output = command.current_dir(folder).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut titles: Vec<String> = text
        .lines()
        .map(|l| json(l)["title"].as_str().unwrap().to_owned())
        .collect();
    titles.sort();
    titles
}

#[test]
fn projects_that_we_wrote_to_are_found_from_anywhere() {
    let w = World::new();
    w.thread("mine");
    assert_eq!(listed(&w, &[], &w.home), ["mine"]);
    let known = fs::read_to_string(w.home.join(".local/share/rethread/projects.jsonl")).unwrap();
    assert_eq!(known.lines().count(), 1);
    w.thread("second");
    let known = fs::read_to_string(w.home.join(".local/share/rethread/projects.jsonl")).unwrap();
    assert_eq!(known.lines().count(), 1, "a project is remembered once");
    fs::remove_dir_all(&w.project).unwrap();
    assert!(
        listed(&w, &[], &w.home).is_empty(),
        "a project that is gone is no error"
    );
}

#[test]
fn upward_from_a_folder_and_in_worktrees() {
    let w = World::with_git();
    w.git(&["worktree", "add", "-q", "-b", "one", "../wt-one"]);
    w.git(&["worktree", "add", "-q", "-b", "two", "../wt-two"]);
    w.thread("main");
    for name in ["wt-one", "wt-two"] {
        let folder = w.root.join(name);
        w.ok(&[
            "new",
            "--format",
            "atsf",
            "--title",
            name,
            "--cwd",
            folder.to_str().unwrap(),
        ]);
    }
    let known = w.home.join(".local/share/rethread");
    fs::remove_dir_all(known).unwrap();
    let deep = w.root.join("wt-two/a/b");
    fs::create_dir_all(&deep).unwrap();
    assert_eq!(listed(&w, &[], &deep), ["main", "wt-one", "wt-two"]);
    assert_eq!(listed(&w, &[], &w.project), ["main", "wt-one", "wt-two"]);
    assert!(listed(&w, &[], &w.home).is_empty());
}

#[test]
fn this_project_includes_its_worktrees() {
    let w = World::with_git();
    w.git(&["worktree", "add", "-q", "-b", "one", "../one"]);
    w.git(&["worktree", "add", "-q", "-b", "two", "../two"]);
    let stranger = w.root.join("stranger");
    fs::create_dir(&stranger).unwrap();
    for folder in ["shop", "one", "two", "stranger"] {
        let path = w.root.join(folder);
        let path = path.to_str().unwrap();
        w.ok(&[
            "new", "--format", "atsf", "--title", folder, "--id", folder, "--cwd", path,
        ]);
        w.ok(&["append", folder, "hello"]);
    }
    let all = ["one", "shop", "two"];
    let one = w.root.join("one");
    assert_eq!(listed(&w, &["."], &w.project), all);
    assert_eq!(listed(&w, &[w.project.to_str().unwrap()], &w.home), all);
    assert_eq!(listed(&w, &["shop"], &w.home), all, "by a part of the name");
    assert_eq!(listed(&w, &["."], &one), all, "inside of one");
    // One that is named from outside is that one.
    assert_eq!(listed(&w, &["../one"], &w.project), ["one"]);
    assert_eq!(listed(&w, &["tw"], &w.home), ["two"]);
    assert_eq!(listed(&w, &["stranger"], &w.home), ["stranger"]);
    // A folder of the project stands for the same folder in each worktree.
    let deep = one.join("src");
    fs::create_dir_all(&deep).unwrap();
    fs::create_dir_all(w.project.join("src")).unwrap();
    let path = deep.to_str().unwrap();
    w.ok(&[
        "new", "--format", "atsf", "--title", "deep", "--id", "deep", "--cwd", path,
    ]);
    w.ok(&["append", "deep", "hello"]);
    assert_eq!(listed(&w, &["src/"], &w.project), ["deep"]);

    let exported = w.ok(&["export", "-o", "-"]);
    assert_eq!(json(exported.lines().next().unwrap())["session_count"], 4);
    assert!(!exported.contains("stranger"), "{exported}");
    let converted = w.ok(&["convert", ".", "--to", "pi", "-o", "out"]);
    assert_eq!(converted.lines().count(), 4, "{converted}");
    // One whose folder is gone is still listed, as such.
    fs::remove_dir_all(w.root.join("two")).unwrap();
    assert_eq!(
        listed(&w, &["."], &w.project),
        ["deep", "one", "shop", "two"]
    );
}

#[test]
fn projects_that_sessions_of_other_agents_name() {
    let w = World::new();
    w.thread("named by another agent");
    fs::remove_dir_all(w.home.join(".local/share/rethread")).unwrap();
    let claude = w.home.join(".claude/projects/-shop");
    fs::create_dir_all(&claude).unwrap();
    let line = format!(
        "{{\"type\":\"user\",\"cwd\":\"{}\"}}\n",
        w.project.display()
    );
    fs::write(claude.join("1.jsonl"), line).unwrap();
    assert_eq!(listed(&w, &[], &w.root), ["named by another agent"]);
}

#[test]
fn a_given_home_hides_the_current_folder_and_the_variables() {
    let w = World::new();
    w.thread("here");
    let other = w.root.join("other-home");
    fs::create_dir(&other).unwrap();
    assert!(listed(&w, &["--home", other.to_str().unwrap()], &w.project).is_empty());
    assert_eq!(
        listed(&w, &["--home", w.root.to_str().unwrap()], &w.home),
        ["here"]
    );
}

#[test]
fn reading_writes_nothing_anywhere() {
    let w = World::new();
    w.fixture("1.1/project");
    w.fixture("1.1/damaged");
    let before = crate::world::tree(&w.root);
    for args in [
        &["list"][..],
        &["list", "--json", "--sort", "tokens"],
        &[],
        &["show", "latest"],
        &["show", "latest", "--json"],
        &["show", "latest", "--to", "raw"],
    ] {
        w.run(args);
    }
    assert_eq!(crate::world::tree(&w.root), before);
}

#[test]
fn a_folder_that_the_user_names_is_looked_at() {
    let w = World::new();
    w.thread("named");
    fs::remove_dir_all(w.home.join(".local/share/rethread")).unwrap();
    assert!(listed(&w, &[], &w.home).is_empty());
    assert_eq!(listed(&w, &["../shop"], &w.home), ["named"]);
    assert_eq!(
        listed(&w, &[w.project.to_str().unwrap()], &w.home),
        ["named"]
    );
}
