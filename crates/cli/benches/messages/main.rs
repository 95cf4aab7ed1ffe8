//! How fast messages between agents are, against Python doing the same with its standard library.
//!
//! `cargo bench -p rethread --bench messages -- [--json] [NAME…]`. Whole processes are compared,
//! from start to end, by the processor time that they take. The benchmarks are made and measured
//! as those of `rethread-engine`.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of its own: it lays out the files that it measures with, and prints"
)]

#[allow(dead_code, reason = "it is shared, and not all of it is needed here")]
#[path = "../../../engine/benches/ratios/benchmark.rs"]
mod benchmark;
#[allow(dead_code, reason = "it is shared, and not all of it is needed here")]
#[path = "../../../engine/benches/ratios/clock.rs"]
mod clock;
mod inbox;
#[path = "../../../engine/benches/ratios/measure.rs"]
mod measure;
#[allow(dead_code, reason = "it is shared, and not all of it is needed here")]
#[path = "../../../engine/benches/ratios/process.rs"]
mod process;
mod program;
#[path = "../../../engine/benches/ratios/report.rs"]
mod report;
#[path = "../../../engine/benches/ratios/runner.rs"]
mod runner;
mod send;

use std::process::ExitCode;

use benchmark::Benchmark;

/// All benchmarks, in the order in which they run.
static BENCHMARKS: &[&Benchmark] = &[&send::BENCHMARK, &inbox::COLD, &inbox::WARM];

fn main() -> ExitCode {
    runner::main(BENCHMARKS)
}
