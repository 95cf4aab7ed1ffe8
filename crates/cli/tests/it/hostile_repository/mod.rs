//! Nothing that somebody put into a repository runs, whichever command comes near it.
#![cfg(unix)]

mod commands;
mod filters;
mod trap;
mod tricks;
mod trust;

use self::commands::{commands, may_end};
use self::trap::Trap;
use self::tricks::Trick;

/// Plain git falls for the trick, and none of our commands does.
fn nothing_runs(trick: &Trick) {
    let mut trap = Trap::new(trick.init);
    (trick.set)(&mut trap);
    assert_eq!(trap.sprung(), None, "the trap is not set yet");
    (trick.control)(&trap);
    assert!(trap.sprung().is_some(), "plain git does not fall for it");
    trap.touch();
    for args in commands(&trap) {
        let output = trap.run(&args);
        assert_eq!(trap.sprung(), None, "{args:?}: {output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("panicked"), "{args:?}: {said}");
    }
}

#[test]
fn without_a_trick_all_commands_do_their_work() {
    let trap = Trap::new(&[]);
    let mut failed = Vec::new();
    for args in commands(&trap) {
        let output = trap.run(&args);
        if !may_end(&args, output.status.code()) {
            failed.push(format!("{args:?}: {output:?}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

macro_rules! tricks {
    ($($name:ident: $trick:ident,)*) => {$(
        #[test]
        fn $name() {
            nothing_runs(&tricks::$trick);
        }
    )*};
}

tricks! {
    hooks: HOOKS,
    hooks_elsewhere: HOOKS_ELSEWHERE,
    fsmonitor: FSMONITOR,
    filter_smudge: FILTER_SMUDGE,
    filter_clean: FILTER_CLEAN,
    filter_process: FILTER_PROCESS,
    filter_with_a_sign: FILTER_WITH_A_SIGN,
    filter_that_is_no_text: FILTER_THAT_IS_NO_TEXT,
    filter_with_odd_letters: FILTER_WITH_ODD_LETTERS,
    included: INCLUDED,
    included_in_worktrees: INCLUDED_IN_WORKTREES,
    included_on_branches: INCLUDED_ON_BRANCHES,
    per_worktree: PER_WORKTREE,
    pager: PAGER,
    alias: ALIAS,
    promisor: PROMISOR,
    promised_file: PROMISED_FILE,
    ssh: SSH,
    upload_pack: UPLOAD_PACK,
    pointer: POINTER,
    link: LINK,
    variables: VARIABLES,
    variables_that_name_files: VARIABLES_THAT_NAME_FILES,
    variables_that_name_folders: VARIABLES_THAT_NAME_FOLDERS,
}

/// Older versions of git have no such references.
#[test]
fn references_in_tables() {
    let trick = &tricks::REFERENCES_IN_TABLES;
    let folder = tempfile::tempdir().unwrap();
    let mut init = std::process::Command::new("git");
    init.args(["init", "-q"]).args(trick.init);
    let made = init.current_dir(folder.path()).output().unwrap();
    if made.status.success() {
        nothing_runs(trick);
    }
}

/// Only root can give a repository away.
#[test]
fn of_another_user() {
    let owner = std::process::Command::new("id").arg("-u").output().unwrap();
    if owner.stdout == b"0\n" {
        nothing_runs(&tricks::OF_ANOTHER_USER);
    }
}
