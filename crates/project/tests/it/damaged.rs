//! Odd, broken and hostile git folders: fewer facts, no panic, no waiting.

use crate::git::{Sandbox, git};
use rethread_project::Repository;
use std::fs;

#[test]
fn pointer_to_nowhere_is_a_repository_without_facts() {
    let sandbox = Sandbox::new();
    let root = sandbox.join("app");
    fs::create_dir(&root).expect("a new folder");
    fs::write(
        root.join(".git"),
        "gitdir: /no/such/../folder/.git/worktrees/x\n",
    )
    .expect("written");
    let found = Repository::find(&root).expect("a repository");
    assert_eq!(found.root(), root);
    assert_eq!((found.branch(), found.commit()), (None, None));
    assert_eq!((found.main_root(), found.worktrees()), (None, vec![]));
    assert!(!found.is_linked_worktree());
}

#[test]
fn nonsense_in_the_pointer_is_survived() {
    let sandbox = Sandbox::new();
    let root = sandbox.join("app");
    fs::create_dir(&root).expect("a new folder");
    let huge = vec![b'x'; 1 << 20];
    for bytes in [
        &b""[..],
        b"\n",
        b"gitdir:",
        b"gitdir: ",
        b"gitdir: a\0b",
        b"\xff\xfe",
        &huge,
    ] {
        fs::write(root.join(".git"), bytes).expect("written");
        let found = Repository::find(&root).expect("a repository");
        assert_eq!(found.root(), root);
        assert_eq!((found.branch(), found.commit()), (None, None));
        assert_eq!(found.worktrees(), vec![]);
    }
}

#[test]
fn empty_git_folder_marks_a_root() {
    let sandbox = Sandbox::new();
    let root = sandbox.join("app");
    fs::create_dir_all(root.join(".git")).expect("a new folder");
    let found = Repository::find(&root).expect("a repository");
    assert_eq!(found.root(), root);
    assert_eq!((found.branch(), found.commit()), (None, None));
}

#[test]
fn names_that_leave_the_git_folder_are_not_followed() {
    let sandbox = Sandbox::new();
    let root = sandbox.committed("app");
    let hash = git(&root, &["rev-parse", "HEAD"]);
    fs::write(sandbox.join("outside"), &hash).expect("written");
    let outside = sandbox.join("outside");
    let absolute = outside.to_str().expect("UTF-8");
    for name in [
        "refs/../../../outside",
        "../../outside",
        absolute,
        "refs/heads/a\u{1}b",
        "refs/heads/..",
        "",
    ] {
        fs::write(root.join(".git/HEAD"), format!("ref: {name}\n")).expect("written");
        let found = Repository::find(&root).expect("a repository");
        assert_eq!((found.branch(), found.commit()), (None, None), "{name:?}");
    }
}

#[test]
fn symbolic_references_in_a_circle_end() {
    let sandbox = Sandbox::new();
    let root = sandbox.committed("app");
    fs::write(root.join(".git/refs/heads/a"), "ref: refs/heads/b\n").expect("written");
    fs::write(root.join(".git/refs/heads/b"), "ref: refs/heads/a\n").expect("written");
    fs::write(root.join(".git/HEAD"), "ref: refs/heads/a\n").expect("written");
    let found = Repository::find(&root).expect("a repository");
    assert_eq!((found.branch(), found.commit()), (None, None));
}

#[test]
fn damaged_references_give_no_commit() {
    let sandbox = Sandbox::new();
    let root = sandbox.committed("app");
    let huge = vec![b'a'; 1 << 20];
    for bytes in [&b""[..], b"\0\0\0\0", b"not a hash\n", &huge] {
        fs::write(root.join(".git/refs/heads/main"), bytes).expect("written");
        let found = Repository::find(&root).expect("a repository");
        assert_eq!(found.commit(), None);
        fs::write(root.join(".git/HEAD"), bytes).expect("written");
        assert_eq!((found.branch(), found.commit()), (None, None));
        fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").expect("written");
    }
}

