//! Every system call of every command that writes: the process is killed there, or the call fails;
//! and every place at which a file may grow no further.
//!
//! Whatever happens, each file is old or new, what was acknowledged is there, the next command
//! needs no repair, and an error names the file.

mod agentuse;
mod call;
mod cases;
mod catalogue;
mod check;
mod check_worktrees;
mod copies;
mod logs;
mod search_index;
mod sweep;
mod sweeps;
mod trial;
mod worktrees;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, FileTimes};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};

use rethread_disk::is_temporary;
use tempfile::TempDir;

use crate::world::{World, is_catalogue};

/// Folders, and files with what is in them, without what killed processes left behind.
type Tree = BTreeMap<PathBuf, Option<Vec<u8>>>;

/// Files with what is in them.
type Files = Vec<(PathBuf, Vec<u8>)>;

/// What a disturbed command did and said.
#[derive(Debug)]
struct Said {
    code: Option<i32>,
    signal: Option<i32>,
    out: String,
    err: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            signal: output.status.signal(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// A world in memory, where there is such a place: nothing here depends on how slow a disk is.
pub(crate) fn world_in_memory() -> (World, Option<TempDir>) {
    let mut world = World::new();
    let disk = tempfile::tempdir_in("/dev/shm").ok();
    if let Some(disk) = &disk {
        world.root = fs::canonicalize(disk.path()).unwrap();
        world.home = world.root.join("home");
        world.project = world.root.join("shop");
        fs::create_dir(&world.home).unwrap();
        fs::create_dir(&world.project).unwrap();
    }
    (world, disk)
}

/// The binary, with another program in front of it.
pub(crate) fn wrapped(w: &World, wrapper: &[&str], args: &[&str]) -> Command {
    let plain = w.command(args);
    let Some((first, rest)) = wrapper.split_first() else {
        return plain;
    };
    let mut command = Command::new(first);
    command
        .args(rest)
        .arg(plain.get_program())
        .args(plain.get_args())
        .current_dir(&w.project)
        .env_clear()
        .envs(plain.get_envs().filter_map(|(k, v)| Some((k, v?))))
        .stdin(Stdio::null());
    command
}

/// Whether a program is there. Without it the tests are skipped, but not on a build machine.
pub(crate) fn is_there(program: &str) -> bool {
    let version = Command::new(program).arg("--version").output();
    if version.is_ok() {
        return true;
    }
    rethread_judges::skip_without(program);
    false
}

/// What is in a folder but for the catalogue, and how many temporary files and folders beside that.
fn look(root: &Path) -> (Tree, usize) {
    let (mut tree, mut left) = (Tree::new(), 0);
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            if is_temporary(&entry.file_name()) {
                left += 1;
                continue;
            }
            let path = entry.path();
            if is_catalogue(&path) {
                continue;
            }
            let name = path.strip_prefix(root).unwrap().to_owned();
            let is_folder = entry.file_type().unwrap().is_dir();
            let mut content = (!is_folder).then(|| fs::read(&path).unwrap());
            if let Some(content) = &mut content
                && name.ends_with("rethread/projects.jsonl")
            {
                // A project may be noted again when the list could not be read.
                let mut seen = BTreeSet::new();
                let lines = content.split_inclusive(|b| *b == b'\n');
                let once: Vec<&[u8]> = lines.filter(|line| seen.insert(*line)).collect();
                *content = once.concat();
            }
            if let Some(content) = &mut content
                && name.extension().is_some_and(|end| end == "trashinfo")
            {
                // By the clock of the machine.
                let lines = content.split_inclusive(|b| *b == b'\n');
                let timeless = lines.filter(|line| !line.starts_with(b"DeletionDate="));
                *content = timeless.flatten().copied().collect();
            }
            tree.insert(name, content);
            if is_folder {
                folders.push(path);
            }
        }
    }
    // Folders that hold nothing but the catalogue are a part of it.
    for folder in ["home/.cache/rethread", "home/.cache"].map(Path::new) {
        let below = |name: &PathBuf| name != folder && name.starts_with(folder);
        if !tree.keys().any(below) {
            tree.remove(folder);
        }
    }
    (tree, left)
}

/// Puts everything back as it was.
fn lay_out(root: &Path, tree: &Tree) {
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }
    // Old enough that nobody waits for the end of a torn line.
    let time = FileTimes::new().set_modified(SystemTime::now() - Duration::from_mins(1));
    for (name, content) in tree {
        let path = root.join(name);
        match content {
            None => fs::create_dir(path).unwrap(),
            Some(bytes) => {
                fs::write(&path, bytes).unwrap();
                let file = File::options().append(true).open(path).unwrap();
                file.set_times(time).unwrap();
            }
        }
    }
}

fn difference(a: &Tree, b: &Tree) -> String {
    let names: BTreeSet<&PathBuf> = a.keys().chain(b.keys()).collect();
    let differ = names
        .into_iter()
        .filter(|name| a.get(*name) != b.get(*name));
    format!("{:?} differ", differ.collect::<Vec<_>>())
}

/// The path with temporary names replaced by those that they are to become.
fn without_temporary(path: &Path) -> PathBuf {
    let parts = path.components().map(|part| {
        let Component::Normal(name) = part else {
            return PathBuf::from(part.as_os_str());
        };
        if !is_temporary(name) {
            return PathBuf::from(name);
        }
        let name = name.to_str().unwrap();
        PathBuf::from(name[1..].rsplitn(4, '.').last().unwrap())
    });
    parts.collect()
}

