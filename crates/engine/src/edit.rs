//! The verbs that write: `init`, `new`, `append`, `rename`, `fork`.

use std::path::Path;

use rethread_catalog::{find, remember};
use rethread_formats::{
    Appended, Fork, Format, Made, MessageInput, NewSession, Source, Writing, by_name,
};
use rethread_model::Note;

use crate::show::open;
use crate::{Error, entry};

/// Prepares a project for conversations of a format.
pub fn init(w: &Writing<'_>, format: &dyn Format, folder: &Path) -> Result<Made, Error> {
    let made = format.init(w, folder)?;
    Ok(remembering(w, made))
}

/// Starts a session.
pub fn new(w: &Writing<'_>, format: &dyn Format, new: &NewSession) -> Result<Made, Error> {
    let made = format.create(w, new)?;
    Ok(remembering(w, made))
}

/// Adds messages to a session that was found before.
pub fn append(
    w: &Writing<'_>,
    source: &Source,
    messages: &[MessageInput],
) -> Result<Appended, Error> {
    Ok(format_of(source)?.append(w, source, messages)?)
}

/// Writes one message of a session anew.
pub fn replace(
    w: &Writing<'_>,
    source: &Source,
    entry: &str,
    message: &MessageInput,
) -> Result<Appended, Error> {
    let asked = entry::asked(&open(source)?, entry)?;
    Ok(format_of(source)?.replace(w, source, &asked, message)?)
}

/// Sets a session's display name.
pub fn rename(w: &Writing<'_>, name: &str, title: &str) -> Result<Vec<Note>, Error> {
    let source = find(w.env, name)?;
    Ok(format_of(&source)?.rename(w, &source, title)?)
}

/// Copies a session, up to an entry if one is named.
pub fn fork(w: &Writing<'_>, name: &str, at: Option<&str>, mut fork: Fork) -> Result<Made, Error> {
    let source = find(w.env, name)?;
    if let Some(at) = at {
        fork.at = Some(entry::asked(&open(&source)?, at)?);
    }
    let made = format_of(&source)?.fork(w, &source, &fork)?;
    Ok(remembering(w, made))
}

fn format_of(source: &Source) -> Result<&'static dyn Format, Error> {
    by_name(source.format).ok_or_else(|| Error::usage(format!("`{}` is no format", source.format)))
}

/// Remembers the project. What was made is there either way, so trouble with that is a note.
fn remembering(w: &Writing<'_>, mut made: Made) -> Made {
    if let Err(e) = remember(w.env, &made.project, w.durability) {
        made.notes
            .push(Note::remark(format!("the project was not remembered: {e}")));
    }
    made
}
