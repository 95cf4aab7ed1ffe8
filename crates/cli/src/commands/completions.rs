//! `completions`: what a shell needs to complete command lines.

use std::io::{self, Write};

use clap::{Args, CommandFactory, ValueEnum};
use clap_complete::Shell;
use clap_complete_nushell::Nushell;
use serde_json::json;

use crate::args::Cli;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::print_json;

/// Print what a shell needs to complete commands and flags.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread completions bash > ~/.local/share/bash-completion/completions/rethread
  rethread completions zsh > ~/.zfunc/_rethread  where `~/.zfunc` is in `$fpath`
  rethread completions fish > ~/.config/fish/completions/rethread.fish
  rethread completions powershell >> $PROFILE
  rethread completions nushell > ~/.config/nushell/autoload/rethread.nu")]
pub(crate) struct Completions {
    /// The shell.
    shell: AskedShell,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum AskedShell {
    Bash,
    Zsh,
    Fish,
    Powershell,
    Nushell,
}

pub(crate) fn run(context: &Context, args: &Completions) -> Result<Exit, Failure> {
    let mut command = Cli::command();
    let mut script = Vec::new();
    let name = "rethread";
    match args.shell {
        AskedShell::Bash => clap_complete::generate(Shell::Bash, &mut command, name, &mut script),
        AskedShell::Zsh => clap_complete::generate(Shell::Zsh, &mut command, name, &mut script),
        AskedShell::Fish => clap_complete::generate(Shell::Fish, &mut command, name, &mut script),
        AskedShell::Powershell => {
            clap_complete::generate(Shell::PowerShell, &mut command, name, &mut script);
        }
        AskedShell::Nushell => clap_complete::generate(Nushell, &mut command, name, &mut script),
    }
    if context.json {
        let shell = args.shell.to_possible_value();
        let shell = shell.map(|value| value.get_name().to_owned());
        print_json(&json!({ "shell": shell, "script": String::from_utf8_lossy(&script) }))?;
        return Ok(Exit::Done);
    }
    let mut out = io::stdout().lock();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Exit::Done)
}
