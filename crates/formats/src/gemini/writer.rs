//! Writing sessions.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use rethread_json::Object;
use rethread_model::{Note, TitleSource};

use super::project::store_around;
use super::write::create::{
    NewHeader, NewPast, named_project, refuse_unknown, store_root, write_session,
};
use super::write::edit::{add_message, refuse_known_ids};
use super::write::fork::{copied_count, copied_outputs, copy_messages, entries_to_copy};
use super::write::message::{NewMessageDefaults, PreparedMessage, from_new, prepare_message};
use super::write::place::{chats_folder, store_folder};
use super::write::transcript::{KEEPS, LogTranscript};
use super::write::{LockedSession, SessionChanges};
use super::{FORMAT, Gemini, SLUG, store};
use crate::transcript::{StepHead, answered_calls, is_apart, left_branches, sums_up};
use crate::{
    Appended, Editor, Fork, Keeps, Made, MessageInput, NewSession, Source, StepKind,
    SubagentWriter, TranscriptStep, WriteError, Writer, Writing,
};

impl Writer for Gemini {
    /// Starts a session: a log with its first line.
    fn create(&self, w: &Writing<'_>, new: &NewSession) -> Result<Made, WriteError> {
        refuse_unknown(new)?;
        let project = named_project(&new.cwd)?;
        let chats = chats_folder(w, &store_root(w, new.root.as_deref())?, &project)?;
        let header = NewHeader {
            project: &project,
            title: new.title.as_deref(),
            fork: None,
        };
        write_session(w, &chats, new.id.as_deref(), &header, &NewPast::nothing())
    }

    /// Adds messages.
    fn append(
        &self,
        w: &Writing<'_>,
        source: &Source,
        messages: &[MessageInput],
    ) -> Result<Appended, WriteError> {
        let mut session = LockedSession::lock(w, source)?;
        let start = session.log.len()?;
        let mut prepared: Vec<Result<PreparedMessage, WriteError>> =
            Vec::with_capacity(messages.len());
        for (salt, message) in (start..).zip(messages) {
            let defaults = NewMessageDefaults {
                env: w.env,
                salt,
                replaces: None,
            };
            prepared.push(prepare_message(message, &defaults));
        }
        refuse_known_ids(&session, &mut prepared);
        if w.strict
            && let Some(at) = prepared.iter().position(Result::is_err)
        {
            let nothing = || WriteError::BadInput("no message was given".to_owned());
            return Err(prepared.swap_remove(at).err().unwrap_or_else(nothing));
        }
        let mut changes = SessionChanges::default();
        let mut ids = Vec::with_capacity(prepared.len());
        for message in prepared {
            ids.push(match message {
                Ok(message) => Ok(add_message(&session, &mut changes, message)?),
                Err(e) => Err(e),
            });
        }
        let mut notes = Vec::new();
        if !changes.added.is_empty() || !changes.again.is_empty() {
            notes = session.save(&changes)?;
        }
        Ok(Appended { ids, notes })
    }

    /// Sets the title, which the client calls a summary.
    fn rename(
        &self,
        w: &Writing<'_>,
        source: &Source,
        title: &str,
    ) -> Result<Vec<Note>, WriteError> {
        let mut session = LockedSession::lock(w, source)?;
        session.save(&SessionChanges {
            title: Some(title.to_owned()),
            ..SessionChanges::default()
        })
    }

    /// Copies the way to an entry into a new log, each message in its last version. What is damaged is
    /// told.
    fn fork(&self, w: &Writing<'_>, source: &Source, fork: &Fork) -> Result<Made, WriteError> {
        if store::side_id(&source.path).is_some() {
            return Err(WriteError::Unsupported {
                format: SLUG,
                what: "forks of checkpoints and logs of prompts",
            });
        }
        let old = FORMAT.reader().read(source)?;
        let mut notes = old.damage(w)?;
        let entries = entries_to_copy(&old, fork)?;
        let head = &old.session.head;
        let known = head.workspace.path.as_deref().map(Path::new);
        let cwd = fork.cwd.as_deref().or(known).ok_or_else(|| {
            let why = "nothing says which project this session is of; name one with `--cwd`";
            WriteError::BadInput(why.to_owned())
        })?;
        let project = named_project(cwd)?;
        let root = store_around(&source.path)
            .map(Path::to_owned)
            .or_else(|| store_folder(w.env));
        let root = root.ok_or_else(|| WriteError::BadInput("no home is known".to_owned()))?;
        let chats = chats_folder(w, &root, &project)?;
        let copied = copied_count(&old, &entries)?;
        let past = NewPast {
            messages: &|out| copy_messages(w, &old, &entries, out),
            outputs: copied_outputs(&old, &entries, &mut notes),
        };
        let last = entries.last().map(|ix| old.session.id(*ix));
        let note = Object::new()
            .str("forkOf", &head.id)
            .opt_str("entry", last.filter(|id| !id.is_empty()))
            .u64("copied", copied)
            .finish();
        let stored = head.title.as_ref();
        let stored = stored.filter(|t| t.source != TitleSource::FirstPrompt);
        let title = fork.title.as_deref().or(stored.map(|t| t.text.as_str()));
        let header = NewHeader {
            project: &project,
            title,
            fork: Some(&note),
        };
        let mut made = write_session(w, &chats, None, &header, &past)?;
        made.notes.extend(notes);
        Ok(made)
    }

    fn keeps(&self) -> Keeps {
        KEEPS
    }

    /// Ways that hold results of calls which others make too, because results stand beside their calls; and
    /// those on which something was summed up: the client cannot go back before that.
    fn leaves_out(&self, told: &mut dyn Iterator<Item = TranscriptStep>) -> Vec<Range<usize>> {
        let heads: Vec<StepHead> = told.map(|one| StepHead::of(&one)).collect();
        let is_out = |way: &Range<usize>| {
            let steps = heads.get(way.clone()).unwrap_or_default();
            sums_up(steps) || !is_apart(steps)
        };
        left_branches(&heads).into_iter().filter(is_out).collect()
    }

    /// Writes a conversation into a session that was just made.
    fn write_transcript(
        &self,
        w: &Writing<'_>,
        source: &Source,
        told: &[TranscriptStep],
    ) -> Result<(), WriteError> {
        let mut session = LockedSession::lock(w, source)?;
        let mut teller = LogTranscript {
            w,
            salt: session.log.len()?,
            told,
            lines: Vec::new(),
            current: 0,
            messages: Vec::with_capacity(told.len()),
            calls: HashMap::new(),
            answered: answered_calls(told),
        };
        for (at, one) in told.iter().enumerate() {
            teller.go_to(one.after);
            let message = match &one.step {
                StepKind::Message(message) => {
                    let defaults = NewMessageDefaults {
                        env: w.env,
                        salt: teller.salt + at as u64,
                        replaces: None,
                    };
                    teller.message(from_new(message, &defaults)?, one.time)
                }
                StepKind::Compaction { summary, kept, .. } => {
                    teller.compaction(at, summary, *kept);
                    None
                }
                StepKind::Back => None,
                StepKind::BranchSummary(_) | StepKind::Label { .. } => {
                    return Err(WriteError::Unsupported {
                        format: SLUG,
                        what: "summaries of branches, or labels",
                    });
                }
            };
            teller.messages.push(message);
        }
        session.save(&SessionChanges {
            added: teller.lines,
            ..SessionChanges::default()
        })?;
        Ok(())
    }

    fn subagents(&self) -> Option<&dyn SubagentWriter> {
        Some(self)
    }

    fn editor(&self) -> Option<&dyn Editor> {
        Some(self)
    }
}
