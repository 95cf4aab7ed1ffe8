//! Finding conversations, against `cat`, `find` and `rg` over the same files.
//!
//! `RETHREAD_JUDGE_RG` names an `rg`, else it is looked for on the path. `RETHREAD_BENCH_SESSIONS` is how
//! many sessions the largest store has, 100,000 unless it says something else.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use jiff::tz::TimeZone;
use rethread_engine::{
    Filter, HitOrder, Query, SearchLibrary, SearchOptions, SnippetSize, Sort, list, search,
};
use rethread_formats::Env;

use crate::benchmark::{Aim, Benchmark, Outcome, Pair, Side};
use crate::claude;
use crate::clock::Clock;
use crate::messages::Messages;
use crate::process::{self, Used};

pub(crate) static LIST_FIRST: Benchmark = Benchmark {
    name: "list-first",
    subject: "list 250 MB of sessions for the first time",
    peer: "`cat` of the same files",
    aim: Aim::TimeAtMost(1.6),
    clock: Clock::ProcessCpu,
    runs: 1,
    make: |folder| Library::make(folder, LONG, Work::ListFirst, Peer::Cat),
};

pub(crate) static LIST_AGAIN: Benchmark = Benchmark {
    name: "list-again",
    subject: "list many sessions again",
    peer: "`find -printf '%s %T@\\n'`",
    aim: Aim::TimeAtMost(1.5),
    clock: Clock::ProcessCpu,
    runs: 1,
    make: |folder| Library::make(folder, many()?, Work::ListAgain, Peer::Find),
};

pub(crate) static SCAN: Benchmark = Benchmark {
    name: "search-scan",
    subject: "search 250 MB, nothing known from before",
    peer: "`rg -ci` of the same files",
    aim: Aim::TimeAtMost(3.0),
    clock: Clock::ProcessCpu,
    runs: 1,
    make: |folder| Library::make(folder, LONG, Work::Scan, Peer::Rg),
};

/// Words with accents may be what is looked for, so lines that have some are all decoded.
pub(crate) static SCAN_ACCENTS: Benchmark = Benchmark {
    name: "search-accents",
    subject: "search 250 MB, accents in every line",
    peer: "3.5 s of a processor for 1 GB",
    aim: Aim::TimeAtMost(1.0),
    clock: Clock::ProcessCpu,
    runs: 1,
    make: |folder| Library::make(folder, ACCENTS, Work::Scan, Peer::Rate(1e9 / 3.5)),
};

pub(crate) static BUILD: Benchmark = Benchmark {
    name: "search-index",
    subject: "index 250 MB of sessions",
    peer: "85 MB a second",
    aim: Aim::TimeAtMost(1.0),
    clock: Clock::ProcessCpu,
    runs: 1,
    make: |folder| Library::make(folder, LONG, Work::Index, Peer::Rate(85e6)),
};

pub(crate) static MEMORY: Benchmark = Benchmark {
    name: "search-memory",
    subject: "index 250 MB of sessions",
    peer: "128 MiB of memory",
    aim: Aim::MemoryAtMost(1.0),
    clock: Clock::ProcessPeak,
    runs: 1,
    make: |folder| Library::make(folder, LONG, Work::Index, Peer::Memory),
};

pub(crate) static SIZE: Benchmark = Benchmark {
    name: "search-size",
    subject: "the index of 250 MB of sessions",
    peer: "the sessions",
    aim: Aim::SizeAtMost(0.14),
    clock: Clock::Size,
    runs: 1,
    make: |folder| Library::make(folder, LONG, Work::Index, Peer::Size),
};

pub(crate) static WARM: Benchmark = Benchmark {
    name: "search-warm",
    subject: "search 2,000 sessions by the index",
    peer: "20 ms of a processor",
    aim: Aim::TimeAtMost(1.0),
    clock: Clock::ProcessCpu,
    runs: 4,
    make: |folder| Library::make(folder, SHORT, Work::Search, Peer::Moment),
};

pub(crate) static GROWTH: Benchmark = Benchmark {
    name: "search-growth",
    subject: "search many sessions by the index",
    peer: "list them again",
    aim: Aim::TimeAtMost(1.5),
    clock: Clock::ProcessCpu,
    runs: 1,
    make: |folder| Library::make(folder, many()?, Work::Search, Peer::ListAgain),
};

/// How it compares with other programs, where somebody installed them: `fast-resume` and `agentsview`, which
/// `pip` has.
pub(crate) static INDEX_BESIDE_FAST_RESUME: Benchmark = Benchmark {
    name: "fast-resume-index",
    subject: "list and index 250 MB of sessions",
    peer: "`fr --rebuild --list WORD`",
    aim: Aim::Known,
    clock: Clock::ProcessCpu,
    runs: 1,
    make: |folder| {
        Library::make(
            folder,
            LONG,
            Work::ListAndIndex,
            Peer::FastResume("--rebuild"),
        )
    },
};

