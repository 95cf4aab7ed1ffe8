//! Exporting a store of many sessions, against `jq` and `wc` over the same lines.
//!
//! `cargo xtask bench` gets `jq`, and names it in `RETHREAD_JUDGE_JQ`. The store is 1 GB, and what is
//! written as much again.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use rethread_disk::Durability;
use rethread_engine::{
    ChosenSessions, ExportForms, ExportSelection, ExportTarget, Exported, PageOutput,
    choose_sessions, export_html, export_markdown, export_ndjson,
};
use rethread_formats::Env;

use crate::benchmark::{Aim, Benchmark, Outcome, Pair, Side};
use crate::clock::Clock;
use crate::messages::Messages;
use crate::process::{self, Used};
use crate::{claude, pi};

pub(crate) static LEAN: Benchmark = Benchmark {
    name: "export-lean",
    subject: "export 1 GB of sessions, lean",
    peer: JQ,
    aim: Aim::SpeedAtLeast(4.0),
    clock: Clock::ProcessCpu,
    runs: 1,
    make: |folder| Store::make(folder, "lean", Peer::Jq),
};

pub(crate) static WHOLE: Benchmark = Benchmark {
    name: "export-whole",
    subject: "export them with all that they hold",
    peer: "the same, lean",
    aim: Aim::Known,
    clock: Clock::ProcessCpu,
    runs: 1,
    make: |folder| Store::make(folder, "whole", Peer::Lean),
};

pub(crate) static LIMIT: Benchmark = Benchmark {
    name: "export-limit",
    subject: "export them, lean",
    peer: "`wc -l` of the same bytes",
    aim: Aim::Known,
    clock: Clock::ProcessCpu,
    runs: 1,
    make: |folder| Store::make(folder, "lean", Peer::Wc),
};

pub(crate) static MEMORY: Benchmark = Benchmark {
    name: "export-memory",
    subject: "export them with all that they hold",
    peer: "64 MiB of memory",
    aim: Aim::MemoryAtMost(1.0),
    clock: Clock::ProcessPeak,
    runs: 1,
    make: |folder| Store::make(folder, "whole", Peer::Memory),
};

/// 250 MB a second on a core where `jq` takes 83 of them.
pub(crate) static MARKDOWN: Benchmark = Benchmark {
    name: "export-markdown",
    subject: "export them as Markdown",
    peer: JQ,
    aim: Aim::SpeedAtLeast(3.0),
    clock: Clock::ProcessCpu,
    runs: 1,
    make: |folder| Store::make(folder, "markdown", Peer::Jq),
};

/// 200 MB a second where `jq` takes 83 of them.
pub(crate) static HTML: Benchmark = Benchmark {
    name: "export-html",
    subject: "export them as HTML pages",
    peer: JQ,
    aim: Aim::SpeedAtLeast(2.4),
    clock: Clock::ProcessCpu,
    runs: 1,
    make: |folder| Store::make(folder, "html", Peer::Jq),
};

const JQ: &str = "`jq -c .` of the same lines";
/// The first argument of a process that does our side.
const FLAG: &str = "--export";
/// The folder in the home that is written to.
const OUT: &str = "out";
/// How many sessions there are of each agent, and how long each is.
const SESSIONS: u64 = 1000;
const LENGTH: u64 = 500_000;

/// What it is compared with.
enum Peer {
    Jq,
    Wc,
    Lean,
    Memory,
}

/// A home with sessions of two agents.
struct Store {
    home: PathBuf,
    files: Vec<PathBuf>,
    way: &'static str,
    peer: Peer,
    used: Option<Used>,
}

