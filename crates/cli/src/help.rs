//! The help: commands in groups, examples that fit the terminal, colours.
//!
//! The texts are the doc comments of the commands and their `after_help`; here they are only set. This
//! is done when help is asked for, and not each time the program starts.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use clap::Command;
use clap::builder::{StyledStr, Styles};
use rethread_engine::Env;

/// Commands that belong together, in the order in which the help lists them.
#[derive(Debug)]
pub(crate) struct CommandGroup {
    pub(crate) heading: &'static str,
    pub(crate) commands: &'static [&'static str],
}

/// Every command is in one group; a test says which is missing.
pub(crate) const GROUPS: &[CommandGroup] = &[
    CommandGroup {
        heading: "Find and read",
        commands: &[
            "list", "search", "show", "open", "tree", "context", "stats", "agents",
        ],
    },
    CommandGroup {
        heading: "Go on, take along",
        commands: &["resume", "convert", "export", "restore"],
    },
    CommandGroup {
        heading: "Write and tidy up",
        commands: &[
            "new", "append", "fork", "branch", "label", "rename", "rm", "migrate", "index",
        ],
    },
    CommandGroup {
        heading: "Projects",
        commands: &["init", "worktree", "trust", "check"],
    },
    CommandGroup {
        heading: "Between agents",
        commands: &["mcp", "msg"],
    },
    CommandGroup {
        heading: "Getting to know it",
        commands: &["sample", "completions", "man", "help"],
    },
];

/// The heading of the options that every command takes.
pub(crate) const GLOBAL: &str = "Global options";

const HEADER: Style = Style::new().bold();
const LITERAL: Style = AnsiColor::Cyan.on_default();

/// The colours of help and of what is said about wrong usage.
pub(crate) const STYLES: Styles = Styles::plain()
    .header(HEADER)
    .usage(HEADER)
    .literal(LITERAL)
    .placeholder(Style::new())
    .error(AnsiColor::Red.on_default().bold())
    .valid(AnsiColor::Green.on_default())
    .invalid(AnsiColor::Yellow.on_default());

/// Lines longer than this are hard to read, however wide the terminal is.
const WIDEST: usize = 100;

/// Describes a command line once more, with all that its help shows.
pub(crate) fn set(command: Command) -> Command {
    let width = columns().unwrap_or(WIDEST).clamp(20, WIDEST);
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}{{all-args}}{{after-help}}",
        groups(&command, width)
    );
    set_examples(command, width)
        .override_usage("rethread [OPTIONS] [COMMAND]")
        // They are in their groups already.
        .mut_subcommands(|sub| sub.hide(true))
        .help_template(template)
}

/// Prints what clap has to say, help to stdout and what is wrong to stderr, in the colours that
/// `--color` asks for: of a command line that could not be read, nothing else is known.
pub(crate) fn print(e: &clap::Error) -> io::Result<()> {
    let text = e.render();
    let mut words = std::env::args_os().skip_while(|word| word != "--color");
    let after = words.nth(1).and_then(|when| when.into_string().ok());
    let joined = std::env::args_os().find_map(|word| {
        let when = word.to_str()?.strip_prefix("--color=")?;
        Some(when.to_owned())
    });
    let choice = match joined.or(after).as_deref() {
        Some("always") => anstream::ColorChoice::Always,
        Some("never") => anstream::ColorChoice::Never,
        _ => anstream::ColorChoice::Auto,
    };
    if e.use_stderr() {
        write!(AutoStream::new(io::stderr(), choice), "{}", text.ansi())
    } else {
        write!(AutoStream::new(io::stdout(), choice), "{}", text.ansi())
    }
}

/// The columns of the terminal, or as many as the user says there are.
fn columns() -> Option<usize> {
    if let Some((width, _)) = terminal_size::terminal_size() {
        return Some(usize::from(width.0));
    }
    let env = Env::system().ok()?;
    env.system_variable("COLUMNS")?.to_str()?.parse().ok()
}

