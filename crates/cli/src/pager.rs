//! Long output for people goes through their pager.

use std::io::{self, Write};
use std::process::{Child, Command, Stdio};

use crate::context::Context;
use crate::failure::Failure;

/// Writes through `$PAGER` on a terminal, else to standard output.
pub(crate) fn page(
    context: &Context,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let Some(mut child) = context.pager.then(|| start(context)).flatten() else {
        let mut out = io::BufWriter::new(io::stdout().lock());
        write(&mut out)?;
        return Ok(out.flush()?);
    };
    let written = match child.stdin.take() {
        Some(stdin) => {
            let mut out = io::BufWriter::new(stdin);
            write(&mut out).and_then(|()| out.flush())
        }
        None => Ok(()),
    };
    child.wait()?;
    // Leaving the pager early is no error.
    match written {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(e.into()),
        _ => Ok(()),
    }
}

fn start(context: &Context) -> Option<Child> {
    let asked = context
        .env
        .system_variable("PAGER")
        .map(|p| p.to_string_lossy().into_owned());
    let line = asked.unwrap_or_else(|| "less".to_owned());
    let mut words = line.split_whitespace();
    let program = words.next().filter(|p| *p != "cat")?;
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::piped());
    if context.env.system_variable("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    command.spawn().ok()
}
