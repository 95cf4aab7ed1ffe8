//! Work that is done by a process of its own, and what that process took.

use std::fs::File;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use wait4::Wait4 as _;

use crate::benchmark::Outcome;

/// What a process took, from its start to its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Used {
    /// Processor time, in it and in the system.
    pub(crate) cpu: Duration,
    /// The most memory that it held at once, in bytes.
    pub(crate) peak: u64,
}

/// Runs a program with some input, which must succeed; what it took, and what it said.
pub(crate) fn run(command: &mut Command, input: &[u8]) -> Outcome<(Used, String)> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input)?;
    }
    // It may wait for somebody to read what it says.
    let said = std::io::read_to_string(child.stdout.take().ok_or("no output")?)?;
    Ok((end(child, command)?, said))
}

/// Runs a program that writes into a file, which must succeed; what it took.
pub(crate) fn run_into(command: &mut Command, out: File) -> Outcome<Used> {
    let child = command.stdin(Stdio::null()).stdout(out).spawn()?;
    end(child, command)
}

fn end(child: Child, command: &Command) -> Outcome<Used> {
    let ended = child.wait4()?;
    if !ended.status.success() {
        // Of many arguments the program alone says enough.
        let program = command.get_program().to_string_lossy();
        return Err(format!("`{program}` ended with {}", ended.status).into());
    }
    Ok(Used {
        cpu: ended.rusage.utime + ended.rusage.stime,
        peak: ended.rusage.maxrss,
    })
}
