//! Reading a session in one pass over its file.

use rethread_disk::open_sized;
use rethread_model::Note;

use super::Flavour;
use super::grow::EntryTree;
use super::links::Wrong;
use super::scan::SessionScan;
use crate::kit::read_log;
use crate::{Conversation, Native, OpenError, Part, Source};

/// The one part of a session.
pub(super) const LOG_PART: u32 = 0;

/// Reads a session.
pub(crate) fn read(flavour: &'static Flavour, source: &Source) -> Result<Conversation, OpenError> {
    let path = &source.path;
    let not_ours = || OpenError::NotOurs {
        path: path.clone(),
        format: flavour.slug,
    };
    let (file, len) = open_sized(path)?;
    let part = Part::lines(path.clone(), file, len);
    let mut scan = SessionScan::whole(path);
    let end = read_log(&part, &mut scan)?;
    let SessionScan {
        header: Some(header),
        facts,
        thread: Some(thread),
        ..
    } = scan
    else {
        return Err(not_ours());
    };
    if end.is_stopped {
        return Err(not_ours());
    }
    let EntryTree {
        records,
        mut builder,
        links,
        ..
    } = thread;
    let mut notes = records.notes;
    for raw in records.unclaimed {
        builder.unclaimed(raw);
    }
    notes.extend(header.note(path));
    *builder.head() = header.head(flavour, path);
    facts.fill(builder.head(), path);
    for (at, wrong) in links.settle(&mut builder) {
        notes.push(at.note(Note::damage(wrong_parent(&wrong)), path));
    }
    Ok(Conversation {
        source: source.clone(),
        native: Native {
            parts: vec![part.with_records(records.marks)],
        },
        session: builder.finish(),
        notes,
    })
}

fn wrong_parent(wrong: &Wrong) -> String {
    match wrong {
        Wrong::Itself => "the entry is its own parent; it counts as a root".to_owned(),
        Wrong::Missing(id) => format!("the parent `{id}` is missing; the entry counts as a root"),
        Wrong::Circle => "its parents form a circle; the entry counts as a root".to_owned(),
    }
}
