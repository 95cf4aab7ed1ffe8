//! `resume`: continue a conversation in its own client, or in another.

use rethread_catalog::{find, named_workspace};
use rethread_formats::{Can, Env, Format, Resume, Source, Want, Writing, by_name};
use rethread_model::Note;

use crate::Error;
use crate::convert::{Trim, convert_to_resume};

/// How a session is continued.
#[derive(Debug)]
pub struct Continued {
    /// The command.
    pub command: Resume,
    /// What the client does beside that.
    pub notes: Vec<Note>,
}

/// The command that continues a session, and what is to be known before it is run. A thread that
/// belongs to no client goes to the agent that it names.
pub fn resume(w: &Writing<'_>, name: &str) -> Result<Continued, Error> {
    let source = find(w.env, name)?;
    let format = format_of(&source)?;
    if format.about().can.contains(&Can::Resume) {
        return command(w.env, &source, Vec::new());
    }
    let summary = format.summarize(&source, Want::default());
    let agent = summary.head.agent.id.as_deref().and_then(by_name);
    match agent.filter(|f| f.about().can.contains(&Can::Resume)) {
        Some(agent) => converted(w, &source, agent, &Trim::default()),
        None => Err(Error::Usage {
            message: format!(
                "{} sessions have no client that continues them",
                source.format
            ),
            hint: Some("`--in AGENT` continues it in another".to_owned()),
        }),
    }
}

/// As [`resume`], in a client of the user's choice: the session is converted if that is another.
pub fn resume_in(
    w: &Writing<'_>,
    name: &str,
    to: &'static dyn Format,
    trim: &Trim<'_>,
) -> Result<Continued, Error> {
    let source = find(w.env, name)?;
    if !to.about().can.contains(&Can::Resume) {
        return Err(to.cannot("client that continues them").into());
    }
    if to.about().slug != source.format {
        return converted(w, &source, to, trim);
    }
    if *trim != Trim::default() {
        return Err(Error::Usage {
            message: "a session is continued as a whole by its own client".to_owned(),
            hint: Some("`rethread fork` makes a copy of a part".to_owned()),
        });
    }
    command(w.env, &source, Vec::new())
}

fn converted(
    w: &Writing<'_>,
    source: &Source,
    to: &'static dyn Format,
    trim: &Trim<'_>,
) -> Result<Continued, Error> {
    let (made, notes) = convert_to_resume(w, source, to, trim)?;
    command(w.env, &made, notes)
}

fn format_of(source: &Source) -> Result<&'static dyn Format, Error> {
    by_name(source.format).ok_or_else(|| Error::usage(format!("`{}` is no format", source.format)))
}

fn command(env: &Env, source: &Source, mut notes: Vec<Note>) -> Result<Continued, Error> {
    let format = format_of(source)?;
    let mut summary = format.summarize(source, Want::default());
    if let Some(path) = named_workspace(env, source, &summary.head) {
        summary.head.workspace.path = Some(path);
    }
    let command = format.resume(&summary);
    let command = command.ok_or_else(|| match summary.parent() {
        Some(parent) if format.about().can.contains(&Can::Resume) => Error::usage(format!(
            "`{}` is a sub-agent, which only its session `{parent}` continues",
            source.id
        )),
        _ => match format.resume_refusal(&summary) {
            Some((message, hint)) => Error::Usage {
                message,
                hint: Some(hint),
            },
            None => format.cannot("client that continues them").into(),
        },
    })?;
    // Whoever wrote the session chose its id: it must not become an option of the client.
    let id = &summary.head.id;
    if id.starts_with('-') && command.args.contains(id) {
        return Err(Error::Usage {
            message: format!(
                "the id `{id}` begins like an option, so `{}` is not started with it",
                command.program
            ),
            hint: Some("`rethread fork` makes a copy with an id of its own".to_owned()),
        });
    }
    notes.extend(format.resume_notes(env, &summary));
    Ok(Continued { command, notes })
}
