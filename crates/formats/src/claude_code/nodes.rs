//! The places in the chain of messages while a transcript is read: who hangs from whom.
//!
//! Files are not trusted: ids can be there twice or not at all, parents can be missing, come later,
//! or form circles.

use std::collections::HashMap;

use rethread_model::{Kind, Moment, SessionBuilder, Visibility};

use super::ids::{IdTable, Key, NodeIds, id_key};
use super::record::RecordParent;
use super::responses::{ResponseKey, Responses};
use crate::kit::{SourcePos, find_circles};

/// No node.
pub(super) const NONE: u32 = u32::MAX;

/// So many records may stand between two parts of a response: results, and what was noted.
const LONGEST_WAY: usize = 256;

/// One record that has a place in the session.
///
/// There can be millions of them, so they are small; their ids are kept beside them.
#[derive(Clone, Copy, Debug)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each says something of its own, in one byte"
)]
pub(super) struct Node {
    /// The node that its record names as its parent.
    pub(super) parent: u32,
    /// Of the first part of an entry the last one, of others the first.
    other_end: u32,
    /// The next part of the same entry.
    pub(super) next: u32,
    pub(super) record: u32,
    pub(super) time: Option<Moment>,
    pub(super) kind: Kind,
    pub(super) visibility: Visibility,
    /// Which of the session ids of the file it has.
    pub(super) session: u16,
    pub(super) side: bool,
    pub(super) beside: bool,
    /// Whether an entry begins with it.
    pub(super) is_first: bool,
}

impl Node {
    /// Whether it is part of a message, or of a compaction with its summary.
    pub(super) fn says_something(&self) -> bool {
        !self.beside && (self.kind.is_message() || self.kind == Kind::Compaction)
    }
}

/// What a record says about its place.
pub(super) struct NewNode<'a> {
    pub(super) id: Option<&'a str>,
    pub(super) parent: &'a RecordParent,
    pub(super) record: u32,
    pub(super) time: Option<Moment>,
    pub(super) kind: Kind,
    pub(super) visibility: Visibility,
    pub(super) session: u16,
    pub(super) side: bool,
    pub(super) beside: bool,
}

/// A record whose parent was not met yet.
struct WaitingRecord {
    node: u32,
    parent: Key,
    /// The node before it, to hang from if the parent is nowhere.
    before: u32,
    at: SourcePos,
}

/// All nodes, in the order of the file.
#[derive(Default)]
pub(super) struct Nodes {
    pub(super) list: Vec<Node>,
    ids: IdTable,
    responses: Responses,
    open: Vec<WaitingRecord>,
    /// What compactions say that they really continue, in the order of their nodes; else what
    /// stands before.
    said_logical: Vec<(u32, Key, u32)>,
    /// What they really continue.
    logical: Vec<(u32, u32)>,
    /// The marks of compactions that keep a part of the past, in the order of the file, each with the
    /// last record of that part.
    kept: Vec<(u32, Key)>,
    /// What nodes that follow a compaction name as their parents instead, in the order of the nodes.
    named: Vec<(u32, u32)>,
    /// The last node of the conversation, and of sub-agents in the same file.
    last: [Option<u32>; 2],
    /// The node that stood before the last one.
    before: u32,
    /// A node whose id lies beyond what is held of its record.
    nameless: Option<u32>,
}

/// Something that is wrong with the links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LinkDamage {
    /// The parent is nowhere; whether something stands before the record.
    Missing(bool),
    /// The way to the root leads back.
    Circle,
}

impl Nodes {
    /// Adds a node and gives its number; whether its id was there before.
    pub(super) fn add(&mut self, new: &NewNode<'_>, at: SourcePos) -> Option<(u32, bool)> {
        let number = u32::try_from(self.list.len()).ok().filter(|n| *n != NONE)?;
        let before = self.last[usize::from(new.side)].unwrap_or(NONE);
        self.before = before;
        let parent = match new.parent {
            _ if new.beside => NONE,
            RecordParent::Unsaid => before,
            RecordParent::Root => NONE,
            RecordParent::Id(id) if new.id == Some(id) => NONE,
            RecordParent::Id(id) => match self.ids.get(&id_key(id)) {
                Some(found) => found,
                None => self.wait(number, id_key(id), before, at),
            },
        };
        let id = new.id.filter(|id| !id.is_empty());
        let was_there = self.ids.push(id);
        self.list.push(Node {
            parent,
            other_end: number,
            next: NONE,
            record: new.record,
            time: new.time,
            kind: new.kind,
            visibility: new.visibility,
            session: new.session,
            side: new.side,
            beside: new.beside,
            is_first: true,
        });
        if !new.beside {
            self.last[usize::from(new.side)] = Some(number);
            self.nameless = None;
        }
        Some((number, was_there))
    }

