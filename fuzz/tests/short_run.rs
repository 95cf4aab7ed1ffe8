//! Each target for a moment, over inputs that are always the same. `RETHREAD_FUZZ_INPUTS` says how
//! many, and `RETHREAD_FUZZ_SEED` which.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test that is told what to do by variables"
)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use rethread_fuzz::{Mutations, TARGETS, seeds};

/// A number that a variable names.
fn number(variable: &str, otherwise: u64) -> u64 {
    let set = std::env::var(variable).ok();
    set.map_or(otherwise, |text| text.parse().unwrap())
}

/// Runs a target over so many inputs; what it fails on is kept as a file.
fn run(name: &str, inputs: u64) {
    let target = TARGETS.iter().find(|target| target.name == name).unwrap();
    let inputs = number("RETHREAD_FUZZ_INPUTS", inputs);
    let seed = number("RETHREAD_FUZZ_SEED", 1);
    let mutations = Mutations::new(seeds(name), seed);
    for (n, input) in (0..inputs).zip(mutations) {
        let done = catch_unwind(AssertUnwindSafe(|| (target.run)(&input)));
        if done.is_err() {
            let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
                .join(format!("{name}-{seed}-{n}"));
            std::fs::write(&file, &input).unwrap();
            panic!(
                "`{name}` fails on input {n} of seed {seed}, see `{}`",
                file.display()
            );
        }
    }
}

#[test]
fn lines() {
    run("lines", 20_000);
}

#[test]
fn tree() {
    run("tree", 20_000);
}

#[test]
fn readers() {
    run("readers", 3_000);
}

#[test]
fn samp() {
    run("samp", 20_000);
}

#[test]
fn escapers() {
    run("escapers", 5_000);
}

#[test]
fn the_same_number_makes_the_same_inputs_and_another_makes_others() {
    let made = |number| Mutations::new(seeds("samp"), number).skip(2_000).take(50);
    assert!(made(1).eq(made(1)));
    assert!(!made(1).eq(made(2)));
}

#[test]
fn seeds_of_readers_reach_every_format_that_keeps_files() {
    assert!(seeds("readers").len() > 100);
    assert!(seeds("lines").len() > 500);
}
