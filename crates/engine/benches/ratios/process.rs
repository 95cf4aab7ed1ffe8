//! Work that is done by a process of its own, and what that process took.

use std::process::{Command, Stdio};
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

/// Runs a program, which must succeed and say exactly this.
pub(crate) fn run(command: &mut Command, says: &str) -> Outcome<Used> {
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    // The few words that it says fit into a pipe, but it may wait for somebody to read them.
    let said = std::io::read_to_string(child.stdout.take().ok_or("no output")?)?;
    let ended = child.wait4()?;
    if !ended.status.success() || said.trim() != says {
        let said = said.trim();
        return Err(format!("{command:?} ended with {}, and said {said}", ended.status).into());
    }
    Ok(Used {
        cpu: ended.rusage.utime + ended.rusage.stime,
        peak: ended.rusage.maxrss,
    })
}
