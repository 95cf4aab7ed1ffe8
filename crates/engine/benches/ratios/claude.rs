//! Sessions of Claude Code: real ones against a document model that reads the same lines, and the
//! memory that a very long one takes.
//!
//! `RETHREAD_CORPUS` names a folder of real sessions, with those of Claude Code in `claude-code`.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use rethread_engine::{Filter, Part, Sort, list, show};
use rethread_formats::claude_code::ClaudeCode;
use rethread_formats::{Env, Format as _, Source, Want};
use rethread_json::{Object, split_lines};
use rethread_model::Bodies as _;

use crate::benchmark::{Aim, Benchmark, Outcome, Pair, Side};
use crate::clock::Clock;
use crate::messages::{Messages, time_at};
use crate::process::{self, Used};

pub(crate) static READ: Benchmark = Benchmark {
    name: "claude-read",
    subject: "read all sessions of Claude Code",
    peer: "serde_json::Value of the same lines",
    aim: Aim::SpeedAtLeast(1.5),
    clock: Clock::Cpu,
    runs: 1,
    make: make_read,
};

pub(crate) static BODIES: Benchmark = Benchmark {
    name: "claude-bodies",
    subject: "read them, and what each entry says",
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

pub(crate) static LIST_MEMORY: Benchmark = Benchmark {
    name: "claude-list-2gb",
    subject: "list a session of 2 GB",
    peer: "128 MiB of memory",
    aim: Aim::MemoryAtMost(1.0),
    clock: Clock::ProcessPeak,
    runs: 1,
    make: make_list_memory,
};

pub(crate) static SHOW_MEMORY: Benchmark = Benchmark {
    name: "claude-show-2gb",
    subject: "show the last 20 entries of it",
    peer: "128 MiB of memory",
    aim: Aim::MemoryAtMost(1.0),
    clock: Clock::ProcessPeak,
    runs: 1,
    make: make_show_memory,
};

/// The first argument of a process that does our side.
const FLAG: &str = "--claude";
/// How long a very long session is, and what it may take.
const LONG: u64 = 2_000_000_000;
const MEMORY: u64 = 128 << 20;
const ID: &str = "5f0c5f0c-0000-4000-8000-000000000001";

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
                    && ClaudeCode.read(&source(&path)).is_ok()
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
    Source::new("claude-code", String::new(), path.to_owned())
}

impl Pair for Corpus {
    fn run(&mut self, side: Side) -> Outcome {
        for path in &self.files {
            match (side, &self.task) {
                (Side::Subject, Task::Read) => {
                    std::hint::black_box(ClaudeCode.read(&source(path))?);
                }
                (Side::Subject, Task::Bodies) => {
                    let conversation = ClaudeCode.read(&source(path))?;
                    for (ix, _) in conversation.session.indexed() {
                        std::hint::black_box(conversation.body(ix));
                    }
                }
                (Side::Subject, Task::List) => {
                    std::hint::black_box(ClaudeCode.summarize(&source(path), Want::default()));
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

fn make_list_memory(folder: &Path) -> Outcome<Box<dyn Pair>> {
    Ok(Box::new(Long::new(folder, "list")?))
}

fn make_show_memory(folder: &Path) -> Outcome<Box<dyn Pair>> {
    Ok(Box::new(Long::new(folder, "show")?))
}

/// A very long session, in a home of its own.
struct Long {
    home: PathBuf,
    task: &'static str,
    used: Option<Used>,
}

impl Long {
    fn new(home: &Path, task: &'static str) -> Outcome<Self> {
        let project = home.join(".claude/projects/-home-me-app");
        fs::create_dir_all(&project)?;
        let path = project.join(format!("{ID}.jsonl"));
        write(&path, ID, LONG, &mut Messages::new(3))?;
        Ok(Self {
            home: home.to_owned(),
            task,
            used: None,
        })
    }
}

impl Pair for Long {
    fn run(&mut self, side: Side) -> Outcome {
        self.used = Some(match side {
            Side::Subject => {
                let mut command = Command::new(std::env::current_exe()?);
                command.arg(FLAG).arg(self.task).arg(&self.home);
                process::run(&mut command, b"")?.0
            }
            Side::Peer => Used {
                cpu: std::time::Duration::ZERO,
                peak: MEMORY,
            },
        });
        Ok(())
    }

    fn used(&self) -> Option<Used> {
        self.used
    }
}

/// A person asks, the model calls a tool, the tool says a lot, the model answers.
pub(crate) fn write(path: &Path, session: &str, bytes: u64, said: &mut Messages) -> Outcome {
    let file = File::create(path)?;
    let mut out = BufWriter::with_capacity(1 << 20, &file);
    let id = |n: u64| format!("{n:08x}-0000-4000-8000-{n:012x}");
    let mut written = 0;
    let mut n = 0;
    while written < bytes {
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
        let mut line = Object::new()
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

/// Does the task that the arguments name, if they ask for one.
pub(crate) fn run_child(args: &[String]) -> Option<Outcome> {
    match args {
        [flag, task, home] if flag == FLAG => Some(work(task, home.as_ref())),
        _ => None,
    }
}

fn work(task: &str, home: &Path) -> Outcome {
    let home = fs::canonicalize(home)?;
    let mut env = Env::from_variables(
        std::collections::BTreeMap::new(),
        Some(home.clone()),
        home.clone(),
    )?;
    env.use_homes(std::slice::from_ref(&home));
    let is_whole = if task == "list" {
        let listed = list(&env, &Filter::default(), Sort::Updated, &|_, _| {});
        listed.sessions.iter().any(|s| s.counts.messages > 100_000)
    } else {
        let shown = show(&env, ID, Part::Active, Some(20))?;
        let bodies = shown.entries.iter().map(|ix| shown.conversation.body(*ix));
        std::hint::black_box(bodies.count()) == 20
    };
    if !is_whole {
        return Err("the session is not what it should be".into());
    }
    println!("done");
    Ok(())
}
