//! The time that something takes.

use std::time::{Duration, Instant};

/// Which time is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// What the processors did for this process, in it and in the system; on a machine that is
    /// shared, all else is noise.
    Cpu,
    /// What passed on the wall: for work that waits for a disk.
    Wall,
}

impl Clock {
    /// How long `work` takes.
    pub(crate) fn time<T>(self, work: impl FnOnce() -> T) -> (Duration, T) {
        let begun = Instant::now();
        let cpu_begun = cpu();
        let done = work();
        let cpu = cpu().zip(cpu_begun);
        let cpu = cpu.and_then(|(end, begin)| end.checked_sub(begin));
        let passed = match self {
            Self::Cpu => cpu.unwrap_or_else(|| begun.elapsed()),
            Self::Wall => begun.elapsed(),
        };
        (passed, done)
    }
}

/// Processor time of this process up to now.
#[cfg(unix)]
fn cpu() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).ok()?;
    Some(Duration::new(seconds, u32::try_from(time.tv_nsec).ok()?))
}

/// Nobody asked for it here yet: the wall must do.
#[cfg(not(unix))]
fn cpu() -> Option<Duration> {
    None
}
