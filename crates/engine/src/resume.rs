//! `resume`: continue a conversation in its own client.

use rethread_catalog::find;
use rethread_formats::{Can, Env, Resume, Want, by_name};

use crate::Error;

/// The command that continues a session.
pub fn resume(env: &Env, name: &str) -> Result<Resume, Error> {
    let source = find(env, name)?;
    let format = by_name(source.format)
        .ok_or_else(|| Error::usage(format!("`{}` is no format", source.format)))?;
    let summary = format.summarize(&source, Want::default());
    let command = format.resume(&summary);
    command.ok_or_else(|| match summary.parent() {
        Some(parent) if format.about().can.contains(&Can::Resume) => Error::usage(format!(
            "`{}` is a sub-agent, which only its session `{parent}` continues",
            source.id
        )),
        _ => format.cannot("client that continues them").into(),
    })
}
