//! Asking the user before anything from a repository is carried out.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;

use rethread_engine::Consent;
use rethread_formats::Hooks;
use rethread_render::{Plain, one_line};

use crate::context::Context;
use crate::output::say;

/// Whether there is somebody to ask.
pub(crate) fn is_possible() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Shows hooks and asks whether to trust them. Without a terminal the answer is no.
pub(crate) fn ask(context: &Context, hooks: &Hooks) -> Consent {
    if !is_possible() {
        return Consent::Unasked;
    }
    show(context, hooks);
    match agree(&question(
        "Trust exactly this",
        hooks,
        ", and carry it out?",
    )) {
        Ok(true) => Consent::Given,
        _ => Consent::Declined,
    }
}

/// A question about hooks that says how much there is of them: the beginning of a long command may be
/// out of sight.
pub(crate) fn question(before: &str, hooks: &Hooks, after: &str) -> String {
    let mut parts = Vec::new();
    let counted = |count: usize, one: &str| match count {
        1 => format!("1 {one}"),
        n => format!("{n} {one}s"),
    };
    if !hooks.symlinks.is_empty() {
        parts.push(counted(hooks.symlinks.len(), "link"));
    }
    let with_lines = |what: String, texts: &mut dyn Iterator<Item = &str>, count: usize| {
        let lines: usize = texts.map(|text| text.split('\n').count()).sum();
        match lines {
            n if n <= count => what,
            n => format!("{what} of {n} lines"),
        }
    };
    let commands = &hooks.commands;
    if !commands.is_empty() {
        let mut texts = commands.iter().flatten().map(|c| c.command.as_str());
        let what = counted(commands.len(), "command");
        parts.push(with_lines(what, &mut texts, commands.len()));
    }
    if let Some(prompt) = &hooks.initial_prompt {
        let mut texts = prompt.iter().map(String::as_str);
        parts.push(with_lines("a prompt".to_owned(), &mut texts, 1));
    }
    format!("{before} ({}){after}", parts.join(", "))
}

/// Asks a question on the terminal.
pub(crate) fn agree(question: &str) -> io::Result<bool> {
    let mut out = io::stderr().lock();
    write!(out, "{question} [y/N] ")?;
    out.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Shows all that hooks would do, in full, with control characters visible.
pub(crate) fn show(_: &Context, hooks: &Hooks) {
    say(&format!(
        "{} wants this in a new worktree:",
        path(&hooks.config)
    ));
    for link in &hooks.symlinks {
        match link {
            Ok(link) => say(&format!(
                "  link     {} -> {}",
                one_line(&link.target),
                one_line(&link.source)
            )),
            Err(why) => say(&format!("  (senseless: {})", one_line(why))),
        }
    }
    for command in &hooks.commands {
        let command = match command {
            Ok(command) => command,
            Err(why) => {
                say(&format!("  (senseless: {})", one_line(why)));
                continue;
            }
        };
        say(&format!("  command  {}", indented(&command.command)));
        if let Some(label) = &command.label {
            say(&format!("           called {}", one_line(label)));
        }
        if let Some(platforms) = &command.platforms {
            say(&format!(
                "           only on {}",
                one_line(&platforms.join(", "))
            ));
        }
    }
    match &hooks.initial_prompt {
        None => {}
        Some(Ok(prompt)) => say(&format!("  prompt   {}", indented(prompt))),
        Some(Err(why)) => say(&format!("  (senseless: {})", one_line(why))),
    }
}

fn path(path: &Path) -> String {
    one_line(&path.to_string_lossy()).into_owned()
}

/// Text of several lines below each other, so that no line of it can pass for one of ours.
fn indented(text: &str) -> String {
    Plain(text).to_string().replace('\n', "\n         | ")
}
