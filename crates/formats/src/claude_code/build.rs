//! From places in the chain to the entries of a session.

use std::path::Path;

use rethread_model::{EntryIx, NewEntry, RawRef, SessionBuilder};

use super::facts::TranscriptFacts;
use super::leaf::find_leaf;
use super::nodes::{LinkDamage, NONE, Nodes};
use super::reader::TRANSCRIPT;
use super::store::TranscriptName;
use super::thread::straighten_thread;
use crate::kit::SourcePos;

/// Makes entries of all nodes, and says what was wrong with their links. What is no longer needed
/// goes before more comes: there can be millions of nodes.
pub(super) fn build_session(
    mut nodes: Nodes,
    facts: &TranscriptFacts,
    path: &Path,
    mut builder: SessionBuilder,
) -> (SessionBuilder, Vec<(SourcePos, LinkDamage)>) {
    let (mut parents, wrong) = nodes.settle();
    straighten_thread(&nodes.list, &mut parents);
    *builder.head() = facts.head(path, &|id| nodes.find(id).is_some());
    let find = |id: &Option<String>| nodes.find(id.as_deref()?);
    let (copied, named) = (find(&facts.fork_at), find(&facts.last_prompt.leaf));
    let version = facts.version.as_deref();
    let leaf = find_leaf(&nodes, &parents, &facts.last_prompt, named, version);
    let names = nodes.take_names();
    let responses = nodes.take_responses();

    let mut entries = EntryBuilder {
        nodes: &nodes,
        builder: &mut builder,
        own: Owned::of(facts, path, copied),
        of_nodes: vec![None; nodes.list.len()],
    };
    entries.add();
    entries.link(&parents);
    let of_nodes = entries.of_nodes;
    let named_parents = named_parents(&nodes, &of_nodes, &parents);
    let entry_of = |node: u32| of_nodes.get(node as usize).copied().flatten();
    builder.set_leaf(leaf.and_then(entry_of));
    for (node, key) in responses.keys() {
        if let Some(ix) = entry_of(node) {
            builder.entry(ix).usage_key = Some(key);
        }
    }
    drop((nodes, parents, responses));

    let first = firsts(&of_nodes).filter(|(_, _, is_first)| *is_first);
    builder.name(first.map(|(node, _, _)| names.of(node)));
    for (node, ix, is_first) in firsts(&of_nodes) {
        if !is_first {
            builder.alias(ix, &names.of(node));
        }
    }
    for (of, above) in named_parents {
        if let Some(parent) = of_nodes.get(above as usize).copied().flatten() {
            builder.source_parent(of, parent, &names.of(above as usize));
        }
    }
    (builder, wrong)
}

/// What records name as their parents, where that is not what stands before them in the tree: the
/// entry with the place of the record in it, and the parent's node.
fn named_parents(
    nodes: &Nodes,
    of_nodes: &[Option<EntryIx>],
    parents: &[u32],
) -> Vec<((EntryIx, u32), u32)> {
    let mut found = Vec::new();
    for (number, first) in (0_u32..).zip(&nodes.list) {
        let entry = of_nodes.get(number as usize).copied().flatten();
        let Some(ix) = entry.filter(|_| first.is_first && first.says_something()) else {
            continue;
        };
        let mut before = parents.get(number as usize).map(|p| nodes.last_part(*p));
        let mut at = number;
        for place in 0_u32.. {
            let Some(part) = nodes.list.get(at as usize) else {
                break;
            };
            let above = nodes.said_above(at).filter(|above| Some(*above) != before);
            found.extend(above.map(|above| ((ix, place), above)));
            before = Some(at);
            at = part.next;
        }
    }
    found
}

/// The nodes that are in an entry, with the entry and whether it begins with the node: entries
/// follow each other as their first nodes do.
fn firsts(of_nodes: &[Option<EntryIx>]) -> impl Iterator<Item = (usize, EntryIx, bool)> {
    let mut next = 0;
    of_nodes.iter().enumerate().filter_map(move |(node, ix)| {
        let ix = (*ix)?;
        let is_first = ix.get() == next;
        next += usize::from(is_first);
        Some((node, ix, is_first))
    })
}

/// Which nodes belong to the session itself, and which came from another one.
struct Owned {
    /// Which of the session ids of the file is its own.
    session: Option<u16>,
    /// The last node that was copied.
    copied: Option<u32>,
    is_agent: bool,
}

impl Owned {
    fn of(facts: &TranscriptFacts, path: &Path, copied: Option<u32>) -> Self {
        let own = facts.own_session(path);
        let own = facts.sessions.iter().position(|s| *s == own);
        Self {
            session: own.and_then(|i| u16::try_from(i).ok()),
            copied,
            is_agent: matches!(TranscriptName::of(path), Some(TranscriptName::Agent(_))),
        }
    }

    fn is_inherited(&self, node: u32, session: u16) -> bool {
        let is_other = |own| session != own && session != u16::MAX;
        let other = self.session.is_some_and(is_other) && !self.is_agent;
        other || self.copied.is_some_and(|last| node <= last)
    }
}

/// Entries while they are made of nodes.
struct EntryBuilder<'a> {
    nodes: &'a Nodes,
    builder: &'a mut SessionBuilder,
    own: Owned,
    /// The entry that each node is a part of.
    of_nodes: Vec<Option<EntryIx>>,
}

impl EntryBuilder<'_> {
    /// Adds an entry for each node that begins one. Their ids come later.
    fn add(&mut self) {
        let mut origin = Vec::new();
        for (number, node) in (0_u32..).zip(&self.nodes.list) {
            if !node.is_first {
                continue;
            }
            origin.clear();
            let mut at = number;
            while let Some(member) = self.nodes.list.get(at as usize) {
                origin.push(RawRef {
                    part: TRANSCRIPT,
                    record: member.record,
                });
                at = member.next;
            }
            let new = NewEntry {
                id: "",
                parent: None,
                kind: node.kind,
                time: node.time,
                visibility: node.visibility,
                origin: &origin,
            };
            let added = if node.beside {
                self.builder.add_beside(&new)
            } else {
                self.builder.add(&new)
            };
            let Some(ix) = added else {
                for raw in &origin {
                    self.builder.unclaimed(*raw);
                }
                continue;
            };
            let entry = self.builder.entry(ix);
            entry.side = node.side;
            entry.inherited = self.own.is_inherited(number, node.session) && !node.beside;
            let mut at = number;
            while let Some(member) = self.nodes.list.get(at as usize) {
                self.of_nodes[at as usize] = Some(ix);
                at = member.next;
            }
        }
    }

    /// Hangs entries from their parents.
    fn link(&mut self, parents: &[u32]) {
        let entry_of = |node: u32| self.of_nodes.get(node as usize).copied().flatten();
        for (number, parent) in (0_u32..).zip(parents) {
            let (Some(ix), Some(true)) = (
                entry_of(number),
                self.nodes.list.get(number as usize).map(|n| n.is_first),
            ) else {
                continue;
            };
            let entry = self.builder.entry(ix);
            if *parent != NONE {
                entry.parent = entry_of(*parent);
            }
            let logical = self.nodes.logical_parent(number).and_then(entry_of);
            entry.logical_parent = logical.filter(|other| *other != ix);
        }
    }
}
