//! Root, branch and commit of ordinary repositories.

use crate::git::{Sandbox, check, commit, git, run};
use rethread_project::{Repository, relative};
use std::fs;

#[test]
fn outside_git_there_is_nothing() {
    let sandbox = Sandbox::new();
    assert_eq!(Repository::find(&sandbox.join("")), None);
    assert_eq!(Repository::find(&sandbox.join("missing")), None);
}

#[test]
fn fresh_repository_has_a_branch_and_no_commit() {
    let sandbox = Sandbox::new();
    let found = check(&sandbox.init("app"));
    assert_eq!(found.branch().as_deref(), Some("main"));
    assert_eq!(found.commit(), None);
    assert_eq!(found.main_root().as_deref(), Some(found.root()));
    assert!(!found.is_linked_worktree());
}

#[test]
fn committed_repository_has_a_commit() {
    let sandbox = Sandbox::new();
    let found = check(&sandbox.committed("app"));
    assert_eq!(found.commit().map(|hash| hash.len()), Some(40));
}

#[test]
fn packed_references_are_found() {
    let sandbox = Sandbox::new();
    let root = sandbox.committed("app");
    for name in ["a", "main-not", "not/main", "z"] {
        git(&root, &["branch", name]);
    }
    git(&root, &["tag", "-a", "v1", "-m", "one"]);
    commit(&root, "second");
    git(&root, &["pack-refs", "--all"]);
    assert!(!root.join(".git/refs/heads/main").exists());
    check(&root);

    // A loose reference written later wins over the packed one.
    commit(&root, "third");
    check(&root);
}

#[test]
fn packed_references_may_be_many() {
    use std::fmt::Write as _;
    let sandbox = Sandbox::new();
    let root = sandbox.committed("app");
    let hash = git(&root, &["rev-parse", "HEAD"]);
    let mut commands = String::new();
    for number in 0..3000 {
        writeln!(commands, "{hash} refs/heads/b{number:05}").expect("a string grows");
    }
    let packed = root.join(".git/packed-refs");
    fs::write(
        &packed,
        format!("# pack-refs with: peeled fully-peeled sorted \n{commands}"),
    )
    .expect("a packed file");
    git(&root, &["symbolic-ref", "HEAD", "refs/heads/b02999"]);
    assert_eq!(check(&root).commit(), Some(hash));
}

#[test]
fn detached_head_has_no_branch() {
    let sandbox = Sandbox::new();
    let root = sandbox.committed("app");
    git(&root, &["checkout", "--quiet", "--detach"]);
    let found = check(&root);
    assert_eq!(found.branch(), None);
    assert!(found.commit().is_some());
}

#[test]
fn branch_names_keep_their_slashes() {
    let sandbox = Sandbox::new();
    let root = sandbox.committed("app");
    git(&root, &["checkout", "--quiet", "-b", "feature/élan/a.b"]);
    assert_eq!(check(&root).branch().as_deref(), Some("feature/élan/a.b"));
    git(&root, &["pack-refs", "--all"]);
    check(&root);

    // `feature` is a folder of references now, not one of them.
    git(&root, &["symbolic-ref", "HEAD", "refs/heads/feature"]);
    assert_eq!(check(&root).commit(), None);
}

#[test]
fn symbolic_branches_are_followed() {
    let sandbox = Sandbox::new();
    let root = sandbox.committed("app");
    git(
        &root,
        &["symbolic-ref", "refs/heads/alias", "refs/heads/main"],
    );
    git(&root, &["symbolic-ref", "HEAD", "refs/heads/alias"]);
    assert_eq!(check(&root).branch().as_deref(), Some("main"));
}

#[test]
fn head_outside_the_branches_is_no_branch() {
    let sandbox = Sandbox::new();
    let root = sandbox.committed("app");
    git(&root, &["update-ref", "refs/other/x", "HEAD"]);
    git(&root, &["symbolic-ref", "HEAD", "refs/other/x"]);
    let found = Repository::find(&root).expect("a repository");
    assert_eq!(found.branch(), None);
    assert_eq!(found.commit(), Some(git(&root, &["rev-parse", "HEAD"])));
}

