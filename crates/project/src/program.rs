//! The `git_command` program, started so that nothing of a repository's own can run.
//!
//! Whoever wrote a repository also wrote its configuration, and git runs much of what that says:
//! hooks, monitors, filters, pagers, programs that fetch. The user's own configuration is the user's,
//! and counts.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rethread_run::remove_private_variables;

/// An answer is one name or one hash.
const ANSWER_LIMIT: u64 = 4 << 10;
/// Long enough for a cold start; short enough for a list that must go on.
const PATIENCE: Duration = Duration::from_secs(5);

/// Settings that stand above those of a repository. Filters have names of their own, and are left off
/// where files are looked at: see [`crate::settings`].
const ABOVE: [&str; 8] = [
    // Where there is nothing: no hook runs.
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.askPass=",
    // What variables say about protocols stands above this; older versions of git know only one.
    "protocol.allow=never",
    "submodule.recurse=false",
    // A folder that merely looks like a git folder is none.
    "safe.bareRepository=explicit",
    // What a repository may not switch off.
    "core.protectHFS=true",
    "core.protectNTFS=true",
];

/// Variables with which git fetches nothing, asks nobody, and writes nothing that it need not.
const VARIABLES: [(&str, &str); 6] = [
    // No protocol at all: neither the repository's configuration nor a remote's address can add one.
    ("GIT_ALLOW_PROTOCOL", ""),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_EDITOR", ":"),
    ("GIT_PAGER", "cat"),
];

/// Git in a folder that has a `.git`, so that nothing of that repository's own runs.
///
/// Git finds the repository by itself: to name it would skip git's check of whom it belongs to. It does
/// not look further up where this `.git` is damaged.
pub(crate) fn git_command(holder: &Path) -> Command {
    let mut git = Command::new("git");
    remove_private_variables(&mut git);
    git.envs(VARIABLES).stdin(Stdio::null());
    let above = holder.parent().map(|parent| std::env::join_paths([parent]));
    if let Some(Ok(above)) = above {
        git.env("GIT_CEILING_DIRECTORIES", above);
    }
    git.arg("-C").arg(holder).arg("--no-pager");
    for setting in ABOVE {
        git.args(["-c", setting]);
    }
    git
}

/// The answer of `git_command` in a folder that has a `.git`, without its line end. `None` when git
/// is not installed, says no, or takes too long.
pub(crate) fn ask_git<S: AsRef<OsStr>>(
    holder: &Path,
    arguments: impl IntoIterator<Item = S>,
) -> Option<Vec<u8>> {
    let mut child = git_command(holder)
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    if !wait_for_success(&mut child) {
        return None;
    }
    let mut answer = Vec::new();
    let stdout = child.stdout.take()?;
    stdout.take(ANSWER_LIMIT).read_to_end(&mut answer).ok()?;
    let answer = answer.trim_ascii_end();
    (!answer.is_empty()).then(|| answer.to_vec())
}

/// Waits for the program to end well; stops it when patience ends. The answer is
/// far smaller than a pipe holds, so it need not be read meanwhile.
fn wait_for_success(child: &mut Child) -> bool {
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if start.elapsed() < PATIENCE => {
                thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(20));
            }
            Ok(None) | Err(_) => {
                // A program that is gone by now needs no ending.
                let _ = child.kill();
                let _ = child.wait();
                return false;
            }
        }
    }
}
