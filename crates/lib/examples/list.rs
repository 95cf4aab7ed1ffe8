//! Lists the conversations of this machine, newest first: the agent, the time, the folder, the title.
//!
//! `cargo run -p rethread-lib --example list [WORD…]`, where a word is part of a folder's name.
#![allow(clippy::print_stdout, reason = "a program that prints")]

use std::error::Error;

use rethread_lib::engine::{Env, Filter, Sort, list};
use rethread_lib::render::one_line;

fn main() -> Result<(), Box<dyn Error>> {
    let env = Env::system()?;
    let filter = Filter {
        workspaces: std::env::args().skip(1).collect(),
        ..Filter::default()
    };
    let listed = list(&env, &filter, Sort::Updated, &|_, _| {})?;
    for session in &listed.sessions {
        let head = &session.head;
        let updated = head.updated.map(|moment| moment.to_string());
        let title = head.title.as_ref().map(|title| title.text.as_str());
        // What comes out of a conversation may hold escapes for the terminal: `one_line` shows them.
        println!(
            "{}\t{}\t{}\t{}",
            head.format,
            updated.unwrap_or_default(),
            one_line(head.workspace.path.as_deref().unwrap_or_default()),
            one_line(title.unwrap_or_default()),
        );
    }
    Ok(())
}
