//! Adding whole records to a session, under the lock of its transcript.

use rethread_json::{Tree, Value};
use rethread_project::Repository;

use super::record_writer::{RecordWriter, VERSION};
use super::store::TranscriptName;
use super::transcript::{NewStep, StepInput, add_steps};
use super::{ClaudeCode, FORMAT, SLUG};
use crate::fields::string_of;
use crate::{
    Appended, Branch, Conversation, EntryRef, MessageInput, Source, TreeWriter, WriteError, Writing,
};

impl TreeWriter for ClaudeCode {
    /// Goes on from an earlier message. The client goes on from what was said last.
    fn branch(
        &self,
        w: &Writing<'_>,
        source: &Source,
        branch: &Branch<'_>,
    ) -> Result<Appended, WriteError> {
        if branch.summary.is_some() {
            let what = "summaries of branches";
            return Err(WriteError::Unsupported { format: SLUG, what });
        }
        add_steps(w, source, Some(branch.at), &given_steps(branch.messages))
    }

    fn label(
        &self,
        _: &Writing<'_>,
        _: &Source,
        _: &EntryRef,
        _label: Option<&str>,
    ) -> Result<Appended, WriteError> {
        Err(FORMAT.cannot("labels"))
    }
}

/// Messages that users give, one behind the other.
pub(super) fn given_steps(messages: &[MessageInput]) -> Vec<NewStep<'_>> {
    let steps = messages.iter().enumerate().map(|(at, message)| NewStep {
        after: at.checked_sub(1),
        time: None,
        what: StepInput::Given(message),
    });
    steps.collect()
}

/// Nobody resumes a sub-agent, so nothing is added to it or made of it.
pub(super) fn refuse_agent(source: &Source) -> Result<(), WriteError> {
    match TranscriptName::of(&source.path) {
        Some(TranscriptName::Agent(id)) => Err(WriteError::BadInput(format!(
            "`{id}` is a sub-agent, and those are only read"
        ))),
        _ => Ok(()),
    }
}

/// Writes on where the client would go on.
pub(super) fn record_writer(conversation: &Conversation) -> RecordWriter {
    let head = &conversation.session.head;
    let cwd = head.workspace.path.clone();
    let branch = head.workspace.branch.clone();
    let branch = branch.or_else(|| Repository::find(cwd.as_deref()?.as_ref())?.branch());
    RecordWriter {
        session: head.id.clone(),
        cwd,
        version: head
            .agent
            .version
            .clone()
            .unwrap_or_else(|| VERSION.to_owned()),
        branch,
        agent: None,
        parent: conversation
            .session
            .leaf()
            .and_then(|leaf| last_id(conversation, leaf)),
        lines: Vec::new(),
    }
}

/// The id of the last record of an entry: that is what the next one follows.
pub(super) fn last_id(
    conversation: &Conversation,
    entry: rethread_model::EntryIx,
) -> Option<String> {
    let raw = conversation.session.origin(entry).last()?;
    let bytes = conversation.native.read(*raw).ok()?;
    let tree = Tree::parse(&bytes).ok()?;
    let record: Value<'_> = tree.root(&bytes);
    string_of(record, "uuid")
}
