//! Running a shell command with a time limit, ending it with all its children, and what other
//! programs are given of this one's variables.
//!
//! A command that is over, or out of time, leaves nothing running: also not what it started in the
//! background, in another process group or in another session.
//!
//! ```
//! use std::path::Path;
//! use std::time::Duration;
//! use rethread_run::{End, shell};
//!
//! let ran = shell("echo oops >&2; exit 3", Path::new("."), Some(Duration::from_secs(10)));
//! assert_eq!(ran.end, End::Exited(3));
//! assert_eq!(ran.errors, "oops\n");
//! ```

mod browser;
mod descendants;
mod environment;

pub use browser::{BrowserCall, browser_calls, start_browser};
pub use environment::{VARIABLES, remove_private_variables};

use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::descendants::ProcessFamily;

/// How much of what a command writes to stderr is kept.
const KEPT: usize = 8 * 1024;

/// How long to wait for the last words of a command that is over.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// What became of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// How it ended.
    pub end: End,
    /// The beginning of what it wrote to stderr; what is not UTF-8 is U+FFFD.
    pub errors: String,
    /// How many processes it left behind, which were ended.
    pub left_behind: usize,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// With this exit code.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// It ran longer than it may, and was ended.
    TimedOut,
    /// It could not be started.
    NotStarted(String),
}

impl End {
    /// Whether it ended well.
    pub fn is_success(&self) -> bool {
        *self == Self::Exited(0)
    }
}

/// Runs a command line in the system's shell, in this folder, without input, and with the variables
/// that [`scrub`] leaves. What it prints is read and dropped, but for the beginning of its errors.
///
/// On Linux this process adopts orphans meanwhile, so that none escapes. A program that starts
/// other processes of its own at the same time should not use this.
pub fn shell(command: &str, folder: &Path, limit: Option<Duration>) -> Ran {
    let mut family = ProcessFamily::adopt_orphans();
    let started = prepare_command(command, folder).spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(e) => {
            let end = End::NotStarted(e.to_string());
            return Ran {
                end,
                errors: String::new(),
                left_behind: 0,
            };
        }
    };
    let errors = keep_beginning(child.stderr.take());
    drain_stream(child.stdout.take());
    let status = wait_until(&mut child, limit);
    let left_behind = family.end_all(child.id());
    let end = status.map_or(End::TimedOut, end_of);
    if status.is_none() {
        // The family is ended; this only collects what is left of the child.
        let _ = child.kill();
        let _ = child.wait();
    }
    let errors = errors.recv_timeout(LAST_WORDS).unwrap_or_default();
    Ran {
        end,
        errors: String::from_utf8_lossy(&errors).into_owned(),
        left_behind,
    }
}

fn prepare_command(line: &str, folder: &Path) -> Command {
    let mut command = shell_command(line);
    remove_private_variables(&mut command);
    command
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

#[cfg(unix)]
fn shell_command(line: &str) -> Command {
    use std::os::unix::process::CommandExt as _;
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(line).process_group(0);
    command
}

#[cfg(windows)]
fn shell_command(line: &str) -> Command {
    use std::os::windows::process::CommandExt as _;
    let mut command = Command::new("cmd.exe");
    command
        .args(["/d", "/s", "/c"])
        .raw_arg(format!("\"{line}\""));
    command
}

/// Waits until the command ends or its time is up.
fn wait_until(child: &mut Child, limit: Option<Duration>) -> Option<ExitStatus> {
    let Some(limit) = limit else {
        return child.wait().ok();
    };
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        let left = limit.saturating_sub(start.elapsed());
        if left.is_zero() {
            return None;
        }
        thread::sleep(pause.min(left));
        pause = (pause * 2).min(Duration::from_millis(25));
    }
}

#[cfg(unix)]
fn end_of(status: ExitStatus) -> End {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exited(code),
        (None, signal) => End::Signalled(signal.unwrap_or(0)),
    }
}

#[cfg(not(unix))]
fn end_of(status: ExitStatus) -> End {
    End::Exited(status.code().unwrap_or(-1))
}

/// Reads a stream to its end in a thread of its own, so that the command never waits for us, and
/// gives its beginning.
fn keep_beginning(stream: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    // Without a thread the command may have to wait for us, and its errors stay unread.
    let _ = thread::Builder::new().spawn(move || {
        let mut kept = Vec::new();
        if let Some(mut stream) = stream {
            let _ = stream.by_ref().take(KEPT as u64).read_to_end(&mut kept);
            let _ = io::copy(&mut stream, &mut io::sink());
        }
        // Nobody may be waiting any more.
        let _ = sender.send(kept);
    });
    receiver
}

fn drain_stream(stream: Option<impl Read + Send + 'static>) {
    let _ = thread::Builder::new().spawn(move || {
        if let Some(mut stream) = stream {
            let _ = io::copy(&mut stream, &mut io::sink());
        }
    });
}