pub(crate) static BESIDE_FAST_RESUME: Benchmark = Benchmark {
    name: "fast-resume",
    subject: "search 2,000 sessions by the index",
    peer: "`fr --list WORD`",
    aim: Aim::Known,
    clock: Clock::ProcessCpu,
    runs: 1,
    make: |folder| Library::make(folder, SHORT, Work::Search, Peer::FastResume("--list")),
};

pub(crate) static BESIDE_AGENTSVIEW: Benchmark = Benchmark {
    name: "agentsview",
    subject: "list and index 250 MB of sessions",
    peer: "`agentsview sync --full`",
    aim: Aim::Known,
    clock: Clock::ProcessCpu,
    runs: 1,
    make: |folder| Library::make(folder, LONG, Work::ListAndIndex, Peer::Agentsview),
};

/// The first argument of a process that does our side.
const FLAG: &str = "--search";
/// What is looked for: a word that is in few lines.
const WORD: &str = "wombat";
/// One session of so many says it.
const ONE_IN: u64 = 50;

/// How many sessions there are, and how long each is.
#[derive(Clone, Copy)]
struct Extent {
    sessions: u64,
    bytes: u64,
    has_accents: bool,
}

const LONG: Extent = Extent {
    sessions: 500,
    bytes: 500_000,
    has_accents: false,
};
const ACCENTS: Extent = Extent {
    has_accents: true,
    ..LONG
};
const SHORT: Extent = Extent {
    sessions: 2_000,
    bytes: 20_000,
    has_accents: false,
};

fn many() -> Outcome<Extent> {
    let asked = std::env::var("RETHREAD_BENCH_SESSIONS").ok();
    Ok(Extent {
        sessions: asked.map_or(Ok(100_000), |count| count.parse())?,
        bytes: 2_000,
        has_accents: false,
    })
}

/// What our side does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    ListFirst,
    ListAgain,
    Scan,
    Index,
    ListAndIndex,
    Search,
}

impl Work {
    fn word(self) -> &'static str {
        match self {
            Self::ListFirst | Self::ListAgain => "list",
            Self::Scan => "scan",
            Self::Index | Self::ListAndIndex => "index",
            Self::Search => "search",
        }
    }

    /// Whether it begins without anything that is known from before.
    fn is_first(self) -> bool {
        !matches!(self, Self::ListAgain | Self::Search)
    }
}

/// What it is compared with.
enum Peer {
    Cat,
    Find,
    Rg,
    /// So many bytes a second.
    Rate(f64),
    Memory,
    Size,
    Moment,
    ListAgain,
    FastResume(&'static str),
    Agentsview,
}

/// A home with sessions.
struct Library {
    home: PathBuf,
    extent: Extent,
    work: Work,
    peer: Peer,
    used: Option<Used>,
    size: Option<u64>,
}

impl Library {
    fn make(home: &Path, extent: Extent, work: Work, peer: Peer) -> Outcome<Box<dyn Pair>> {
        let mut said = Messages::new(4);
        for n in 0..extent.sessions {
            let folder = home.join(format!(".claude/projects/-home-me-app{}", n % 20));
            fs::create_dir_all(&folder)?;
            let id = format!("5f0c5f0c-0000-4000-8000-{n:012x}");
            let path = folder.join(format!("{id}.jsonl"));
            claude::write(&path, &id, extent.bytes, &mut said)?;
            let mut text = fs::read_to_string(&path)?;
            if n % ONE_IN == 0 {
                text = text.replacen("parser", WORD, 1);
            }
            if !extent.has_accents {
                text = text.replace("naïve", "naive").replace("größer", "groesser");
            }
            fs::write(&path, text)?;
        }
        fs::create_dir_all(home.join("out"))?;
        // What changed a moment ago is looked at again.
        std::thread::sleep(Duration::from_millis(2100));
        let library = Self {
            home: home.to_owned(),
            extent,
            work,
            peer,
            used: None,
            size: None,
        };
        if !work.is_first() {
            library.ours("list")?;
            library.ours("index")?;
        }
        Ok(Box::new(library))
    }

    fn cache(&self) -> PathBuf {
        self.home.join(".cache")
    }

    fn ours(&self, word: &str) -> Outcome<Used> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(FLAG).arg(word).arg(&self.home);
        Ok(process::run(&mut command, b"")?.0)
    }

    fn other(&self, command: &mut Command) -> Outcome<Used> {
        let out = File::create(self.home.join("out/other.out"))?;
        process::run_into(command, out)
    }

    /// Another program, which is to look at this home alone.
    fn installed(&self, variable: &str, name: &str) -> Command {
        let program = std::env::var_os(variable).unwrap_or_else(|| name.into());
        let mut command = Command::new(program);
        command.env("HOME", &self.home).current_dir(&self.home);
        for variable in ["XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"] {
            command.env_remove(variable);
        }
        command
    }

