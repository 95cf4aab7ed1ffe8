//! How fast Rethread is, as ratios against a peer or a limit that is measured in the same run.
//!
//! `cargo bench -p rethread-engine --bench ratios -- [--json] [NAME…]`. A time says something of
//! one machine on one day; a ratio of two things that took turns says something of the code. The
//! exit code is 1 when an aim is missed, and 2 when something could not be measured.
//!
//! Adding a benchmark: write a module with a `BENCHMARK`, and name it in [`BENCHMARKS`].
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of its own: it lays out the files that it measures with, and prints"
)]

mod append;
mod benchmark;
mod clock;
mod durable;
mod json;
mod list;
mod measure;
mod messages;
mod pi;
mod process;
mod report;
mod store;

use std::process::ExitCode;

use benchmark::{Benchmark, Outcome};
use measure::{Ratios, measure};
use report::Report;

/// All benchmarks, in the order in which they run.
static BENCHMARKS: &[&Benchmark] = &[
    &json::BENCHMARK,
    &list::BENCHMARK,
    &append::BENCHMARK,
    &durable::BENCHMARK,
    &pi::CONTEXT,
    &pi::MEMORY,
    &pi::LIST,
];

fn main() -> ExitCode {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    if let Some(done) = pi::run_child(&names) {
        return done.map_or_else(|e| failed(e.as_ref()), |()| ExitCode::SUCCESS);
    }
    let is_bench = take(&mut names, "--bench");
    let as_json = take(&mut names, "--json");
    if !is_bench {
        // `cargo test --all-targets` starts benchmarks too, without this option.
        eprintln!("nothing is measured without `--bench`: run `cargo bench`");
        return ExitCode::SUCCESS;
    }
    match run(&names, as_json) {
        Ok(Verdict::Met) => ExitCode::SUCCESS,
        Ok(Verdict::Missed) => ExitCode::from(1),
        Ok(Verdict::NotMeasured) => ExitCode::from(2),
        Err(e) => failed(e.as_ref()),
    }
}

fn failed(error: &dyn std::error::Error) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::from(2)
}

fn take(words: &mut Vec<String>, word: &str) -> bool {
    let before = words.len();
    words.retain(|w| w != word);
    words.len() < before
}

/// What came of all benchmarks together: the worst of each.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Met,
    Missed,
    NotMeasured,
}

/// Runs the benchmarks of these names, or all. One that cannot be measured does not keep the others
/// from it.
fn run(names: &[String], as_json: bool) -> Outcome<Verdict> {
    let report = Report { as_json };
    let mut verdict = Verdict::Met;
    let chosen = choose(names)?;
    report.begin();
    for benchmark in chosen {
        eprintln!("measuring `{}` …", benchmark.name);
        match ratios_of(benchmark) {
            Ok(ratios) => {
                report.line(benchmark, &ratios);
                if benchmark.aim.is_met(ratios.median) == Some(false) {
                    verdict = verdict.max(Verdict::Missed);
                }
            }
            Err(e) => {
                eprintln!("error: `{}` cannot be measured: {e}", benchmark.name);
                verdict = Verdict::NotMeasured;
            }
        }
    }
    Ok(verdict)
}

fn ratios_of(benchmark: &Benchmark) -> Outcome<Ratios> {
    // On the disk that builds are on: the system's folder for such things may be memory.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let mut pair = (benchmark.make)(folder.path())?;
    measure(benchmark, pair.as_mut())
}

fn choose(names: &[String]) -> Outcome<Vec<&'static Benchmark>> {
    let known: Vec<&str> = BENCHMARKS.iter().map(|b| b.name).collect();
    if let Some(name) = names.iter().find(|n| !known.contains(&n.as_str())) {
        let known = known.join("`, `");
        return Err(format!("`{name}` is no benchmark; there are `{known}`").into());
    }
    let wanted = |b: &&Benchmark| names.is_empty() || names.iter().any(|n| n == b.name);
    Ok(BENCHMARKS.iter().copied().filter(wanted).collect())
}