macro_rules! cases {
    ($of:ident; $($name:ident: $case:ident,)*) => {
        $(mod $name {
            use super::$of::$case;
            use super::is_there;
            use super::trial::Trial;

            #[test]
            fn killed_at_every_call() {
                if is_there("strace") {
                    Trial::new(&$case).killed_everywhere();
                }
            }

            #[test]
            fn every_call_failing() {
                if is_there("strace") {
                    Trial::new(&$case).failing_everywhere();
                }
            }

            #[test]
            fn short_writes() {
                if is_there("prlimit") {
                    Trial::new(&$case).short_everywhere();
                }
            }
        })*
    };
}

cases! {
    cases;
    init: INIT,
    new: NEW,
    new_in_a_store: NEW_IN_A_STORE,
    append: APPEND,
    append_to_torn: APPEND_TO_TORN,
    append_image: APPEND_IMAGE,
    append_two: APPEND_TWO,
    replace: REPLACE,
    late_result: LATE_RESULT,
    rename: RENAME,
    fork: FORK,
    rm: RM,
}

cases! {
    agentuse;
    agentuse_new: NEW,
    agentuse_new_sub_agent: NEW_SUB_AGENT,
    agentuse_prompt: PROMPT,
    agentuse_answer: ANSWER,
    agentuse_message: MESSAGE,
    agentuse_replace: REPLACE,
}

cases! {
    copies;
    export: EXPORT,
    export_packed: EXPORT_PACKED,
    export_all_forms: EXPORT_ALL_FORMS,
    show_into_a_file: SHOW,
    show_into_a_folder: SHOW_RAW,
}

macro_rules! cases_killed {
    ($($name:ident: $of:ident::$case:ident,)*) => {
        $(mod $name {
            use super::$of::$case;
            use super::is_there;
            use super::trial::Trial;

            #[test]
            fn killed_at_every_call() {
                if is_there("strace") {
                    Trial::new(&$case).killed_everywhere();
                }
            }
        })*
    };
}

// What fails there, fails in the same functions as for threads.
cases_killed! {
    pi_append: logs::PI_APPEND,
    pi_branch: logs::PI_BRANCH,
    pi_label: logs::PI_LABEL,
    pi_rename: logs::PI_RENAME,
    pi_fork: logs::PI_FORK,
    pi_migrate: logs::PI_MIGRATE,
    claude_append: logs::CLAUDE_APPEND,
    claude_fork: logs::CLAUDE_FORK,
    codex_append: logs::CODEX_APPEND,
    codex_rename: logs::CODEX_RENAME,
    codex_fork: logs::CODEX_FORK,
    gemini_append: logs::GEMINI_APPEND,
    gemini_fork: logs::GEMINI_FORK,
    convert: cases::CONVERT,
}

macro_rules! sweeps {
    ($($name:ident: $sweep:ident,)*) => {
        mod swept {
            $(#[test]
            fn $name() {
                if super::is_there("strace") {
                    super::sweeps::$sweep.killed();
                }
            })*
        }
    };
}

sweeps! {
    opencode_convert: OPENCODE_CONVERT,
    opencode_new: OPENCODE_NEW,
    opencode_append: OPENCODE_APPEND,
    opencode_rename: OPENCODE_RENAME,
    opencode_fork: OPENCODE_FORK,
    opencode_rm: OPENCODE_RM,
    send_first: SEND_FIRST,
    send: SEND,
    reply: REPLY,
    restore: RESTORE,
    open: OPEN,
    open_again: OPEN_AGAIN,
    sample: SAMPLE,
    sample_here: SAMPLE_HERE,
    sample_copy: SAMPLE_COPY,
    remote: REMOTE,
    remote_changed: REMOTE_CHANGED,
}

mod rm_into_the_trash {
    use super::cases::RM_INTO_THE_TRASH;
    use super::is_there;
    use super::trial::Trial;

    #[test]
    fn killed_at_every_call() {
        if is_there("strace") {
            Trial::new(&RM_INTO_THE_TRASH).killed_everywhere();
        }
    }

    #[test]
    fn every_call_failing() {
        if is_there("strace") {
            Trial::new(&RM_INTO_THE_TRASH).failing_everywhere();
        }
    }
}

/// A conversion into several files that is killed before the last leaves none of them for ever.
#[test]
fn conversion_of_a_family_killed_at_every_call() {
    if is_there("strace") {
        trial::Trial::new(&logs::CONVERT_FAMILY).killed_in_a_family();
    }
}

macro_rules! cases_with_git {
    ($($name:ident: $case:ident,)*) => {
        $(mod $name {
            use super::is_there;
            use super::worktrees::{$case, GitTrial};

            #[test]
            fn killed_at_every_call() {
                if is_there("strace") {
                    GitTrial::new(&$case).killed_everywhere();
                }
            }

            #[test]
            fn every_call_failing() {
                if is_there("strace") {
                    GitTrial::new(&$case).failing_everywhere();
                }
            }
        })*
    };
}

cases_with_git! {
    trust_first: TRUST_FIRST,
    trust: TRUST,
    revoke: REVOKE,
    worktree_add: ADD,
    worktree_add_with_hooks: ADD_WITH_HOOKS,
    worktree_add_and_trust: ADD_AND_TRUST,
    new_in_a_worktree: NEW_IN_A_WORKTREE,
    worktree_remove: REMOVE,
    worktree_remove_without_force: REMOVE_WITHOUT_FORCE,
}

/// What is converted is written elsewhere first, so most of what can fail there fails without a
/// trace; here it is what happens on the way into the store.
#[test]
fn short_writes_of_conversions() {
    if is_there("prlimit") {
        trial::Trial::new(&cases::CONVERT).short_everywhere();
    }
}

#[test]
fn short_writes_of_what_is_trusted() {
    if is_there("prlimit") {
        for case in [
            &worktrees::TRUST_FIRST,
            &worktrees::TRUST,
            &worktrees::REVOKE,
        ] {
            worktrees::GitTrial::new(case).short_everywhere();
        }
    }
}
