//! `convert_session`: a session as another agent would have written it, with the way back in it.
//!
//! A session is written in a folder of our own first, as the target's client would write it, and read
//! back there. Then the files that it came from are packed into it, with what each message means to
//! the target's own reader. Only then it goes to its store, whole or not at all.

mod additions;
mod calls;
mod changes;
mod counting;
mod digests;
mod earlier;
mod edit;
mod history;
mod hosted_tools;
mod matrix;
mod media;
mod messages;
mod original;
mod proof;
mod recovery;
mod report;
mod restore;
mod steps;
mod subagent_changes;
mod subagents;
mod target;
mod transcript;
mod trim;
mod unified;
mod write;

use std::path::{Path, PathBuf};

use rethread_formats::carry::{Put, remove_unfinished};
use rethread_formats::{Agents, Conversation, FormatRef, Source, WriteError, Writing};
use rethread_model::Note;

use self::subagents::SubagentFamily;
use self::transcript::ConvertExtent;
use self::write::{session_files, write_session};
use crate::Error;
use crate::edit::make_root;
use crate::show::{open, open_with_workspace};

pub use matrix::{Conversion, arrivals_in, conversions, judging_client};
pub use report::{AGENTS, ItemFate, KINDS};
pub use restore::{Restoration, RestoreOptions, Restored, Restorer, restorable_sessions};
pub use trim::Trim;

/// How a session is to be converted.
#[derive(Clone, Copy)]
pub struct ConvertOptions<'a> {
    /// The format that it is to have.
    pub to: FormatRef,
    /// The folder to write to as if it were the agent's root, where the user named one.
    pub root: Option<&'a Path>,
    /// The folder in which the work goes on, where the user named one.
    pub cwd: Option<&'a Path>,
    /// Leave out what the target has no place for.
    pub lean: bool,
    /// Take sub-agents along.
    pub agents: bool,
    /// Only say what would become of it.
    pub dry_run: bool,
}

