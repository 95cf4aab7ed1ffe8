//! Converting sessions of Claude Code to Codex, with all that travels along: how fast, in how much
//! memory, and how large what is written is.
//!
//! Real sessions, each as often as it takes to have 200 MB; `RETHREAD_CORPUS` names the folder. How
//! much memory one very long session takes is measured on one that is made here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rethread_disk::Durability;
use rethread_engine::{ConvertOptions, ConvertOutcome, Source, Writing, by_name, convert_session};
use rethread_formats::Env;

use crate::benchmark::{Aim, Benchmark, Outcome, Pair, Side};
use crate::clock::Clock;
use crate::messages::Messages;
use crate::process::{self, Used};
use crate::{claude, corpus};

pub(crate) static SPEED: Benchmark = Benchmark {
    name: "convert",
    subject: "convert 200 MB of Claude Code to Codex",
    peer: "`jq -c .` of the same lines",
    aim: Aim::SpeedAtLeast(1.0),
    clock: Clock::ProcessCpu,
    runs: 1,
    make: |home| Store::of_corpus(home, Peer::Jq),
};

pub(crate) static MEMORY: Benchmark = Benchmark {
    name: "convert-memory",
    subject: "convert them",
    peer: "64 MiB of memory",
    aim: Aim::MemoryAtMost(1.0),
    clock: Clock::ProcessPeak,
    runs: 1,
    make: |home| Store::of_corpus(home, Peer::Memory),
};

pub(crate) static SIZE: Benchmark = Benchmark {
    name: "convert-size",
    subject: "what is written then, with the originals",
    peer: "the sessions themselves",
    aim: Aim::SizeAtMost(1.3),
    clock: Clock::Size,
    runs: 1,
    make: |home| Store::of_corpus(home, Peer::Source),
};

pub(crate) static LONG: Benchmark = Benchmark {
    name: "convert-long",
    subject: "convert one session of 200 MB",
    peer: "200 MB of memory",
    aim: Aim::MemoryKnown,
    clock: Clock::ProcessPeak,
    runs: 1,
    make: Store::of_one,
};

/// The first argument of a process that does our side.
const FLAG: &str = "--convert";
/// How much there is in all.
const LENGTH: u64 = 200_000_000;

/// What it is compared with.
enum Peer {
    Jq,
    Memory,
    Source,
}

/// Sessions of Claude Code, and a folder for what becomes of them.
struct Store {
    home: PathBuf,
    files: Vec<PathBuf>,
    peer: Peer,
    used: Option<Used>,
    size: u64,
}

impl Store {
    /// Real sessions that are whole.
    fn of_corpus(home: &Path, peer: Peer) -> Outcome<Box<dyn Pair>> {
        let mut files = corpus::files("claude-code")?;
        let out = home.join("try");
        files.retain(|path| {
            let is_log = path.extension().is_some_and(|e| e == "jsonl");
            is_log && work(home, &out, &[path.to_string_lossy().into_owned()]).is_ok()
        });
        let (mut all, mut length) = (Vec::new(), 0);
        for path in files.iter().cycle() {
            if length >= LENGTH {
                break;
            }
            length += fs::metadata(path)?.len();
            all.push(path.clone());
        }
        Self::pair(home, all, peer)
    }

    fn of_one(home: &Path) -> Outcome<Box<dyn Pair>> {
        let id = claude::LONG.id;
        let path = home.join(format!("{id}.jsonl"));
        claude::write(&path, id, LENGTH, &mut Messages::new(5))?;
        Self::pair(home, vec![path], Peer::Source)
    }

    fn pair(home: &Path, files: Vec<PathBuf>, peer: Peer) -> Outcome<Box<dyn Pair>> {
        if files.is_empty() {
            return Err("no session is there".into());
        }
        Ok(Box::new(Self {
            home: home.to_owned(),
            files,
            peer,
            used: None,
            size: 0,
        }))
    }

    /// Where converted sessions go.
    fn out(&self) -> PathBuf {
        self.home.join("codex")
    }

    /// How many bytes the sessions have.
    fn source_size(&self) -> Outcome<u64> {
        let sizes = self.files.iter().map(|path| Ok(fs::metadata(path)?.len()));
        sizes.sum()
    }

    fn convert(&mut self) -> Outcome<Used> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(FLAG).arg(&self.home).arg(self.out());
        let used = process::run(command.args(&self.files), b"")?.0;
        self.size = size_below(&self.out())?;
        #[allow(clippy::cast_precision_loss, reason = "people read it")]
        let (written, source) = (self.size as f64, self.source_size()? as f64);
        eprintln!(
            "  {:.0} MB/s of processor time, {} MiB of memory, {:.2} of the size",
            source / used.cpu.as_secs_f64() / 1e6,
            used.peak >> 20,
            written / source
        );
        Ok(used)
    }

    fn jq(&self) -> Outcome<Used> {
        let out = fs::File::create(self.home.join("jq.out"))?;
        let mut jq = Command::new("jq");
        process::run_into(jq.args(["-c", "."]).args(&self.files), out)
    }
}

impl Pair for Store {
    fn restore(&mut self, _: Side) -> Outcome {
        if self.out().exists() {
            fs::remove_dir_all(self.out())?;
        }
        Ok(())
    }

    fn run(&mut self, side: Side) -> Outcome {
        let of_memory = |peak| Used {
            cpu: Duration::ZERO,
            peak,
        };
        self.used = Some(match (side, &self.peer) {
            (Side::Subject, _) => self.convert()?,
            (Side::Peer, Peer::Jq) => self.jq()?,
            (Side::Peer, Peer::Memory) => of_memory(64 << 20),
            (Side::Peer, Peer::Source) => {
                self.size = self.source_size()?;
                of_memory(LENGTH)
            }
        });
        Ok(())
    }

    fn used(&self) -> Option<Used> {
        self.used
    }

    fn size(&self) -> Option<u64> {
        Some(self.size)
    }
}

/// The sizes of all files below a folder.
fn size_below(folder: &Path) -> Outcome<u64> {
    let mut size = 0;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let about = entry.metadata()?;
            if about.is_dir() {
                folders.push(entry.path());
            } else {
                size += about.len();
            }
        }
    }
    Ok(size)
}

/// Converts as the arguments ask, if they do.
pub(crate) fn run_child(args: &[String]) -> Option<Outcome> {
    match args {
        [flag, home, out, files @ ..] if flag == FLAG => {
            Some(work(home.as_ref(), out.as_ref(), files))
        }
        _ => None,
    }
}

fn work(home: &Path, out: &Path, files: &[String]) -> Outcome {
    let variables = std::collections::BTreeMap::new();
    let env = Env::from_variables(variables, Some(home.to_owned()), home.to_owned())?;
    let w = Writing {
        env: &env,
        durability: Durability::None,
        lock_timeout: Duration::from_secs(10),
        strict: false,
    };
    let ask = ConvertOptions {
        to: by_name("codex").ok_or("there is no Codex")?,
        root: Some(out),
        cwd: None,
        lean: false,
        agents: true,
        dry_run: false,
    };
    for file in files {
        let path = fs::canonicalize(file)?;
        let id = path.file_stem().ok_or("a file without a name")?;
        let id = id.to_string_lossy().into_owned();
        let done = convert_session(
            &w,
            &Source::new(rethread_formats::claude_code::FORMAT, id, path),
            &ask,
        )?;
        if done.way != ConvertOutcome::Written || !done.notes.is_empty() {
            return Err("a session is not what it should be".into());
        }
    }
    Ok(())
}
