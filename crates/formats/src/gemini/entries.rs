//! From the messages that were read to the entries of a session.

use std::collections::HashMap;

use rethread_model::{EntryIx, Kind, NewEntry, RawRef, Role, Session, SessionBuilder};

use super::calls::output_name;
use super::nth::Nth;
use super::replay::{Replay, ReplayedEntry};
use super::tools::{FoundCall, Tools};

/// How many messages of results may follow each other behind their calls.
const STEPS: usize = 64;

/// For each message the one that says the same already: the client writes results of tools beside
/// their calls, and again as one or two messages of their own.
pub(super) fn repeated_messages(replay: &Replay) -> Vec<Option<Nth>> {
    let repeated = |draft: &ReplayedEntry| repeated(replay, draft).and_then(Nth::new);
    let direct: Vec<Option<Nth>> = replay.drafts.iter().map(repeated).collect();
    let last = |at: Nth| {
        let next = |at: &Nth| direct.get(at.at()).copied().flatten();
        let way = std::iter::successors(Some(at), next).take(STEPS);
        way.last().unwrap_or(at)
    };
    direct.iter().map(|at| at.map(last)).collect()
}

/// The nearest message before one of results that holds them all.
fn repeated(replay: &Replay, draft: &ReplayedEntry) -> Option<usize> {
    let is_results = |draft: &ReplayedEntry| {
        draft.head.kind == Kind::Message(Role::Tool) && !draft.head.said.answers.is_empty()
    };
    let mut before = draft.parent().filter(|_| is_results(draft))?;
    let tools = &replay.tools;
    let answers = tools.answers(&draft.head.said);
    for _ in 0..STEPS {
        let at = replay.drafts.get(before)?;
        let (calls, known) = (tools.calls(&at.head.said), tools.answers(&at.head.said));
        let has = |id: &[u8]| {
            let called = calls
                .iter()
                .any(|c| c.has_result && tools.bytes(c.id) == id);
            called || known.iter().any(|answer| tools.bytes(*answer) == id)
        };
        if answers.iter().all(|id| has(tools.bytes(*id))) {
            return Some(before);
        }
        before = at.parent().filter(|_| is_results(at))?;
    }
    None
}

/// Builds the session's entries. `outputs` are the names of files with tools' answers, in the order
/// of their parts, the first of which has the number 1.
///
/// A session may have a great many messages: what is known of them goes as soon as it is not needed
/// any more, and the ids, which take the most room, come last.
pub(super) fn build_entries(
    mut builder: SessionBuilder,
    mut replay: Replay,
    inherited: usize,
    outputs: &[String],
) -> Session {
    let repeats = repeated_messages(&replay);
    let more = further_origins(&mut builder, &replay, &repeats, outputs);
    replay.tools = Tools::default();
    let entries = add(&mut builder, &replay, &repeats, more);
    for at in replay.live.iter().take(inherited) {
        if let Some(ix) = entries.get(*at).copied().flatten() {
            builder.entry(ix).inherited = true;
        }
    }
    link(&mut builder, &replay, &repeats, &entries);
    let places = (0..).map_while(Nth::new).zip(&replay.drafts);
    let priced: Vec<Nth> = places
        .filter(|(_, draft)| draft.head.said.has_usage)
        .map(|(at, _)| at)
        .collect();
    let ids = replay.into_ids();
    for at in priced {
        let key = ids.get(at.number());
        if let Some(ix) = entries.get(at.at()).copied().flatten()
            && !key.is_empty()
        {
            builder.set_usage_key(ix, key);
        }
    }
    let of_entries = entries
        .iter()
        .zip(ids.iter())
        .filter(|(ix, _)| ix.is_some());
    builder.name(of_entries.map(|(_, id)| id));
    builder.finish()
}

/// Adds an entry for each message that does not repeat another one. Ids and parents follow.
fn add(
    builder: &mut SessionBuilder,
    replay: &Replay,
    repeats: &[Option<Nth>],
    mut more: HashMap<usize, Vec<RawRef>>,
) -> Vec<Option<EntryIx>> {
    let mut entries = Vec::with_capacity(replay.drafts.len());
    let mut origin = Vec::new();
    for (at, draft) in replay.drafts.iter().enumerate() {
        if repeats.get(at).copied().flatten().is_some() {
            entries.push(None);
            continue;
        }
        origin.clear();
        origin.push(draft.origin);
        origin.extend_from_slice(replay.earlier(at));
        origin.extend(more.remove(&at).into_iter().flatten());
        let new = NewEntry {
            id: "",
            parent: None,
            kind: replay.kind(at, draft),
            time: draft.head.time,
            visibility: draft.head.visibility,
            origin: &origin,
        };
        let added = if draft.beside {
            builder.add_beside(&new)
        } else {
            builder.add(&new)
        };
        if added.is_none() {
            for raw in &origin {
                builder.unclaimed(*raw);
            }
        }
        entries.push(added);
    }
    entries
}

/// Says what stands before each entry, which may come after it in the file, and at which one the
/// list ends. A message that repeats another one gives it its id.
fn link(
    builder: &mut SessionBuilder,
    replay: &Replay,
    repeats: &[Option<Nth>],
    entries: &[Option<EntryIx>],
) {
    let places = places(replay, entries);
    let place = |at: usize| places.get(at).copied().flatten();
    for (at, draft) in replay.drafts.iter().enumerate() {
        if let Some(ix) = entries.get(at).copied().flatten() {
            let entry = builder.entry(ix);
            entry.parent = draft.parent().and_then(place);
            entry.logical_parent = replay.continued(at).and_then(|c| place(c.last));
        } else if let Some(of) = repeats.get(at).copied().flatten()
            && let Some(ix) = entries.get(of.at()).copied().flatten()
        {
            builder.alias(ix, replay.id(at));
        }
    }
    builder.set_leaf(replay.live.last().copied().and_then(place));
}

/// The entry at which the list is behind each message: its own or, of one that only repeats, that of
/// the nearest before it.
fn places(replay: &Replay, entries: &[Option<EntryIx>]) -> Vec<Option<EntryIx>> {
    let mut places = entries.to_vec();
    let mut repeating = Vec::new();
    for at in 0..places.len() {
        let mut next = Some(at);
        let mut found = None;
        while let Some(at) = next
            && repeating.len() < places.len()
        {
            found = places.get(at).copied().flatten();
            if found.is_some() {
                break;
            }
            repeating.push(at);
            next = replay.drafts.get(at).and_then(ReplayedEntry::parent);
        }
        for at in repeating.drain(..) {
            places[at] = found;
        }
    }
    places
}

/// Records of an entry beside its own: messages that repeat it, and files with its tools' answers.
/// A file that belongs to no call is unclaimed.
fn further_origins(
    builder: &mut SessionBuilder,
    replay: &Replay,
    repeats: &[Option<Nth>],
    outputs: &[String],
) -> HashMap<usize, Vec<RawRef>> {
    let mut more: HashMap<usize, Vec<RawRef>> = HashMap::new();
    for (at, repeated) in repeats.iter().enumerate() {
        if let Some(of) = repeated {
            more.entry(of.at()).or_default().extend(replay.records(at));
        }
    }
    let mut callers: HashMap<String, usize> = HashMap::new();
    if !outputs.is_empty() {
        for (at, draft) in replay.drafts.iter().enumerate() {
            let name = |call: &FoundCall| {
                output_name(&replay.tools.text(call.name), &replay.tools.text(call.id))
            };
            let calls = replay.tools.calls(&draft.head.said).iter();
            callers.extend(calls.map(|call| (name(call), at)));
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
