//! Writes the seeds of a target into a folder, for `cargo xtask fuzz`.
#![allow(
    clippy::disallowed_methods,
    reason = "a task for people at work on the project"
)]

use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(target), Some(folder)) = (args.next(), args.next()) else {
        return Err("usage: write_seeds TARGET FOLDER".into());
    };
    let folder = PathBuf::from(folder);
    std::fs::create_dir_all(&folder)?;
    for (n, seed) in rethread_fuzz::seeds(&target).into_iter().enumerate() {
        std::fs::write(folder.join(format!("seed-{n:05}")), seed)?;
    }
    Ok(())
}
