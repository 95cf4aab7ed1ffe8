//! The memory that a very long session takes: in a list, and where its last entries are shown. A
//! process of its own does it, so that its peak is known.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rethread_engine::{Filter, Part, Sort, list, show};
use rethread_formats::Env;
use rethread_model::Bodies as _;

use crate::benchmark::{Aim, Benchmark, Outcome, Pair, Side};
use crate::clock::Clock;
use crate::messages::Messages;
use crate::process::{self, Used};
use crate::{claude, codex, gemini, opencode};

/// How long the session is, and what it may take.
const LENGTH: u64 = 2_000_000_000;
const MEMORY: u64 = 128 << 20;

/// The first argument of a process that does our side.
const FLAG: &str = "--long";

/// How many entries are shown.
const LAST: usize = 20;

/// How an agent writes a very long session.
pub(crate) struct Agent {
    /// Its name among the agents.
    pub(crate) name: &'static str,
    /// The session.
    pub(crate) id: &'static str,
    /// Its file, in a home.
    pub(crate) file: &'static str,
    /// How it is kept there.
    pub(crate) kept: Kept,
}

/// How a very long session is kept.
pub(crate) enum Kept {
    /// As lines, of which each is the record at a place.
    Lines(fn(&mut Messages, u64) -> Outcome<Vec<u8>>),
    /// In another way, by what writes so many bytes of it.
    Otherwise(fn(&Path, &mut Messages, u64) -> Outcome),
}

static AGENTS: [&Agent; 4] = [&claude::LONG, &codex::LONG, &gemini::LONG, &opencode::LONG];

/// What is done with the session.
#[derive(Clone, Copy)]
pub(crate) enum Task {
    List,
    Show,
}

impl Task {
    fn word(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Show => "show",
        }
    }
}

/// What the memory of a very long session is held against.
pub(crate) const fn benchmark(
    name: &'static str,
    subject: &'static str,
    make: fn(&Path) -> Outcome<Box<dyn Pair>>,
) -> Benchmark {
    Benchmark {
        name,
        subject,
        peer: "128 MiB of memory",
        aim: Aim::MemoryAtMost(1.0),
        clock: Clock::ProcessPeak,
        runs: 1,
        make,
    }
}

/// The session of an agent, in a home of its own.
pub(crate) fn pair(agent: &'static Agent, task: Task, home: &Path) -> Outcome<Box<dyn Pair>> {
    let path = home.join(agent.file);
    fs::create_dir_all(path.parent().unwrap_or(home))?;
    write(agent, &path)?;
    Ok(Box::new(Long {
        agent,
        task,
        home: home.to_owned(),
        used: None,
    }))
}

fn write(agent: &Agent, path: &Path) -> Outcome {
    let mut said = Messages::new(3);
    let line = match agent.kept {
        Kept::Lines(line) => line,
        Kept::Otherwise(write) => {
            write(path, &mut said, LENGTH)?;
            File::open(path)?.sync_all()?;
            return Ok(());
        }
    };
    let file = File::create(path)?;
    let mut out = BufWriter::with_capacity(1 << 20, &file);
    let mut written = 0;
    let mut n = 0;
    while written < LENGTH {
        let mut line = line(&mut said, n)?;
        line.push(b'\n');
        out.write_all(&line)?;
        written += line.len() as u64;
        n += 1;
    }
    out.flush()?;
    // Else the system goes on writing while we measure.
    file.sync_all()?;
    Ok(())
}

struct Long {
    agent: &'static Agent,
    task: Task,
    home: PathBuf,
    used: Option<Used>,
}

impl Pair for Long {
    fn run(&mut self, side: Side) -> Outcome {
        self.used = Some(match side {
            Side::Subject => {
                let mut command = Command::new(std::env::current_exe()?);
                command.args([FLAG, self.agent.name, self.task.word()]);
                process::run(command.arg(&self.home), b"")?.0
            }
            Side::Peer => Used {
                cpu: Duration::ZERO,
                peak: MEMORY,
            },
        });
        Ok(())
    }

    fn used(&self) -> Option<Used> {
        self.used
    }
}

/// Does the task that the arguments name, if they ask for one.
pub(crate) fn run_child(args: &[String]) -> Option<Outcome> {
    match args {
        [flag, agent, task, home] if flag == FLAG => Some(work(agent, task, home.as_ref())),
        _ => None,
    }
}

fn work(agent: &str, task: &str, home: &Path) -> Outcome {
    let agent = AGENTS.iter().find(|a| a.name == agent);
    let agent = agent.ok_or("there is no such agent")?;
    let home = fs::canonicalize(home)?;
    let mut env = Env::from_variables(
        std::collections::BTreeMap::new(),
        Some(home.clone()),
        home.clone(),
    )?;
    env.use_homes(std::slice::from_ref(&home));
    let is_whole = if task == Task::List.word() {
        let listed = list(&env, &Filter::default(), Sort::Updated, &|_, _| {});
        listed.sessions.iter().any(|s| s.counts.messages > 100_000)
    } else {
        let shown = show(&env, agent.id, Part::Active, Some(LAST))?;
        let bodies = shown.entries.iter().map(|ix| shown.conversation.body(*ix));
        std::hint::black_box(bodies.count()) == LAST
    };
    if !is_whole {
        return Err("the session is not what it should be".into());
    }
    println!("done");
    Ok(())
}
