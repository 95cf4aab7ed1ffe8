//! `resume`: continue a conversation in its own client.

use rethread_catalog::find;
use rethread_formats::{Can, Env, Resume, Want, by_name};
use rethread_model::Note;

use crate::Error;

/// How a session is continued.
#[derive(Debug)]
pub struct Continued {
    /// The command.
    pub command: Resume,
    /// What the client does beside that.
    pub notes: Vec<Note>,
}

/// The command that continues a session, and what is to be known before it is run.
pub fn resume(env: &Env, name: &str) -> Result<Continued, Error> {
    let source = find(env, name)?;
    let format = by_name(source.format)
        .ok_or_else(|| Error::usage(format!("`{}` is no format", source.format)))?;
    let summary = format.summarize(&source, Want::default());
    let command = format.resume(&summary);
    let command = command.ok_or_else(|| match summary.parent() {
        Some(parent) if format.about().can.contains(&Can::Resume) => Error::usage(format!(
            "`{}` is a sub-agent, which only its session `{parent}` continues",
            source.id
        )),
        _ => format.cannot("client that continues them").into(),
    })?;
    let notes = format.resume_notes(env, &summary);
    Ok(Continued { command, notes })
}
