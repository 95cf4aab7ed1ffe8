//! From places in the chain to the entries of a session.

use std::path::Path;

use rethread_model::{EntryIx, NewEntry, RawRef, SessionBuilder};

use super::facts::Facts;
use super::layout::Named;
use super::leaf::leaf;
use super::nodes::{NONE, Nodes, Place, Wrong};
use super::read::TRANSCRIPT;
use super::usage::Keys;
use super::weave::straighten;

/// Makes entries of all nodes, and says what was wrong with their links.
pub(super) fn build(
    mut nodes: Nodes,
    facts: &Facts,
    path: &Path,
    keys: &Keys,
) -> (SessionBuilder, Vec<(Place, Wrong)>) {
    let (mut parents, wrong) = nodes.settle();
    straighten(&nodes.list, &mut parents);
    let head = facts.head(path, &|id| nodes.find(id).is_some());
    let own = facts.own_session(path);
    let own = facts.sessions.iter().position(|s| *s == own);
    let own = own.and_then(|i| u16::try_from(i).ok());
    let find = |id: &Option<String>| nodes.find(id.as_deref()?);
    let (copied, named) = (find(&facts.fork_at), find(&facts.last_prompt.leaf));
    let version = facts.version.as_deref();
    let leaf = leaf(&nodes, &parents, &facts.last_prompt, named, version);
    nodes.forget_ids();
    let is_agent = matches!(Named::of(path), Some(Named::Agent(_)));
    let mut builder = SessionBuilder::new(head);
    let mut entries: Vec<Option<EntryIx>> = vec![None; nodes.list.len()];
    let mut origin = Vec::new();
    for (number, node) in (0_u32..).zip(&nodes.list) {
        if node.owner != number {
            continue;
        }
        origin.clear();
        let mut at = number;
        while let Some(member) = nodes.list.get(at as usize) {
            origin.push(RawRef {
                part: TRANSCRIPT,
                record: member.record,
            });
            at = member.next;
        }
        let id = nodes.id(number);
        let new = NewEntry {
            id: &id,
            parent: None,
            kind: node.kind,
            time: node.time,
            visibility: node.visibility,
            origin: &origin,
        };
        let added = if node.beside {
            builder.add_beside(&new)
        } else {
            builder.add(&new)
        };
        let Some(ix) = added else {
            for raw in &origin {
                builder.unclaimed(*raw);
            }
            continue;
        };
        entries[number as usize] = Some(ix);
        let entry = builder.entry(ix);
        entry.side = node.side;
        let other = own.is_some_and(|own| node.session != own && node.session != u16::MAX);
        let copied = copied.is_some_and(|last| number <= last);
        entry.inherited = (other && !is_agent || copied) && !node.beside;
        let mut member = node.next;
        while let Some(more) = nodes.list.get(member as usize) {
            builder.alias(ix, &nodes.id(member));
            member = more.next;
        }
    }
    let entry_of = |node: u32| entries.get(nodes.owner(node) as usize).copied().flatten();
    for (number, parent) in (0_u32..).zip(&parents) {
        let (Some(ix), true) = (entry_of(number), nodes.owner(number) == number) else {
            continue;
        };
        if *parent != NONE {
            builder.entry(ix).parent = entry_of(*parent);
        }
        let logical = nodes.logical_parent(number).and_then(entry_of);
        builder.entry(ix).logical_parent = logical.filter(|other| *other != ix);
    }
    builder.set_leaf(leaf.and_then(entry_of));
    // There can be a million of them, and the keys take their place.
    drop(nodes);
    for (node, key) in keys.iter() {
        if let Some(ix) = entries.get(node as usize).copied().flatten() {
            builder.set_usage_key(ix, key);
        }
    }
    (builder, wrong)
}
