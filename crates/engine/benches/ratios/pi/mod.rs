//! Sessions of pi: our session manager against pi's own, each in a process of its own.
//!
//! Two variables say where pi is: `RETHREAD_JUDGE_NODE_24` names a `node`, and
//! `RETHREAD_JUDGE_PI_0_87` the file `dist/core/session-manager.js` of its package from npm.

mod child;
pub(crate) mod sessions;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) use child::run as run_child;

use crate::benchmark::{Aim, Benchmark, Outcome, Pair, Side};
use crate::clock::Clock;
use crate::long::{self, Agent, Kept};
use crate::process::{self, Used};

const NODE: &str = "RETHREAD_JUDGE_NODE_24";
const MANAGER: &str = "RETHREAD_JUDGE_PI_0_87";

pub(crate) static CONTEXT: Benchmark = Benchmark {
    name: "pi-context",
    subject: "open 100 MB and build the context",
    peer: "the same by pi 0.87",
    aim: Aim::SpeedAtLeast(5.0),
    clock: Clock::ProcessCpu,
    runs: 1,
    make: make_context,
};

pub(crate) static MEMORY: Benchmark = Benchmark {
    name: "pi-memory",
    subject: "open 100 MB and build the context",
    peer: "the same by pi 0.87",
    aim: Aim::MemoryAtMost(0.33),
    clock: Clock::ProcessPeak,
    runs: 1,
    make: make_context,
};

pub(crate) static LIST: Benchmark = Benchmark {
    name: "pi-list",
    subject: "list 2,000 sessions",
    peer: "the same by pi 0.87",
    aim: Aim::SpeedAtLeast(10.0),
    clock: Clock::ProcessCpu,
    runs: 1,
    make: make_list,
};

pub(crate) static WRITE_MEMORY: Benchmark =
    long::written_benchmark("pi-write-500mb", |home| long::written_pair(&LONG, home));

/// A very long session.
pub(crate) static LONG: Agent = Agent {
    name: "pi",
    id: "5f0c5f0c-0000-4000-8000-000000000004",
    file: ".pi/agent/sessions/--home-me-app--/2026-01-01T00-00-00-000Z_5f0c5f0c-0000-4000-8000-000000000004.jsonl",
    kept: Kept::Lines(sessions::line),
};

fn make_context(folder: &Path) -> Outcome<Box<dyn Pair>> {
    let pi = Pi::find()?;
    let path = folder.join("long.jsonl");
    let messages = sessions::long(&path)?;
    Ok(Box::new(Processes::new(pi, "context", path, messages)?))
}

fn make_list(folder: &Path) -> Outcome<Box<dyn Pair>> {
    let pi = Pi::find()?;
    let count = sessions::many(folder)?;
    Ok(Box::new(Processes::new(pi, "list", folder.into(), count)?))
}

/// The real program.
struct Pi {
    node: OsString,
    manager: OsString,
}

impl Pi {
    fn find() -> Outcome<Self> {
        let find = |variable: &str| {
            let missing = format!("`{variable}` is not set; run `cargo xtask bench`");
            std::env::var_os(variable).ok_or(missing)
        };
        let (node, manager) = (find(NODE)?, find(MANAGER)?);
        Ok(Self { node, manager })
    }
}

/// The same task for both, each in a process of its own.
struct Processes {
    ours: PathBuf,
    pi: Pi,
    task: &'static str,
    path: PathBuf,
    /// What both must say: how many there are.
    count: String,
    used: Option<Used>,
}

impl Processes {
    fn new(pi: Pi, task: &'static str, path: PathBuf, count: u64) -> Outcome<Self> {
        Ok(Self {
            ours: std::env::current_exe()?,
            pi,
            task,
            path,
            count: count.to_string(),
            used: None,
        })
    }
}

impl Pair for Processes {
    fn run(&mut self, side: Side) -> Outcome {
        let mut command = match side {
            Side::Subject => {
                let mut command = Command::new(&self.ours);
                command.arg(child::FLAG);
                command
            }
            Side::Peer => {
                let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/ratios/pi/pi.mjs");
                let mut command = Command::new(&self.pi.node);
                command.arg(script).arg(&self.pi.manager);
                command
            }
        };
        command.arg(self.task).arg(&self.path);
        let (used, said) = process::run(&mut command, b"")?;
        if said.trim() != self.count {
            return Err(format!("{side:?} said {}", said.trim()).into());
        }
        self.used = Some(used);
        Ok(())
    }

    fn used(&self) -> Option<Used> {
        self.used
    }
}
