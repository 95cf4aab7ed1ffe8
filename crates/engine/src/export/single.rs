//! One session, or a part of it, as a file of its own.

use std::cell::RefCell;
use std::io::{self, Write};

use rethread_formats::Env;
use rethread_model::{Note, Summary};

use super::choose::ChosenSession;
use super::header::{ExtraHeader, HeaderFacts, header_line};
use super::record::{RecordOptions, write_part, write_record};
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
    let choice = ChosenSession::new(conversation.source.clone(), summary);
    let (kind, host) = choice.home_kind();
    let facts = HeaderFacts::of_session(&choice.summary.head, &kind, host.as_deref());
    let line = header_line(env.now(), std::iter::once(&facts), &ExtraHeader::default());
    out.write_all(&line)?;
    let notes = RefCell::default();
    let way = RecordOptions {
        source: choice.source_info(),
        file_time: choice.file_time,
        lean: false,
        agents: with_agents,
        notes: &notes,
        size: 0,
        steps: &|_| {},
    };
    if is_whole {
        write_record(out, conversation, way)?;
    } else {
        write_part(out, conversation, shown.entries.clone(), way)?;
    }
    Ok(notes.into_inner())
}
