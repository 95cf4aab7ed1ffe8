//! The way back: a session that came from somewhere, as it was there.

use std::io;
use std::path::{Path, PathBuf};

use rethread_disk::{DiskError, Mode, ScratchFolder, create_with, ensure_folder};
use rethread_formats::carry::{Goods, Luggage};
use rethread_formats::{Conversation, Format, MessageInput, Source, Writing, by_name};
use rethread_model::Note;

use super::said;
use crate::Error;

/// A session as it was where it came from, in a folder of our own.
pub(super) struct Original {
    pub(super) folder: ScratchFolder,
    pub(super) source: Source,
    pub(super) cwd: Option<PathBuf>,
    /// How many messages were added to it since.
    pub(super) added: usize,
}

/// Goes back to where a session came from, through as many formats as there were between. None where
/// it did not come from there, or where what came along no longer fits what is there now.
pub(super) fn original(
    w: &Writing<'_>,
    conversation: &Conversation,
    to: &dyn Format,
    notes: &mut Vec<Note>,
) -> Result<Option<Original>, Error> {
    let Some(mut found) = step(w, conversation, notes)? else {
        return Ok(None);
    };
    while found.source.format != to.about().slug {
        let here = crate::show::open(&found.source)?;
        found = match step(w, &here, notes)? {
            Some(found) => found,
            None => return Ok(None),
        };
    }
    Ok(Some(found))
}

/// What travels along in a session; none where nothing does.
pub(super) fn luggage(conversation: &Conversation) -> Result<Option<Luggage>, Error> {
    let items = conversation.format.stowed(conversation)?;
    Luggage::read(&items).map_err(|e| Error::usage(e.to_string()))
}

/// Goes back by one format.
fn step(
    w: &Writing<'_>,
    here: &Conversation,
    notes: &mut Vec<Note>,
) -> Result<Option<Original>, Error> {
    let Some(luggage) = luggage(here)? else {
        return Ok(None);
    };
    let Some(format) = by_name(&luggage.from) else {
        let what = format!("it came from `{}`, which is no format", luggage.from);
        notes.push(Note::remark(what).at(&here.source.path));
        return Ok(None);
    };
    let Some(later) = since(here, &luggage.marks) else {
        let what = "what was said before was changed, so it is written anew";
        notes.push(Note::remark(what.to_owned()).at(&here.source.path));
        return Ok(None);
    };
    let folder = ScratchFolder::new()?;
    unpack(w, &luggage, folder.path())?;
    let goods = Goods {
        id: luggage.id.clone(),
        folder: folder.path().to_owned(),
        path: luggage.path.clone(),
        names: luggage.names(),
    };
    let source = format.unpacked(&goods)?;
    if !later.is_empty() {
        let appended = format.append(w, &source, &later)?;
        for failed in appended.ids {
            failed?;
        }
    }
    Ok(Some(Original {
        folder,
        source,
        cwd: luggage.cwd.map(PathBuf::from),
        added: later.len(),
    }))
}

/// What was said since; none if what was said before is not what it was.
fn since(here: &Conversation, before: &[u64]) -> Option<Vec<MessageInput>> {
    let mut before = before.iter();
    let mut later = Vec::new();
    for said in said::all(here) {
        if before.len() == 0 {
            later.push(said.input);
        } else if !said.marks.iter().all(|mark| before.next() == Some(mark)) {
            return None;
        }
    }
    (before.len() == 0).then_some(later)
}

/// Puts the files that came along into a folder.
fn unpack(w: &Writing<'_>, luggage: &Luggage, folder: &Path) -> Result<(), Error> {
    for (at, name) in luggage.names().iter().enumerate() {
        let path = rethread_formats::carry::below(folder, name)?;
        if let Some(parent) = path.parent() {
            ensure_folder(parent, &Mode::Private, w.durability)?;
        }
        let made = create_with(&path, Mode::Private, w.durability, |out| {
            luggage.unpack(at, out).map(drop)
        });
        let _ = made.map_err(|e| match e {
            DiskError::Write { cause, .. } if cause.kind() == io::ErrorKind::InvalidData => {
                Error::usage(format!("what travelled along is damaged: {cause}"))
            }
            other => other.into(),
        })?;
    }
    Ok(())
}
