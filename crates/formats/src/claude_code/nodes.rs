//! The places in the chain of messages while a transcript is read: who hangs from whom.
//!
//! Files are not trusted: ids can be there twice or not at all, parents can be missing, come later,
//! or form circles.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;

use rethread_model::{Kind, Moment, Visibility};
use uuid::Uuid;

use super::layout::is_uuid;
use super::record::Parent;

/// An id in sixteen bytes: the UUID that it is, else a hash of its text that holds in this process.
pub(super) type Key = [u8; 16];

/// No node.
pub(super) const NONE: u32 = u32::MAX;

/// So many records may stand between two parts of a response: results, and what was noted.
const LONGEST_WAY: usize = 256;

/// One record that has a place in the session.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    key: Option<Key>,
    /// The node that its record names as its parent.
    pub(super) parent: u32,
    /// The node whose entry it is a part of: itself, or the first of a response.
    pub(super) owner: u32,
    /// The next part of the same entry.
    pub(super) next: u32,
    /// The last part of the entry, where it begins.
    last: u32,
    pub(super) record: u32,
    pub(super) time: Option<Moment>,
    pub(super) kind: Kind,
    pub(super) visibility: Visibility,
    /// Which of the session ids of the file it has.
    pub(super) session: u16,
    pub(super) side: bool,
    pub(super) beside: bool,
}

/// What a record says about its place.
pub(super) struct NewNode<'a> {
    pub(super) id: Option<&'a str>,
    pub(super) parent: &'a Parent,
    pub(super) record: u32,
    pub(super) time: Option<Moment>,
    pub(super) kind: Kind,
    pub(super) visibility: Visibility,
    pub(super) session: u16,
    pub(super) side: bool,
    pub(super) beside: bool,
}

/// Where a record stands, for notes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) line: u64,
    pub(super) offset: u64,
}

/// A record whose parent was not met yet.
struct Open {
    node: u32,
    parent: Key,
    /// The node before it, to hang from if the parent is nowhere.
    before: u32,
    at: Place,
}

/// All nodes, in the order of the file.
#[derive(Default)]
pub(super) struct Nodes {
    pub(super) list: Vec<Node>,
    /// What a link to an id leads to; for progress, what that hangs from.
    ids: HashMap<Key, u32>,
    /// Ids that are no UUIDs as the client writes them.
    odd: HashMap<Key, Box<str>>,
    /// The first part of each response, by the response's id.
    responses: HashMap<Key, u32>,
    open: Vec<Open>,
    /// What compactions say that they really continue, in the order of their nodes; else what
    /// stands before.
    said_logical: Vec<(u32, Key, u32)>,
    /// What they really continue.
    logical: Vec<(u32, u32)>,
    /// The last node of the conversation, and of sub-agents in the same file.
    last: [Option<u32>; 2],
    /// The node that stood before the last one.
    before: u32,
    /// A node whose id lies beyond what is held of its record.
    nameless: Option<u32>,
}

/// Something that is wrong with the links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    /// The parent is nowhere; whether something stands before the record.
    Missing(bool),
    /// The way to the root leads back.
    Circle,
}

impl Nodes {
    /// Adds a node and gives its number; whether its id was there before.
    pub(super) fn add(&mut self, new: &NewNode<'_>, at: Place) -> Option<(u32, bool)> {
        let number = u32::try_from(self.list.len()).ok().filter(|n| *n != NONE)?;
        let before = self.last[usize::from(new.side)].unwrap_or(NONE);
        self.before = before;
        let parent = match new.parent {
            _ if new.beside => NONE,
            Parent::Unsaid => before,
            Parent::Root => NONE,
            Parent::Id(id) if new.id == Some(id) => NONE,
            Parent::Id(id) => match self.ids.get(&key(id)) {
                Some(found) => *found,
                None => self.wait(number, key(id), before, at),
            },
        };
        let id = new.id.filter(|id| !id.is_empty());
        let own = id.map(|id| self.name(id));
        let was_there = own.is_some_and(|own| self.ids.insert(own, number).is_some());
        self.list.push(Node {
            key: own,
            parent,
            owner: number,
            next: NONE,
            last: number,
            record: new.record,
            time: new.time,
            kind: new.kind,
            visibility: new.visibility,
            session: new.session,
            side: new.side,
            beside: new.beside,
        });
        if !new.beside {
            self.last[usize::from(new.side)] = Some(number);
            self.nameless = None;
        }
        Some((number, was_there))
    }

    /// The key of an id; its text is kept where the key does not tell it.
    fn name(&mut self, id: &str) -> Key {
        let own = key(id);
        if !is_plain_uuid(id) {
            self.odd.entry(own).or_insert_with(|| id.into());
        }
        own
    }

