//! Where the client would go on.

use super::nodes::{NONE, Node, Nodes};
use super::thread::Kids;
use crate::kit::saved_struct;

/// What the last `last-prompt` record says.
#[derive(Clone, Debug, Default)]
pub(super) struct LastPrompt {
    /// The record that the conversation went on from.
    pub(super) leaf: Option<String>,
    /// Whether the person went back to it.
    pub(super) explicit: bool,
    /// How many places there were in the chain when it was written.
    pub(super) nodes: u32,
}

saved_struct!(LastPrompt {
    leaf,
    explicit,
    nodes,
});

/// Versions up to this one go on from the last record; later ones from what `last-prompt` names.
const LAST_RECORD: [u64; 3] = [2, 1, 112];

/// The node at which the client would go on, for entries that hang as `parents` says. `named` is
/// the node that the last prompt names.
pub(super) fn find_leaf(
    nodes: &Nodes,
    parents: &[u32],
    prompt: &LastPrompt,
    named: Option<u32>,
    version: Option<&str>,
) -> Option<u32> {
    let kids = Kids::of(parents);
    let named = named
        .map(|node| nodes.owner(node))
        .filter(|_| {
            version
                .and_then(version_numbers)
                .is_none_or(|v| v > LAST_RECORD)
        })
        .filter(|node| !nodes.list[*node as usize].side);
    let Some(named) = named else {
        let last = last_of(nodes, |_, node| !node.side).or_else(|| last_of(nodes, |_, _| true))?;
        return Some(tip(&kids, last));
    };
    let below = below(parents, named);
    let is_below = |at: u32| below.get(at as usize) == Some(&true);
    if prompt.explicit {
        let later = last_of(nodes, |at, _| at >= prompt.nodes && is_below(at));
        return Some(later.map_or(named, |last| tip(&kids, last)));
    }
    let last = last_of(nodes, |at, _| is_below(at)).unwrap_or(named);
    Some(tip(&kids, last))
}

/// The last entry of the file that fits.
fn last_of(nodes: &Nodes, fits: impl Fn(u32, &Node) -> bool) -> Option<u32> {
    let all = nodes.list.iter().enumerate().rev();
    all.filter(|(_, node)| !node.beside)
        .filter_map(|(at, _)| u32::try_from(at).ok())
        .map(|at| nodes.owner(at))
        .find(|owner| fits(*owner, &nodes.list[*owner as usize]))
}

/// The end of the thread that leads on from a node: results of parallel calls stand in the order of
/// time, so the last record need not be the last of them.
fn tip(kids: &Kids, mut at: u32) -> u32 {
    while let Some(next) = kids.of_node(at as usize).last() {
        at = *next;
    }
    at
}

/// Which entries are a node or hang below it.
fn below(parents: &[u32], top: u32) -> Vec<bool> {
    let kids = Kids::of(parents);
    let mut below = vec![false; parents.len()];
    let mut open = vec![top];
    while let Some(at) = open.pop() {
        if at != NONE && !std::mem::replace(&mut below[at as usize], true) {
            open.extend(kids.of_node(at as usize));
        }
    }
    below
}

/// The numbers of a version such as `2.1.112`; none if it is something else.
pub(super) fn version_numbers(version: &str) -> Option<[u64; 3]> {
    let plain = version.split(['-', '+']).next()?;
    let mut numbers = plain.split('.').map(str::parse::<u64>);
    let mut next = || numbers.next()?.ok();
    Some([next()?, next()?, next()?])
}
