//! `check`: is this message folder as the document wants it?

use std::io::{self, Write};

use anstyle::AnsiColor;
use clap::Args;
use rethread_render::one_line;
use rethread_samp::{Violation, check};
use serde_json::json;

use super::MessageContext;
use super::who::folder;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{json_out, say};
use crate::pager::page;

/// Check whether the message folder is as the protocol's document wants it.
///
/// Prints every violation on a line, with file, line, rule, and the section of the document; with
/// `--json` one object a line. Errors give exit code 1. Warnings do not, unless with `--strict`.
#[derive(Args, Debug)]
pub(crate) struct CheckMessages {}

pub(super) fn run(
    context: &Context,
    place: &MessageContext,
    _: &CheckMessages,
) -> Result<Exit, Failure> {
    let folder = folder(context, place)?;
    let mut answer = None;
    let write = |out: &mut dyn Write| {
        let mut written = Ok(());
        answer = Some(check(&folder, &mut |violation| {
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
    if !context.json {
        say(&format!(
            "{} error(s), {} warning(s): {} record(s) in {} log(s)",
            checked.errors, checked.warnings, checked.records, checked.files
        ));
    }
    let is_wrong = checked.errors > 0 || (context.strict && checked.warnings > 0);
    Ok(if is_wrong { Exit::Failed } else { Exit::Done })
}

fn print(context: &Context, violation: &Violation, out: &mut dyn Write) -> io::Result<()> {
    let level = if violation.is_error {
        "error"
    } else {
        "warning"
    };
    let path = violation.path.to_string_lossy();
    if context.json {
        let object = json!({
            "path": path,
            "line": violation.line,
            "level": level,
            "rule": violation.rule,
            "section": violation.section,
            "message": violation.message,
        });
        return writeln!(out, "{object}");
    }
    let colour = if violation.is_error {
        AnsiColor::Red
    } else {
        AnsiColor::Yellow
    };
    let style = if context.colour {
        colour.on_default().bold()
    } else {
        anstyle::Style::new()
    };
    let line = violation.line.map_or_else(String::new, |n| format!("{n}:"));
    writeln!(
        out,
        "{}:{line} {style}{level}[{}]{style:#}: {} ({})",
        one_line(&path),
        violation.rule,
        one_line(&violation.message),
        violation.section
    )
}
