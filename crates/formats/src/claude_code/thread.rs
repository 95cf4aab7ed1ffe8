//! One thread out of what the client writes as a bush.
//!
//! Each result of parallel calls hangs from the record of its own call, so only one of them lies on
//! the way to the next turn; and what the client notes for itself hangs wherever it was when it
//! noted it. Neither is a fork. Forks are what is left: places where the conversation really went
//! on in two ways.

use rethread_model::{Kind, Role, Visibility};

use super::nodes::{NONE, Node, open_circles};

/// Straightens the links of entries. `parents` holds for each node its parent, for those that are
/// no entries none.
pub(super) fn straighten_thread(nodes: &[Node], parents: &mut [u32]) {
    let kids = Kids::of(parents);
    let says = |node: &Node| matches!(node.kind, Kind::Message(role) if role != Role::System);
    let is_summary = |node: &Node| node.kind == Kind::Compaction;
    let fertile = above(nodes, parents, |node| says(node) || is_summary(node));
    let goes_on = above(nodes, parents, |node| {
        is_summary(node) || says(node) && node.visibility == Visibility::Visible
    });
    let mut done = vec![false; nodes.len()];
    for at in 0..nodes.len() {
        if done[at] || kids.of_node(at).len() < 2 {
            continue;
        }
        Knot {
            nodes,
            kids: &kids,
            fertile: &fertile,
            goes_on: &goes_on,
            parents: &mut *parents,
            done: &mut done,
        }
        .untie(at);
    }
    // Links that lead forward in a damaged file can be woven into a circle.
    open_circles(parents);
}

/// Whether an entry is such a one, or one below it is.
fn above(nodes: &[Node], parents: &[u32], is_it: impl Fn(&Node) -> bool) -> Vec<bool> {
    let mut above = vec![false; nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        let is_it = is_it(node);
        let mut up = at;
        while is_it && above.get(up) == Some(&false) {
            above[up] = true;
            up = parents[up] as usize;
        }
    }
    above
}

/// A place from which several entries hang.
struct Knot<'a> {
    nodes: &'a [Node],
    kids: &'a Kids,
    /// Whether something is said there or below.
    fertile: &'a [bool],
    /// Whether the person, the model or a tool says something there or below.
    goes_on: &'a [bool],
    parents: &'a mut [u32],
    done: &'a mut [bool],
}

impl Knot<'_> {
    fn untie(&mut self, at: usize) {
        let is_answer = self.nodes[at].kind == Kind::Message(Role::Assistant);
        let is_result =
            |n: &&u32| is_answer && self.nodes[**n as usize].kind == Kind::Message(Role::Tool);
        let kids = self.kids.of_node(at);
        let results: Vec<u32> = kids.iter().filter(is_result).copied().collect();
        let (barren, others): (Vec<u32>, Vec<u32>) = kids
            .iter()
            .filter(|n| !is_result(n))
            .partition(|n| !self.fertile[**n as usize]);
        if results.is_empty() {
            self.without_results(at, &barren, others);
        } else {
            self.with_results(at, &results, &barren, others);
        }
    }

    /// What was only noted comes before what was said, where it stands before it in the file.
    fn without_results(&mut self, at: usize, barren: &[u32], others: Vec<u32>) {
        let Some(first) = others.iter().min().copied() else {
            return;
        };
        let early = barren.iter().filter(|n| **n < first);
        let thread: Vec<u32> = early.flat_map(|n| self.subtree(*n)).collect();
        self.chain(at, &thread, others);
    }

    /// Results follow their calls in the order of time, each with what was noted about it, and then
    /// what the client told the model about them, such as the text of a skill: it hangs from its own
    /// result, and the conversation goes on from another. Then comes whatever hung from any of them.
    fn with_results(&mut self, at: usize, results: &[u32], barren: &[u32], others: Vec<u32>) {
        let mut units: Vec<u32> = results.iter().chain(barren).copied().collect();
        units.sort_by_key(|n| (self.nodes[*n as usize].time, *n));
        let mut thread = Vec::new();
        let (mut told, mut next) = (Vec::new(), Vec::new());
        for unit in units {
            // They stand in the order of the file.
            if results.binary_search(&unit).is_err() {
                thread.extend(self.subtree(unit));
                continue;
            }
            thread.push(unit);
            for kid in self.kids.of_node(unit as usize) {
                if self.goes_on[*kid as usize] {
                    next.push(*kid);
                } else if self.fertile[*kid as usize] {
                    told.extend(self.subtree(*kid));
                } else {
                    thread.extend(self.subtree(*kid));
                }
            }
        }
        thread.append(&mut told);
        // Where nothing follows the results, what hangs from the calls themselves does: the person
        // spoke up before the model answered.
        let next = if next.is_empty() { others } else { next };
        self.chain(at, &thread, next);
    }

    /// An entry and all that hangs from it, in the order of the file.
    fn subtree(&self, root: u32) -> Vec<u32> {
        let mut all = vec![root];
        let mut at = 0;
        while let Some(node) = all.get(at).copied() {
            all.extend(self.kids.of_node(node as usize));
            at += 1;
        }
        all.sort_unstable();
        all
    }

    fn chain(&mut self, at: usize, thread: &[u32], next: Vec<u32>) {
        let mut last = u32::try_from(at).unwrap_or(NONE);
        for node in thread {
            self.parents[*node as usize] = last;
            self.done[*node as usize] = true;
            last = *node;
        }
        for node in next {
            self.parents[node as usize] = last;
        }
    }
}

/// The children of every node, in the order of the file.
pub(super) struct Kids {
    starts: Vec<u32>,
    list: Vec<u32>,
}

impl Kids {
    pub(super) fn of(parents: &[u32]) -> Self {
        let mut starts = vec![0_u32; parents.len() + 1];
        for parent in parents {
            if let Some(count) = starts.get_mut(*parent as usize + 1) {
                *count += 1;
            }
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts.clone();
        let mut list = vec![0; starts.last().copied().unwrap_or(0) as usize];
        for (node, parent) in (0_u32..).zip(parents) {
            if *parent != NONE {
                let slot = &mut next[*parent as usize];
                list[*slot as usize] = node;
                *slot += 1;
            }
        }
        Self { starts, list }
    }

    pub(super) fn of_node(&self, node: usize) -> &[u32] {
        let range = self.starts.get(node).zip(self.starts.get(node + 1));
        range
            .and_then(|(a, b)| self.list.get(*a as usize..*b as usize))
            .unwrap_or_default()
    }
}
