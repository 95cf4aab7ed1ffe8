//! Tasks of the project: `cargo xtask TASK`.
//!
//! It knows no crate of the project, so that it builds in a moment and still works when they do
//! not.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for people at work on the project, not a part of it"
)]

mod apt;
mod chromium;
mod command;
mod fuzz;
mod jq;
mod metrics;
mod npm;
mod openssh;
mod prices;
mod quick;
mod strace;
mod suite;
mod tools;

use std::process::{Command, ExitCode};

use anyhow::Result;

const HELP: &str = "\
Usage: cargo xtask TASK

Tasks:
  test [ARGS…]   Get what the tests need, then run what `cargo test --workspace ARGS` would,
                 the test programs beside each other
  bench [ARGS…]  Get what the benchmarks need, then run them, or those that are named
  bench --quick  Count the instructions of each command on small inputs, and compare them with
                 xtask/instructions.tsv; `bench --quick --save` writes that anew
  fuzz [TARGET] [--minutes N]
                 Run a target of fuzz/, or each in turn, for some minutes by libFuzzer
  docs           Write the generated pages of docs/ and the tour in README.md anew
  pictures       Take the picture of a page for README.md anew
  prices         Write the table of prices that `rethread stats` knows anew
  metrics        Measure sizes and names of the code, beside what they were before;
                 `metrics --save` makes today's numbers those of before
";

/// What is wrong with the call, not with the work.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let task = args.next();
    let rest: Vec<String> = args.collect();
    let done = match task.as_deref() {
        Some("test") => test(&rest),
        Some("bench") if rest.first().is_some_and(|arg| arg == "--quick") => match &rest[1..] {
            [] => quick(false),
            [save] if save == "--save" => quick(true),
            _ => return usage("`bench --quick` takes nothing but `--save`"),
        },
        Some("bench") => bench(&rest),
        Some("fuzz") => match fuzz::FuzzArguments::parse(&rest) {
            Some(arguments) => fuzz::run(&arguments),
            None => return usage("`fuzz` takes a target and `--minutes N`"),
        },
        Some("docs") if rest.is_empty() => docs(),
        Some("pictures") if rest.is_empty() => pictures(),
        Some("prices") if rest.is_empty() => tools::tools_folder()
            .and_then(|folder| prices::write_prices(&folder))
            .map(|()| ExitCode::SUCCESS),
        Some("metrics") if rest.is_empty() || rest == ["--save"] => {
            metrics::metrics(!rest.is_empty()).map(|()| ExitCode::SUCCESS)
        }
        None | Some("help" | "--help" | "-h") => {
            print!("{HELP}");
            Ok(ExitCode::SUCCESS)
        }
        Some(task @ ("docs" | "pictures" | "prices")) => {
            return usage(&format!("`{task}` takes no arguments"));
        }
        Some("metrics") => return usage("`metrics` takes nothing but `--save`"),
        Some(other) => return usage(&format!("`{other}` is no task")),
    };
    done.unwrap_or_else(|e| {
        eprintln!("error: {e:#}");
        ExitCode::FAILURE
    })
}

fn usage(what: &str) -> ExitCode {
    eprint!("error: {what}\n\n{HELP}");
    ExitCode::from(USAGE)
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn test(args: &[String]) -> Result<ExitCode> {
    let variables = tools::for_tests()?;
    suite::run(args, variables)
}

fn quick(save: bool) -> Result<ExitCode> {
    quick::run(save, &tools::tools_folder()?)
}

fn bench(args: &[String]) -> Result<ExitCode> {
    // Those of the message protocol compare programs, so they are where the program is.
    let is_message = |name: &&String| name.starts_with("msg-");
    let names: Vec<&String> = args.iter().filter(|a| !a.starts_with('-')).collect();
    let messages = names.is_empty() || names.iter().any(is_message);
    let others = names.is_empty() || names.iter().any(|name| !is_message(name));
    let tools = tools::for_benchmarks()?;
    let mut worst = ExitCode::SUCCESS;
    for (wanted, package, bench) in [
        (others, "rethread-engine", "ratios"),
        (messages, "rethread", "messages"),
    ] {
        if !wanted {
            continue;
        }
        let own = |arg: &&String| arg.starts_with('-') || is_message(arg) == (bench == "messages");
        let mut cargo = cargo();
        cargo.args(["bench", "-p", package, "--bench", bench, "--"]);
        cargo.envs(tools.clone());
        let done = command::pass_on(cargo.args(args.iter().filter(own)))?;
        if done != ExitCode::SUCCESS {
            worst = done;
        }
    }
    Ok(worst)
}

/// The test that compares the generated pages writes them when it is told to.
fn docs() -> Result<ExitCode> {
    let mut cargo = cargo();
    cargo.args(["test", "-p", "rethread", "--test", "it", "--"]);
    cargo.args([
        "cli_reference",
        "the_schema_is_written_down",
        "json_pages_and_schemas",
    ]);
    cargo.args(["tour::the_readme", "tour::the_picture"]);
    command::pass_on(cargo.env("RETHREAD_BLESS", "1"))
}

/// The same for what only a browser can show.
fn pictures() -> Result<ExitCode> {
    let variables = tools::for_tests()?;
    let mut cargo = cargo();
    cargo.args(["test", "-p", "rethread", "--test", "it", "--"]);
    cargo.args(["tour::there_is_a_picture", "tour::the_picture"]);
    command::pass_on(cargo.envs(variables).env("RETHREAD_BLESS", "1"))
}
