//! Runs a target on the bytes of a file: what a fuzzer found, for example.
#![allow(
    clippy::disallowed_methods,
    reason = "a task for people at work on the project"
)]

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(name), Some(file)) = (args.next(), args.next()) else {
        return Err("usage: run_target TARGET FILE".into());
    };
    let mut targets = rethread_fuzz::TARGETS.iter();
    let target = targets.find(|target| target.name == name);
    let target = target.ok_or("there is no such target")?;
    (target.run)(&std::fs::read(file)?);
    Ok(())
}
