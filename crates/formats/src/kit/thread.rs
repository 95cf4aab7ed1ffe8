//! Links from entries to their parents, which files may get wrong: the ways to the root that lead back
//! to where they were.

/// A circle of parents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParentCircle {
    /// The node from which the circle was found.
    pub(crate) start: usize,
    /// The first node of the circle on the way from there.
    pub(crate) entry: usize,
    /// The node of the circle whose parent is `entry`.
    pub(crate) last: usize,
}

impl ParentCircle {
    /// The node of the circle that stands first in the file.
    pub(crate) fn first(&self, parent_of: impl Fn(usize) -> Option<usize>) -> usize {
        let mut first = self.entry;
        let mut at = self.entry;
        while at != self.last
            && let Some(parent) = parent_of(at)
        {
            first = first.min(parent);
            at = parent;
        }
        first
    }
}

/// Finds the circles that the ways up from some of the `count` nodes lead into, each once. No node is
/// passed twice, and a way of any length needs no more stack.
pub(crate) fn find_circles(
    count: usize,
    starts: impl IntoIterator<Item = usize>,
    parent_of: impl Fn(usize) -> Option<usize>,
) -> Vec<ParentCircle> {
    const NEW: u32 = 0;
    let mut found = Vec::new();
    let mut walked_by = vec![NEW; count];
    for (walk, start) in (1_u32..).zip(starts) {
        let mut at = start;
        while let Some(mark) = walked_by.get_mut(at)
            && *mark == NEW
        {
            *mark = walk;
            let Some(parent) = parent_of(at) else { break };
            if walked_by.get(parent) == Some(&walk) {
                found.push(ParentCircle {
                    start,
                    entry: parent,
                    last: at,
                });
                break;
            }
            at = parent;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_circle_is_found_once() {
        // 5 → 4 → 2 → 3 → 4, and 1 is its own parent.
        let parents = [None, Some(1), Some(3), Some(4), Some(2), Some(4), Some(9)];
        let parent_of = |node: usize| parents.get(node).copied().flatten();
        let circles = find_circles(parents.len(), [5, 0, 1, 2, 6], parent_of);
        let found = [(5, 4, 3), (1, 1, 1)];
        let found = found.map(|(start, entry, last)| ParentCircle { start, entry, last });
        assert_eq!(circles, found);
        let firsts: Vec<usize> = circles.iter().map(|c| c.first(parent_of)).collect();
        assert_eq!(firsts, [2, 1]);
    }

    proptest! {
        #[test]
        fn without_one_link_of_each_circle_every_way_ends(
            mut parents in proptest::collection::vec(proptest::option::of(0_usize..30), 0..30),
        ) {
            let count = parents.len();
            let parent_of = |node: usize| parents.get(node).copied().flatten();
            let circles = find_circles(count, 0..count, parent_of);
            let firsts: Vec<usize> = circles.iter().map(|c| c.first(parent_of)).collect();
            for first in firsts {
                parents[first] = None;
            }
            for start in 0..count {
                let next = |node: &usize| parents.get(*node).copied().flatten();
                let way = std::iter::successors(Some(start), next).take(count + 2);
                prop_assert!(way.count() <= count + 1, "{parents:?}");
            }
        }
    }
}
