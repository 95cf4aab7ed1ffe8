//! Prints what a person and an agent said in one conversation, without tools and reasoning.
//!
//! `cargo run -p rethread-lib --example read [SESSION]`: an id, a part of one, a path, or `latest`.
#![allow(clippy::print_stdout, reason = "a program that prints")]

use std::error::Error;

use rethread_lib::engine::{Env, Part, show};
use rethread_lib::model::{Block, Bodies, Body};
use rethread_lib::render::Plain;

fn main() -> Result<(), Box<dyn Error>> {
    let env = Env::system()?;
    let name = std::env::args().nth(1).unwrap_or_else(|| "latest".into());
    let shown = show(&env, &name, Part::Active)?;
    for entry in &shown.entries {
        let Body::Message(message) = shown.conversation.body(*entry) else {
            continue;
        };
        for block in &message.blocks {
            if let Block::Text(text) = block {
                println!("{:?}: {}\n", message.role, Plain(&text.value));
            }
        }
    }
    Ok(())
}
