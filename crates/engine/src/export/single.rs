//! One session, or a part of it, as a file of its own.

use std::cell::RefCell;
use std::io::{self, Write};

use rethread_formats::Env;
use rethread_model::{Note, Summary};

use super::choose::Choice;
use super::header::{Facts, MoreOfHeader, header};
use super::record::{Way, write, write_part};
use crate::Shown;

/// Writes a header and the line of one session, as an export has them, with the files of its
/// sub-agents if these are wanted. A part of a session goes without its original, which is the whole.
///
/// Gives what else was noticed.
pub fn show_ndjson(
    env: &Env,
    shown: &Shown,
    (is_whole, with_agents): (bool, bool),
    out: &mut dyn Write,
) -> io::Result<Vec<Note>> {
    let conversation = &shown.conversation;
    let summary = Summary {
        head: conversation.session.head.clone(),
        ..Summary::default()
    };
    let choice = Choice::new(conversation.source.clone(), summary);
    let (kind, host) = choice.home();
    let facts = Facts::of(&choice.summary.head, &kind, host.as_deref());
    let line = header(env.now(), std::iter::once(&facts), &MoreOfHeader::default());
    out.write_all(&line)?;
    let notes = RefCell::default();
    let way = Way {
        source: choice.source_info(),
        file_time: choice.file_time,
        lean: false,
        agents: with_agents,
        notes: &notes,
        size: 0,
        steps: &|_| {},
    };
    if is_whole {
        write(out, conversation, way)?;
    } else {
        write_part(out, conversation, shown.entries.clone(), way)?;
    }
    Ok(notes.into_inner())
}
