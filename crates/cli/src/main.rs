//! The `rethread` binary: arguments, one file a command, output, exit codes.

mod args;
mod commands;
mod consent;
mod context;
mod exit;
mod failure;
mod filters;
mod following;
mod found_text;
mod help;
mod homes;
mod json_reference;
mod marking;
mod names;
mod notes;
mod output;
mod pager;
mod progress;
mod session_table;
mod stats_json;
mod stats_page;
mod table;

use std::process::ExitCode;

use clap::error::ErrorKind;

use crate::args::{Cli, Command};
use crate::context::Context;
use crate::exit::Exit;

fn main() -> ExitCode {
    let mut args = std::env::args_os();
    if let Some(name) = commands::msg::other_names::name(args.next().as_deref()) {
        return commands::msg::other_names::main(name, args).into();
    }
    let mut cli = match Cli::read() {
        Ok(cli) => cli,
        Err(e) => return wrong_usage(&e),
    };
    // The sample itself is written and removed in the user's own folders.
    cli.global.sample &= !matches!(cli.command, Some(Command::Sample(_)));
    let context = match Context::new(&cli.global) {
        Ok(context) => context,
        Err(failure) => {
            output::report(&failure, cli.global.json, false);
            return failure.exit().into();
        }
    };
    let exit = match commands::run(&context, cli.command) {
        Ok(exit) => {
            context.tell_notes();
            exit
        }
        Err(failure) => context.failed(&failure),
    };
    context::code(exit, context.strict)
}

/// Help and version are answers; anything else is wrong usage.
fn wrong_usage(e: &clap::Error) -> ExitCode {
    let asked_for_json = std::env::args_os().any(|a| a == "--json");
    let is_answer = matches!(e.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if asked_for_json && !is_answer {
        let text = e.render().to_string();
        let first = text.lines().next().unwrap_or_default();
        let message = first.strip_prefix("error: ").unwrap_or(first);
        output::report(&failure::Failure::usage(message), true, false);
        return Exit::Usage.into();
    }
    // A closed pipe is the only way this fails, and then there is nobody to tell.
    let _ = help::print(e);
    if is_answer {
        Exit::Done.into()
    } else {
        Exit::Usage.into()
    }
}
