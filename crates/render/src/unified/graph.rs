//! The graph of a conversation that forks.

use std::io;

use rethread_model::{EntryIx, Session};

use super::tree::Tree;
use crate::json::Writer;

/// Writes the member `graph`, if the messages that were written fork.
///
/// Several results of calls made in parallel are no fork: they answer the same message.
pub(super) fn graph(w: &mut Writer<'_>, session: &Session, tree: &mut Tree) -> io::Result<()> {
    let forks = forks(session, tree);
    if forks.is_empty() {
        return Ok(());
    }
    w.key("graph")?;
    w.open("{")?;
    w.key("is_linear")?;
    w.literal("false")?;
    w.key("fork_points")?;
    w.open("[")?;
    for (parent, children) in forks {
        w.element()?;
        w.open("{")?;
        message(w, fork_point(session, tree, parent, &children))?;
        w.key("branches")?;
        w.open("[")?;
        for child in children {
            w.element()?;
            w.open("{")?;
            message(w, tree.first(session, child))?;
            w.close("}")?;
        }
        w.close("]")?;
        w.close("}")?;
    }
    w.close("]")?;
    w.key("active_path")?;
    w.open("[")?;
    for id in active_path(session, tree) {
        w.element()?;
        w.string(&id)?;
    }
    w.close("]")?;
    w.close("}")
}

fn message(w: &mut Writer<'_>, (uuid, index): (String, u32)) -> io::Result<()> {
    w.member_if("uuid", Some(uuid.as_str()).filter(|id| !id.is_empty()))?;
    w.key("index")?;
    w.number(index.into())
}

/// The message that ways part at: the one that all of them name, else the last of what they go on
/// from.
fn fork_point(
    session: &Session,
    tree: &mut Tree,
    parent: EntryIx,
    children: &[EntryIx],
) -> (String, u32) {
    let mut above = children.iter().map(|child| tree.above(session, *child));
    let first = above.next().flatten();
    let named = first.filter(|first| above.all(|other| other.as_ref() == Some(first)));
    named.unwrap_or_else(|| tree.last(session, parent))
}

/// The messages with several ways on, each with the first messages of these ways.
fn forks(session: &Session, tree: &mut Tree) -> Vec<(EntryIx, Vec<EntryIx>)> {
    let mut pairs = Vec::new();
    for at in 0..tree.written().len() {
        let ix = tree.written()[at];
        if tree.results_only(ix) {
            continue;
        }
        if let Some(parent) = tree.parent(session, ix) {
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
fn active_path(session: &Session, tree: &mut Tree) -> Vec<String> {
    let leaf = session.leaf().and_then(|leaf| tree.nearest(session, leaf));
    let mut at = leaf.or(tree.written().last().copied());
    let mut ids = Vec::new();
    let mut steps = tree.written().len();
    while let Some(ix) = at {
        ids.extend(tree.all_ids(session, ix).into_iter().rev());
        at = tree.parent(session, ix);
        steps = steps.saturating_sub(1);
        if steps == 0 {
            break;
        }
    }
    ids.retain(|id| !id.is_empty());
    ids.reverse();
    ids
}