    /// Notes a node whose parent was not met yet. A record too long to be held can hide its id from
    /// us, but not from its child.
    fn wait(&mut self, node: u32, parent: Key, before: u32, at: SourcePos) -> u32 {
        if let Some(nameless) = self.nameless {
            self.ids.lead(parent, nameless);
            return nameless;
        }
        self.open.push(WaitingRecord {
            node,
            parent,
            before,
            at,
        });
        NONE
    }

    /// Says that the id of a node is not known.
    pub(super) fn hides_its_id(&mut self, node: u32) {
        self.nameless = Some(node);
    }

    /// Notes a record that has no place itself, but that others hang from.
    pub(super) fn bridge(&mut self, id: &str, parent: &RecordParent, side: bool) {
        let before = self.last[usize::from(side)].unwrap_or(NONE);
        let target = match parent {
            RecordParent::Root => NONE,
            RecordParent::Id(parent) => self.ids.get(&id_key(parent)).unwrap_or(before),
            RecordParent::Unsaid => before,
        };
        self.ids.lead(id_key(id), target);
    }

    /// Makes a node a part of the response that it names, if that has begun. A response that hangs
    /// from before its own beginning is a copy: clients of 2025 write some turns anew when they
    /// resume, with other ids. `again`: the id of the node was there before.
    pub(super) fn join_response(
        &mut self,
        node: u32,
        response: &ResponseKey<'_>,
        again: bool,
        keys: &mut SessionBuilder,
    ) {
        match self.responses.find(response, keys) {
            Some(first) if again || !self.is_from_before(node, first) => self.join(first, node),
            _ => self.responses.add(node, response, keys),
        }
    }

    /// Gives the responses with their first parts, and keeps none.
    pub(super) fn take_responses(&mut self) -> Responses {
        std::mem::take(&mut self.responses)
    }

    /// Whether the way up from a node leads past the entry that `first` begins.
    fn is_from_before(&self, node: u32, first: u32) -> bool {
        let mut at = node;
        for _ in 0..LONGEST_WAY {
            at = self.list.get(at as usize).map_or(NONE, |n| n.parent);
            if at == NONE || self.owner(at) == first {
                return false;
            }
            if at < first {
                return true;
            }
        }
        false
    }

    /// Makes the summary of a compaction a part of the entry that its mark began.
    pub(super) fn join_compaction(&mut self, node: u32) {
        let parent = self.list[node as usize].parent;
        let mark = self.list.get(parent as usize);
        if mark.is_some_and(|mark| mark.kind == Kind::Compaction && mark.next == NONE) {
            self.join(parent, node);
        }
    }

    /// Notes what a node really continues, where the chain of parents is cut.
    pub(super) fn continues(&mut self, node: u32, logical: &str) {
        self.said_logical.push((node, id_key(logical), self.before));
    }

    /// Notes the last record of what a compaction keeps of the past.
    pub(super) fn keeps_up_to(&mut self, node: u32, tail: &str) {
        self.kept.push((node, id_key(tail)));
    }

    /// Some versions let what is said behind a compaction hang from the end of what it kept, and not
    /// from its summary: it follows the compaction all the same.
    fn follow_compactions(&mut self) {
        // They stand in the order of the file, so the marks of each are in that order, too.
        let mut marks: HashMap<u32, Vec<u32>> = HashMap::new();
        for (mark, tail) in std::mem::take(&mut self.kept) {
            if let Some(tail) = self.ids.get(&tail).filter(|tail| *tail < mark) {
                marks.entry(tail).or_default().push(mark);
            }
        }
        if marks.is_empty() {
            return;
        }
        for (number, node) in (0_u32..).zip(&mut self.list) {
            let Some(marks) = marks.get(&node.parent).filter(|_| !node.beside) else {
                continue;
            };
            let before = marks.partition_point(|mark| *mark < number);
            if let Some(mark) = before.checked_sub(1).and_then(|at| marks.get(at)) {
                self.named.push((number, node.parent));
                node.parent = *mark;
            }
        }
    }