    /// Notes a node whose parent was not met yet. A record too long to be held can hide its id from
    /// us, but not from its child.
    fn wait(&mut self, node: u32, parent: Key, before: u32, at: Place) -> u32 {
        if let Some(nameless) = self.nameless {
            self.ids.insert(parent, nameless);
            return nameless;
        }
        self.open.push(Open {
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
    pub(super) fn bridge(&mut self, id: &str, parent: &Parent, side: bool) {
        let before = self.last[usize::from(side)].unwrap_or(NONE);
        let target = match parent {
            Parent::Root => NONE,
            Parent::Id(parent) => self.ids.get(&key(parent)).copied().unwrap_or(before),
            Parent::Unsaid => before,
        };
        let own = self.name(id);
        self.ids.entry(own).or_insert(target);
    }

    /// Makes a node a part of the response with this id, if that has begun. A response that hangs
    /// from before its own beginning is a copy: clients of 2025 write some turns anew when they
    /// resume, with other ids. `again`: the id of the node was there before.
    pub(super) fn join_response(&mut self, node: u32, response: &str, side: bool, again: bool) {
        let mut own = key(response);
        own[0] ^= u8::from(side);
        let first = *self.responses.entry(own).or_insert(node);
        if !again && self.is_from_before(node, first) {
            self.responses.insert(own, node);
            return;
        }
        self.join(first, node);
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
        self.said_logical.push((node, key(logical), self.before));
    }

    /// What a node really continues.
    pub(super) fn logical_parent(&self, node: u32) -> Option<u32> {
        let at = self.logical.binary_search_by_key(&node, |(n, _)| *n).ok()?;
        let (_, found) = self.logical[at];
        (found != NONE).then_some(found)
    }

    /// Makes a node a part of the entry that `first` begins.
    fn join(&mut self, first: u32, node: u32) {
        if first == node {
            return;
        }
        let last = self.list[first as usize].last;
        self.list[last as usize].next = node;
        self.list[first as usize].last = node;
        self.list[node as usize].owner = first;
    }

    /// The node that an id leads to.
    pub(super) fn find(&self, id: &str) -> Option<u32> {
        let found = self.ids.get(&key(id)).copied()?;
        (found != NONE).then_some(found)
    }

    /// Forgets what only reading and finding need: there can be a million ids.
    pub(super) fn forget_ids(&mut self) {
        self.ids = HashMap::new();
        self.responses = HashMap::new();
    }

    /// The node of an entry.
    pub(super) fn owner(&self, node: u32) -> u32 {
        self.list.get(node as usize).map_or(node, |n| n.owner)
    }

    /// The id of a node; empty if it has none.
    pub(super) fn id(&self, node: u32) -> String {
        let Some(key) = self.list.get(node as usize).and_then(|n| n.key) else {
            return String::new();
        };
        match self.odd.get(&key) {
            Some(text) => text.to_string(),
            None => Uuid::from_bytes(key).hyphenated().to_string(),
        }
    }

    /// Finds the parents that came after their children, hangs others from what stands before
    /// them, and opens circles. Gives for each entry its parent.
    pub(super) fn settle(&mut self) -> (Vec<u32>, Vec<(Place, Wrong)>) {
        let mut wrong = Vec::new();
        for open in std::mem::take(&mut self.open) {
            let parent = if let Some(found) = self.ids.get(&open.parent) {
                *found
            } else {
                wrong.push((open.at, Wrong::Missing(open.before != NONE)));
                open.before
            };
            self.list[open.node as usize].parent = parent;
        }
        for (node, key, before) in std::mem::take(&mut self.said_logical) {
            let found = self.ids.get(&key).copied().unwrap_or(before);
            self.logical.push((node, found));
        }
        let mut parents: Vec<u32> = (0_u32..)
            .zip(&self.list)
            .map(|(own, node)| match self.parent_or_logical(own, node) {
                _ if node.owner != own => NONE,
                NONE => NONE,
                parent if self.owner(parent) == own => NONE,
                parent => self.owner(parent),
            })
            .collect();
        for _ in 0..open_circles(&mut parents) {
            wrong.push((Place { line: 0, offset: 0 }, Wrong::Circle));
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
    const NEW: u32 = 0;
    let mut seen = vec![NEW; parents.len()];
    let mut circles = 0;
    for (walk, start) in (1_u32..).zip(0..parents.len()) {
        let mut at = start;
        while let Some(mark) = seen.get_mut(at)
            && *mark == NEW
        {
            *mark = walk;
            let parent = parents[at] as usize;
            if seen.get(parent) == Some(&walk) {
                let first = first_of_circle(parents, parent);
                parents[first] = NONE;
                circles += 1;
                break;
            }
            at = parent;
        }
    }
    circles
}

fn first_of_circle(parents: &[u32], member: usize) -> usize {
    let mut first = member;
    let mut at = parents[member] as usize;
    while at != member {
        first = first.min(at);
        at = parents[at] as usize;
    }
    first
}

/// An id in sixteen bytes.
pub(super) fn key(id: &str) -> Key {
    // Nobody who writes a file knows these, so nobody can make two ids alike.
    static HASHERS: LazyLock<[RandomState; 2]> = LazyLock::new(Default::default);
    if is_plain_uuid(id)
        && let Ok(uuid) = Uuid::parse_str(id)
    {
        return uuid.into_bytes();
    }
    let [low, high] = HASHERS.each_ref().map(|h| u128::from(h.hash_one(id)));
    (low | high << 64).to_le_bytes()
}

/// Whether an id is a UUID that is spelled as everybody spells them.
fn is_plain_uuid(id: &str) -> bool {
    is_uuid(id) && !id.bytes().any(|b| b.is_ascii_uppercase())
}