impl Store {
    fn make(home: &Path, way: &'static str, peer: Peer) -> Outcome<Box<dyn Pair>> {
        let claude = home.join(".claude/projects/-home-me-app");
        let pi = home.join(".pi/agent/sessions/--home-me-app--");
        fs::create_dir_all(&claude)?;
        fs::create_dir_all(&pi)?;
        let mut files = Vec::new();
        let mut said = Messages::new(4);
        for n in 0..SESSIONS {
            let id = format!("5f0c5f0c-0000-4000-8000-{n:012x}");
            let path = claude.join(format!("{id}.jsonl"));
            claude::write(&path, &id, LENGTH, &mut said)?;
            files.push(path);
            let id = format!("01a1e054-fcf9-71e6-a3da-{n:012x}");
            let path = pi.join(format!("2026-11-15T17-50-28-602Z_{id}.jsonl"));
            pi::sessions::write(&path, &id, LENGTH, &mut said)?;
            files.push(path);
        }
        Ok(Box::new(Self {
            home: home.to_owned(),
            files,
            way,
            peer,
            used: None,
        }))
    }

    fn export(&self, way: &str) -> Outcome<Used> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(FLAG).arg(way).arg(&self.home);
        Ok(process::run(&mut command, b"")?.0)
    }

    /// Another program, over all files, into a file.
    fn other(&self, command: &mut Command) -> Outcome<Used> {
        let out = File::create(self.home.join(OUT).join("other.out"))?;
        process::run_into(command.args(&self.files), out)
    }
}

impl Pair for Store {
    fn restore(&mut self, _: Side) -> Outcome {
        let _ = fs::remove_dir_all(self.home.join(OUT));
        Ok(fs::create_dir(self.home.join(OUT))?)
    }

    fn rounds(&self) -> usize {
        // Each takes a quarter of a minute.
        5
    }

    fn run(&mut self, side: Side) -> Outcome {
        self.used = Some(match (side, &self.peer) {
            (Side::Subject, _) => self.export(self.way)?,
            (Side::Peer, Peer::Lean) => self.export("lean")?,
            (Side::Peer, Peer::Jq) => {
                let jq = std::env::var_os("RETHREAD_JUDGE_JQ");
                let jq =
                    jq.ok_or("`RETHREAD_JUDGE_JQ` names no `jq`; `cargo xtask bench` gets it")?;
                self.other(Command::new(jq).args(["-c", "."]))?
            }
            (Side::Peer, Peer::Wc) => self.other(Command::new("wc").arg("-l"))?,
            (Side::Peer, Peer::Memory) => Used {
                cpu: std::time::Duration::ZERO,
                peak: 64 << 20,
            },
        });
        Ok(())
    }

    fn used(&self) -> Option<Used> {
        self.used
    }
}

/// Exports as the arguments ask, if they do.
pub(crate) fn run_child(args: &[String]) -> Option<Outcome> {
    match args {
        [flag, way, home] if flag == FLAG => Some(work(way, home.as_ref())),
        _ => None,
    }
}

fn work(way: &str, home: &Path) -> Outcome {
    let home = fs::canonicalize(home)?;
    let variables = std::collections::BTreeMap::new();
    let mut env = Env::from_variables(variables, Some(home.clone()), home.clone())?;
    env.use_homes(std::slice::from_ref(&home));
    let ask = ExportSelection {
        all_workspaces: true,
        subagents: true,
        ..ExportSelection::default()
    };
    let chosen = choose_sessions(&env, &ask, &|_, _| {})?;
    let forms = ExportForms {
        lean: way == "lean",
        durability: Durability::None,
        ..ExportForms::default()
    };
    let done = write(&env, &chosen, forms, way, &home.join(OUT))?;
    if done.sessions != SESSIONS * 2 || !done.notes.is_empty() {
        return Err("the export is not what it should be".into());
    }
    println!("done");
    Ok(())
}

fn write(
    env: &Env,
    chosen: &ChosenSessions,
    forms: ExportForms,
    way: &str,
    out: &Path,
) -> Outcome<Exported> {
    let pages = PageOutput::Folder(out.to_owned());
    Ok(match way {
        "markdown" => export_markdown(chosen, forms, pages, &|_, _| {})?,
        "html" => export_html(chosen, forms, pages, &|_, _| {})?,
        _ => {
            let mut target = ExportTarget::File(out.join("export.ndjson"));
            export_ndjson(env, chosen, forms, &mut target, &|_, _| {})?
        }
    })
}
