//! What something takes.

use std::time::{Duration, Instant};

use crate::benchmark::{Outcome, Pair, Side};

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// What the processors did for this process, in it and in the system; on a machine that is
    /// shared, all else is noise.
    Cpu,
    /// What passed on the wall: for work that waits for a disk.
    Wall,
    /// What the processors did for the process that a side is, from its start to its end.
    ProcessCpu,
    /// The most memory that this process held at once.
    ProcessPeak,
    /// The bytes of what was made.
    Size,
}

impl Clock {
    /// How much the work of a side takes: seconds, or bytes.
    pub(crate) fn count(self, pair: &mut dyn Pair, side: Side) -> Outcome<f64> {
        let begun = Instant::now();
        let cpu_begun = cpu();
        pair.run(side)?;
        let passed = begun.elapsed();
        let cpu = cpu().zip(cpu_begun);
        let cpu = cpu.and_then(|(end, begin)| end.checked_sub(begin));
        let used = || pair.used().ok_or("nobody counted what the process took");
        Ok(match self {
            Self::Cpu => cpu.unwrap_or(passed).as_secs_f64(),
            Self::Wall => passed.as_secs_f64(),
            Self::ProcessCpu => used()?.cpu.as_secs_f64(),
            Self::ProcessPeak => bytes(used()?.peak),
            Self::Size => bytes(pair.size().ok_or("nobody counted what was made")?),
        })
    }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "the last bytes of so many say nothing"
)]
fn bytes(count: u64) -> f64 {
    count as f64
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
