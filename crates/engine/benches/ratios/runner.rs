//! Choosing benchmarks, running them, and saying whether every aim was met.

use std::process::ExitCode;

use crate::benchmark::{Benchmark, Outcome};
use crate::measure::{Ratios, measure};
use crate::report::Report;

/// Runs what the command line asks for.
pub(crate) fn main(all: &[&'static Benchmark]) -> ExitCode {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    let is_bench = take(&mut names, "--bench");
    let as_json = take(&mut names, "--json");
    if !is_bench {
        // `cargo test --all-targets` starts benchmarks too, without this option.
        eprintln!("nothing is measured without `--bench`: run `cargo bench`");
        return ExitCode::SUCCESS;
    }
    match run(all, &names, as_json) {
        Ok(Verdict::Met) => ExitCode::SUCCESS,
        Ok(Verdict::Missed) => ExitCode::from(1),
        Ok(Verdict::NotMeasured) => ExitCode::from(2),
        Err(e) => failed(e.as_ref()),
    }
}

pub(crate) fn failed(error: &dyn std::error::Error) -> ExitCode {
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
fn run(all: &[&'static Benchmark], names: &[String], as_json: bool) -> Outcome<Verdict> {
    let report = Report { as_json };
    let mut verdict = Verdict::Met;
    let chosen = choose(all, names)?;
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

fn choose(all: &[&'static Benchmark], names: &[String]) -> Outcome<Vec<&'static Benchmark>> {
    let known: Vec<&str> = all.iter().map(|b| b.name).collect();
    if let Some(name) = names.iter().find(|n| !known.contains(&n.as_str())) {
        let known = known.join("`, `");
        return Err(format!("`{name}` is no benchmark; there are `{known}`").into());
    }
    let wanted = |b: &&Benchmark| names.is_empty() || names.iter().any(|n| n == b.name);
    Ok(all.iter().copied().filter(wanted).collect())
}
