//! From the messages that were read to the entries of a session.

use std::collections::{HashMap, HashSet};

use rethread_model::{EntryIx, Kind, NewEntry, RawRef, Role, Session, SessionBuilder};

use super::calls::output_name;
use super::replay::Replay;

/// For each message the one that says the same already: the client writes results of tools beside
/// their calls, and again as a message of their own.
pub(super) fn repeats(replay: &Replay) -> Vec<Option<usize>> {
    let mut repeats: Vec<Option<usize>> = Vec::with_capacity(replay.drafts.len());
    for draft in &replay.drafts {
        let answers = &draft.head.said.answers;
        let is_results = draft.head.kind == Kind::Message(Role::Tool) && !answers.is_empty();
        let before = draft.parent.filter(|_| is_results);
        let before = before.map(|at| repeats.get(at).copied().flatten().unwrap_or(at));
        repeats.push(before.filter(|at| {
            let calls = replay.drafts.get(*at).map(|d| &d.head.said.calls);
            let has = |id: &str| {
                let mut calls = calls.into_iter().flatten();
                calls.any(|call| call.has_result && &*call.id == id)
            };
            answers.iter().all(|id| has(id))
        }));
    }
    repeats
}

/// Builds the session's entries. `outputs` are the names of files with tools' answers, in the order
/// of their parts, the first of which has the number 1.
pub(super) fn weave(
    mut builder: SessionBuilder,
    replay: &Replay,
    inherited: usize,
    outputs: &[String],
) -> Session {
    let repeats = repeats(replay);
    let mut more = further_origins(&mut builder, replay, &repeats, outputs);
    let own = |at: usize| repeats.get(at).copied().flatten().unwrap_or(at);
    let copies: HashSet<usize> = replay.live.iter().copied().take(inherited).collect();
    let mut entries: Vec<Option<EntryIx>> = Vec::with_capacity(replay.drafts.len());
    for (at, draft) in replay.drafts.iter().enumerate() {
        if repeats.get(at).copied().flatten().is_some() {
            entries.push(None);
            continue;
        }
        let place = |at: usize| entries.get(own(at)).copied().flatten();
        let mut origin = draft.origin.clone();
        origin.rotate_right(1);
        origin.extend(more.remove(&at).into_iter().flatten());
        let new = NewEntry {
            id: &draft.head.id,
            parent: draft.parent.and_then(place),
            kind: draft.head.kind,
            time: draft.head.time,
            visibility: draft.head.visibility,
            origin: &origin,
        };
        let added = if draft.beside {
            builder.add_beside(&new)
        } else {
            builder.add(&new)
        };
        match added {
            Some(ix) => {
                let entry = builder.entry(ix);
                entry.logical_parent = draft.continues.and_then(place);
                entry.inherited = copies.contains(&at);
                if draft.head.said.usage.is_some() && !draft.head.id.is_empty() {
                    builder.set_usage_key(ix, &draft.head.id);
                }
            }
            None => origin.iter().for_each(|raw| builder.unclaimed(*raw)),
        }
        entries.push(added);
    }
    for (at, draft) in replay.drafts.iter().enumerate() {
        let folded = repeats.get(at).copied().flatten();
        if let Some(ix) = folded.and_then(|at| entries.get(at).copied().flatten()) {
            builder.alias(ix, &draft.head.id);
        }
    }
    let leaf = replay.live.last().map(|at| own(*at));
    builder.set_leaf(leaf.and_then(|at| entries.get(at).copied().flatten()));
    builder.finish()
}

/// Records of an entry beside its own: messages that repeat it, and files with its tools' answers.
/// A file that belongs to no call is unclaimed.
fn further_origins(
    builder: &mut SessionBuilder,
    replay: &Replay,
    repeats: &[Option<usize>],
    outputs: &[String],
) -> HashMap<usize, Vec<RawRef>> {
    let mut more: HashMap<usize, Vec<RawRef>> = HashMap::new();
    for (draft, repeated) in replay.drafts.iter().zip(repeats) {
        if let Some(at) = repeated {
            more.entry(*at).or_default().extend(&draft.origin);
        }
    }
    let mut callers: HashMap<String, usize> = HashMap::new();
    if !outputs.is_empty() {
        for (at, draft) in replay.drafts.iter().enumerate() {
            let calls = draft.head.said.calls.iter();
            callers.extend(calls.map(|call| (output_name(&call.name, &call.id), at)));
        }
    }
    for (part, name) in (1_u32..).zip(outputs) {
        let raw = RawRef { part, record: 0 };
        match callers.get(name) {
            Some(at) => more.entry(*at).or_default().push(raw),
            None => builder.unclaimed(raw),
        }
    }
    more
}
