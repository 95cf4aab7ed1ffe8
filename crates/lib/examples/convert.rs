//! Carries a conversation into another agent, and says what became of what is in it.
//!
//! `cargo run -p rethread-lib --example convert SESSION FORMAT FOLDER`. The folder is filled as if it
//! were that agent's own, so nothing on this machine changes.
#![allow(clippy::print_stdout, reason = "a program that prints")]

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use rethread_lib::engine::{
    ConvertOptions, Durability, Env, Writing, by_name, convert_session, find,
};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [session, format, folder] = args.as_slice() else {
        return Err("usage: convert SESSION FORMAT FOLDER".into());
    };
    let env = Env::system()?;
    let writing = Writing {
        env: &env,
        durability: Durability::default(),
        lock_timeout: Duration::from_secs(10),
        strict: false,
    };
    let ask = ConvertOptions {
        to: by_name(format).ok_or("there is no such format")?,
        root: Some(Path::new(folder)),
        cwd: None,
        lean: false,
        agents: true,
        dry_run: false,
    };
    let converted = convert_session(&writing, &find(&env, session)?, &ask)?;
    println!("{} is at {}", converted.id, converted.path.display());
    for fate in &converted.fates {
        println!("{fate:?}");
    }
    Ok(())
}