#[test]
fn folders_inside_belong_to_the_root() {
    let sandbox = Sandbox::new();
    let root = sandbox.committed("app");
    let inside = root.join("src/deep er");
    fs::create_dir_all(&inside).expect("a new folder");
    let found = check(&inside);
    assert_eq!(found.root(), root);
    assert_eq!(relative(found.root(), &inside), "src/deep er");

    let file = inside.join("main.rs");
    fs::write(&file, "").expect("a new file");
    assert_eq!(Repository::find(&file), Some(found));
}

#[test]
fn longer_hashes_are_hashes() {
    let sandbox = Sandbox::new();
    let root = sandbox.join("app");
    fs::create_dir(&root).expect("a new folder");
    git(&root, &["init", "--quiet", "--object-format=sha256"]);
    commit(&root, "first");
    let found = check(&root);
    assert_eq!(found.commit().map(|hash| hash.len()), Some(64));
}

#[test]
fn separate_git_folder_is_found() {
    let sandbox = Sandbox::new();
    let root = sandbox.join("app");
    fs::create_dir(&root).expect("a new folder");
    git(
        &root,
        &["init", "--quiet", "--separate-git-dir=../elsewhere"],
    );
    commit(&root, "first");
    let found = Repository::find(&root).expect("a repository");
    assert_eq!(found.git_dir(), sandbox.join("elsewhere"));
    assert_eq!(found.root(), root);
    assert_eq!(found.main_root(), Some(root.clone()));
    assert_eq!(found.commit(), Some(git(&root, &["rev-parse", "HEAD"])));
}

#[test]
fn submodule_is_its_own_root() {
    let sandbox = Sandbox::new();
    let library = sandbox.committed("library");
    let app = sandbox.committed("app");
    let source = library.to_str().expect("UTF-8");
    let add = [
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        source,
        "lib/one",
    ];
    git(&app, &add);
    let module = app.join("lib/one");
    let found = Repository::find(&module).expect("a repository");
    assert_eq!(found.root(), module);
    assert_eq!(
        found.root().to_str(),
        Some(&*git(&module, &["rev-parse", "--show-toplevel"]))
    );
    assert_eq!(found.git_dir(), app.join(".git/modules/lib/one"));
    assert_eq!(found.branch().as_deref(), Some("main"));
    assert_eq!(found.commit(), Some(git(&module, &["rev-parse", "HEAD"])));
    assert!(!found.is_linked_worktree());
    assert_eq!(found.main_root(), Some(module.clone()));

    // A worktree of the submodule leads back to the submodule.
    git(&module, &["worktree", "add", "--quiet", "../../../fix"]);
    let linked = Repository::find(&sandbox.join("fix")).expect("a worktree");
    assert!(linked.is_linked_worktree());
    assert_eq!(linked.main_root(), Some(module));
}

#[test]
fn work_tree_setting_moves_the_root() {
    let sandbox = Sandbox::new();
    let root = sandbox.committed("app/inner");
    git(&root, &["config", "core.worktree", "../.."]);
    assert_eq!(
        git(&root, &["rev-parse", "--show-toplevel"]),
        sandbox.join("app").to_str().expect("UTF-8")
    );
    let found = Repository::find(&root).expect("a repository");
    assert_eq!(found.root(), sandbox.join("app"));

    // A folder that we are not in cannot be the root of where we are.
    git(&root, &["config", "core.worktree", "../../../other"]);
    let found = Repository::find(&root).expect("a repository");
    assert_eq!(found.root(), root);
}

#[cfg(unix)]
#[test]
fn symbolic_links_on_the_way_are_resolved() {
    use std::os::unix::fs::symlink;
    let sandbox = Sandbox::new();
    let root = sandbox.committed("app");
    fs::create_dir(root.join("src")).expect("a new folder");
    symlink(root.join("src"), sandbox.join("shortcut")).expect("a link");
    let found = check(&sandbox.join("shortcut"));
    assert_eq!(found.root(), root);
    assert_eq!(relative(found.root(), &sandbox.join("shortcut")), "src");
}

