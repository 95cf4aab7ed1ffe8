//! Printing: data to stdout, talk to stderr.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use rethread_model::Summary;
use rethread_render::{SourceInfo, Utf8, session_object};
use serde_json::Value;

use crate::failure::Failure;

/// Prints one JSON object on a line.
pub(crate) fn print_json(value: &Value) -> Result<(), Failure> {
    json_out(io::stdout().lock(), |out| writeln!(out, "{value}"))
}

/// Says something in JSON on stderr.
pub(crate) fn say_json(value: &Value) {
    let mut out = io::stderr().lock();
    let text = format!("{value}\n");
    // Nobody is left to be told if this fails.
    let _ = if io::stderr().is_terminal() {
        let mut visible = Visible {
            out: &mut out,
            pending: Vec::new(),
        };
        visible
            .write_all(text.as_bytes())
            .and_then(|()| visible.flush())
    } else {
        out.write_all(text.as_bytes())
    };
}

/// Writes JSON, which is UTF-8 whatever the bytes that a session holds. On a terminal, characters that
/// could act there are spelled as escapes, which mean the same to whoever reads the JSON.
pub(crate) fn json_out(
    mut out: impl Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let write = |out: &mut dyn Write| {
        let mut utf8 = Utf8::new(out);
        write(&mut utf8)?;
        utf8.finish()
    };
    if io::stdout().is_terminal() {
        let mut visible = Visible {
            out: &mut out,
            pending: Vec::new(),
        };
        write(&mut visible)?;
        visible.flush()?;
    } else {
        write(&mut out)?;
    }
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
    if matches!(failure, Failure::ClosedPipe) {
        return;
    }
    if json {
        say_json(&failure.to_json());
        return;
    }
    labelled("error", anstyle::AnsiColor::Red, &failure.message(), colour);
    for hint in failure.hints() {
        labelled("hint", anstyle::AnsiColor::Cyan, &hint, colour);
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

/// Spells characters that act on a terminal as JSON escapes. Outside of strings, JSON has none.
struct Visible<'a> {
    out: &'a mut dyn Write,
    /// The beginning of a character whose rest has not come yet.
    pending: Vec<u8>,
}

impl Write for Visible<'_> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        use std::fmt::Write as _;
        self.pending.extend_from_slice(buf);
        let whole = match std::str::from_utf8(&self.pending) {
            Err(e) if e.error_len().is_none() => e.valid_up_to(),
            _ => self.pending.len(),
        };
        let rest = self.pending.split_off(whole);
        let text = String::from_utf8_lossy(&self.pending);
        let mut spelled = String::with_capacity(text.len());
        for c in text.chars() {
            if acts(c) {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    let _ = write!(spelled, "\\u{unit:04x}");
                }
            } else {
                spelled.push(c);
            }
        }
        self.out.write_all(spelled.as_bytes())?;
        self.pending = rest;
        Ok(buf.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&std::mem::take(&mut self.pending))?;
        self.out.flush()
    }
}

/// Whether a character would be shown as something else by a neutral text.
fn acts(c: char) -> bool {
    let mut buffer = [0; 4];
    let text: &str = c.encode_utf8(&mut buffer);
    c != '\n' && rethread_render::neutral(text) != text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_on_a_terminal_means_the_same_and_does_nothing() {
        let value = serde_json::json!({ "t": "a\u{9b}31m\u{202e}\u{7f}é😀\u{1b}" });
        let mut out = Vec::new();
        let mut visible = Visible {
            out: &mut out,
            pending: Vec::new(),
        };
        for byte in value.to_string().bytes() {
            visible.write_all(&[byte]).unwrap();
        }
        visible.flush().unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(!text.chars().any(acts), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
