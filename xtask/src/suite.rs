//! `cargo xtask test`: builds all tests once, then runs the test programs beside each other.
//!
//! `cargo test` runs one program after the other, so a core idles whenever the last test of one of
//! them is a long one, or waits for another program.

mod arguments;
mod jobs;
mod programs;
mod skipped;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::thread::available_parallelism;

use anyhow::{Context as _, Result, bail};

use crate::{cargo, command};
use arguments::TestArguments;
use jobs::TestJob;
use skipped::SkipLog;

/// The variable that says how many tests of a program run at the same time.
const THREADS: &str = "RUST_TEST_THREADS";

/// Variables for the tests, by name.
type Variables = Vec<(&'static str, OsString)>;

/// Builds and runs the tests that the arguments name.
pub(crate) fn run(args: &[String], mut variables: Variables) -> Result<ExitCode> {
    let log = SkipLog::new()?;
    variables.push((skipped::VARIABLE, log.path().into()));
    let arguments = TestArguments::parse(args);
    if arguments.is_for_cargo_alone() {
        let mut cargo = cargo();
        cargo.args(["test", "--workspace"]).args(args);
        return command::pass_on(cargo.envs(variables));
    }
    let cores = available_parallelism().map_or(2, |n| n.get().max(2));
    if std::env::var_os(THREADS).is_none() {
        // Some tests wait for other programs, and others may run meanwhile.
        variables.push((THREADS, (cores + 2).to_string().into()));
    }
    let failed = jobs::run_all(jobs(&arguments, &variables)?, cores)?;
    print!("{}", log.summary()?);
    if failed.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("error: tests failed in {}", failed.join(", "));
    Ok(ExitCode::FAILURE)
}

/// One job for each test program, the largest first, and one for the examples in the docs.
fn jobs(arguments: &TestArguments, variables: &Variables) -> Result<Vec<TestJob>> {
    let mut programs = programs::parse(&build(arguments)?)?;
    programs.sort_by_cached_key(|program| {
        let size = program.file.metadata().map_or(0, |m| m.len());
        (std::cmp::Reverse(size), program.file.clone())
    });
    let mut jobs = Vec::new();
    for program in programs {
        let mut command = Command::new(&program.file);
        command.args(arguments.of_programs());
        command.current_dir(&program.package);
        command.env("CARGO_MANIFEST_DIR", &program.package);
        jobs.push(TestJob {
            title: program.title(),
            command,
        });
    }
    if arguments.has_doc_tests() {
        let mut command = cargo();
        command.args(["test", "--doc"]).args(arguments.packages());
        command.args(&arguments.of_cargo).arg("--");
        command.args(arguments.of_programs());
        // It compiles each example, so it takes long: not the last to begin.
        jobs.insert(
            jobs.len().min(1),
            TestJob {
                title: "examples in docs".to_owned(),
                command,
            },
        );
    }
    for job in &mut jobs {
        job.command.envs(variables.iter().cloned());
        job.command.env("CARGO", cargo().get_program());
    }
    Ok(jobs)
}

/// Builds the tests, and gives what cargo says about each thing it built.
fn build(arguments: &TestArguments) -> Result<String> {
    let mut cargo = cargo();
    cargo.arg("test").args(arguments.packages());
    cargo.args(&arguments.of_cargo);
    cargo.args(["--no-run", "--message-format=json-render-diagnostics"]);
    eprintln!("$ {}", command::shown(&cargo));
    let built = cargo.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let built = built.context("cargo cannot be started")?;
    if !built.status.success() {
        bail!("the tests do not build");
    }
    Ok(String::from_utf8(built.stdout)?)
}

/// A test program that was built.
struct TestProgram {
    /// The program itself.
    file: PathBuf,
    /// The folder of its package, where it runs.
    package: PathBuf,
    /// The source file that it begins with, as from the folder of its package.
    source: String,
}

impl TestProgram {
    /// What is printed above its output.
    fn title(&self) -> String {
        let package = self.package.file_name().unwrap_or_default();
        format!("{}: {}", package.to_string_lossy(), self.source)
    }
}
