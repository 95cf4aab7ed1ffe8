//! Asking the `git` program, where the files cannot tell.

use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// An answer is one name or one hash.
const ANSWER_LIMIT: u64 = 4 << 10;
/// Long enough for a cold start; short enough for a list that must go on.
const PATIENCE: Duration = Duration::from_secs(5);

/// Variables that would make git look at another repository.
const MISLEADING: [&str; 10] = [
    "GIT_DIR",
    "GIT_COMMON_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
];

/// The answer of `git` about a git folder, without its line end. `None` when git
/// is not installed, says no, or takes too long.
pub(crate) fn ask(git_dir: &Path, arguments: &[&str]) -> Option<Vec<u8>> {
    let mut child = without_misleading(Command::new("git"))
        .arg("--git-dir")
        .arg(git_dir)
        .args(arguments)
        .current_dir(git_dir)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    if !succeeds(&mut child) {
        return None;
    }
    let mut answer = Vec::new();
    let stdout = child.stdout.take()?;
    stdout.take(ANSWER_LIMIT).read_to_end(&mut answer).ok()?;
    let answer = answer.trim_ascii_end();
    (!answer.is_empty()).then(|| answer.to_vec())
}

/// The command without variables that would make git look elsewhere.
pub(crate) fn without_misleading(mut command: Command) -> Command {
    for name in MISLEADING {
        command.env_remove(name);
    }
    command
}

/// Waits for the program to end well; stops it when patience ends. The answer is
/// far smaller than a pipe holds, so it need not be read meanwhile.
fn succeeds(child: &mut Child) -> bool {
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
