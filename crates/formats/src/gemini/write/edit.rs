//! Changes to a session that is there.

use std::collections::BTreeSet;

use rethread_json::Tree;
use rethread_model::ToolResult;

use super::message::{NewMessageDefaults, PreparedMessage, prepare_message};
use super::results::{orphan_message, with_result};
use super::{LockedSession, SessionChanges};
use crate::gemini::Gemini;
use crate::{Appended, Editor, EntryRef, MessageInput, Source, WriteError, Writing};

impl Editor for Gemini {
    /// Writes a message anew: in a log, as another version of it.
    fn replace(
        &self,
        w: &Writing<'_>,
        source: &Source,
        entry: &EntryRef,
        message: &MessageInput,
    ) -> Result<Appended, WriteError> {
        let mut session = LockedSession::lock(w, source)?;
        let replay = &session.found.replay;
        if entry.id.is_empty() || !replay.live.iter().any(|at| replay.id(*at) == entry.id) {
            return Err(WriteError::NoEntry {
                id: entry.id.clone(),
                path: source.path.clone(),
            });
        }
        let defaults = NewMessageDefaults {
            env: w.env,
            salt: session.log.len()?,
            replaces: Some(&entry.id),
        };
        let given = prepare_message(message, &defaults)?;
        let Some(json) = given.json.filter(|_| given.results.is_empty()) else {
            let why = "a result of a tool cannot replace a message; append it".to_owned();
            return Err(WriteError::BadMessage { line: None, why });
        };
        let again = vec![(entry.id.clone(), json)];
        let notes = session.save(&SessionChanges {
            again,
            ..SessionChanges::default()
        })?;
        Ok(Appended {
            ids: vec![Ok(entry.id.clone())],
            notes,
        })
    }
}

/// Says that a session changed now.
pub(in crate::gemini) fn renew_session(w: &Writing<'_>, source: &Source) -> Result<(), WriteError> {
    LockedSession::lock(w, source)?.save(&SessionChanges::default())?;
    Ok(())
}

/// Refuses messages whose id the user chose and that exists: the client would take them for other
/// versions of those.
pub(in crate::gemini) fn refuse_known_ids(
    session: &LockedSession<'_>,
    prepared: &mut [Result<PreparedMessage, WriteError>],
) {
    let ids = session.found.replay.ids.iter();
    let mut known: BTreeSet<String> = ids.map(str::to_owned).collect();
    for message in prepared {
        let Ok(PreparedMessage { id, has_own_id, .. }) = message else {
            continue;
        };
        if !known.insert(id.clone()) && *has_own_id {
            *message = Err(WriteError::Exists {
                id: id.clone(),
                path: session.path.to_owned(),
            });
        }
    }
}

/// Adds one message to the changes, and gives the id of the message that holds it: results go
/// beside their calls.
pub(in crate::gemini) fn add_message(
    session: &LockedSession<'_>,
    changes: &mut SessionChanges,
    message: PreparedMessage,
) -> Result<String, WriteError> {
    let mut holder = None;
    for result in &message.results {
        let id = if let Some(id) = fill(session, changes, result)? {
            id
        } else {
            let env = session.w.env;
            let id = env.uuid(result.call_id.as_bytes()).to_string();
            let json = orphan_message(result, &id, &env.now().to_string());
            changes.added.push(json);
            id
        };
        holder = holder.or(Some(id));
    }
    match message.json {
        Some(json) => {
            changes.added.push(json);
            Ok(message.id)
        }
        None => Ok(holder.unwrap_or(message.id)),
    }
}

/// Puts a result beside its call, in what is to be written or in another version of what is there.
fn fill(
    session: &LockedSession<'_>,
    changes: &mut SessionChanges,
    result: &ToolResult,
) -> Result<Option<String>, WriteError> {
    let again = changes.again.iter_mut().map(|(_, json)| json);
    for json in changes.added.iter_mut().rev().chain(again) {
        if let Some((with_result, id)) = with_result(json, result) {
            *json = with_result;
            return Ok(Some(id));
        }
    }
    let replay = &session.found.replay;
    let calls = |at: &&usize| {
        let draft = replay.drafts.get(**at);
        let tools = &replay.tools;
        let mut calls = draft.into_iter().flat_map(|d| tools.calls(&d.head.said));
        calls.any(|call| tools.bytes(call.id) == result.call_id.as_bytes())
    };
    let Some(at) = replay.live.iter().rev().find(calls) else {
        return Ok(None);
    };
    let json = session.version(*at)?;
    Ok(with_result(&json, result).map(|(with_result, id)| {
        changes.again.push((id.clone(), with_result));
        id
    }))
}

impl LockedSession<'_> {
    /// The bytes of the version of a message that speaks.
    fn version(&self, at: usize) -> Result<Vec<u8>, WriteError> {
        let draft = self.found.replay.drafts.get(at);
        let Some(raw) = draft.map(|d| d.origin) else {
            return Ok(Vec::new());
        };
        let failed = |e| crate::error::unreadable_file(self.path, e);
        let bytes = self.found.part.read(raw.record).map_err(failed)?;
        let mut tree = Tree::default();
        let parsed = tree.parse_prefix(&bytes, 0);
        parsed.map_err(|e| self.damaged(format!("not JSON: {e}")))?;
        Ok(tree.root(&bytes).raw().to_vec())
    }
}