#[cfg(unix)]
#[test]
fn git_folder_may_be_a_link() {
    use std::os::unix::fs::symlink;
    let sandbox = Sandbox::new();
    let root = sandbox.committed("app");
    fs::rename(root.join(".git"), sandbox.join("store")).expect("moved");
    symlink("../store", root.join(".git")).expect("a link");
    let found = Repository::find(&root).expect("a repository");
    assert_eq!(
        found.root().to_str(),
        Some(&*git(&root, &["rev-parse", "--show-toplevel"]))
    );
    assert_eq!(found.git_dir(), sandbox.join("store"));
    assert_eq!(found.commit(), Some(git(&root, &["rev-parse", "HEAD"])));
    assert_eq!(found.main_root(), Some(root));
}

#[cfg(unix)]
#[test]
fn head_may_be_a_link_as_in_old_repositories() {
    use std::os::unix::fs::symlink;
    let sandbox = Sandbox::new();
    let root = sandbox.committed("app");
    fs::remove_file(root.join(".git/HEAD")).expect("removed");
    symlink("refs/heads/main", root.join(".git/HEAD")).expect("a link");
    assert_eq!(check(&root).branch().as_deref(), Some("main"));
}

#[test]
fn reftable_repositories_ask_git() {
    let sandbox = Sandbox::new();
    let root = sandbox.join("app");
    fs::create_dir(&root).expect("a new folder");
    let init = [
        "init",
        "--quiet",
        "--initial-branch=main",
        "--ref-format=reftable",
    ];
    if !run(&root, &init).status.success() {
        return; // this git is older than reftables
    }
    let found = check(&root);
    assert_eq!(found.branch().as_deref(), Some("main"));
    assert_eq!(found.commit(), None);
    commit(&root, "first");
    check(&root);

    git(
        &root,
        &["worktree", "add", "--quiet", "-b", "fix/one", "../fix"],
    );
    git(
        &root,
        &["worktree", "add", "--quiet", "-b", "fix/two", "../gone"],
    );
    fs::remove_dir_all(sandbox.join("gone")).expect("removed");
    assert_eq!(check(&root).worktrees().len(), 3);
    let linked = check(&sandbox.join("fix"));
    assert_eq!(linked.branch().as_deref(), Some("fix/one"));

    git(&root, &["checkout", "--quiet", "--detach"]);
    assert_eq!(check(&root).branch(), None);
}

#[test]
fn where_a_history_begins_and_where_it_is_shared() {
    let sandbox = Sandbox::new();
    let root = sandbox.init("app");
    let found = check(&root);
    assert!(found.answers());
    assert_eq!(found.root_commits(), None);
    assert_eq!(found.remote_url("origin"), None);
    commit(&root, "first");
    let first = git(&root, &["rev-parse", "HEAD"]);
    commit(&root, "second");
    let url = "git@example.com:me/app.git";
    git(&root, &["remote", "add", "origin", url]);
    let found = check(&root);
    assert_eq!(found.root_commits(), Some(vec![first.clone()]));
    assert_eq!(found.remote_url("origin").as_deref(), Some(url));
    assert_eq!(found.remote_url("--all"), None);
    // A history that was joined with another one has two beginnings.
    git(&root, &["checkout", "--quiet", "--orphan", "other"]);
    commit(&root, "elsewhere");
    let other = git(&root, &["rev-parse", "HEAD"]);
    let merge = [
        "merge",
        "--quiet",
        "--allow-unrelated-histories",
        "-m",
        "both",
        "main",
    ];
    git(&root, &merge);
    let mut both = vec![first, other];
    both.sort();
    assert_eq!(check(&root).root_commits(), Some(both));
    // It is the same seen from a linked worktree; a damaged repository tells nothing.
    let linked = sandbox.join("linked");
    git(
        &root,
        &["worktree", "add", "--quiet", linked.to_str().unwrap()],
    );
    let seen = Repository::find(&linked).unwrap();
    assert_eq!(seen.remote_url("origin").as_deref(), Some(url));
    assert_eq!(seen.root_commits().map(|c| c.len()), Some(2));
    fs::remove_file(root.join(".git/HEAD")).unwrap();
    let damaged = Repository::find(&root).unwrap();
    assert!(!damaged.answers());
}
