//! `export`: sessions of every agent in one file of the unified vocabulary, or in other forms.
//!
//! First the sessions are chosen by their summaries, then they are read and written one at a time,
//! so that memory follows the largest of them. The header comes first in the file and must fit what
//! follows; it is made from the summaries, and where reading proves them wrong (a session cannot be
//! read after all) everything is written once more.

mod choose;
mod header;
mod html;
mod markdown;
mod ndjson;
mod pack;
mod pictures;
mod progress;
mod record;
mod single;
mod source;

use std::path::PathBuf;

use rethread_disk::Durability;
use rethread_formats::Env;
use rethread_model::{Moment, Note};
use rethread_render::Options;

use crate::Error;
use crate::show::open;
use choose::ChosenSession;

pub use choose::{ChosenSessions, ExportSelection, choose_sessions};
pub use html::export_html;
pub use markdown::{PageOutput, export_markdown};
pub use ndjson::export_ndjson;
pub use pictures::ConversationWithFiles;
pub use single::show_ndjson;
pub use source::export_source;

/// What sessions are exported as.
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExportForms {
    /// Leave out what the document's vocabulary cannot say.
    pub lean: bool,
    /// Leave calls of tools out of documents for people.
    pub without_tools: bool,
    /// Leave reasoning out of documents for people.
    pub without_thinking: bool,
    /// Replace files that exist.
    pub force: bool,
    /// Write nothing if something is damaged.
    pub strict: bool,
    /// What is synced before success is reported.
    pub durability: Durability,
}

impl ExportForms {
    /// What documents for people show. They fold what a terminal leaves out.
    fn render_options(self) -> Options {
        Options {
            tools: !self.without_tools,
            thinking: !self.without_thinking,
            ..Options::DOCUMENT
        }
    }
}

/// Where an export goes.
pub enum ExportTarget<'a> {
    /// Into this file, whole or not at all; packed as its name says.
    File(PathBuf),
    /// To somebody who reads along. Nothing is written before all is known.
    Stream(&'a mut dyn std::io::Write),
}

/// What came of an export.
#[derive(Debug, Default)]
pub struct Exported {
    /// The files that were written.
    pub files: Vec<PathBuf>,
    /// How many sessions are in them.
    pub sessions: u64,
    /// Sessions that could not be read at all.
    pub skipped: u64,
    /// Whether nothing was written because something was damaged.
    pub refused: bool,
    /// What was noticed.
    pub notes: Vec<Note>,
}

/// `20251227_103000`, in UTC.
pub(crate) fn time_stamp(time: Moment) -> String {
    let text = time.to_string();
    let digits: String = text.chars().filter(char::is_ascii_digit).take(14).collect();
    let (day, clock) = digits.split_at_checked(8).unwrap_or((&digits, ""));
    format!("{day}_{clock}")
}

/// The name of an export that is made now.
pub fn export_file_name(env: &Env) -> String {
    format!("export_{}.ndjson", time_stamp(env.now()))
}

/// What is wrong with sessions, before anything is written: every one of them is read, and if their
/// originals are to come along, those that travel in them as well.
pub fn export_notes(
    chosen: &ChosenSessions,
    with_originals: bool,
    progress: &dyn Fn(u64, u64),
) -> Vec<Note> {
    let mut notes = chosen.notes.clone();
    let progress = progress::ExportProgress::new(chosen, progress);
    for choice in &chosen.sessions {
        match open(&choice.source) {
            Ok(conversation) => {
                if with_originals {
                    notes.extend(record::original_damage(&conversation));
                }
                notes.extend(conversation.notes);
            }
            Err(e) => notes.push(left_out(choice, &e)),
        }
        progress.session_done(choice);
    }
    notes
}

/// Says that a session could not be read.
fn left_out(choice: &ChosenSession, e: &Error) -> Note {
    Note::damage(format!("{e}; left out")).at(&choice.source.path)
}

#[cfg(test)]
mod tests {
    use super::time_stamp;

    #[test]
    fn an_export_is_named_after_its_time() {
        let time = "2025-12-27T10:30:00Z".parse().unwrap();
        assert_eq!(time_stamp(time), "20251227_103000");
    }
}