/// What came of it.
#[derive(Debug)]
pub struct Converted {
    /// The session that was converted.
    pub source: Source,
    /// The format that it has now.
    pub to: &'static str,
    /// Its id there.
    pub id: String,
    /// Its main file or folder there.
    pub path: PathBuf,
    /// What was done.
    pub way: ConvertOutcome,
    /// What became of what is in it.
    pub fates: Vec<ItemFate>,
    /// How many of its sub-agents were left out, because nobody wanted them.
    pub left_out: usize,
    /// What was noticed.
    pub notes: Vec<Note>,
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConvertOutcome {
    /// It was written as the target's client would have.
    Written,
    /// It came from there: it is again as it was, but for what was done to it since.
    Back {
        /// How many messages were added since.
        added: usize,
        /// How many things are said differently since.
        changed: usize,
    },
    /// It came from there, and is still there as it was: nothing was written.
    There,
    /// It was converted before, and that is there: nothing was written.
    Before,
}

/// Converts a session that was found before.
pub fn convert_session(
    w: &Writing<'_>,
    source: &Source,
    ask: &ConvertOptions<'_>,
) -> Result<Converted, Error> {
    let conversation = open_with_workspace(w.env, source)?;
    if ask.to == source.format {
        let hint = "`rethread fork` makes a copy".to_owned();
        return Err(Error::Usage {
            message: format!("`{}` is a session of {} already", source.id, source.format),
            hint: Some(hint),
        });
    }
    if !ask.dry_run {
        remove_unfinished(w);
    }
    let mut notes = conversation.notes.clone();
    if let Some(original) =
        recovery::recover_original(&w.unsynced(), &conversation, ask.to, &mut notes)?
    {
        match come_back(w, &conversation, ask, &original, notes.clone()) {
            // What is there is never touched, so what was said since goes into a session of its own.
            Err(Error::Write(WriteError::Exists { path, .. })) if original.has_changed() => {
                let what = "the original is still there, and stays as it is";
                notes.push(Note::remark(what.to_owned()).at(&path));
            }
            done => return done,
        }
    }
    if ask.to.is_for_exports() {
        return unified::write_export(w, conversation, ask, notes);
    }
    write_session(w, &conversation, &ConvertExtent::Whole, ask, notes)
}

/// A session that another agent can go on with.
pub(crate) struct ResumableSession {
    pub(crate) source: Source,
    /// Whether it was written for that just now.
    pub(crate) is_new: bool,
    pub(crate) notes: Vec<Note>,
}

/// Converts a session so that another agent can go on with it. What was converted before is found
/// again, unless the session has changed since.
pub(crate) fn convert_to_resume(
    w: &Writing<'_>,
    source: &Source,
    to: FormatRef,
    trim: &Trim<'_>,
    cwd: Option<&Path>,
) -> Result<ResumableSession, Error> {
    let conversation = open_with_workspace(w.env, source)?;
    let key = earlier::conversion_key(&conversation, to, trim, cwd);
    if let Some(source) = earlier::find_earlier(w, &key, source, to) {
        return Ok(ResumableSession {
            source,
            is_new: false,
            notes: Vec::new(),
        });
    }
    let ask = ConvertOptions {
        to,
        root: None,
        cwd,
        lean: false,
        agents: true,
        dry_run: false,
    };
    let mut done = if trim.is_all() {
        convert_session(w, source, &ask)?
    } else {
        let takes = to.keeps().attachments;
        let mut said =
            messages::context_messages(&conversation, &trim.kept_entries(&conversation)?, takes);
        if let Some(summary) = trim.summary {
            said.insert(0, messages::summary_message(&conversation, summary));
        }
        let notes = conversation.notes.clone();
        let steps = ConvertExtent::Steps(steps::in_a_row(said).told);
        write_session(w, &conversation, &steps, &ask, notes)?
    };
    // A session in a database is named by that and its id.
    let path = done.path.to_string_lossy().into_owned();
    let path = path
        .strip_suffix(&format!("#{}", done.id))
        .map_or(done.path, PathBuf::from);
    let made = Source::new(to, done.id, path);
    done.notes.extend(earlier::note_conversion(w, &key, &made));
    Ok(ResumableSession {
        source: made,
        is_new: !matches!(done.way, ConvertOutcome::There | ConvertOutcome::Before),
        notes: done.notes,
    })
}

/// Puts a session back where it came from.
fn come_back(
    w: &Writing<'_>,
    conversation: &Conversation,
    ask: &ConvertOptions<'_>,
    original: &recovery::RecoveredOriginal,
    notes: Vec<Note>,
) -> Result<Converted, Error> {
    let as_it_was = open(&original.source)?;
    let place = target::install_target(w, ask, original.cwd.clone())?;
    let agents = if ask.agents {
        Agents::of(&as_it_was)
    } else {
        Agents::default()
    };
    let here = SubagentFamily::of_session(conversation, ask.agents, &mut Vec::new());
    let count = (here.count, here.count.min(agents.read.len()));
    let fates = report::compare_sessions(conversation, &as_it_was, count);
    let goods = session_files(&w.unsynced(), (&as_it_was, &agents), original.folder.path())?;
    let mut converted = Converted {
        source: conversation.source.clone(),
        to: ask.to.slug(),
        id: as_it_was.session.head.id.clone(),
        path: PathBuf::new(),
        way: ConvertOutcome::Back {
            added: original.added,
            changed: original.changed,
        },
        fates,
        left_out: here.left_out,
        notes,
    };
    if ask.dry_run {
        return Ok(converted);
    }
    make_root(w, ask.root)?;
    let put = ask.to.installable()?.install(w, &place, &goods)?;
    if matches!(put, Put::There(_)) {
        converted.way = ConvertOutcome::There;
    }
    converted.notes.extend(put_note(&put, ask.to));
    put.main_path().clone_into(&mut converted.path);
    Ok(converted)
}

/// What is to be known of how a session was put into its store.
fn put_note(put: &Put, to: FormatRef) -> Option<Note> {
    let client = to.about().name;
    let what = match put {
        Put::New(_) | Put::There(_) => return None,
        Put::Renewed(_) => format!(
            "it now says that it changed today, because {client} deletes what did not change for long"
        ),
        Put::Document { path, command } => format!(
            "{client} has no database here yet, so this is a document: `{command} {}` takes it in",
            path.display()
        ),
    };
    Some(Note::remark(what).at(put.main_path()))
}
