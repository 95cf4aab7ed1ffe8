//! `man`: manual pages.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, Command, CommandFactory};
use clap_mangen::Man as Page;
use rethread_disk::{Durability, Mode, ensure_folder, replace};
use rethread_render::one_line;
use serde_json::json;

use crate::args::Cli;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print, print_json};

/// Print the manual page, or write one for each command.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread man | man -l -                   read it
  rethread man -o ~/.local/share/man/man1   so that `man rethread-list` finds them")]
pub(crate) struct Man {
    /// Write a page for each command into this folder, in the place of those that are there.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

pub(crate) fn run(context: &Context, args: &Man) -> Result<Exit, Failure> {
    let mut command = Cli::command();
    command.build();
    let Some(folder) = &args.output else {
        let page = page(&command)?;
        if context.json {
            print_json(&json!({ "page": String::from_utf8_lossy(&page) }))?;
        } else {
            let mut out = io::stdout().lock();
            out.write_all(&page)?;
            out.flush()?;
        }
        return Ok(Exit::Done);
    };
    let folder = context.folder(Some(folder));
    let near = folder.ancestors().find(|folder| folder.is_dir());
    let mode = Mode::like(near.unwrap_or(&folder))?;
    ensure_folder(&folder, &mode, Durability::Close)?;
    for command in all(&command) {
        let path = folder.join(format!("{}.1", name(command)));
        let mode = Mode::like(&folder)?;
        replace(&path, &page(command)?, mode, Durability::Close)?;
        let path = path.to_string_lossy();
        if context.json {
            print_json(&json!({ "path": path }))?;
        } else {
            print(&one_line(&path))?;
        }
    }
    Ok(Exit::Done)
}

/// A command and all below it, but for `help`.
fn all(command: &Command) -> Vec<&Command> {
    let mut all = vec![command];
    let mut at = 0;
    while let Some(command) = all.get(at).copied() {
        let below = command.get_subcommands();
        all.extend(below.filter(|sub| sub.get_name() != "help" && !sub.is_hide_set()));
        at += 1;
    }
    all
}

/// `rethread-msg-send`.
fn name(command: &Command) -> String {
    command
        .get_display_name()
        .unwrap_or_else(|| command.get_name())
        .to_owned()
}

fn page(command: &Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    Page::new(command.clone()).render(&mut page)?;
    Ok(page)
}
