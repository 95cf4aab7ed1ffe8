//! Adding whole records to a session, under the lock of its transcript.

use rethread_disk::LockedLog;
use rethread_json::{Tree, Value};
use rethread_model::{Note, TitleSource};
use rethread_project::Repository;

use super::layout::Named;
use super::message::{Defaults, Prepared, prepare};
use super::read::read;
use super::scribe::{Scribe, VERSION};
use crate::pi::fields::string;
use crate::{Appended, Conversation, MessageInput, Source, WriteError, Writing};

/// Adds messages to a session. Each follows the one before, the first what the client would go on
/// from.
pub(super) fn append(
    w: &Writing<'_>,
    source: &Source,
    messages: &[MessageInput],
) -> Result<Appended, WriteError> {
    refuse_agent(source)?;
    let mut log = LockedLog::open(&source.path, w.lock_timeout)?;
    let conversation = read(source)?;
    let mut scribe = scribe(&conversation);
    let head = &conversation.session.head;
    let model = head.model.as_ref().map(|m| m.id.clone());
    let start = log.len()?;
    let mut prepared: Vec<Result<Prepared, WriteError>> = Vec::with_capacity(messages.len());
    for (i, message) in (start..).zip(messages) {
        let salt = [b"response", &i.to_le_bytes()[..]].concat();
        let defaults = Defaults {
            model: model.clone().unwrap_or_else(|| "unknown".to_owned()),
            response: format!("msg_{}", w.env.uuid(&salt).simple()),
        };
        prepared.push(prepare(message, &defaults).and_then(|p| free(p, &conversation)));
    }
    if w.strict
        && let Some(at) = prepared.iter().position(Result::is_err)
        && let Err(error) = prepared.swap_remove(at)
    {
        return Err(error);
    }
    let mut prompt = None;
    let mut ids = Vec::with_capacity(prepared.len());
    for (i, message) in (start..).zip(prepared) {
        ids.push(message.map(|message| {
            let fresh = || w.env.uuid(&i.to_le_bytes()).to_string();
            let id = message.id.clone().unwrap_or_else(fresh);
            let time = message.time.unwrap_or_else(|| w.env.now());
            scribe.say(&message.saying, &id, time);
            prompt = message.prompt.or(prompt.take());
            id
        }));
    }
    if !scribe.lines.is_empty() {
        let title = head
            .title
            .as_ref()
            .filter(|t| t.source == TitleSource::User);
        scribe.close(title.map(|t| t.text.as_str()), prompt.as_deref());
        log.append(&scribe.lines)?;
    }
    if w.durability.syncs() {
        log.sync()?;
    }
    Ok(Appended {
        ids,
        notes: Vec::new(),
    })
}

/// Refuses an id that the session has.
fn free(message: Prepared, conversation: &Conversation) -> Result<Prepared, WriteError> {
    match &message.id {
        Some(id) if conversation.session.find(id).is_some() => Err(WriteError::Exists {
            id: id.clone(),
            path: conversation.source.path.clone(),
        }),
        _ => Ok(message),
    }
}

/// Gives a session another title.
pub(super) fn rename(
    w: &Writing<'_>,
    source: &Source,
    title: &str,
) -> Result<Vec<Note>, WriteError> {
    refuse_agent(source)?;
    let mut log = LockedLog::open(&source.path, w.lock_timeout)?;
    let mut scribe = scribe(&read(source)?);
    scribe.title(title);
    log.append(&scribe.lines)?;
    if w.durability.syncs() {
        log.sync()?;
    }
    Ok(Vec::new())
}

/// Nobody resumes a sub-agent, so nothing is added to it or made of it.
pub(super) fn refuse_agent(source: &Source) -> Result<(), WriteError> {
    match Named::of(&source.path) {
        Some(Named::Agent(id)) => Err(WriteError::BadInput(format!(
            "`{id}` is a sub-agent, and those are only read"
        ))),
        _ => Ok(()),
    }
}

/// Writes on where the client would go on.
pub(super) fn scribe(conversation: &Conversation) -> Scribe {
    let head = &conversation.session.head;
    let cwd = head.workspace.path.clone();
    let branch = head.workspace.branch.clone();
    let branch = branch.or_else(|| Repository::find(cwd.as_deref()?.as_ref())?.branch());
    Scribe {
        session: head.id.clone(),
        cwd,
        version: head
            .agent
            .version
            .clone()
            .unwrap_or_else(|| VERSION.to_owned()),
        branch,
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
    string(record, "uuid")
}