#[test]
fn long_lines_of_packed_references_are_passed_over() {
    let sandbox = Sandbox::new();
    let root = sandbox.committed("app");
    let hash = git(&root, &["rev-parse", "HEAD"]);
    fs::remove_file(root.join(".git/refs/heads/main")).expect("removed");
    let long = "x".repeat(3 << 20);
    let packed = format!(
        "{long} refs/heads/main\n\n \nshort\n{hash} refs/heads/mai\n{hash} refs/heads/main"
    );
    fs::write(root.join(".git/packed-refs"), packed).expect("written");
    let found = Repository::find(&root).expect("a repository");
    assert_eq!(found.commit(), Some(hash));
}

#[test]
fn damaged_worktree_records_are_left_out() {
    let sandbox = Sandbox::new();
    let root = sandbox.committed("app");
    let records = root.join(".git/worktrees");
    for (name, bytes) in [
        ("empty", &b""[..]),
        ("nul", b"/a\0b/.git"),
        ("blank", b"\n"),
    ] {
        fs::create_dir_all(records.join(name)).expect("a new folder");
        fs::write(records.join(name).join("gitdir"), bytes).expect("written");
    }
    fs::create_dir_all(records.join("none")).expect("a new folder");
    fs::write(records.join("file"), "x").expect("written");
    let found = Repository::find(&root).expect("a repository");
    assert_eq!(found.worktrees().len(), 1);
}

#[test]
fn foreign_references_that_git_cannot_read_give_nothing() {
    let sandbox = Sandbox::new();
    let root = sandbox.committed("app");
    let config = "[core]\nrepositoryformatversion = 1\n[extensions]\nrefstorage = unheard-of\n";
    fs::write(root.join(".git/config"), config).expect("written");
    let found = Repository::find(&root).expect("a repository");
    assert_eq!((found.branch(), found.commit()), (None, None));
}

#[cfg(unix)]
#[test]
fn pipes_are_never_opened() {
    use std::process::Command;
    let sandbox = Sandbox::new();
    let root = sandbox.committed("app");
    let pipe = |path: &std::path::Path| {
        let status = Command::new("mkfifo")
            .arg(path)
            .status()
            .expect("mkfifo runs");
        assert!(status.success());
    };
    let inside = root.join("inside");
    fs::create_dir(&inside).expect("a new folder");
    pipe(&inside.join(".git"));
    let found = Repository::find(&inside).expect("the repository above");
    assert_eq!(found.root(), root);

    for name in ["HEAD", "config", "commondir", "packed-refs"] {
        let path = root.join(".git").join(name);
        let _ = fs::remove_file(&path);
        pipe(&path);
    }
    let found = Repository::find(&root).expect("a repository");
    assert_eq!((found.branch(), found.commit()), (None, None));
    assert_eq!(found.worktrees().len(), 1);
}

#[cfg(unix)]
#[test]
fn unreadable_folders_are_walked_past() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = Sandbox::new();
    let root = sandbox.committed("app");
    let mode = |mode| fs::set_permissions(root.join(".git"), fs::Permissions::from_mode(mode));
    mode(0o000).expect("closed");
    // Whoever may read everything still sees all facts.
    let found = Repository::find(&root).expect("a repository");
    assert_eq!(found.root(), root);
    let _ = (found.branch(), found.commit(), found.worktrees());
    mode(0o700).expect("opened");
}

#[cfg(unix)]
#[test]
fn links_in_a_circle_are_not_a_repository() {
    use std::os::unix::fs::symlink;
    let sandbox = Sandbox::new();
    let root = sandbox.join("app");
    fs::create_dir(&root).expect("a new folder");
    symlink(".git", root.join(".git")).expect("a link");
    assert_eq!(Repository::find(&root), None);
}

#[cfg(unix)]
#[test]
fn branch_names_need_not_be_text() {
    let sandbox = Sandbox::new();
    let root = sandbox.committed("app");
    fs::write(root.join(".git/HEAD"), b"ref: refs/heads/caf\xe9\n").expect("written");
    let found = Repository::find(&root).expect("a repository");
    assert_eq!(found.branch().as_deref(), Some("caf\u{fffd}"));
}
