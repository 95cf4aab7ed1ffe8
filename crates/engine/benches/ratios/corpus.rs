//! Real sessions of one agent, read whole and for a list, against a document model that parses the
//! same lines and keeps nothing. `RETHREAD_CORPUS` names the folder with the sessions.

use std::fs;
use std::path::{Path, PathBuf};

use rethread_formats::codex::Codex;
use rethread_formats::{Format, Source, Want};
use rethread_json::split_lines;
use rethread_model::{Bodies as _, EntryIx};

use crate::benchmark::{Aim, Benchmark, Outcome, Pair, Side};
use crate::clock::Clock;

/// Parsing by the others, as it is told.
const PEER: &str = "serde_json::Value of every line";

pub(crate) static CODEX_READ: Benchmark = Benchmark {
    name: "codex-read",
    subject: "read Codex sessions, every entry decoded",
    peer: PEER,
    aim: Aim::SpeedAtLeast(1.5),
    clock: Clock::Cpu,
    runs: 2,
    make: |_| pair("codex", &Codex, Task::Read),
};

pub(crate) static CODEX_OPEN: Benchmark = Benchmark {
    name: "codex-open",
    subject: "read Codex sessions, entries on demand",
    peer: PEER,
    aim: Aim::Known,
    clock: Clock::Cpu,
    runs: 2,
    make: |_| pair("codex", &Codex, Task::Open),
};

pub(crate) static CODEX_LIST: Benchmark = Benchmark {
    name: "codex-list",
    subject: "what a list shows of Codex sessions",
    peer: PEER,
    aim: Aim::SpeedAtLeast(5.0),
    clock: Clock::Cpu,
    runs: 2,
    make: |_| {
        pair(
            "codex",
            &Codex,
            Task::List(Want {
                usage: false,
                size: false,
            }),
        )
    },
};

pub(crate) static CODEX_TOKENS: Benchmark = Benchmark {
    name: "codex-tokens",
    subject: "the same, with tokens",
    peer: PEER,
    aim: Aim::SpeedAtLeast(5.0),
    clock: Clock::Cpu,
    runs: 2,
    make: |_| {
        pair(
            "codex",
            &Codex,
            Task::List(Want {
                usage: true,
                size: true,
            }),
        )
    },
};

#[derive(Clone, Copy)]
enum Task {
    /// Whole sessions.
    Open,
    /// The same, with what every entry says.
    Read,
    /// What a list shows.
    List(Want),
}

/// All sessions of an agent in the folder of real ones, but for those that no reader takes.
fn pair(folder: &str, format: &'static dyn Format, task: Task) -> Outcome<Box<dyn Pair>> {
    let corpus = std::env::var_os("RETHREAD_CORPUS");
    let corpus = corpus.ok_or("`RETHREAD_CORPUS` names no folder of real sessions")?;
    let mut files = Vec::new();
    let mut folders = vec![Path::new(&corpus).join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    let slug = format.about().slug;
    let source = |path: PathBuf| Source::new(slug, String::new(), path);
    let mut sources: Vec<Source> = files.into_iter().map(source).collect();
    sources.retain(|source| format.read(source).is_ok());
    if sources.is_empty() {
        return Err(format!("there are no sessions of {slug}").into());
    }
    Ok(Box::new(Real {
        format,
        task,
        sources,
    }))
}

struct Real {
    format: &'static dyn Format,
    task: Task,
    sources: Vec<Source>,
}

impl Pair for Real {
    fn run(&mut self, side: Side) -> Outcome {
        for source in &self.sources {
            match (side, self.task) {
                (Side::Subject, Task::Open) => {
                    std::hint::black_box(self.format.read(source)?);
                }
                (Side::Subject, Task::Read) => {
                    let read = self.format.read(source)?;
                    let entries = 0..read.session.entries().len();
                    for ix in entries.filter_map(EntryIx::new) {
                        std::hint::black_box(read.body(ix));
                    }
                }
                (Side::Subject, Task::List(want)) => {
                    std::hint::black_box(self.format.summarize(source, want));
                }
                (Side::Peer, _) => {
                    let bytes = fs::read(&source.path)?;
                    for (_, line) in split_lines(&bytes) {
                        // Some lines are no JSON, and one session is one document.
                        let _ = std::hint::black_box(parsed(line));
                    }
                }
            }
        }
        Ok(())
    }
}

fn parsed(line: &[u8]) -> serde_json::Result<serde_json::Value> {
    serde_json::from_slice(line)
}
