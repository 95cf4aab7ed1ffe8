//! Linked worktrees, and where their main one is.

use crate::git::{Sandbox, check, git, listed, worktree_list};
use rethread_project::Repository;
use std::fs;

#[test]
fn linked_worktree_knows_its_main_one() {
    let sandbox = Sandbox::new();
    let root = sandbox.committed("app");
    git(
        &root,
        &[
            "worktree",
            "add",
            "--quiet",
            "-b",
            "fix/login",
            "../trees/fix",
        ],
    );
    let tree = sandbox.join("trees/fix");
    let found = check(&tree);
    assert!(found.is_linked_worktree());
    assert_eq!(found.main_root(), Some(root.clone()));
    assert_eq!(found.common_dir(), root.join(".git"));
    assert_eq!(found.branch().as_deref(), Some("fix/login"));

    let worktrees = found.worktrees();
    assert_eq!(worktrees.len(), 2);
    assert!(worktrees[0].is_main && !worktrees[1].is_main);
    assert_eq!(worktrees, check(&root).worktrees());
}

#[test]
fn worktrees_are_listed_sorted_also_when_gone() {
    let sandbox = Sandbox::new();
    let root = sandbox.committed("app");
    for (name, branch) in [("z", "one"), ("b", "two"), ("a", "three")] {
        let path = format!("../trees/{name}");
        git(&root, &["worktree", "add", "--quiet", "-b", branch, &path]);
    }
    git(
        &root,
        &["worktree", "add", "--quiet", "--detach", "../trees/c d"],
    );
    git(&root, &["pack-refs", "--all"]);
    fs::remove_dir_all(sandbox.join("trees/b")).expect("removed");

    let found = check(&root);
    let names: Vec<_> = found
        .worktrees()
        .into_iter()
        .map(|tree| tree.path)
        .collect();
    let expected =
        ["app", "trees/a", "trees/b", "trees/c d", "trees/z"].map(|name| sandbox.join(name));
    assert_eq!(names, expected);
    let gone: Vec<_> = found
        .worktrees()
        .into_iter()
        .filter(|tree| !tree.exists)
        .collect();
    assert_eq!(gone.len(), 1);
    assert_eq!(gone[0].branch.as_deref(), Some("two"));

    git(&root, &["worktree", "prune"]);
    assert_eq!(check(&root).worktrees().len(), 4);
}

#[test]
fn bare_repository_has_no_main_worktree() {
    let sandbox = Sandbox::new();
    let root = sandbox.committed("app");
    let store = sandbox.join("store.git");
    let bare = store.to_str().expect("UTF-8");
    git(&root, &["clone", "--quiet", "--bare", ".", bare]);
    git(
        &store,
        &["worktree", "add", "--quiet", "-b", "fix", "../fix"],
    );
    let found = check(&sandbox.join("fix"));
    assert!(found.is_linked_worktree());
    assert_eq!(found.common_dir(), store);
    assert_eq!(found.main_root(), None);
    assert_eq!(found.worktrees().len(), 1);
    assert_eq!(Repository::find(&store), None);
}

#[test]
fn hidden_bare_repository_beside_its_worktrees() {
    let sandbox = Sandbox::new();
    let source = sandbox.committed("source");
    let project = sandbox.join("project");
    fs::create_dir(&project).expect("a new folder");
    git(
        &source,
        &["clone", "--quiet", "--bare", ".", "../project/.bare"],
    );
    fs::write(project.join(".git"), "gitdir: ./.bare\n").expect("a new file");
    git(&project, &["worktree", "add", "--quiet", "main"]);
    let found = check(&project.join("main"));
    assert_eq!(found.main_root(), None);
    let above = Repository::find(&project).expect("a repository");
    assert_eq!(above.main_root(), None);
    assert_eq!(listed(&above), worktree_list(&project));
}

#[test]
fn bare_setting_may_live_in_the_main_worktree() {
    let sandbox = Sandbox::new();
    let root = sandbox.committed("app");
    git(&root, &["worktree", "add", "--quiet", "../fix"]);
    git(&root, &["config", "extensions.worktreeConfig", "true"]);
    git(&root, &["config", "--unset", "core.bare"]);
    git(&root, &["config", "--worktree", "core.bare", "true"]);
    let found = Repository::find(&sandbox.join("fix")).expect("a worktree");
    assert_eq!(found.root(), sandbox.join("fix"));
    assert_eq!(found.main_root(), None);
}

#[test]
fn relative_pointers_are_followed() {
    let sandbox = Sandbox::new();
    let root = sandbox.committed("app");
    git(
        &root,
        &["worktree", "add", "--quiet", "-b", "fix", "../trees/fix"],
    );
    let tree = sandbox.join("trees/fix");
    // What git writes since 2.48 under `worktree.useRelativePaths`.
    fs::write(tree.join(".git"), "gitdir: ../../app/.git/worktrees/fix\n").expect("written");
    let admin = root.join(".git/worktrees/fix");
    fs::write(admin.join("gitdir"), "../../../../trees/fix/.git\n").expect("written");

    let found = Repository::find(&tree).expect("a worktree");
    assert_eq!(
        found.root().to_str(),
        Some(&*git(&tree, &["rev-parse", "--show-toplevel"]))
    );
    assert_eq!(found.git_dir(), admin);
    assert_eq!(found.main_root(), Some(root));
    let expected = vec![
        (sandbox.join("app"), Some("main".to_owned()), false),
        (tree.clone(), Some("fix".to_owned()), false),
    ];
    assert_eq!(listed(&found), expected);

    fs::remove_dir_all(&tree).expect("removed");
    let main = Repository::find(&sandbox.join("app")).expect("a repository");
    assert_eq!(main.worktrees()[1].path, tree);
    assert!(!main.worktrees()[1].exists);
}

#[test]
fn worktree_inside_its_repository_is_its_own_root() {
    let sandbox = Sandbox::new();
    let root = sandbox.committed("app");
    git(&root, &["worktree", "add", "--quiet", "worktrees/thread-1"]);
    let inside = root.join("worktrees/thread-1/src");
    fs::create_dir(&inside).expect("a new folder");
    let found = check(&inside);
    assert_eq!(found.root(), root.join("worktrees/thread-1"));
    assert_eq!(found.main_root(), Some(root));
}

#[test]
fn references_of_one_worktree_stay_there() {
    let sandbox = Sandbox::new();
    let root = sandbox.committed("app");
    git(&root, &["worktree", "add", "--quiet", "../fix"]);
    let tree = sandbox.join("fix");
    git(&tree, &["update-ref", "refs/worktree/mine", "HEAD"]);
    git(&tree, &["symbolic-ref", "HEAD", "refs/worktree/mine"]);
    let found = Repository::find(&tree).expect("a worktree");
    assert_eq!(found.commit(), Some(git(&tree, &["rev-parse", "HEAD"])));
    assert_eq!(found.branch(), None);
}