/// The commands with what they do, a group below the other.
fn groups(command: &Command, width: usize) -> String {
    let named = |name: &str| match command.find_subcommand(name) {
        Some(sub) => {
            let aliases = sub.get_visible_aliases().map(|alias| format!(", {alias}"));
            format!("{name}{}", aliases.collect::<String>())
        }
        None => name.to_owned(),
    };
    let about = |name: &str| match command.find_subcommand(name) {
        Some(sub) => sub.get_about().map(ToString::to_string),
        None => None,
    };
    let all = GROUPS.iter().flat_map(|group| group.commands);
    let names_width = all.map(|name| named(name).len()).max().unwrap_or(0);
    let mut out = String::new();
    for group in GROUPS {
        let _ = writeln!(out, "{HEADER}{}:{HEADER:#}", group.heading);
        for name in group.commands {
            let label = named(name);
            let text = about(name).unwrap_or_default();
            let pad = names_width - label.len();
            let _ = write!(out, "  {LITERAL}{label}{LITERAL:#}{:pad$}  ", "");
            hang(&mut out, &text, names_width + 4, width);
        }
        out.push('\n');
    }
    out
}

/// Sets the texts below the help of a command and of all below it.
fn set_examples(command: Command, width: usize) -> Command {
    let after = command.get_after_help().map(ToString::to_string);
    let mut command = command
        .term_width(width)
        .mut_subcommands(|sub| set_examples(sub, width));
    if let Some(after) = after {
        command = command.after_help(StyledStr::from(examples(&after, width)));
    }
    command
}

/// A row of examples.
struct Example<'a> {
    call: &'a str,
    /// What it does.
    note: &'a str,
}

impl<'a> Example<'a> {
    /// A line that is indented; two spaces part the call from what it does.
    fn read(line: &'a str) -> Option<Self> {
        let line = line.strip_prefix("  ")?;
        let (call, note) = line.trim_start().split_once("  ").unwrap_or((line, ""));
        Some(Self {
            call: if line.starts_with(' ') { line } else { call },
            note: if line.starts_with(' ') {
                ""
            } else {
                note.trim()
            },
        })
    }
}

/// Examples with what they do in a column, or below where there is no room; paragraphs wrapped.
fn examples(text: &str, width: usize) -> String {
    let rows = || text.lines().filter_map(Example::read);
    let noted = rows().filter(|row| !row.note.is_empty());
    let column = noted.clone().map(|row| row.call.chars().count()).max();
    let longest = noted.map(|row| row.note.chars().count()).max();
    let column = column.unwrap_or(0) + 4;
    let is_beside = column + longest.unwrap_or(0) <= width;
    let mut out = String::new();
    let mut paragraph = String::new();
    for line in text.lines().chain([""]) {
        if let Some(Example { call, note }) = Example::read(line) {
            let _ = write!(out, "  {LITERAL}{call}{LITERAL:#}");
            match (note.is_empty(), is_beside) {
                (true, _) => out.push('\n'),
                (false, true) => {
                    let pad = column.saturating_sub(call.chars().count() + 2);
                    let _ = writeln!(out, "{:pad$}{note}", "");
                }
                (false, false) => {
                    out.push_str("\n      ");
                    hang(&mut out, note, 6, width);
                }
            }
        } else if line.ends_with(':') {
            let _ = writeln!(out, "{HEADER}{line}{HEADER:#}");
        } else if !line.is_empty() {
            paragraph.push_str(line);
            paragraph.push(' ');
        } else {
            hang(&mut out, std::mem::take(&mut paragraph).trim(), 0, width);
        }
    }
    out.trim_end().to_owned()
}

/// Writes words from where the line is, which is at `indent`, and goes on below that.
fn hang(out: &mut String, text: &str, indent: usize, width: usize) {
    let room = width.saturating_sub(indent).max(12);
    let mut used = 0;
    for word in text.split_whitespace() {
        let len = word.chars().count();
        if used > 0 && used + 1 + len > room {
            let _ = write!(out, "\n{:indent$}", "");
            used = 0;
        } else if used > 0 {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += len;
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    #[test]
    fn every_command_is_in_one_group() {
        let command = Cli::command();
        let visible = command.get_subcommands().filter(|sub| !sub.is_hide_set());
        let mut known: Vec<&str> = visible.map(Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|g| g.commands).copied().collect();
        known.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(
            grouped, known,
            "`GROUPS` in `help.rs` names each command once"
        );
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_where_words_can_be_parted() {
        let text = "Examples:\n  rethread show 7f3a  what was said there, from the beginning on";
        assert_eq!(
            anstream::adapter::strip_str(&examples(text, 30)).to_string(),
            "Examples:\n  rethread show 7f3a\n      what was said there,\n      from the beginning on"
        );
        let wide = anstream::adapter::strip_str(&examples(text, 80)).to_string();
        assert!(wide.ends_with("7f3a  what was said there, from the beginning on"));
    }
}
