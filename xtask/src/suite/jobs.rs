//! Running several programs beside each other, with the output of each in one piece.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};
use tempfile::NamedTempFile;

/// How long to wait before looking again what a job printed.
const PAUSE: Duration = Duration::from_millis(50);

/// A program to run.
pub(crate) struct TestJob {
    /// What is printed above its output.
    pub(crate) title: String,
    /// How it is started.
    pub(crate) command: Command,
}

/// Runs all jobs, at most so many at a time, and gives the titles of those that failed.
pub(crate) fn run_all(jobs: Vec<TestJob>, at_once: usize) -> Result<Vec<String>> {
    let screen = Screen::new(jobs.len());
    let left: VecDeque<(usize, TestJob)> = jobs.into_iter().enumerate().collect();
    let (left, failed) = (Mutex::new(left), Mutex::new(Vec::new()));
    let next = || lock(&left).pop_front();
    let work = || -> Result<()> {
        while let Some((index, job)) = next() {
            let title = job.title.clone();
            if !run(job, index, &screen)? {
                lock(&failed).push((index, title));
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..at_once).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| {
            let done = worker.join();
            done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })?;
    let mut failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    failed.sort();
    Ok(failed.into_iter().map(|(_, title)| title).collect())
}

/// Runs one job to its end. Whether it succeeded.
///
/// It prints into a file, not into a pipe: a pipe would be at its end only when all that the job
/// started is gone, too.
fn run(mut job: TestJob, index: usize, screen: &Screen) -> Result<bool> {
    screen.print(index, format!("\n== {}\n", job.title).as_bytes());
    let file = NamedTempFile::new().context("a file for output cannot be made")?;
    let mut printed = file.reopen()?;
    let (out, err) = (appending(&file)?, appending(&file)?);
    let command = job.command.stdin(Stdio::null()).stdout(out).stderr(err);
    let child = command.spawn();
    let mut child = child.with_context(|| format!("`{}` cannot be started", job.title))?;
    let status = loop {
        let ended = child.try_wait()?;
        let mut new = Vec::new();
        printed.read_to_end(&mut new)?;
        screen.print(index, &new);
        if let Some(status) = ended {
            break status;
        }
        thread::sleep(PAUSE);
    };
    if status.code().is_none() {
        screen.print(index, format!("it ended with {status}\n").as_bytes());
    }
    screen.close(index);
    Ok(status.success())
}

/// The file, for writing behind what anybody wrote.
fn appending(file: &NamedTempFile) -> Result<File> {
    Ok(File::options().append(true).open(file.path())?)
}

/// What is shown of several outputs: the first that is not at its end as it comes, those behind it
/// when it is their turn.
struct Screen(Mutex<Turns>);

struct Turns {
    /// The output that is shown as it comes.
    turn: usize,
    /// What the others printed so far.
    waiting: Vec<Vec<u8>>,
    /// Which outputs are at their end.
    closed: Vec<bool>,
}

impl Screen {
    fn new(outputs: usize) -> Self {
        Self(Mutex::new(Turns {
            turn: 0,
            waiting: vec![Vec::new(); outputs],
            closed: vec![false; outputs],
        }))
    }

    fn print(&self, index: usize, text: &[u8]) {
        let mut turns = lock(&self.0);
        if turns.turn == index {
            show(text);
        } else if let Some(waiting) = turns.waiting.get_mut(index) {
            waiting.extend_from_slice(text);
        }
    }

    fn close(&self, index: usize) {
        let mut turns = lock(&self.0);
        if let Some(closed) = turns.closed.get_mut(index) {
            *closed = true;
        }
        while turns.closed.get(turns.turn) == Some(&true) {
            turns.turn += 1;
            let turn = turns.turn;
            if let Some(waiting) = turns.waiting.get_mut(turn) {
                show(&std::mem::take(waiting));
            }
        }
    }
}

/// Prints bytes as they are. Nobody is told when nobody reads.
fn show(text: &[u8]) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text).and_then(|()| out.flush());
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(title: &str, script: &str) -> TestJob {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        TestJob {
            title: title.to_owned(),
            command,
        }
    }

    #[test]
    fn those_that_fail_are_named_in_order_and_all_run() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ran");
        let script = format!("echo x >> '{}'; exit $((", file.display());
        let jobs = ["1", "0", "3", "0"].iter().enumerate();
        let jobs = jobs.map(|(n, code)| shell(&format!("job {n}"), &format!("{script}{code}))")));
        assert_eq!(run_all(jobs.collect(), 2).unwrap(), ["job 0", "job 2"]);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "x\n".repeat(4));
    }

    #[test]
    fn jobs_run_beside_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe").display().to_string();
        let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        // Each waits for the other: one after the other would wait for ever.
        let jobs = vec![
            shell("writer", &format!("echo word > '{pipe}'")),
            shell("reader", &format!("read word < '{pipe}'")),
        ];
        assert!(run_all(jobs, 2).unwrap().is_empty());
    }

    #[test]
    fn what_a_job_leaves_running_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe").display().to_string();
        let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let jobs = vec![shell("parent", &format!("cat '{pipe}' &"))];
        assert!(run_all(jobs, 1).unwrap().is_empty());
        // What was left running ends now.
        std::fs::write(&pipe, "").unwrap();
    }

    #[test]
    fn one_that_cannot_be_started_is_an_error() {
        let jobs = vec![TestJob {
            title: "nothing".to_owned(),
            command: Command::new("/nowhere/at/all"),
        }];
        assert!(run_all(jobs, 1).is_err());
    }
}
