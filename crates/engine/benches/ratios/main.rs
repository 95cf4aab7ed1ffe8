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

mod agentuse;
mod append;
mod benchmark;
mod claude;
mod clock;
mod codex;
mod convert;
mod corpus;
mod durable;
mod export;
mod gemini;
mod json;
mod list;
mod long;
mod measure;
mod messages;
mod opencode;
mod pi;
mod process;
mod projects;
mod report;
mod runner;
mod search;
mod store;

use std::process::ExitCode;

use benchmark::Benchmark;

/// All benchmarks, in the order in which they run.
static BENCHMARKS: &[&Benchmark] = &[
    &json::BENCHMARK,
    &list::BENCHMARK,
    &projects::BENCHMARK,
    &agentuse::LIST,
    &agentuse::SHOW,
    &append::BENCHMARK,
    &durable::BENCHMARK,
    &pi::CONTEXT,
    &pi::MEMORY,
    &pi::LIST,
    &pi::WRITE_MEMORY,
    &claude::READ,
    &claude::BODIES,
    &claude::LIST,
    &claude::LIST_MEMORY,
    &claude::SHOW_MEMORY,
    &claude::WRITE_MEMORY,
    &codex::READ,
    &codex::BODIES,
    &codex::LIST,
    &codex::TOKENS,
    &codex::LIST_MEMORY,
    &codex::SHOW_MEMORY,
    &codex::WRITE_MEMORY,
    &gemini::READ,
    &gemini::BODIES,
    &gemini::LIST,
    &gemini::LIST_MEMORY,
    &gemini::SHOW_MEMORY,
    &gemini::WRITE_MEMORY,
    &opencode::READ,
    &opencode::LIST,
    &opencode::ROWS,
    &opencode::BODIES,
    &opencode::LIST_MANY,
    &opencode::LIST_MEMORY,
    &opencode::SHOW_MEMORY,
    &opencode::WRITE_MEMORY,
    &export::LEAN,
    &export::WHOLE,
    &export::LIMIT,
    &export::MEMORY,
    &export::MARKDOWN,
    &export::HTML,
    &convert::SPEED,
    &convert::MEMORY,
    &convert::SIZE,
    &convert::LONG,
    &search::LIST_FIRST,
    &search::LIST_AGAIN,
    &search::SCAN,
    &search::SCAN_ACCENTS,
    &search::BUILD,
    &search::MEMORY,
    &search::SIZE,
    &search::WARM,
    &search::GROWTH,
    &search::INDEX_BESIDE_FAST_RESUME,
    &search::BESIDE_FAST_RESUME,
    &search::BESIDE_AGENTSVIEW,
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let child = pi::run_child(&words)
        .or_else(|| long::run_child(&words))
        .or_else(|| export::run_child(&words))
        .or_else(|| convert::run_child(&words))
        .or_else(|| search::run_child(&words));
    if let Some(done) = child {
        return done.map_or_else(|e| runner::failed(e.as_ref()), |()| ExitCode::SUCCESS);
    }
    runner::main(BENCHMARKS)
}
