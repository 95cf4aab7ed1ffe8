//! Adding whole records to a session, under the lock of its transcript.

use rethread_disk::LockedLog;
use rethread_json::{Tree, Value};
use rethread_model::{Moment, Note, TitleSource};
use rethread_project::Repository;

use super::layout::Named;
use super::message::{Defaults, Prepared, prepare};
use super::read::read;
use super::scribe::{Scribe, VERSION};
use crate::fields::string;
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
    let mut model = head.model.as_ref().map(|m| m.id.clone());
    let start = log.len()?;
    let mut prepared: Vec<Result<Prepared, WriteError>> = Vec::with_capacity(messages.len());
    for (i, message) in (start..).zip(messages) {
        let salt = [b"response", &i.to_le_bytes()[..]].concat();
        let defaults = Defaults {
            model: model.clone().unwrap_or_else(|| "unknown".to_owned()),
            response: format!("msg_{}", w.env.uuid(&salt).simple()),
        };
        let message = prepare(message, &defaults).and_then(|p| free(p, &conversation));
        if let Ok(Prepared {
            model: Some(named), ..
        }) = &message
        {
            model = Some(named.clone());
        }
        prepared.push(message);
    }
    if w.strict
        && let Some(at) = prepared.iter().position(Result::is_err)
        && let Err(error) = prepared.swap_remove(at)
    {
        return Err(error);
    }
    // Clients of 2025 go on from the record with the latest time, the first of several.
    let times = conversation.session.entries().iter();
    let mut last = times.filter(|e| !e.beside).filter_map(|e| e.time).max();
    let mut notes = Vec::new();
    let mut prompt = None;
    let mut ids = Vec::with_capacity(prepared.len());
    for (i, message) in (start..).zip(prepared) {
        ids.push(message.map(|message| {
            let fresh = |n: usize| {
                let salt = [i.to_le_bytes(), (n as u64).to_le_bytes()].concat();
                w.env.uuid(&salt).to_string()
            };
            let id = message.id.clone().unwrap_or_else(|| fresh(0));
            let asked = message.time.unwrap_or_else(|| w.env.now());
            if message.time.is_some() && last.is_some_and(|last| last >= asked) {
                notes.push(Note::remark(format!(
                    "`{id}` is of the time of an earlier message; its record follows that"
                )));
            }
            // What comes next hangs from the last record, so that has the id.
            let numbers = (0..message.sayings.len()).rev();
            for (n, saying) in numbers.zip(&message.sayings) {
                let time = last.map_or(asked, |last| asked.max(after(last)));
                last = Some(time);
                let own = if n == 0 { id.clone() } else { fresh(n) };
                scribe.say(saying, &own, time);
            }
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
    Ok(Appended { ids, notes })
}

/// The next moment that the client's times can tell apart.
fn after(time: Moment) -> Moment {
    Moment::from_millis(time.millis().saturating_add(1)).unwrap_or(time)
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
