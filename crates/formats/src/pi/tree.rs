//! The entries of a session as a tree, laid out flat: sessions are thousands of entries deep.

use std::collections::HashMap;

use super::entry::SessionEntry;
use super::id::Id;
use crate::kit::find_circles;

/// A session as a tree. The node of an entry has the entry's place in
/// [`SessionManager::entries`](super::SessionManager::entries).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionTree {
    nodes: Vec<TreeNode>,
    roots: Vec<usize>,
}

/// One entry in the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeNode {
    /// The entry's place among the entries, and the node's among the nodes.
    pub entry: usize,
    /// The node that it hangs from.
    pub parent: Option<usize>,
    /// The nodes that hang from it, the oldest first.
    pub children: Vec<usize>,
    /// How many nodes are above it.
    pub depth: usize,
    /// The label on it.
    pub label: Option<String>,
    /// When that label was set, as spelled.
    pub label_timestamp: Option<String>,
}

/// A label and when it was set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Label {
    /// How many entries there were when the entry got a label that it has had since.
    pub(crate) since: usize,
    pub(crate) text: String,
    pub(crate) timestamp: Option<String>,
}

impl SessionTree {
    /// Roots are entries without a parent, their own parents, those whose parent is not there, and
    /// for each circle of parents one that is on it. Of several entries with one id, the last has
    /// the children.
    pub(crate) fn new(
        entries: &[SessionEntry],
        index: &HashMap<Id, usize>,
        labels: &HashMap<Id, Label>,
    ) -> Self {
        let mut parents: Vec<Option<usize>> = entries
            .iter()
            .map(|entry| {
                let parent = entry.parent_id().filter(|parent| *parent != entry.id())?;
                index.get(parent).copied()
            })
            .collect();
        break_circles(&mut parents);
        let mut nodes: Vec<TreeNode> = entries
            .iter()
            .enumerate()
            .map(|(at, entry)| {
                let label = labels.get(entry.id());
                TreeNode {
                    entry: at,
                    parent: parents.get(at).copied().flatten(),
                    label: label.map(|label| label.text.clone()),
                    label_timestamp: label.and_then(|label| label.timestamp.clone()),
                    ..TreeNode::default()
                }
            })
            .collect();
        let mut roots = Vec::new();
        for (at, parent) in parents.iter().enumerate() {
            match parent.and_then(|parent| nodes.get_mut(parent)) {
                Some(parent) => parent.children.push(at),
                None => roots.push(at),
            }
        }
        for node in &mut nodes {
            node.children
                .sort_by_key(|&child| entries.get(child).and_then(SessionEntry::millis));
        }
        let mut tree = Self { nodes, roots };
        tree.measure();
        tree
    }

    /// Says how deep each node is.
    fn measure(&mut self) {
        let mut open: Vec<(usize, usize)> = self.roots.iter().map(|&root| (root, 0)).collect();
        while let Some((at, depth)) = open.pop() {
            if let Some(node) = self.nodes.get_mut(at) {
                node.depth = depth;
                open.extend(node.children.iter().map(|&child| (child, depth + 1)));
            }
        }
    }

    /// The nodes that hang from nothing, in the order of the file.
    pub fn roots(&self) -> &[usize] {
        &self.roots
    }

    /// All nodes, in the order of the file.
    pub fn nodes(&self) -> &[TreeNode] {
        &self.nodes
    }

    /// One node.
    pub fn node(&self, at: usize) -> Option<&TreeNode> {
        self.nodes.get(at)
    }

    /// All nodes from the roots down, each before its children.
    pub fn walk(&self) -> impl Iterator<Item = &TreeNode> {
        let mut open: Vec<usize> = self.roots.iter().rev().copied().collect();
        std::iter::from_fn(move || {
            let node = self.nodes.get(open.pop()?)?;
            open.extend(node.children.iter().rev());
            Some(node)
        })
    }
}

/// Takes the parent of one entry of each circle away.
fn break_circles(parents: &mut [Option<usize>]) {
    let parent_of = |node: usize| parents.get(node).copied().flatten();
    for circle in find_circles(parents.len(), 0..parents.len(), parent_of) {
        parents[circle.last] = None;
    }
}
