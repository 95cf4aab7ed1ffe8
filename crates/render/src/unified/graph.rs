//! The graph of a conversation that forks.

use std::io;

use rethread_model::{EntryIx, Session};

use super::tree::MessageTree;
use crate::json::JsonWriter;

/// Writes the member `write_graph`, if the messages that were written fork.
///
/// Several results of calls made in parallel are no fork: they answer the same message.
pub(super) fn write_graph(
    w: &mut JsonWriter<'_>,
    session: &Session,
    tree: &mut MessageTree,
) -> io::Result<()> {
    let forks = forked_messages(session, tree);
    if forks.is_empty() {
        return Ok(());
    }
    w.begin_member("graph")?;
    w.open("{")?;
    w.begin_member("is_linear")?;
    w.write_literal("false")?;
    w.begin_member("fork_points")?;
    w.open("[")?;
    for (parent, children) in forks {
        w.begin_element()?;
        w.open("{")?;
        write_message_ref(w, fork_point(session, tree, parent, &children))?;
        w.begin_member("branches")?;
        w.open("[")?;
        for child in children {
            w.begin_element()?;
            w.open("{")?;
            write_message_ref(w, tree.first_message(session, child))?;
            w.close("}")?;
        }
        w.close("]")?;
        w.close("}")?;
    }
    w.close("]")?;
    w.begin_member("active_path")?;
    w.open("[")?;
    for id in active_path(session, tree) {
        w.begin_element()?;
        w.write_string(&id)?;
    }
    w.close("]")?;
    w.close("}")
}

fn write_message_ref(w: &mut JsonWriter<'_>, (uuid, index): (String, u32)) -> io::Result<()> {
    w.member_if("uuid", Some(uuid.as_str()).filter(|id| !id.is_empty()))?;
    w.begin_member("index")?;
    w.write_number(index.into())
}

/// The message that ways part at: the one that all of them name, else the last of what they go on
/// from.
fn fork_point(
    session: &Session,
    tree: &mut MessageTree,
    parent: EntryIx,
    children: &[EntryIx],
) -> (String, u32) {
    let mut above = children
        .iter()
        .map(|child| tree.message_above(session, *child));
    let first = above.next().flatten();
    let named = first.filter(|first| above.all(|other| other.as_ref() == Some(first)));
    named.unwrap_or_else(|| tree.last_message(session, parent))
}

/// The messages with several ways on, each with the first messages of these ways.
fn forked_messages(session: &Session, tree: &mut MessageTree) -> Vec<(EntryIx, Vec<EntryIx>)> {
    let mut pairs = Vec::new();
    for at in 0..tree.written_entries().len() {
        let ix = tree.written_entries()[at];
        if tree.results_only(ix) {
            continue;
        }
        if let Some(parent) = tree.written_parent(session, ix) {
            pairs.push((parent, at, ix));
        }
    }
    pairs.sort_unstable();
    pairs
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|ways| ways.len() > 1)
        .map(|ways| (ways[0].0, ways.iter().map(|(_, _, ix)| *ix).collect()))
        .collect()
}

/// The ids from the root to where the agent would go on, or to the last message.
fn active_path(session: &Session, tree: &mut MessageTree) -> Vec<String> {
    let leaf = session
        .leaf()
        .and_then(|leaf| tree.nearest_written(session, leaf));
    let mut at = leaf.or(tree.written_entries().last().copied());
    let mut ids = Vec::new();
    let mut steps = tree.written_entries().len();
    while let Some(ix) = at {
        ids.extend(tree.all_ids(session, ix).into_iter().rev());
        at = tree.written_parent(session, ix);
        steps = steps.saturating_sub(1);
        if steps == 0 {
            break;
        }
    }
    ids.retain(|id| !id.is_empty());
    ids.reverse();
    ids
}
