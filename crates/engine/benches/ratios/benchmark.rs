//! What a benchmark is: two things that take turns, and how they should compare.

use std::fmt;
use std::path::Path;

use crate::clock::Clock;
use crate::process::Used;

/// What came of something that can go wrong.
pub(crate) type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// One comparison.
pub(crate) struct Benchmark {
    /// The name that people type.
    pub(crate) name: &'static str,
    /// What is measured.
    pub(crate) subject: &'static str,
    /// What it is measured against.
    pub(crate) peer: &'static str,
    /// How they should compare.
    pub(crate) aim: Aim,
    /// What is counted.
    pub(crate) clock: Clock,
    /// How often each side runs in one round: more where one run is short.
    pub(crate) runs: usize,
    /// Lays out in a folder what both sides need.
    pub(crate) make: fn(&Path) -> Outcome<Box<dyn Pair>>,
}

/// The two things that are compared.
pub(crate) trait Pair {
    /// Makes everything as it was before a side ran. Its time does not count.
    fn restore(&mut self, _: Side) -> Outcome {
        Ok(())
    }

    /// Does the work of one side.
    fn run(&mut self, side: Side) -> Outcome;

    /// How many rounds count: fewer where one takes long.
    fn rounds(&self) -> usize {
        9
    }

    /// What the process took that did the work last, where each side has one of its own.
    fn used(&self) -> Option<Used> {
        None
    }

    /// How many bytes there are of what was made last, where that is what counts.
    fn size(&self) -> Option<u64> {
        None
    }
}

/// One of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Subject,
    Peer,
}

/// How the two should compare.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Aim {
    /// The subject takes at most so many times as long as its peer.
    TimeAtMost(f64),
    /// The subject is at least so many times as fast as its peer.
    SpeedAtLeast(f64),
    /// The subject takes at most so many times the memory of its peer.
    MemoryAtMost(f64),
    /// What the subject makes is at most so many times as large as what its peer is about.
    SizeAtMost(f64),
    /// The subject's memory over its peer's, for information.
    MemoryKnown,
    /// The subject's time over its peer's, for information.
    Known,
}

impl Aim {
    /// The ratio that is printed.
    pub(crate) fn ratio(self, subject: f64, peer: f64) -> f64 {
        match self {
            Self::SpeedAtLeast(_) => peer / subject,
            _ => subject / peer,
        }
    }

    /// Whether a ratio is as it should be, where that was said.
    pub(crate) fn is_met(self, ratio: f64) -> Option<bool> {
        match self {
            Self::TimeAtMost(limit) | Self::MemoryAtMost(limit) | Self::SizeAtMost(limit) => {
                Some(ratio <= limit)
            }
            Self::SpeedAtLeast(limit) => Some(ratio >= limit),
            Self::MemoryKnown | Self::Known => None,
        }
    }
}

impl fmt::Display for Aim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimeAtMost(limit) => write!(f, "time at most {limit}"),
            Self::SpeedAtLeast(limit) => write!(f, "speed at least {limit}"),
            Self::MemoryAtMost(limit) => write!(f, "memory at most {limit}"),
            Self::SizeAtMost(limit) => write!(f, "size at most {limit}"),
            Self::MemoryKnown => f.write_str("memory, no aim"),
            Self::Known => f.write_str("time, no aim"),
        }
    }
}
