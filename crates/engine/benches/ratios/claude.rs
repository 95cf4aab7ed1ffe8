//! Sessions of Claude Code: real ones against a document model that reads the same lines, and the
//! memory that a very long one takes.
//!
//! `RETHREAD_CORPUS` names a folder of real sessions, with those of Claude Code in `claude-code`.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use rethread_formats::claude_code::FORMAT;
use rethread_formats::{Source, Want};
use rethread_json::{Object, split_lines};
use rethread_model::Bodies as _;

use crate::benchmark::{Aim, Benchmark, Outcome, Pair, Side};
use crate::clock::Clock;
use crate::long::{self, Agent, Kept};
use crate::messages::{Messages, time_at};

pub(crate) static READ: Benchmark = Benchmark {
    name: "claude-read",
    subject: "read Claude sessions, entries on demand",
    peer: "serde_json::Value of the same lines",
    aim: Aim::SpeedAtLeast(1.5),
    clock: Clock::Cpu,
    runs: 1,
    make: make_read,
};

pub(crate) static BODIES: Benchmark = Benchmark {
    name: "claude-bodies",
    subject: "the same, every entry decoded",
    peer: "serde_json::Value of the same lines",
    aim: Aim::Known,
    clock: Clock::Cpu,
    runs: 1,
    make: make_bodies,
};

pub(crate) static LIST: Benchmark = Benchmark {
    name: "claude-list",
    subject: "what lists show of the same sessions",
    peer: "serde_json::Value of the same lines",
    aim: Aim::SpeedAtLeast(5.0),
    clock: Clock::Cpu,
    runs: 1,
    make: make_list,
};

pub(crate) static LIST_MEMORY: Benchmark =
    long::benchmark("claude-list-2gb", "list a session of 2 GB", |home| {
        long::pair(&LONG, long::Task::List, home)
    });

pub(crate) static SHOW_MEMORY: Benchmark = long::benchmark(
    "claude-show-2gb",
    "show the last 20 entries of it",
    |home| long::pair(&LONG, long::Task::Show, home),
);

pub(crate) static WRITE_MEMORY: Benchmark =
    long::written_benchmark("claude-write-500mb", |home| long::written_pair(&LONG, home));

/// A very long session.
pub(crate) static LONG: Agent = Agent {
    name: "claude",
    id: "5f0c5f0c-0000-4000-8000-000000000001",
    file: ".claude/projects/-home-me-app/5f0c5f0c-0000-4000-8000-000000000001.jsonl",
    kept: Kept::Lines(line),
};

fn make_read(_: &Path) -> Outcome<Box<dyn Pair>> {
    Ok(Box::new(Corpus::find(Task::Read)?))
}

fn make_bodies(_: &Path) -> Outcome<Box<dyn Pair>> {
    Ok(Box::new(Corpus::find(Task::Bodies)?))
}

fn make_list(_: &Path) -> Outcome<Box<dyn Pair>> {
    Ok(Box::new(Corpus::find(Task::List)?))
}

/// What is done with real sessions.
enum Task {
    Read,
    Bodies,
    List,
}

/// Real sessions.
struct Corpus {
    files: Vec<PathBuf>,
    task: Task,
}

impl Corpus {
    fn find(task: Task) -> Outcome<Self> {
        let folder = std::env::var_os("RETHREAD_CORPUS").ok_or("`RETHREAD_CORPUS` is not set")?;
        let mut folders = vec![PathBuf::from(folder).join("claude-code")];
        let mut files = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder)? {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|e| e == "jsonl")
                    && FORMAT.reader().read(&source(&path)).is_ok()
                {
                    files.push(path);
                }
            }
        }
        files.sort();
        if files.is_empty() {
            return Err("no session is there".into());
        }
        Ok(Self { files, task })
    }
}

fn source(path: &Path) -> Source {
    Source::new(FORMAT, String::new(), path.to_owned())
}

impl Pair for Corpus {
    fn run(&mut self, side: Side) -> Outcome {
        for path in &self.files {
            match (side, &self.task) {
                (Side::Subject, Task::Read) => {
                    std::hint::black_box(FORMAT.reader().read(&source(path))?);
                }
                (Side::Subject, Task::Bodies) => {
                    let conversation = FORMAT.reader().read(&source(path))?;
                    for (ix, _) in conversation.session.indexed() {
                        std::hint::black_box(conversation.body(ix));
                    }
                }
                (Side::Subject, Task::List) => {
                    std::hint::black_box(FORMAT.reader().summarize(&source(path), Want::default()));
                }
                (Side::Peer, _) => {
                    for (_, line) in split_lines(&fs::read(path)?) {
                        // Some are damaged, and then it has nothing to do.
                        let value = serde_json::from_slice::<serde_json::Value>(line);
                        std::hint::black_box(value.ok());
                    }
                }
            }
        }
        Ok(())
    }
}

/// Writes a session of at least so many bytes.
pub(crate) fn write(path: &Path, session: &str, bytes: u64, said: &mut Messages) -> Outcome {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let (mut written, mut n) = (0, 0);
    while written < bytes {
        let mut line = line_of(session, said, n)?;
        line.push(b'\n');
        written += line.len() as u64;
        out.write_all(&line)?;
        n += 1;
    }
    Ok(out.flush()?)
}

fn line(said: &mut Messages, n: u64) -> Outcome<Vec<u8>> {
    line_of(LONG.id, said, n)
}

/// A person asks, the model calls a tool, the tool says a lot, the model answers.
fn line_of(session: &str, said: &mut Messages, n: u64) -> Outcome<Vec<u8>> {
    let id = |n: u64| format!("{n:08x}-0000-4000-8000-{n:012x}");
    let length = [200, 300, 9000, 900][usize::try_from(n % 4)?];
    let text = said.prose(length);
    let text = Object::new().str("type", "text").str("text", &text);
    let call = || Object::new().str("type", "tool_use").str("id", &id(n));
    let (type_name, block) = match n % 4 {
        1 => {
            let call = call().str("name", "Bash").raw("input", b"{}");
            ("assistant", call.finish())
        }
        2 => {
            let result = Object::new().str("tool_use_id", &id(n - 1));
            let result = result.str("type", "tool_result");
            let content = [b"[", &text.finish()[..], b"]"].concat();
            ("user", result.raw("content", &content).finish())
        }
        3 => ("assistant", text.finish()),
        _ => ("user", text.finish()),
    };
    let content = [b"[", &block[..], b"]"].concat();
    let message = match type_name {
        "assistant" => Object::new()
            .str("model", "claude-sonnet-4-5")
            .str("id", &format!("msg_{n}"))
            .str("role", "assistant"),
        _ => Object::new().str("role", "user"),
    };
    let parent = n.checked_sub(1).map(id);
    let parent = parent.map_or(b"null".to_vec(), |p| rethread_json::quote(&p));
    let line = Object::new()
        .raw("parentUuid", &parent)
        .bool("isSidechain", false)
        .str("cwd", "/home/me/app")
        .str("sessionId", session)
        .str("version", "2.1.112")
        .str("type", type_name)
        .raw("message", &message.raw("content", &content).finish())
        .str("uuid", &id(n))
        .str("timestamp", &time_at(n)?.to_string())
        .finish();
    Ok(line)
}
