//! Writing sessions of a format.

use std::ops::Range;

use rethread_model::Note;

use super::Source;
use crate::{
    Appended, Branch, EntryRef, Fork, Keeps, Made, MessageInput, Migrated, NewSession,
    StartedSubagent, StepKind, SubagentTranscript, Transcript, TranscriptStep, WriteError, Writing,
};

/// Writing sessions. What a format has no place for, it refuses with [`WriteError::Unsupported`].
pub trait Writer: Sync {
    /// Starts a session.
    fn create(&self, w: &Writing<'_>, new: &NewSession) -> Result<Made, WriteError>;

    /// Adds messages. What can be saved is saved, each with its own answer.
    fn append(
        &self,
        w: &Writing<'_>,
        source: &Source,
        messages: &[MessageInput],
    ) -> Result<Appended, WriteError>;

    /// Sets the display name.
    fn rename(
        &self,
        w: &Writing<'_>,
        source: &Source,
        title: &str,
    ) -> Result<Vec<Note>, WriteError>;

    /// Copies the path up to an entry into a new session.
    fn fork(&self, w: &Writing<'_>, source: &Source, fork: &Fork) -> Result<Made, WriteError>;

    /// What it has records of its own for, beside messages.
    fn keeps(&self) -> Keeps;

    /// The ways that a conversation left again and that cannot be written, such as those that part
    /// where the client never goes back to.
    fn leaves_out(&self, _told: &mut dyn Iterator<Item = TranscriptStep>) -> Vec<Range<usize>> {
        Vec::new()
    }

    /// Writes a whole conversation into a session that was just made, all of it or nothing. Steps
    /// that the format does not [keep](Self::keeps), or that it [leaves out](Self::leaves_out), must
    /// not be among it.
    fn write_transcript(
        &self,
        w: &Writing<'_>,
        source: &Source,
        told: &[TranscriptStep],
    ) -> Result<(), WriteError> {
        let said = told.iter().filter_map(|told| match &told.step {
            StepKind::Message(message) => Some(MessageInput::Message(message.clone())),
            StepKind::Compaction { .. }
            | StepKind::BranchSummary(_)
            | StepKind::Label { .. }
            | StepKind::Back => None,
        });
        let appended = self.append(w, source, &said.collect::<Vec<_>>())?;
        appended.ids.into_iter().try_for_each(|id| id.map(drop))
    }

    /// As [`write_transcript`](Self::write_transcript), one step after the other: what was written is
    /// not held. Where it fails, a part of the conversation may be in the session.
    fn write_steps(
        &self,
        w: &Writing<'_>,
        source: &Source,
        steps: Transcript<'_>,
    ) -> Result<(), WriteError> {
        self.write_transcript(w, source, &steps.collect::<Vec<_>>())
    }

    /// Branches and labels; none where sessions are no trees.
    fn tree(&self) -> Option<&dyn TreeWriter> {
        None
    }

    /// Sub-agents; none where they have no place.
    fn subagents(&self) -> Option<&dyn SubagentWriter> {
        None
    }

    /// Changing what was said; none where that cannot be done.
    fn editor(&self) -> Option<&dyn Editor> {
        None
    }

    /// Bringing older versions up to date; none where there are none.
    fn migrator(&self) -> Option<&dyn Migrator> {
        None
    }
}

/// Writing sessions that are trees.
pub trait TreeWriter: Sync {
    /// Goes on from an earlier entry of the same session: with a summary of what is left behind,
    /// with messages, or with both.
    fn branch(
        &self,
        w: &Writing<'_>,
        source: &Source,
        branch: &Branch<'_>,
    ) -> Result<Appended, WriteError>;

    /// Sets a bookmark on an entry, or takes it away. Gives the id of the record that says so.
    fn label(
        &self,
        w: &Writing<'_>,
        source: &Source,
        entry: &EntryRef,
        label: Option<&str>,
    ) -> Result<Appended, WriteError>;
}

/// Writing sub-agents with the session that started them.
pub trait SubagentWriter: Writer {
    /// Writes what a sub-agent said into a session of its own, with that of its parent.
    fn write_subagent(
        &self,
        w: &Writing<'_>,
        parent: &Source,
        agent: &SubagentTranscript<'_>,
    ) -> Result<Source, WriteError>;

    /// Notes in a session which of its calls started which of its sub-agents, where the format has a
    /// place for that: calls by the ids that it was told.
    fn link_subagents(
        &self,
        _: &Writing<'_>,
        _parent: &Source,
        _started: &[StartedSubagent<'_>],
    ) -> Result<(), WriteError> {
        Ok(())
    }

    /// Adds to what a sub-agent said, where nobody but its parent would.
    fn append_to_subagent(
        &self,
        w: &Writing<'_>,
        agent: &Source,
        messages: &[MessageInput],
    ) -> Result<Appended, WriteError> {
        self.append(w, agent, messages)
    }
}

/// Changing what was said.
pub trait Editor: Sync {
    /// Writes one message anew; all others keep their bytes.
    fn replace(
        &self,
        w: &Writing<'_>,
        source: &Source,
        entry: &EntryRef,
        message: &MessageInput,
    ) -> Result<Appended, WriteError>;
}

/// Bringing sessions of older versions up to date.
pub trait Migrator: Sync {
    /// Brings a session of an older version to the current one, and keeps the old file.
    fn migrate(&self, w: &Writing<'_>, source: &Source) -> Result<Migrated, WriteError>;
}
