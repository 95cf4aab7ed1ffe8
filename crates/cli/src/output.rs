//! Printing: data to stdout, talk to stderr.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use rethread_model::Summary;
use rethread_render::{InertJson, SourceInfo, Utf8, session_object};
use serde_json::Value;

use crate::failure::Failure;

/// Prints one JSON object on a line.
pub(crate) fn print_json(value: &Value) -> Result<(), Failure> {
    json_out(io::stdout().lock(), |out| writeln!(out, "{value}"))
}

/// Says something in JSON on stderr.
pub(crate) fn say_json(value: &Value) {
    let mut out = InertJson::new(io::stderr().lock());
    // Nobody is left to be told if this fails.
    let _ = writeln!(out, "{value}").and_then(|()| out.flush());
}

/// Writes JSON, which is UTF-8 whatever the bytes that a session holds. Characters that could act where
/// it is shown are spelled as escapes, which mean the same to whoever reads the JSON.
pub(crate) fn json_out(
    out: impl Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut out = InertJson::new(out);
    let mut utf8 = Utf8::new(&mut out);
    write(&mut utf8)?;
    utf8.finish()?;
    Ok(out.flush()?)
}

/// Writes JSON that somebody asked for as it stands in a file; on a terminal as [`json_out`] does.
pub(crate) fn original_out(
    mut out: impl Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    if io::stdout().is_terminal() {
        return json_out(out, write);
    }
    write(&mut out)?;
    Ok(out.flush()?)
}

/// Prints one line of text.
pub(crate) fn print(line: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}

/// Says something on stderr that is no error.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// A session as scripts see it.
pub(crate) fn session_json(summary: &Summary) -> Value {
    Value::Object(session_object(summary, &local(&summary.path)))
}

/// A session of this machine.
pub(crate) fn local(path: &Path) -> SourceInfo {
    SourceInfo {
        kind: "local",
        host: None,
        path: path.to_string_lossy().into_owned(),
    }
}

/// Says why a command failed, before or without a context.
pub(crate) fn report(failure: &Failure, json: bool, colour: bool) {
    let spelled = Spelling {
        texts: &|text| text,
        hints: &|hint| hint,
    };
    report_spelled(failure, &spelled, json, colour);
}

/// Says why a command failed, in texts as they are to be spelled.
pub(crate) fn report_spelled(failure: &Failure, spelled: &Spelling<'_>, json: bool, colour: bool) {
    if matches!(failure, Failure::ClosedPipe) {
        return;
    }
    if json {
        say_json(&renamed(failure.to_json(), spelled, spelled.texts));
        return;
    }
    let message = (spelled.texts)(failure.message());
    labelled("error", anstyle::AnsiColor::Red, &message, colour);
    for hint in failure.hints() {
        labelled(
            "hint",
            anstyle::AnsiColor::Cyan,
            &(spelled.hints)(hint),
            colour,
        );
    }
}

/// How the texts of an error are spelled: what files are called, and how commands are typed.
pub(crate) struct Spelling<'a> {
    pub(crate) texts: &'a dyn Fn(String) -> String,
    pub(crate) hints: &'a dyn Fn(String) -> String,
}

/// An error for scripts with its texts as they are to be spelled.
fn renamed(error: Value, all: &Spelling<'_>, spell: &dyn Fn(String) -> String) -> Value {
    match error {
        Value::String(text) => Value::String(spell(text)),
        Value::Array(items) => items
            .into_iter()
            .map(|item| renamed(item, all, spell))
            .collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(key, value)| {
                let spell = if key == "hint" { all.hints } else { spell };
                let value = renamed(value, all, spell);
                (key, value)
            })
            .collect(),
        other => other,
    }
}

pub(crate) fn labelled(word: &str, colour: anstyle::AnsiColor, text: &str, coloured: bool) {
    let style = if coloured {
        colour.on_default().bold()
    } else {
        anstyle::Style::new()
    };
    let _ = writeln!(io::stderr().lock(), "{style}{word}{style:#}: {text}");
}
