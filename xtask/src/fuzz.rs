//! `cargo xtask fuzz`: the targets of `fuzz/`, by libFuzzer, for as long as is asked.
//!
//! What `cargo fuzz` asks of a nightly compiler is only its address sanitizer. There is no unsafe
//! code to find with that, and counting which code an input reaches is the stable compiler's, too.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};

use crate::{cargo, command};

/// How long each target runs, unless it is said.
const MINUTES: u64 = 5;

/// What makes the compiler count which code is reached.
const FLAGS: [&str; 6] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// What `cargo xtask fuzz` was given.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FuzzArguments {
    /// The target; all of them if none is named.
    target: Option<String>,
    /// How long each runs.
    minutes: u64,
}

impl FuzzArguments {
    /// Reads the arguments; none if they are wrong.
    pub(crate) fn parse(args: &[String]) -> Option<Self> {
        let mut found = Self {
            target: None,
            minutes: MINUTES,
        };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            if arg == "--minutes" {
                found.minutes = args.next()?.parse().ok()?;
            } else if arg.starts_with('-') || found.target.is_some() {
                return None;
            } else {
                found.target = Some(arg.clone());
            }
        }
        Some(found)
    }
}

/// Runs a target, or each in turn. The first that fails ends it.
pub(crate) fn run(arguments: &FuzzArguments) -> Result<ExitCode> {
    let targets = targets(&root().join("fuzz/fuzz_targets"))?;
    let wanted: Vec<&String> = match &arguments.target {
        None => targets.iter().collect(),
        Some(name) if targets.contains(name) => vec![name],
        Some(name) => bail!("`{name}` is no target; there are {}", targets.join(", ")),
    };
    for target in wanted {
        let program = build(target)?;
        let folder = root().join("target/fuzz");
        let (corpus, failures) = (folder.join("corpus").join(target), folder.join("failures"));
        std::fs::create_dir_all(&failures)?;
        write_seeds(target, &corpus)?;
        let mut fuzzer = Command::new(program);
        fuzzer.arg(corpus);
        fuzzer.arg(format!("-max_total_time={}", arguments.minutes * 60));
        fuzzer.arg(format!("-artifact_prefix={}/{target}-", failures.display()));
        fuzzer.args(["-timeout=10", "-rss_limit_mb=2048", "-max_len=65536"]);
        let done = command::pass_on(fuzzer.current_dir(root()))?;
        if done != ExitCode::SUCCESS {
            eprintln!("error: `{target}` failed; the input is in target/fuzz/failures");
            return Ok(done);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The names of the targets.
fn targets(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_stem().context("a file has a name")?;
        names.push(name.to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// Builds a target with libFuzzer. Only what is built for the machine is counted, not what is run to
/// build it, which is why the machine is named.
fn build(target: &str) -> Result<PathBuf> {
    let host = command::answer(Command::new("rustc").args(["--print", "host-tuple"]));
    let host = host.context("`rustc` does not say what it compiles for")?;
    let (host, folder) = (host.trim(), root().join("target/fuzz/build"));
    let mut cargo = cargo();
    cargo.args(["build", "-p", "rethread-fuzz", "--features", "libfuzzer"]);
    cargo.args(["--bin", target, "--target", host, "--profile", "quick"]);
    cargo.arg("--target-dir").arg(&folder);
    cargo.env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\x1f"));
    cargo.env("CARGO_PROFILE_QUICK_DEBUG_ASSERTIONS", "true");
    command::must(&mut cargo)?;
    Ok(folder.join(host).join("quick").join(target))
}

/// Lays out what the fuzzer begins with, beside what it found before.
fn write_seeds(target: &str, corpus: &Path) -> Result<()> {
    let mut cargo = cargo();
    cargo.args([
        "run",
        "-q",
        "-p",
        "rethread-fuzz",
        "--example",
        "write_seeds",
        "--",
    ]);
    command::must(cargo.arg(target).arg(corpus))
}

/// The folder of the repository.
fn root() -> &'static Path {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Option<FuzzArguments> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        FuzzArguments::parse(&args)
    }

    #[test]
    fn a_target_and_minutes_in_any_order() {
        let found = parse("--minutes 2 lines").unwrap();
        assert_eq!(found, parse("lines --minutes 2").unwrap());
        assert_eq!((found.target.as_deref(), found.minutes), (Some("lines"), 2));
        assert_eq!(parse("").unwrap().target, None);
        for wrong in ["lines tree", "--minutes", "--minutes soon", "--fast"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    /// The short run knows each target by the name of its file.
    #[test]
    fn every_target_has_a_short_run() {
        let short = std::fs::read_to_string(root().join("fuzz/tests/short_run.rs")).unwrap();
        let targets = targets(&root().join("fuzz/fuzz_targets")).unwrap();
        assert_eq!(targets.len(), 5);
        for target in targets {
            assert!(short.contains(&format!("run(\"{target}\", ")), "{target}");
        }
    }
}
