//! `cargo xtask bench --quick`: how many instructions each command takes on small fixed inputs,
//! compared with a table in the repository.
//!
//! Instructions are counted by `callgrind`. They do not depend on how busy the machine is, so a
//! change of a few percent shows, which no clock could tell on a build machine.

mod cases;
mod count;
mod sessions;
mod table;
mod valgrind;
mod world;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context as _, Result, bail};

use crate::{cargo, command};
use table::{CountTable, Verdict};
use world::World;

/// The profile of the build that is measured: as fast to build as what is released is to run.
const PROFILE: &str = "quick";

/// Counts the instructions of each command. Saves them as the table, or compares them with it.
pub(crate) fn run(save: bool, tools: &Path) -> Result<ExitCode> {
    let valgrind = valgrind::program(tools)?;
    let program = build()?;
    let mut counted = CountTable::new(rustc_version()?);
    for (name, count) in count_all(&valgrind, &program)? {
        counted.insert(&name, count);
    }
    let file = root().join("xtask/instructions.tsv");
    if save {
        std::fs::write(&file, counted.to_text())?;
        println!(
            "{} commands are written to `xtask/instructions.tsv`",
            counted.len()
        );
        return Ok(ExitCode::SUCCESS);
    }
    let text = std::fs::read_to_string(&file).with_context(|| format!("`{}`", file.display()))?;
    let comparison = CountTable::parse(&text)?.compare(&counted);
    print!("{}", comparison.report());
    Ok(match comparison.verdict() {
        Verdict::Same | Verdict::OtherCompiler => ExitCode::SUCCESS,
        Verdict::Changed => ExitCode::FAILURE,
    })
}

/// Counts the instructions of all commands, one on each core: they do not disturb each other.
fn count_all(valgrind: &Path, program: &Path) -> Result<Vec<(String, u64)>> {
    let cases = Mutex::new(cases::all().into_iter());
    let next = || cases.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = |number: usize| -> Result<Vec<(String, u64)>> {
        let world = World::lay_out(program, number)?;
        let mut counts = Vec::new();
        while let Some(case) = next() {
            let count = count::instructions(valgrind, &world, program, &case)?;
            eprintln!("{:>12}  {}", table::thousands(count), case.name);
            counts.push((case.name, count));
        }
        Ok(counts)
    };
    let cores = thread::available_parallelism().map_or(1, |n| n.get().min(99));
    thread::scope(|scope| {
        let workers: Vec<_> = (0..cores)
            .map(|n| {
                scope.spawn({
                    let work = &work;
                    move || work(n)
                })
            })
            .collect();
        let mut all = Vec::new();
        for worker in workers {
            let counts = worker.join();
            all.extend(counts.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(all)
    })
}

/// Builds the program, and gives its path.
fn build() -> Result<PathBuf> {
    let mut cargo = cargo();
    cargo.args(["build", "-p", "rethread", "--profile", PROFILE]);
    command::must(&mut cargo)?;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), Into::into);
    let program = target.join(PROFILE).join("rethread");
    if !program.is_file() {
        bail!("`{}` was not built", program.display());
    }
    Ok(std::path::absolute(program)?)
}

/// The compiler and the machine that it compiles for: others make other instructions.
fn rustc_version() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let said = command::answer(std::process::Command::new(rustc).arg("-vV"));
    let said = said.context("`rustc` does not say its version")?;
    let of = |name: &str| said.lines().find_map(|line| line.strip_prefix(name));
    let parts = [of("release: "), of("host: ")];
    Ok(parts.into_iter().flatten().collect::<Vec<_>>().join(" "))
}

/// The folder of the repository.
fn root() -> &'static Path {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own)
}
