//! `check`: is this as its document wants it?

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anstyle::AnsiColor;
use clap::Args;
use rethread_engine::{
    Checked, Error, Violation, Weight, check_paths, nothing_to_check, paths_to_check,
};
use rethread_render::one_line;
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{json_out, say};
use crate::pager::page;

/// Check whether sessions, stores and files are sound.
///
/// Measured against its format's document, where it has one (`atsf`, `agentuse`, `pi`, `ndjson`), else
/// against what its client reads: that lines and documents are JSON, that fields are there and of their
/// types, that ids are unique and fit the names of files, that what is referred to is there, and all
/// else that the client would lose or stumble over. Originals that travel along in a session are
/// compared with their digests. Nothing is changed.
///
/// Prints every violation on a line, with file, line, rule, and the heading in the document; with
/// `--json` one object a line. Errors give exit code 1. Warnings do not, unless with `--strict`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread check                           this project
  rethread check latest                    one session
  rethread check ~/.codex/sessions         all of a folder
  rethread check 7f3a --strict             warnings count as errors
  rethread check a b --json | jq -r .rule  which rules two projects break

A path is a project, its `.agent`, an agent's own folder or a folder in it, the
folder or file of a session, or an export. What it is, is found out by what is
there. Any other name is a session.")]
pub(crate) struct Check {
    /// What to check; the current folder by default, `-` for what comes down a pipe.
    #[arg(value_name = "PATH|SESSION", default_value = ".")]
    paths: Vec<PathBuf>,
}

pub(crate) fn run(context: &Context, args: &Check) -> Result<Exit, Failure> {
    let name = |path: &PathBuf| context.named(&path.to_string_lossy()).map(PathBuf::from);
    let named = |path: &PathBuf| match path.to_str() {
        Some(_) => name(path),
        None => Ok(path.clone()),
    };
    let paths: Vec<PathBuf> = args.paths.iter().map(named).collect::<Result<_, _>>()?;
    let paths = paths_to_check(&context.env, &paths)?;
    let mut answer: Option<Result<Checked, Error>> = None;
    let write = |out: &mut dyn Write| {
        let mut written = Ok(());
        answer = Some(check_paths(&context.env, &paths, &mut |violation| {
            if written.is_ok() {
                written = print(context, violation, out);
            }
        }));
        written
    };
    if context.json {
        json_out(io::BufWriter::new(io::stdout().lock()), write)?;
    } else {
        page(context, write)?;
    }
    let Some(checked) = answer.transpose()? else {
        return Ok(Exit::Done);
    };
    if !context.json && checked.strangers.len() < args.paths.len() {
        say(&summary(&checked));
    }
    let is_wrong = checked.errors > 0
        || !checked.strangers.is_empty()
        || (context.strict && checked.warnings > 0);
    for path in checked.strangers {
        context.failed(&nothing_to_check(path).into());
    }
    Ok(if is_wrong { Exit::Failed } else { Exit::Done })
}

fn print(context: &Context, violation: &Violation, out: &mut dyn Write) -> io::Result<()> {
    if context.json {
        let path = context.given_path(&violation.path);
        return writeln!(out, "{}", object(violation, &path));
    }
    let colour = match violation.weight {
        Weight::Error => AnsiColor::Red,
        Weight::Warning => AnsiColor::Yellow,
    };
    let style = if context.colour {
        colour.on_default().bold()
    } else {
        anstyle::Style::new()
    };
    let path = context.given_path(&violation.path);
    let path = path.to_string_lossy();
    let line = violation.line.map_or_else(String::new, |n| format!("{n}:"));
    writeln!(
        out,
        "{}:{line} {style}{}[{}]{style:#}: {} ({})",
        one_line(&path),
        violation.weight,
        violation.rule,
        one_line(&violation.message),
        violation.section
    )
}

fn object(violation: &Violation, path: &Path) -> Value {
    json!({
        "path": path.to_string_lossy(),
        "line": violation.line,
        "level": violation.weight.word(),
        "rule": violation.rule,
        "section": violation.section,
        "message": violation.message,
    })
}

fn summary(checked: &Checked) -> String {
    let several = |n: u64, word: &str| {
        let ending = if n == 1 { "" } else { "s" };
        format!("{n} {word}{ending}")
    };
    format!(
        "{}, {} in {} ({})",
        several(checked.errors, "error"),
        several(checked.warnings, "warning"),
        several(checked.files, "file"),
        checked.formats.join(", ")
    )
}