    fn bytes(&self) -> u64 {
        size_below(&self.home.join(".claude"))
    }

    fn peer(&self) -> Outcome<Used> {
        let store = self.home.join(".claude");
        let fixed = |cpu: Duration, peak: u64| Ok(Used { cpu, peak });
        match self.peer {
            Peer::Cat => {
                let all = "find \"$0\" -name '*.jsonl' -exec cat {} +";
                self.other(Command::new("sh").args(["-c", all]).arg(store))
            }
            Peer::Find => {
                let mut find = Command::new("find");
                find.arg(store).args(["-printf", "%s %T@\\n"]);
                self.other(&mut find)
            }
            Peer::Rg => {
                let rg = std::env::var_os("RETHREAD_JUDGE_RG").unwrap_or_else(|| "rg".into());
                let mut rg = Command::new(rg);
                rg.args(["-ci", "--hidden", "--no-ignore", WORD]).arg(store);
                self.other(&mut rg)
            }
            #[allow(clippy::cast_precision_loss, reason = "a rate")]
            Peer::Rate(rate) => fixed(Duration::from_secs_f64(self.bytes() as f64 / rate), 0),
            Peer::Memory => fixed(Duration::ZERO, 128 << 20),
            Peer::Size => fixed(Duration::ZERO, 0),
            Peer::Moment => fixed(Duration::from_millis(20), 0),
            Peer::ListAgain => self.ours("list"),
            Peer::FastResume(how) => {
                let mut fr = self.installed("RETHREAD_JUDGE_FAST_RESUME", "fr");
                self.other(fr.args(["--list", how, WORD]))
            }
            Peer::Agentsview => {
                let mut agentsview = self.installed("RETHREAD_JUDGE_AGENTSVIEW", "agentsview");
                // Otherwise a server does the work, which nobody would count and which would stay.
                agentsview.env("AGENTSVIEW_NO_DAEMON", "1");
                self.other(agentsview.args(["sync", "--full"]))
            }
        }
    }
}

fn size_below(folder: &Path) -> u64 {
    let mut size = 0;
    let mut left = vec![folder.to_owned()];
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(meta) if meta.is_dir() => left.push(entry.path()),
                Ok(meta) => size += meta.len(),
                Err(_) => {}
            }
        }
    }
    size
}

impl Pair for Library {
    fn restore(&mut self, side: Side) -> Outcome {
        if side == Side::Subject && self.work.is_first() {
            let _ = fs::remove_dir_all(self.cache());
            if self.work == Work::Index {
                self.ours("list")?;
            }
        }
        Ok(())
    }

    fn rounds(&self) -> usize {
        if self.extent.sessions > 10_000 { 3 } else { 5 }
    }

    fn run(&mut self, side: Side) -> Outcome {
        let used = match side {
            Side::Subject => self.ours(self.work.word())?,
            Side::Peer => self.peer()?,
        };
        self.used = Some(used);
        self.size = Some(match side {
            Side::Subject => size_below(&self.cache().join("rethread/search-index")),
            Side::Peer => self.bytes(),
        });
        Ok(())
    }

    fn used(&self) -> Option<Used> {
        self.used
    }

    fn size(&self) -> Option<u64> {
        self.size
    }
}

/// Does what the arguments ask, if they do.
pub(crate) fn run_child(args: &[String]) -> Option<Outcome> {
    match args {
        [flag, word, home] if flag == FLAG => Some(work(word, home.as_ref())),
        _ => None,
    }
}

fn work(word: &str, home: &Path) -> Outcome {
    let home = fs::canonicalize(home)?;
    let variables = std::collections::BTreeMap::new();
    let mut env = Env::from_variables(variables, Some(home.clone()), home.clone())?;
    env.uses_catalogue = word != "scan";
    match word {
        "list" => {
            let listed = list(&env, &Filter::default(), Sort::Updated, &|_, _| {})?;
            println!("{}", listed.sessions.len());
        }
        "index" => {
            let library = SearchLibrary::open(&env, &|_, _| {});
            let report = library.update_index(&env, &|_, _| {});
            if let Some(why) = report.stopped {
                return Err(why.into());
            }
        }
        _ => {
            let library = SearchLibrary::open(&env, &|_, _| {});
            let query = Query::parse(WORD)?;
            let options = SearchOptions {
                query: &query,
                filter: &Filter::default(),
                order: HitOrder::Relevance,
                limit: 10,
                places: 3,
                size: SnippetSize {
                    width: 100,
                    context: 0,
                },
                zone: &TimeZone::UTC,
            };
            let answer = search(&env, &library, &options, &|_, _| {})?;
            if answer.total == 0 {
                return Err("nothing was found".into());
            }
        }
    }
    Ok(())
}
