//! Branches of a conversation that were left.

use std::collections::BTreeMap;

use rethread_model::{EntryIx, Session};

/// A way through the tree that does not lead to the leaf.
pub(super) struct Branch {
    /// The entry that it parts from; none for another beginning.
    pub(super) from: Option<EntryIx>,
    /// Its entries, in order.
    pub(super) entries: Vec<EntryIx>,
    /// How many of them are messages.
    pub(super) messages: usize,
    /// Whether a sub-agent speaks in it.
    pub(super) side: bool,
}

/// All branches, and where each begins.
#[derive(Default)]
pub(super) struct Branches {
    pub(super) all: Vec<Branch>,
    /// For entries, the numbers of the branches that part from them, counted from 1.
    pub(super) at: BTreeMap<EntryIx, Vec<usize>>,
}

impl Branches {
    /// What a session says beside these entries. A branch in which nobody says anything is left out.
    pub(super) fn beside_entries(session: &Session, shown: &[EntryIx]) -> Self {
        let children = session.children();
        let mut seen = vec![false; session.entries().len()];
        for ix in shown {
            seen[ix.get()] = true;
        }
        let mut found = Self::default();
        let mut begins: Vec<(Option<EntryIx>, EntryIx)> = Vec::new();
        for parent in shown {
            let left = children.of(*parent).iter().filter(|c| !seen[c.get()]);
            begins.extend(left.map(|child| (Some(*parent), *child)));
        }
        let roots = session.roots().filter(|root| !seen[root.get()]);
        begins.extend(roots.map(|root| (None, root)));
        begins.reverse();
        while let Some((from, first)) = begins.pop() {
            let mut branch = Branch {
                from,
                entries: Vec::new(),
                messages: 0,
                side: session.entry(first).side,
            };
            let mut next = Some(first);
            let mut later = Vec::new();
            while let Some(ix) = next.filter(|ix| !std::mem::replace(&mut seen[ix.get()], true)) {
                branch.entries.push(ix);
                let entry = session.entry(ix);
                branch.messages += usize::from(entry.kind.is_message());
                // The newest goes on; the others part from it.
                let (last, others) = match children.of(ix).split_last() {
                    Some((last, others)) => (Some(*last), others),
                    None => (None, &[][..]),
                };
                later.extend(others.iter().map(|child| (Some(ix), *child)));
                next = last;
            }
            begins.extend(later.into_iter().rev());
            if branch.messages > 0 {
                found.all.push(branch);
                if let Some(from) = from {
                    let number = found.all.len();
                    found.at.entry(from).or_default().push(number);
                }
            }
        }
        found
    }
}
