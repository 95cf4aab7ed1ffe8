//! The memory that a very long session takes: in a list, where its last entries are shown, and where
//! something is added to it or made of it. A process of its own does it, so that its peak is known.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rethread_disk::Durability;
use rethread_engine::{Filter, Part, Sort, find, fork_session, list, rename_session, show};
use rethread_formats::{Env, Fork, Source, by_name};
use rethread_model::Bodies as _;

use crate::benchmark::{Aim, Benchmark, Outcome, Pair, Side};
use crate::clock::Clock;
use crate::messages::Messages;
use crate::process::{self, Used};
use crate::store::writing;
use crate::{append, claude, codex, gemini, opencode, pi};

/// How long the session is that is read, and what it may take.
const LENGTH: u64 = 2_000_000_000;
const MEMORY: u64 = 128 << 20;

/// How long the session is that is written to, and what it may take: so much, its longest record, and
/// so much for each of its records.
const WRITTEN_LENGTH: u64 = 500_000_000;
const WRITTEN_MEMORY: u64 = 64 << 20;
const WRITTEN_RECORD: u64 = 48;

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

static AGENTS: [&Agent; 5] = [
    &pi::LONG,
    &claude::LONG,
    &codex::LONG,
    &gemini::LONG,
    &opencode::LONG,
];

/// What is done with the session.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    List,
    Show,
    Append,
    Rename,
    Fork,
}

/// All that writes.
const WRITING: &[Task] = &[Task::Append, Task::Rename, Task::Fork];

impl Task {
    fn word(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Show => "show",
            Self::Append => "append",
            Self::Rename => "rename",
            Self::Fork => "fork",
        }
    }

    fn named(word: &str) -> Option<Self> {
        let all = [Self::List, Self::Show].iter().chain(WRITING).copied();
        all.into_iter().find(|task| task.word() == word)
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

/// What the memory is held against that it takes to add to a session of 500 MB, to name it and to
/// fork it.
pub(crate) const fn written_benchmark(
    name: &'static str,
    make: fn(&Path) -> Outcome<Box<dyn Pair>>,
) -> Benchmark {
    Benchmark {
        name,
        subject: "append to, rename and fork 500 MB",
        peer: "64 MiB, the longest record, 48 bytes each",
        aim: Aim::MemoryAtMost(1.0),
        clock: Clock::ProcessPeak,
        runs: 1,
        make,
    }
}

/// The session of an agent, in a home of its own.
pub(crate) fn pair(agent: &'static Agent, task: Task, home: &Path) -> Outcome<Box<dyn Pair>> {
    write(agent, home, LENGTH)?;
    Ok(Box::new(Long {
        agent,
        tasks: vec![task],
        home: home.to_owned(),
        most: MEMORY,
        used: None,
    }))
}

/// As [`pair`], for all that writes.
pub(crate) fn written_pair(agent: &'static Agent, home: &Path) -> Outcome<Box<dyn Pair>> {
    let written = write(agent, home, WRITTEN_LENGTH)?;
    let records = written.count.saturating_mul(WRITTEN_RECORD);
    Ok(Box::new(Long {
        agent,
        tasks: WRITING.to_vec(),
        home: home.to_owned(),
        most: WRITTEN_MEMORY + written.longest + records,
        used: None,
    }))
}

/// Which records were written.
#[derive(Default)]
struct Written {
    count: u64,
    longest: u64,
}

fn write(agent: &Agent, home: &Path, length: u64) -> Outcome<Written> {
    let path = home.join(agent.file);
    fs::create_dir_all(path.parent().unwrap_or(home))?;
    let mut said = Messages::new(3);
    let mut written = Written::default();
    let line = match agent.kept {
        Kept::Lines(line) => line,
        Kept::Otherwise(write) => {
            write(&path, &mut said, length)?;
            File::open(path)?.sync_all()?;
            return Ok(written);
        }
    };
    let file = File::create(path)?;
    let mut out = BufWriter::with_capacity(1 << 20, &file);
    let mut bytes = 0;
    while bytes < length {
        let mut line = line(&mut said, written.count)?;
        line.push(b'\n');
        out.write_all(&line)?;
        bytes += line.len() as u64;
        written.count += 1;
        written.longest = written.longest.max(line.len() as u64);
    }
    out.flush()?;
    // Else the system goes on writing while we measure.
    file.sync_all()?;
    Ok(written)
}

struct Long {
    agent: &'static Agent,
    tasks: Vec<Task>,
    home: PathBuf,
    /// How much memory they may take.
    most: u64,
    used: Option<Used>,
}

impl Long {
    /// What a process took that did a task.
    fn work(&self, task: Task) -> Outcome<Used> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args([FLAG, self.agent.name, task.word()]);
        Ok(process::run(command.arg(&self.home), b"")?.0)
    }
}

impl Pair for Long {
    fn run(&mut self, side: Side) -> Outcome {
        self.used = Some(match side {
            Side::Subject => {
                let mut used = Used {
                    cpu: Duration::ZERO,
                    peak: 0,
                };
                for task in &self.tasks {
                    let one = self.work(*task)?;
                    used.cpu += one.cpu;
                    used.peak = used.peak.max(one.peak);
                }
                used
            }
            Side::Peer => Used {
                cpu: Duration::ZERO,
                peak: self.most,
            },
        });
        Ok(())
    }

    fn rounds(&self) -> usize {
        // To write takes long, and memory is nearly the same in each.
        if self.tasks.len() > 1 { 3 } else { 9 }
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
    let w = writing(&env, Durability::None);
    let is_whole = match Task::named(task).ok_or("there is no such task")? {
        Task::List => {
            let listed = list(&env, &Filter::default(), Sort::Updated, &|_, _| {})?;
            listed.sessions.iter().any(|s| s.counts.messages > 100_000)
        }
        Task::Show => {
            let mut shown = show(&env, agent.id, Part::Active)?;
            shown.keep_last_messages(LAST);
            let bodies = shown.entries.iter().map(|ix| shown.conversation.body(*ix));
            std::hint::black_box(bodies.count()) == LAST
        }
        Task::Append => {
            let message = append::text("And then?".to_owned());
            let added = rethread_engine::append_messages(&w, &find(&env, agent.id)?, &[message])?;
            added.ids.iter().all(Result::is_ok)
        }
        Task::Rename => rename_session(&w, agent.id, "A long story")?.is_empty(),
        Task::Fork => {
            let to = Fork {
                cwd: Some(home.clone()),
                ..Fork::default()
            };
            let made = fork_session(&w, agent.id, None, to)?;
            let is_copied = fs::metadata(&made.path)?.len() > WRITTEN_LENGTH / 2;
            // Else the disk holds one more for each round.
            match agent.kept {
                Kept::Lines(_) => fs::remove_file(&made.path)?,
                Kept::Otherwise(_) => {
                    let format = by_name(agent.name).ok_or("there is no such format")?;
                    let copy = Source::new(format, made.id, made.path);
                    format.store().remove(&copy, true)?;
                }
            }
            is_copied
        }
    };
    if !is_whole {
        return Err("the session is not what it should be".into());
    }
    println!("done");
    Ok(())
}