    /// What a node really continues.
    pub(super) fn logical_parent(&self, node: u32) -> Option<u32> {
        let at = self.logical.binary_search_by_key(&node, |(n, _)| *n).ok()?;
        let (_, found) = self.logical[at];
        (found != NONE).then_some(found)
    }

    /// Makes a node a part of the entry that another one is a part of.
    fn join(&mut self, part: u32, node: u32) {
        let first = self.owner(part);
        if first == node {
            return;
        }
        let last = self.list[first as usize].other_end;
        self.list[last as usize].next = node;
        self.list[first as usize].other_end = node;
        self.list[node as usize].other_end = first;
        self.list[node as usize].is_first = false;
    }

    /// The node that an id leads to.
    pub(super) fn find(&self, id: &str) -> Option<u32> {
        self.ids.get(&id_key(id)).filter(|found| *found != NONE)
    }

    /// The first part of the entry that a node is a part of.
    pub(super) fn owner(&self, node: u32) -> u32 {
        match self.list.get(node as usize) {
            Some(n) if !n.is_first => n.other_end,
            _ => node,
        }
    }

    /// The last part of the entry that a node is a part of.
    pub(super) fn last_part(&self, node: u32) -> u32 {
        let first = self.owner(node);
        self.list.get(first as usize).map_or(first, |n| n.other_end)
    }

    /// The nearest record above a node's parent that says something, on the way that the records
    /// themselves name.
    pub(super) fn said_above(&self, node: u32) -> Option<u32> {
        let mut at = self.named_parent(node)?;
        for _ in 0..LONGEST_WAY {
            if self.list.get(at as usize)?.says_something() {
                return Some(at);
            }
            at = self.named_parent(at)?;
        }
        None
    }

    /// The parent that a node's record names.
    fn named_parent(&self, node: u32) -> Option<u32> {
        match self.named.binary_search_by_key(&node, |(n, _)| *n) {
            Ok(at) => self.named.get(at).map(|(_, parent)| *parent),
            Err(_) => Some(self.list.get(node as usize)?.parent),
        }
    }

    /// Gives the names of all nodes, and forgets what only reading and finding need: there can be
    /// millions of ids.
    pub(super) fn take_names(&mut self) -> NodeIds {
        std::mem::take(&mut self.ids).into_names()
    }

    /// Finds the parents that came after their children, hangs others from what stands before
    /// them, and opens circles. Gives for each entry its parent.
    pub(super) fn settle(&mut self) -> (Vec<u32>, Vec<(SourcePos, LinkDamage)>) {
        let mut wrong = Vec::new();
        for open in std::mem::take(&mut self.open) {
            let parent = if let Some(found) = self.ids.get(&open.parent) {
                found
            } else {
                wrong.push((open.at, LinkDamage::Missing(open.before != NONE)));
                open.before
            };
            self.list[open.node as usize].parent = parent;
        }
        self.follow_compactions();
        for (node, key, before) in std::mem::take(&mut self.said_logical) {
            let found = self.ids.get(&key).unwrap_or(before);
            self.logical.push((node, found));
        }
        let mut parents: Vec<u32> = (0_u32..)
            .zip(&self.list)
            .map(|(own, node)| match self.parent_or_logical(own, node) {
                _ if !node.is_first => NONE,
                NONE => NONE,
                parent if self.owner(parent) == own => NONE,
                parent => self.owner(parent),
            })
            .collect();
        for _ in 0..open_circles(&mut parents) {
            wrong.push((SourcePos { line: 0, offset: 0 }, LinkDamage::Circle));
        }
        (parents, wrong)
    }
}

impl Nodes {
    /// A compaction cuts the chain of parents, and says where it really goes on.
    fn parent_or_logical(&self, own: u32, node: &Node) -> u32 {
        match node.parent {
            NONE => self.logical_parent(own).unwrap_or(NONE),
            parent => parent,
        }
    }
}

/// Takes the parent from one node of every circle, the first in the file; how many there were.
pub(super) fn open_circles(parents: &mut [u32]) -> usize {
    let parent_of = |node: usize| {
        let parent = parents.get(node).copied().filter(|p| *p != NONE)?;
        Some(parent as usize)
    };
    let circles = find_circles(parents.len(), 0..parents.len(), parent_of);
    let firsts: Vec<usize> = circles.iter().map(|c| c.first(parent_of)).collect();
    for first in &firsts {
        parents[*first] = NONE;
    }
    firsts.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_small() {
        assert_eq!(size_of::<Node>(), 32);
    }
}
